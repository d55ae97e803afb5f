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

/// Immediate dominator of each node (entry: itself, unreachable nodes: no_node). Cooper, Harvey and Kennedy, "A simple,
/// fast dominance algorithm".
std::vector<std::uint32_t> immediate_dominators(const flow_graph& g, std::uint32_t entry);

/// Immediate post-dominator of each node; no_node if that is only the end of the kernel, or if no end can be reached.
std::vector<std::uint32_t> immediate_post_dominators(const flow_graph& g);

/// Answers "does a dominate b" in constant time.
class dominance {
 public:
  dominance(const flow_graph& g, std::uint32_t entry);
  bool dominates(std::uint32_t a, std::uint32_t b) const { return enter_[a] <= enter_[b] && leave_[b] <= leave_[a]; }

 private:
  std::vector<std::uint32_t> enter_, leave_;
};

/// How deep each node is nested in natural loops.
std::vector<unsigned> loop_depths(const flow_graph& g, std::uint32_t entry);

}  // namespace heddle::ptx
