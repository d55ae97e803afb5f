// SPDX-License-Identifier: MIT
#include <algorithm>
#include <numeric>

#include "heddle/frontend/ptx/hir/control_flow.h"
#include "heddle/frontend/ptx/machine/liveness.h"
#include "heddle/frontend/ptx/machine/machine_passes.h"
#include "heddle/frontend/ptx/machine/register_allocation.h"
#include "heddle/frontend/ptx/machine/register_pressure.h"
#include "heddle/isa/op_class.h"

namespace heddle::ptx {

namespace {

using isa::access_kind;
using isa::opcode;
using isa::space;

// An instruction moves at most this far up, which bounds the work in huge blocks.
constexpr std::size_t window = 192;

// A longer stretch without barriers is scheduled in parts, which bounds the memory for its dependences.
constexpr std::size_t longest_region = 8192;

bool reads_clock(const machine_instruction& i) {
  return isa::info(i.base.op).effect == isa::effect_kind::if_clock && has_side_effect(i);
}

/// A barrier of the block, which orders memory accesses only: what else follows it may come before it.
bool is_block_barrier(const machine_instruction& i) {
  return i.base.op == opcode::bar && !i.guarded() && i.pdst[0] == no_register;
}

/// The slow path of a division or root is a branch of the chip's program: its compiler moves nothing across it.
bool stays_in_place(const machine_instruction& i) {
  if (i.base.op == opcode::assist) return true;
  if (is_block_barrier(i)) return false;
  return isa::info(i.base.op).effect == isa::effect_kind::order || reads_clock(i);
}

access_kind access_of(const machine_instruction& i) { return isa::info(i.base.op).access; }

/// Reads or writes memory that others may write (constants and textures are not).
bool is_memory(const machine_instruction& i) {
  const access_kind access = access_of(i);
  return access != access_kind::none && access != access_kind::constant_load && access != access_kind::sample;
}

/// All accesses but loads of constants.
bool keeps_its_side_of_a_barrier(const machine_instruction& i) {
  const access_kind access = access_of(i);
  return (access != access_kind::none && access != access_kind::constant_load) || has_side_effect(i);
}

bool reads_only(const machine_instruction& i) {
  const access_kind access = access_of(i);
  return (access == access_kind::load || access == access_kind::matrix_load) &&
         i.base.cache != isa::cache_op::volatile_;
}

/// A load or a store whose address is its base and offset.
bool is_plain(const machine_instruction& i) {
  const access_kind access = access_of(i);
  return (access == access_kind::load || access == access_kind::store) && i.base.cache != isa::cache_op::volatile_;
}

bool is_copy(const machine_instruction& i) { return access_of(i) == access_kind::copy; }

bool is_surface(const machine_instruction& i) {
  return access_of(i) == access_kind::surface_load || access_of(i) == access_kind::surface_store;
}

unsigned access_bytes(const machine_instruction& i) { return std::max(isa::size_of(i.base.type), 1u); }

/// Whether two memory accesses must keep their order, `a` before `b`.
bool may_meet(const machine_instruction& a, const machine_instruction& b) {
  if (reads_only(a) && reads_only(b)) return false;
  if (is_copy(b)) return !reads_only(a) || a.base.mem_space != space::global;
  if (is_copy(a)) return !reads_only(b) && b.base.mem_space != space::shared;
  if (a.base.cache == isa::cache_op::nc || b.base.cache == isa::cache_op::nc) return false;
  if (a.base.mem_space != b.base.mem_space && a.base.mem_space != space::generic && b.base.mem_space != space::generic)
    return false;
  if (is_surface(a) || is_surface(b)) return a.base.mem_space != space::shared && b.base.mem_space != space::shared;
  const virtual_operand &x = a.src[0], &y = b.src[0];
  if (!is_plain(a) || !is_plain(b) || a.base.mem_space != b.base.mem_space || x.reg != y.reg || x.part != y.part ||
      x.kind != y.kind || x.is_immediate())
    return true;
  // The same base register: a redefinition in between is a dependence of its own.
  return a.base.offset < b.base.offset + access_bytes(b) && b.base.offset < a.base.offset + access_bytes(a);
}

/// Cycles from issue to a dependent instruction, roughly: they rank, they do not time.
unsigned latency_of(const machine_instruction& i) {
  const isa::op_class timing = isa::info(i.base.op).timing;
  const bool on_chip = access_of(i) == access_kind::constant_load || i.base.mem_space == space::shared;
  return timing == isa::op_class::load_store && on_chip ? 25 : isa::info(timing).schedule_latency;
}

/// Whether other instructions are issued while the result comes.
bool has_late_result(const machine_instruction& i) { return i.base.dst_count > 0 && latency_of(i) > 10; }

bool live_at(const segments& s, std::uint32_t position) {
  auto it =
      std::upper_bound(s.begin(), s.end(), position, [](std::uint32_t at, const segment& t) { return at < t.end; });
  return it != s.end() && it->begin <= position;
}

class scheduler {
 public:
  scheduler(const written_function& f, const register_rules& rules, int target, const schedule_freedom& freedom)
      : reach_(std::min(freedom.reach, window)),
        address_wait_(freedom.needed_first ? longest_address_wait : 0),
        f_(f.code),
        units_(f.units),
        live_(f.live),
        pressure_(f.code, f.units),
        last_write_(units_.count(), none),
        readers_(units_.count()) {
    // Latencies are worth some registers beyond what the written order needs, and those up to the next multiple of
    // eight, or to 32 where these cost no occupancy: ptxas stays within 32 on the chips that hold all their warps with
    // so many. Of them go those that hold no value of the program, and some for alignment, banks and rest.
    words_ = words_before();
    const int base = *std::max_element(words_.begin(), words_.end());
    const int reserved = rules.beyond + (rules.stack_pointer ? 1 : 0), most = static_cast<int>(rules.limit);
    const int level = std::max((base + reserved + 2 + 7) / 8 * 8, static_cast<int>(std::min(rules.free_of_cost, 32u)));
    target_ = std::max(std::min(level, most) - reserved - slack, std::min(base + 8 + base / 8, most - 8 - reserved));
    worthwhile_ = base + 6 < target_ || base + 12 < most;
    if (target > 0) target_ = target, worthwhile_ = true;
  }

