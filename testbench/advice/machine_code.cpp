// SPDX-License-Identifier: MIT
#include "testbench/advice/machine_code.h"

#include <algorithm>
#include <cstdlib>
#include <map>
#include <utility>

#include "heddle/metrics/memory_metrics.h"
#include "heddle/sub_partition/account/warp_state.h"
#include "testbench/advice/speed_of_light.h"

namespace heddle::testbench {

namespace {

using json = nlohmann::ordered_json;

constexpr std::size_t no_target = static_cast<std::size_t>(-1);

// "@P0 BRA L24" goes to 24.
std::size_t target_of(const std::string& text) {
  const std::size_t at = text.find("BRA L");
  return at == std::string::npos ? no_target : std::strtoull(text.c_str() + at + 5, nullptr, 10);
}

bool is_conditional(const std::string& text) { return !text.empty() && text[0] == '@' && text.rfind("@PT ", 0) != 0; }

machine_step step_of(const json& at) {
  machine_step s;
  s.line = static_cast<unsigned>(number_at(at, {"line"}));
  s.text = at.value("text", std::string());
  s.executed = number_at(at, {"executed"});
  s.lanes = number_at(at, {"thread_executed"});
  if (const auto states = at.find("warp_states"); states != at.end() && states->is_object())
    for (const auto& state : states->items()) {
      const double n = state.value().is_number() ? state.value().get<double>() : 0;
      (is_queue(state.key()) ? s.queues : s.alone) += n;
      if (warp_stall stall{}; find_stall(state.key(), stall)) {
        if (stall == warp_stall::long_scoreboard) s.loads = n;
        if (stall == warp_stall::imc_miss) s.constants = n;
        if (stall == warp_stall::barrier) s.barriers = n;
        if (stall == warp_stall::selected || stall == warp_stall::wait) s.fixed += n;
      }
    }
  s.look_ups = number_at(at, {"memory", name_of(line_count::l1_requests)});
  s.l1_sectors = number_at(at, {"memory", name_of(line_count::l1_sectors)});
  s.l1_hits = number_at(at, {"memory", name_of(line_count::l1_hits)});
  s.l2_sectors = number_at(at, {"memory", name_of(line_count::l2_sectors)});
  s.dram_sectors = number_at(at, {"memory", name_of(line_count::dram_sectors)});
  return s;
}

// The nodes that are reached from `root`, each after those that are reached through it alone.
std::vector<std::size_t> post_order(const std::vector<std::vector<std::size_t>>& next, std::size_t root) {
  std::vector<std::size_t> order;
  std::vector<char> seen(next.size(), 0);
  std::vector<std::pair<std::size_t, std::size_t>> visits{{root, 0}};
  seen[root] = 1;
  while (!visits.empty()) {
    const std::size_t node = visits.back().first;
    if (visits.back().second == next[node].size()) {
      order.push_back(node);
      visits.pop_back();
      continue;
    }
    const std::size_t to = next[node][visits.back().second++];
    if (seen[to]) continue;
    seen[to] = 1;
    visits.emplace_back(to, 0);
  }
  return order;
}

}  // namespace

bool machine_step::is(const char* opcode) const {
  const std::size_t at = text[0] == '@' ? text.find(' ') + 1 : 0;
  return text.compare(at, std::string(opcode).size(), opcode) == 0;
}

machine_code::machine_code(const json& kernel) {
  const auto code = kernel.find("code");
  if (code == kernel.end() || !code->is_array()) return;
  for (const json& at : *code) steps.push_back(step_of(at));
  find_blocks();
  find_meetings();
}

void machine_code::find_blocks() {
  std::set<std::size_t> firsts{0};
  for (std::size_t k = 0; k < steps.size(); ++k) {
    const std::size_t target = target_of(steps[k].text);
    if (target < steps.size()) firsts.insert(target);
    if (target != no_target || steps[k].is("EXIT")) firsts.insert(k + 1);
  }
  firsts.erase(steps.size());
  std::map<std::size_t, std::size_t> number;  // of the block that begins there
  for (const std::size_t first : firsts) number.emplace(first, number.size());
  for (auto at = firsts.begin(); at != firsts.end(); ++at) {
    const std::size_t end = std::next(at) == firsts.end() ? steps.size() : *std::next(at);
    code_block b{*at, end - 1, {}};
    const machine_step& last = steps[b.last];
    const std::size_t target = target_of(last.text);
    const bool leaves = target != no_target || last.is("EXIT");
    if ((!leaves || is_conditional(last.text)) && end < steps.size()) b.next.push_back(number.at(end));
    if (target < steps.size()) b.next.push_back(number.at(target));
    blocks.push_back(std::move(b));
  }
}

// Cooper, Harvey, Kennedy, "A Simple, Fast Dominance Algorithm", of the graph with its edges turned round.
void machine_code::find_meetings() {
  const std::size_t end = blocks.size(), unknown = end + 1;
  std::vector<std::vector<std::size_t>> before(end + 1);
  for (std::size_t block = 0; block < end; ++block) {
    for (const std::size_t next : blocks[block].next) before[next].push_back(block);
    if (blocks[block].next.empty()) before[end].push_back(block);
  }
  const std::vector<std::size_t> order = post_order(before, end);
  std::vector<std::size_t> rank(end + 1, 0);
  for (std::size_t k = 0; k < order.size(); ++k) rank[order[k]] = k;
  meeting_.assign(end + 1, unknown);
  meeting_[end] = end;
  const auto common = [&](std::size_t a, std::size_t b) {
    while (a != b) {
      while (rank[a] < rank[b]) a = meeting_[a];
      while (rank[b] < rank[a]) b = meeting_[b];
    }
    return a;
  };
  for (bool changed = true; changed;) {
    changed = false;
    for (auto block = order.rbegin(); block != order.rend(); ++block) {
      if (*block == end) continue;
      std::size_t met = blocks[*block].next.empty() ? end : unknown;
      for (const std::size_t next : blocks[*block].next)
        if (meeting_[next] != unknown) met = met == unknown ? next : common(met, next);
      if (met == unknown || met == meeting_[*block]) continue;
      meeting_[*block] = met;
      changed = true;
    }
  }
  for (std::size_t& m : meeting_) m = std::min(m, end);  // of a loop without an end
}

std::set<std::size_t> machine_code::reached(std::size_t from, std::size_t end) const {
  std::set<std::size_t> found;
  std::vector<std::size_t> open;
  if (from != end) open.push_back(from);
  while (!open.empty()) {
    const std::size_t block = open.back();
    open.pop_back();
    if (block == end || !found.insert(block).second) continue;
    open.insert(open.end(), blocks[block].next.begin(), blocks[block].next.end());
  }
  return found;
}

}  // namespace heddle::testbench
