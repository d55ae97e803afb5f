// SPDX-License-Identifier: MIT
#include "heddle/frontend/ptx/machine/schedule/schedule.h"

#include <algorithm>
#include <numeric>

#include "heddle/frontend/ptx/hir/control_flow.h"
#include "heddle/frontend/ptx/machine/register_allocation.h"
#include "heddle/frontend/ptx/machine/schedule/dependence_graph.h"
#include "heddle/frontend/ptx/machine/schedule/register_pressure.h"

namespace heddle::ptx {

namespace {

std::size_t count_instructions(const machine_function& f) {
  std::size_t instructions = 0;
  for (const machine_block& b : f.blocks) instructions += b.code.size();
  return instructions;
}

}  // namespace

/// What all plans of a function share, and the state of the one that is made.
struct schedule_planner::parts {
 public:
  parts(const machine_function& f, const register_rules& rules)
      : f_(f),
        units_(f.registers),
        live_(live_segments(f, units_)),
        graphs_(f.registers, units_, live_),
        pressure_(f.registers, units_),
        words_(words_before()) {
    find_regions();
    // Latencies are worth some registers beyond what the written order needs, and those up to the next multiple of
    // eight, or to 32 where these cost no occupancy: ptxas stays within 32 on the chips that hold all their warps with
    // so many. Of them go those that hold no value of the program, and some for alignment, banks and rest.
    const int base = *std::max_element(words_.begin(), words_.end());
    const int reserved = rules.beyond + (rules.stack_pointer ? 1 : 0), most = static_cast<int>(rules.limit);
    const int level = std::max((base + reserved + 2 + 7) / 8 * 8, static_cast<int>(std::min(rules.free_of_cost, 32u)));
    natural_target_ =
        std::max(std::min(level, most) - reserved - slack, std::min(base + 8 + base / 8, most - 8 - reserved));
    worthwhile_ = base + 6 < natural_target_ || base + 12 < most;
  }

  schedule_plan plan(int words, const schedule_freedom& freedom) {
    reach_ = std::min(freedom.reach, schedule_window);
    address_wait_ = freedom.needed_first ? longest_address_wait : 0;
    target_ = words > 0 ? words : natural_target_;
    schedule_plan plan;
    plan.order.resize(count_instructions(f_));
    std::iota(plan.order.begin(), plan.order.end(), 0u);
    if (!worthwhile_ && words <= 0) return plan;
    plan.words = target_;
    for (region& r : regions_) plan.cycles += r.weight * static_cast<double>(order_region(r, plan.order));
    return plan;
  }

 private:
  static constexpr std::uint32_t none = 0xffffffffu;
  static constexpr int slack = 8;
  static constexpr unsigned lead = 60, longest_wait = 20, longest_address_wait = 6;  // cycles

  /// Instructions [begin, end) of a block may change places.
  struct region {
    const machine_block* block;
    std::uint32_t position;  // of the block in the function
    std::size_t begin, end;
    double weight;                            // runs of the block
    std::unique_ptr<dependence_graph> graph;  // of a small function: made once
  };

  struct state {
    std::uint64_t ready = 0;      // earliest cycle
    std::uint32_t waits = 0;      // predecessors not taken yet
    std::uint32_t constants = 0;  // of these, those that only fetch a constant
  };

  void find_regions() {
    flow_graph flow;
    for (const machine_block& b : f_.blocks) flow.push_back(b.successors);
    const std::vector<unsigned> depth = loop_depths(flow, 0);
    std::uint32_t position = 0;
    for (std::size_t k = 0; k < f_.blocks.size(); ++k) {
      const machine_block& b = f_.blocks[k];
      // What is measured stays between its barriers.
      const bool measures = std::any_of(b.code.begin(), b.code.end(), reads_clock);
      double weight = 1;
      for (unsigned n = std::min(depth[k], 6u); n != 0; --n) weight *= 10;
      std::size_t begin = 0;
      for (std::size_t at = 0; at <= b.code.size(); ++at) {
        const bool cut = at - begin == longest_region, ends = at == b.code.size() || stays_in_place(b.code[at]) ||
                                                              (measures && is_block_barrier(b.code[at]));
        if (!cut && !ends) continue;
        if (at - begin > 2) regions_.push_back({&b, position, begin, at, weight, nullptr});
        begin = ends ? at + 1 : at;
      }
      position += static_cast<std::uint32_t>(b.code.size());
    }
    keeps_graphs_ = position <= longest_region;
  }

  /// Words that are live before each instruction, and at the end.
  [[nodiscard]] std::vector<int> words_before() const {
    std::vector<int> words(2 * count_instructions(f_) + 3, 0);
    for (std::uint32_t r = 0; r < f_.registers.size(); ++r)
      for (unsigned k = 0; k < f_.registers[r].words; ++k)
        for (const segment& s : live_[units_.of(r, k)]) {
          ++words[s.begin];
          --words[s.end];
        }
    for (std::size_t k = 1; k < words.size(); ++k) words[k] += words[k - 1];
    return words;
  }

  /// True if a successor of `k` waits for nothing but constants.
  [[nodiscard]] bool is_awaited(std::uint32_t k) const {
    const auto successors = graph_->successors(k);
    return successors.empty() || std::any_of(successors.begin(), successors.end(), [&](const auto& s) {
             return states_[s.to].waits == states_[s.to].constants;
           });
  }