  schedule_plan run() {
    schedule_plan plan;
    std::size_t instructions = 0;
    for (const machine_block& b : f_.blocks) instructions += b.code.size();
    plan.order.resize(instructions);
    std::iota(plan.order.begin(), plan.order.end(), 0u);
    if (!worthwhile_) return plan;
    flow_graph graph;
    for (const machine_block& b : f_.blocks) graph.push_back(b.successors);
    const std::vector<unsigned> depth = loop_depths(graph, 0);
    plan.words = target_;
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
        if (at - begin > 2)
          plan.cycles += weight * static_cast<double>(region(b.code, begin, at, position, plan.order));
        begin = ends ? at + 1 : at;
      }
      position += static_cast<std::uint32_t>(b.code.size());
    }
    return plan;
  }

 private:
  static constexpr std::uint32_t none = 0xffffffffu;
  static constexpr int slack = 8;
  static constexpr unsigned lead = 60, longest_wait = 20, longest_address_wait = 6;  // cycles

  struct node {
    std::vector<std::pair<std::uint32_t, unsigned>> successors;  // node, latency
    std::uint32_t waits = 0;                                     // predecessors not taken yet
    std::uint32_t constants = 0;                                 // of these, those that only fetch a constant
    std::uint64_t ready = 0;                                     // earliest cycle
    std::uint64_t path = 0;                                      // longest path to the end of the region
    bool taken = false;
    bool leads_to_late = false;  // its result comes late, or that of one that it is needed for
    bool constant = false;       // fetches a constant: issues once a successor waits for nothing else
  };

  /// Words that are live before each instruction, and at the end.
  [[nodiscard]] std::vector<int> words_before() const {
    std::size_t instructions = 0;
    for (const machine_block& b : f_.blocks) instructions += b.code.size();
    std::vector<int> words(2 * instructions + 3, 0);
    for (std::uint32_t r = 0; r < f_.registers.size(); ++r)
      for (unsigned k = 0; k < f_.registers[r].words; ++k)
        for (const segment& s : live_[units_.of(r, k)]) {
          ++words[s.begin];
          --words[s.end];
        }
    for (std::size_t k = 1; k < words.size(); ++k) words[k] += words[k - 1];
    return words;
  }

