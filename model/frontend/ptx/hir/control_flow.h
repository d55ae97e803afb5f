// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <vector>

namespace heddle::ptx {

/// successors[b] are the nodes that follow node b.
using flow_graph = std::vector<std::vector<std::uint32_t>>;

constexpr std::uint32_t no_node = 0xffffffffu;

/// Nodes reachable from `entry`, in reverse post-order.
std::vector<std::uint32_t> reverse_post_order(const flow_graph& g, std::uint32_t entry);

flow_graph reversed(const flow_graph& g);

/// Immediate dominator of each node (entry: itself, unreachable nodes: no_node). Cooper, Harvey and Kennedy, "A
/// simple, fast dominance algorithm".
std::vector<std::uint32_t> immediate_dominators(const flow_graph& g, std::uint32_t entry);

/// How the end of a block affects reconvergence.
enum class block_end : std::uint8_t {
  continues,
  leaves,  // only exits the kernel
  fails    // ends the program
};

/// The reconvergence point of lanes that diverge at the end of each node: its immediate post-dominator; no_node if
/// only the end of the kernel post-dominates it. Paths to a node that ends the program do not count. Paths that exit
/// the kernel do not count either while other paths continue: no point waits for exited lanes.
std::vector<std::uint32_t> reconvergence_points(const flow_graph& g, const std::vector<block_end>& ends);

/// Answers "does a dominate b" in constant time.
class dominance {
 public:
  dominance(const flow_graph& g, std::uint32_t entry);
  [[nodiscard]] bool dominates(std::uint32_t a, std::uint32_t b) const {
    return enter_[a] <= enter_[b] && leave_[b] <= leave_[a];
  }

 private:
  std::vector<std::uint32_t> enter_, leave_;
};

/// The nodes that reach a back edge to `header` without passing it; nodes and latches in ascending order.
struct natural_loop {
  std::uint32_t header = 0;
  std::vector<std::uint32_t> latches;  // with an edge back to the header
  std::vector<std::uint32_t> nodes;
};

/// One for each header, by ascending header. Cycles that are entered at several places are none.
std::vector<natural_loop> natural_loops(const flow_graph& g, std::uint32_t entry);

/// The nesting depth of each node in natural loops.
std::vector<unsigned> loop_depths(const flow_graph& g, std::uint32_t entry);

}  // namespace heddle::ptx
