// SPDX-License-Identifier: MIT
#include "testbench/workloads/reference.h"

namespace heddle::workloads {

void make_bfs(const folder& out) {
  constexpr std::uint32_t nodes = 3000;
  random_numbers random(11);
  std::vector<std::int32_t> first_edge{0};
  std::vector<std::int32_t> edges;
  for (std::uint32_t node = 0; node < nodes; ++node) {
    // Most nodes have few edges, some have many: neighbouring lanes get loops of different lengths.
    const std::uint32_t degree = random.below(50) == 0 ? 40 : random.below(5);
    for (std::uint32_t k = 0; k < degree; ++k) edges.push_back(static_cast<std::int32_t>(random.below(nodes)));
    first_edge.push_back(static_cast<std::int32_t>(edges.size()));
  }
  std::vector<std::int32_t> levels(nodes, -1);
  std::vector<std::int32_t> queue{5};  // the job starts at node 5
  levels[5] = 0;
  for (std::size_t at = 0; at < queue.size(); ++at) {
    const std::int32_t node = queue[at];
    for (std::int32_t edge = first_edge[node]; edge < first_edge[node + 1]; ++edge) {
      const std::int32_t reached = edges[edge];
      if (levels[reached] >= 0) continue;
      levels[reached] = levels[node] + 1;
      queue.push_back(reached);
    }
  }
  out.write("first_edge.bin", first_edge);
  out.write("edges.bin", edges);
  out.write("levels.ref.bin", levels);
}

}  // namespace heddle::workloads
