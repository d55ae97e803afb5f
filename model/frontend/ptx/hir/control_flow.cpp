// SPDX-License-Identifier: MIT
#include "heddle/frontend/ptx/hir/control_flow.h"

#include <algorithm>
#include <unordered_map>

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

namespace {

/// Immediate post-dominators when only the blocks `last` are exits; no_node: only the common end post-dominates.
std::vector<std::uint32_t> post_dominators(const flow_graph& g, const std::vector<std::uint32_t>& last) {
  flow_graph with_end = g;
  const std::uint32_t end = static_cast<std::uint32_t>(g.size());
  with_end.emplace_back();
  for (const std::uint32_t b : last) with_end[b].push_back(end);
  std::vector<std::uint32_t> result = immediate_dominators(reversed(with_end), end);
  result.pop_back();
  for (std::uint32_t& r : result)
    if (r == end) r = no_node;
  return result;
}

std::vector<char> reached(const flow_graph& g, std::uint32_t from) {
  std::vector<char> seen(g.size(), 0);
  std::vector<std::uint32_t> work{from};
  seen[from] = 1;
  while (!work.empty()) {
    const std::uint32_t b = work.back();
    work.pop_back();
    for (const std::uint32_t s : g[b])
      if (!seen[s]) seen[s] = 1, work.push_back(s);
  }
  return seen;
}

}  // namespace

std::vector<std::uint32_t> reconvergence_points(const flow_graph& g, const std::vector<block_end>& ends) {
  std::vector<std::uint32_t> last, leaving;  // exits of the kernel; blocks with an edge out of the kernel
  flow_graph inner(g.size());                // graph without the blocks that only exit
  for (std::uint32_t b = 0; b < g.size(); ++b) {
    if (g[b].empty() && ends[b] != block_end::fails) last.push_back(b);
    bool leaves = g[b].empty() && ends[b] == block_end::continues;
    for (const std::uint32_t s : g[b]) {
      if (ends[s] == block_end::leaves) leaves = true;
      else inner[b].push_back(s);
    }
    if (leaves) leaving.push_back(b);
  }
  // The main exit, which most blocks reach, comes first: nested branches must agree on the exit.
  const flow_graph backwards = reversed(inner);
  std::vector<std::pair<std::ptrdiff_t, std::uint32_t>> exits;
  for (const std::uint32_t l : leaving) {
    const std::vector<char> from = reached(backwards, l);
    exits.emplace_back(std::count(from.begin(), from.end(), 1), l);
  }
  std::sort(exits.rbegin(), exits.rend());
  std::vector<std::uint32_t> reconvergence = post_dominators(g, last);
  std::unordered_map<std::uint32_t, std::vector<std::uint32_t>> by_exit;
  const auto reconverge_before = [&](std::uint32_t exit, std::uint32_t b) {
    auto found = by_exit.find(exit);
    if (found == by_exit.end()) found = by_exit.emplace(exit, post_dominators(inner, {exit})).first;
    if (found->second[b] == no_node) return false;
    reconvergence[b] = found->second[b];
    return true;
  };
  bool earlier = false;
  std::vector<std::pair<std::uint32_t, std::uint32_t>>
      one_sided;  // branches whose sides share no exit block, and the exit block that one side reaches
  for (std::uint32_t b = 0; b < g.size(); ++b) {
    const bool at_the_end = reconvergence[b] == no_node || ends[reconvergence[b]] == block_end::leaves;
    if (inner[b].size() < 2 || !at_the_end) continue;
    const std::vector<char> one = reached(inner, inner[b][0]), other = reached(inner, inner[b][1]);
    const auto both =
        std::find_if(exits.begin(), exits.end(), [&](const auto& w) { return one[w.second] && other[w.second]; });
    const auto any =
        std::find_if(exits.begin(), exits.end(), [&](const auto& w) { return one[w.second] || other[w.second]; });
    if (both != exits.end()) earlier |= reconverge_before(both->second, b);
    else if (any != exits.end()) one_sided.emplace_back(any->second, b);
  }
  // A branch nested in one that now reconverges earlier must not let its lanes pass that point while other lanes exit.
  if (earlier)
    for (const auto& [exit, b] : one_sided) reconverge_before(exit, b);
  return reconvergence;
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

std::vector<natural_loop> natural_loops(const flow_graph& g, std::uint32_t entry) {
  const dominance dom(g, entry);
  const flow_graph predecessors = reversed(g);
  std::vector<natural_loop> loops;
  std::vector<std::uint32_t> inside(g.size(), no_node);  // the loop that a node was last found in
  for (std::uint32_t header = 0; header < g.size(); ++header) {
    natural_loop l;
    l.header = header;
    for (std::uint32_t p : predecessors[header])
      if (dom.dominates(header, p) && std::find(l.latches.begin(), l.latches.end(), p) == l.latches.end())
        l.latches.push_back(p);
    if (l.latches.empty()) continue;
    inside[header] = header;
    l.nodes = {header};
    std::vector<std::uint32_t> work = l.latches;
    while (!work.empty()) {
      const std::uint32_t b = work.back();
      work.pop_back();
      if (inside[b] == header) continue;
      inside[b] = header;
      l.nodes.push_back(b);
      work.insert(work.end(), predecessors[b].begin(), predecessors[b].end());
    }
    std::sort(l.latches.begin(), l.latches.end());
    std::sort(l.nodes.begin(), l.nodes.end());
    loops.push_back(std::move(l));
  }
  return loops;
}

std::vector<unsigned> loop_depths(const flow_graph& g, std::uint32_t entry) {
  std::vector<unsigned> depth(g.size(), 0);
  for (const natural_loop& l : natural_loops(g, entry))
    for (const std::uint32_t b : l.nodes) ++depth[b];
  return depth;
}

}  // namespace heddle::ptx