  void connect(std::uint32_t from, std::uint32_t to, unsigned latency) {
    if (from == to) return;
    nodes_[from].successors.push_back({to, latency});
    ++nodes_[to].waits;
    if (nodes_[from].constant) ++nodes_[to].constants;
  }

  void build(const std::vector<machine_instruction>& code, std::size_t begin, std::size_t end) {
    const std::uint32_t n = static_cast<std::uint32_t>(end - begin);
    nodes_.assign(n, {});
    touched_.clear();
    pressure_.begin_region();
    std::vector<std::uint32_t> memory, before_barrier;
    std::uint32_t barrier = none, one_before = none;
    for (std::uint32_t k = 0; k < n; ++k) {
      const machine_instruction& i = code[begin + k];
      nodes_[k].constant = i.base.op == opcode::mov && !i.src[0].is_reg() && i.guard.reg == no_register;
      for_each_use(i, f_.registers, units_, [&](std::uint32_t u) {
        touched_.push_back(u);
        pressure_.expect_use(u);
        if (last_write_[u] != none) connect(last_write_[u], k, latency_of(code[begin + last_write_[u]]));
        readers_[u].push_back(k);
      });
      for_each_definition(i, units_, [&](std::uint32_t u) {
        touched_.push_back(u);
        pressure_.expect_definition(u);
        if (last_write_[u] != none) connect(last_write_[u], k, 1);
        for (std::uint32_t r : readers_[u]) connect(r, k, 0);
        readers_[u].clear();
        last_write_[u] = k;
      });
      pressure_.end_instruction();
      if (one_before != none) connect(one_before, k, 1);  // across one barrier at most
      if (keeps_its_side_of_a_barrier(i) && barrier != none) connect(barrier, k, 1);
      if (!is_block_barrier(i)) {
        before_barrier.push_back(k);
      } else {
        for (const std::uint32_t j : before_barrier) connect(j, k, 1);
        before_barrier.clear();
        memory.clear();
        one_before = barrier;
        barrier = k;
      }
      if (!is_memory(i)) continue;
      for (std::size_t j = memory.size(); j-- > 0 && k - memory[j] <= window;)
        if (may_meet(code[begin + memory[j]], i)) connect(memory[j], k, 1);
      memory.push_back(k);
    }
    for (std::uint32_t k = n; k-- > 0;) {
      node& now = nodes_[k];
      now.path = latency_of(code[begin + k]);
      now.leads_to_late = has_late_result(code[begin + k]);
      for (const auto& s : now.successors) {
        now.path = std::max(now.path, s.second + nodes_[s.first].path);
        now.leads_to_late =
            now.leads_to_late ||
            (s.second > 1 && nodes_[s.first].leads_to_late);  // after a cycle come those that do not need its result
      }
    }
  }

  void start_pressure(std::uint32_t first, std::uint32_t last) {
    std::sort(touched_.begin(), touched_.end());
    touched_.erase(std::unique(touched_.begin(), touched_.end()), touched_.end());
    for (std::uint32_t u : touched_) {
      if (live_at(live_[u], 2 * first)) pressure_.enter(u);
      if (live_at(live_[u], 2 * last)) pressure_.stays_live(u);
    }
  }

  /// True if a successor of `n` waits for nothing but constants.
  [[nodiscard]] bool is_awaited(const node& n) const {
    if (n.successors.empty()) return true;
    return std::any_of(n.successors.begin(), n.successors.end(),
                       [&](const auto& s) { return nodes_[s.first].waits == nodes_[s.first].constants; });
  }

