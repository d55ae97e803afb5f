// SPDX-License-Identifier: MIT
#include "frontend/ptx/control_flow.h"

#include <algorithm>

namespace heddle::ptx {

std::vector<std::uint32_t> reverse_post_order(const flow_graph& g, std::uint32_t entry) {
  std::vector<std::uint32_t> order;
  std::vector<char> seen(g.size(), 0);
  std::vector<std::pair<std::uint32_t, std::size_t>> stack{{entry, 0}};
  seen[entry] = 1;
  while (!stack.empty()) {
    auto& [node, next] = stack.back();
    if (next == g[node].size()) {
      order.push_back(node);
      stack.pop_back();
      continue;
    }
    const std::uint32_t s = g[node][next++];
    if (seen[s]) continue;
    seen[s] = 1;
    stack.push_back({s, 0});
  }
  std::reverse(order.begin(), order.end());
  return order;
}

flow_graph reversed(const flow_graph& g) {
  flow_graph r(g.size());
  for (std::uint32_t b = 0; b < g.size(); ++b)
    for (std::uint32_t s : g[b]) r[s].push_back(b);
  return r;
}

std::vector<std::uint32_t> immediate_dominators(const flow_graph& g, std::uint32_t entry) {
  const std::vector<std::uint32_t> order = reverse_post_order(g, entry);
  const flow_graph predecessors = reversed(g);
  std::vector<std::uint32_t> number(g.size(), no_node), idom(g.size(), no_node);
  for (std::uint32_t k = 0; k < order.size(); ++k) number[order[k]] = k;
  idom[entry] = entry;
  for (bool changed = true; changed;) {
    changed = false;
    for (std::uint32_t node : order) {
      if (node == entry) continue;
      std::uint32_t best = no_node;
      for (std::uint32_t p : predecessors[node]) {
        if (idom[p] == no_node) continue;
        if (best == no_node) {
          best = p;
          continue;
        }
        std::uint32_t a = p, b = best;
        while (a != b) {
          while (number[a] > number[b]) a = idom[a];
          while (number[b] > number[a]) b = idom[b];
        }
        best = a;
      }
      if (best != idom[node]) {
        idom[node] = best;
        changed = true;
      }
    }
  }
  return idom;
}

std::vector<std::uint32_t> immediate_post_dominators(const flow_graph& g) {
  flow_graph with_end = g;
  const std::uint32_t end = static_cast<std::uint32_t>(g.size());
  with_end.emplace_back();
  for (std::uint32_t b = 0; b < end; ++b)
    if (with_end[b].empty()) with_end[b].push_back(end);
  std::vector<std::uint32_t> result = immediate_dominators(reversed(with_end), end);
  result.pop_back();
  for (std::uint32_t& r : result)
    if (r == end) r = no_node;
  return result;
}

dominance::dominance(const flow_graph& g, std::uint32_t entry) : enter_(g.size(), 0), leave_(g.size(), 0) {
  const std::vector<std::uint32_t> idom = immediate_dominators(g, entry);
  flow_graph tree(g.size());
  for (std::uint32_t b = 0; b < g.size(); ++b)
    if (b != entry && idom[b] != no_node) tree[idom[b]].push_back(b);
  std::uint32_t clock = 1;
  std::vector<std::pair<std::uint32_t, std::size_t>> stack{{entry, 0}};
  enter_[entry] = clock++;
  while (!stack.empty()) {
    auto& [node, next] = stack.back();
    if (next == tree[node].size()) {
      leave_[node] = clock++;
      stack.pop_back();
      continue;
    }
    const std::uint32_t child = tree[node][next++];
    enter_[child] = clock++;
    stack.push_back({child, 0});
  }
}

std::vector<unsigned> loop_depths(const flow_graph& g, std::uint32_t entry) {
  const dominance dom(g, entry);
  const flow_graph predecessors = reversed(g);
  std::vector<unsigned> depth(g.size(), 0);
  for (std::uint32_t header = 0; header < g.size(); ++header) {
    std::vector<std::uint32_t> work;
    for (std::uint32_t p : predecessors[header])
      if (dom.dominates(header, p) && std::find(work.begin(), work.end(), p) == work.end()) work.push_back(p);
    if (work.empty()) continue;
    std::vector<char> inside(g.size(), 0);
    for (std::uint32_t p : work) inside[p] = 1;
    inside[header] = 1;
    while (!work.empty()) {
      const std::uint32_t b = work.back();
      work.pop_back();
      if (b == header) continue;
      for (std::uint32_t p : predecessors[b])
        if (!inside[p]) inside[p] = 1, work.push_back(p);
    }
    for (std::uint32_t b = 0; b < g.size(); ++b) depth[b] += inside[b] ? 1 : 0;
  }
  return depth;
}

}  // namespace heddle::ptx