  /// The next of the instructions that wait for none, of those before place `end`.
  [[nodiscard]] std::uint32_t choose(std::size_t end, std::uint64_t now) const {
    std::uint32_t best = none, later = none, cheapest = none;
    int least = 1 << 20;
    // The longest path begins with one that waits for none.
    std::uint64_t longest = 0;
    for (const std::uint32_t k : waiting_for_none_) {
      if (k >= end) break;
      longest = std::max(longest, graph_->nodes[k].path);
    }
    for (const std::uint32_t k : waiting_for_none_) {
      if (k >= end) break;
      const dependence_graph::node& n = graph_->nodes[k];
      int words, predicates;
      pressure_.change(k, words, predicates);
      const bool fits = (words <= 0 || pressure_.words() + through_ + words <= target_) &&
                        (predicates <= 0 || pressure_.predicates() + predicates <= 5);
      const int cost = words + 4 * std::max(predicates, 0);
      if (cost < least) least = cost, cheapest = k;
      if (!fits || (n.constant && !is_awaited(k))) continue;
      // A value that the critical path does not need soon, such as the address of a store at the end, would occupy a
      // register meanwhile: it is computed when no other instruction can issue for some cycles.
      if (words > 0 && n.path + lead < longest && !n.leads_to_late) {
        if (later == none || n.path > graph_->nodes[later].path) later = k;
        continue;
      }
      // Of loads and what computes their addresses, the one whose result is needed first, even if its address takes
      // some more cycles: the other would occupy a register meanwhile.
      const auto before = [now, this](std::uint32_t a, std::uint32_t b) {
        const dependence_graph::node &x = graph_->nodes[a], &y = graph_->nodes[b];
        const std::uint64_t begin_x = std::max(states_[a].ready, now), begin_y = std::max(states_[b].ready, now);
        const bool loads = x.leads_to_late && y.leads_to_late && x.path != y.path;
        if (loads && std::max(begin_x, begin_y) - std::min(begin_x, begin_y) <= address_wait_) return x.path > y.path;
        return begin_x < begin_y || (begin_x == begin_y && x.path > y.path);
      };
      if (best == none || before(k, best)) best = k;
    }
    if (best != none && later != none && states_[best].ready > now + longest_wait) return later;
    return best != none ? best : later != none ? later : cheapest;
  }

  void take(std::uint32_t k, std::uint64_t now) {
    waiting_for_none_.erase(std::lower_bound(waiting_for_none_.begin(), waiting_for_none_.end(), k));
    const bool constant = graph_->nodes[k].constant;
    for (const auto& s : graph_->successors(k)) {
      state& next = states_[s.to];
      if (constant) --next.constants;
      next.ready = std::max(next.ready, now + s.latency);
      if (--next.waits == 0)
        waiting_for_none_.insert(std::lower_bound(waiting_for_none_.begin(), waiting_for_none_.end(), s.to), s.to);
    }
    pressure_.take(k);
  }

  /// Orders a region. Cycles from the first to the last instruction, if nothing else delays them.
  std::uint64_t order_region(region& r, std::vector<std::uint32_t>& order) {
    if (r.graph == nullptr)
      r.graph = std::make_unique<dependence_graph>(graphs_.build(r.block->code, r.begin, r.end, r.position));
    graph_ = r.graph.get();
    pressure_.begin(*graph_);
    // Words that are live across the region without being touched in it.
    const auto start = static_cast<std::uint32_t>(r.position + r.begin);
    through_ = words_[2 * std::size_t{start}] - pressure_.words();
    const std::size_t count = graph_->nodes.size();
    states_.assign(count, {});
    waiting_for_none_.clear();
    for (std::uint32_t k = 0; k < count; ++k) {
      const dependence_graph::node& n = graph_->nodes[k];
      states_[k].waits = n.waits;
      states_[k].constants = n.constants;
      if (n.waits == 0) waiting_for_none_.push_back(k);
    }
    std::uint64_t now = 0;
    for (std::size_t next = start; next < start + count; ++next) {
      const std::uint32_t k = choose(waiting_for_none_.front() + reach_, now);
      now = std::max(now, states_[k].ready);
      take(k, now);
      ++now;
      order[next] = start + k;
    }
    pressure_.end();
    if (!keeps_graphs_) r.graph = nullptr;
    return now;
  }

  const machine_function& f_;
  const unit_map units_;
  const std::vector<segments> live_;
  graph_builder graphs_;
  register_pressure pressure_;
  const std::vector<int> words_;
  std::vector<region> regions_;
  bool keeps_graphs_ = false, worthwhile_ = false;
  int natural_target_ = 0;

  // The plan that is made, and its region.
  std::size_t reach_ = 0;
  unsigned address_wait_ = 0;  // cycles
  int target_ = 0, through_ = 0;
  const dependence_graph* graph_ = nullptr;
  std::vector<state> states_;
  std::vector<std::uint32_t> waiting_for_none_;  // not taken yet, ascending
};

schedule_planner::schedule_planner(const machine_function& f, const register_rules& rules)
    : parts_(std::make_unique<parts>(f, rules)) {}

schedule_planner::~schedule_planner() = default;

schedule_plan schedule_planner::plan(int words, const schedule_freedom& freedom) {
  return parts_->plan(words, freedom);
}

machine_function in_order(const machine_function& written, const schedule_plan& plan) {
  machine_function f = written;
  std::uint32_t first = 0;  // place of the block's first instruction
  for (std::size_t b = 0; b < f.blocks.size(); ++b) {
    std::vector<machine_instruction>& code = f.blocks[b].code;
    for (std::size_t k = 0; k < code.size(); ++k) code[k] = written.blocks[b].code[plan.order[first + k] - first];
    first += static_cast<std::uint32_t>(code.size());
  }
  return f;
}

}  // namespace heddle::ptx