  std::uint32_t choose(std::size_t first, std::uint64_t now) {
    std::uint32_t best = none, later = none, cheapest = none;
    int least = 1 << 20;
    const std::size_t end = std::min(first + reach_, nodes_.size());
    std::uint64_t longest = 0;
    for (std::size_t k = first; k < end; ++k)
      if (!nodes_[k].taken) longest = std::max(longest, nodes_[k].path);
    for (std::size_t k = first; k < end; ++k) {
      const node& n = nodes_[k];
      if (n.taken || n.waits > 0) continue;
      int words, predicates;
      pressure_.change(k, words, predicates);
      const bool fits = (words <= 0 || pressure_.words() + through_ + words <= target_) &&
                        (predicates <= 0 || pressure_.predicates() + predicates <= 5);
      const int cost = words + 4 * std::max(predicates, 0);
      if (cost < least) least = cost, cheapest = static_cast<std::uint32_t>(k);
      if (!fits || (n.constant && !is_awaited(n))) continue;
      // A value that the critical path does not need soon, such as the address of a store at the end, would occupy a
      // register meanwhile: it is computed when no other instruction can issue for some cycles.
      if (words > 0 && n.path + lead < longest && !n.leads_to_late) {
        if (later == none || n.path > nodes_[later].path) later = static_cast<std::uint32_t>(k);
        continue;
      }
      // Of loads and what computes their addresses, the one whose result is needed first, even if its address takes
      // some more cycles: the other would occupy a register meanwhile.
      const auto before = [now, this](const node& x, const node& y) {
        const std::uint64_t begin_x = std::max(x.ready, now), begin_y = std::max(y.ready, now);
        const bool loads = x.leads_to_late && y.leads_to_late && x.path != y.path;
        if (loads && std::max(begin_x, begin_y) - std::min(begin_x, begin_y) <= address_wait_) return x.path > y.path;
        return begin_x < begin_y || (begin_x == begin_y && x.path > y.path);
      };
      if (best == none || before(n, nodes_[best])) best = static_cast<std::uint32_t>(k);
    }
    if (best != none && later != none && nodes_[best].ready > now + longest_wait) return later;
    return best != none ? best : later != none ? later : cheapest;
  }

  /// Orders a region of the block that begins at `position`. Cycles from the first to the last instruction, if nothing
  /// else delays them.
  std::uint64_t region(const std::vector<machine_instruction>& code, std::size_t begin, std::size_t end,
                       std::uint32_t position, std::vector<std::uint32_t>& order) {
    build(code, begin, end);
    start_pressure(position + static_cast<std::uint32_t>(begin), position + static_cast<std::uint32_t>(end));
    // Words that are live across the region without being touched in it.
    through_ = words_[2 * (position + begin)] - pressure_.words();
    const std::uint32_t start = position + static_cast<std::uint32_t>(begin);
    std::uint64_t now = 0;
    std::size_t first = 0;
    for (std::size_t next = start; next < position + end; ++next) {
      while (nodes_[first].taken) ++first;
      const std::uint32_t k = choose(first, now);
      node& n = nodes_[k];
      n.taken = true;
      now = std::max(now, n.ready) + 1;
      for (const auto& s : n.successors) {
        --nodes_[s.first].waits;
        if (n.constant) --nodes_[s.first].constants;
        nodes_[s.first].ready = std::max(nodes_[s.first].ready, now - 1 + s.second);
      }
      pressure_.take(code[begin + k]);
      order[next] = start + k;
    }
    pressure_.leave_all(touched_);
    for (std::uint32_t u : touched_) {
      last_write_[u] = none;
      readers_[u].clear();
    }
    return now;
  }

  const std::size_t reach_;
  const unsigned address_wait_;  // cycles
  const machine_function& f_;
  const unit_map& units_;
  const std::vector<segments>& live_;
  register_pressure pressure_;
  std::vector<std::uint32_t> last_write_;
  std::vector<std::vector<std::uint32_t>> readers_;
  std::vector<node> nodes_;
  std::vector<std::uint32_t> touched_;
  std::vector<int> words_;
  int through_ = 0;
  int target_ = 0;
  bool worthwhile_ = false;
};

}  // namespace

schedule_plan plan_schedule(const written_function& f, const register_rules& rules, int words,
                            const schedule_freedom& freedom) {
  return scheduler(f, rules, words, freedom).run();
}

}  // namespace heddle::ptx
