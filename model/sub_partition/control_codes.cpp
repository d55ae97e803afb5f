// SPDX-License-Identifier: MIT
#include "sub_partition/control_codes.h"

#include <algorithm>
#include <array>
#include <bitset>

namespace heddle {

namespace {

constexpr unsigned longest_stall = 15;   // four bits of the control code: Jia et al. 2018, section 2.1
constexpr unsigned register_count = 256, name_count = register_count + 8;   // registers, then predicates

template <class F>
void each_name(const decoded_instruction& d, F&& f) {
  for (unsigned k = 0; k < d.depends_count; ++k) f(d.depends[k]);
  for (unsigned p = d.predicates; p != 0; p &= p - 1) f(register_count + static_cast<unsigned>(__builtin_ctz(p)));
}

template <class F>
void each_result(const decoded_instruction& d, F&& f) {
  const isa::instruction& i = *d.instruction;
  if (i.dst != isa::rz)
    for (unsigned k = 0; k < i.dst_count; ++k) f(i.dst + k);
  for (unsigned p = d.written_predicates; p != 0; p &= p - 1) f(register_count + static_cast<unsigned>(__builtin_ctz(p)));
}

bool has_result(const decoded_instruction& d) { return d.instruction->dst != isa::rz || d.written_predicates != 0; }
bool needs_counter(const decoded_instruction& d) {
  return has_result(d) && (d.kind == issue_kind::memory || d.latency_cycles == 0 || d.latency_cycles + d.guard_cycles > longest_stall);
}
bool ends_block(const decoded_instruction& d) { return d.kind == issue_kind::branch || d.kind == issue_kind::exit; }
bool falls_through(const decoded_instruction& d) { return !ends_block(d) || d.instruction->guard.reg != isa::pt || d.instruction->guard.negate; }

struct block {
  std::size_t first, last;   // last: one behind
  std::vector<std::size_t> next;
};

std::vector<block> blocks_of(const decoded_program& p) {
  std::vector<bool> leads(p.code.size() + 1, false);
  leads[0] = true;
  for (std::size_t i = 0; i < p.code.size(); ++i) {
    if (!ends_block(p.code[i])) continue;
    leads[i + 1] = true;
    if (p.code[i].kind == issue_kind::branch && p.code[i].instruction->target < p.code.size()) leads[p.code[i].instruction->target] = true;
  }
  std::vector<block> blocks;
  std::vector<std::size_t> at(p.code.size() + 1, 0);
  for (std::size_t i = 0; i < p.code.size(); ++i) {
    if (leads[i]) blocks.push_back({i, i, {}});
    at[i] = blocks.size() - 1;
    blocks.back().last = i + 1;
  }
  for (std::size_t b = 0; b < blocks.size(); ++b) {
    const decoded_instruction& end = p.code[blocks[b].last - 1];
    if (end.kind == issue_kind::branch && end.instruction->target < p.code.size()) blocks[b].next.push_back(at[end.instruction->target]);
    if (falls_through(end) && blocks[b].last < p.code.size()) blocks[b].next.push_back(b + 1);
  }
  return blocks;
}

// The counters of a block whose results nobody has waited for yet.
class open_counters {
 public:
  open_counters() { counter_of_.fill(no_counter); }
  /// Whether `d` waits for any of them; it then has waited for all that they stand for.
  bool waited_for(const decoded_instruction& d) {
    unsigned waits = 0;
    each_name(d, [&](unsigned n) {
      if (counter_of_[n] != no_counter) waits |= 1u << counter_of_[n];
    });
    if (waits == 0) return false;
    for (std::uint8_t& c : counter_of_)
      if (c != no_counter && (waits >> c & 1) != 0) c = no_counter;
    open_ &= ~waits;
    return true;
  }
  void raise(const decoded_instruction& d) {
    each_result(d, [&](unsigned n) { counter_of_[n] = d.counter; });
    open_ |= 1u << d.counter;
  }
  bool is_open(unsigned counter) const { return (open_ >> counter & 1) != 0; }
  unsigned free() const { return result_counters - static_cast<unsigned>(__builtin_popcount(open_)); }

 private:
  std::array<std::uint8_t, name_count> counter_of_;   // for each register and predicate
  unsigned open_ = 0;                                 // bit per counter
};

// How many instructions from `first` on need a counter before one waits for a result of theirs, or for one that is open.
unsigned needed_together(const decoded_program& p, std::size_t first, std::size_t last, open_counters open) {
  unsigned needed = 0;
  for (std::size_t i = first; i < last && (i == first || !open.waited_for(p.code[i])); ++i) {
    if (!needs_counter(p.code[i])) continue;
    ++needed;
    decoded_instruction any = p.code[i];
    any.counter = 0;
    open.raise(any);
  }
  return needed;
}

// Counters are given in turn, but for those whose results are not waited for yet. Neighbours share one where there are too few.
void assign_counters(decoded_program& p, const std::vector<block>& blocks) {
  for (const block& b : blocks) {
    open_counters open;
    unsigned counter = result_counters - 1, left = 0;   // the last one given, and how many more may share it
    unsigned together = 0;                              // how many need one before the next wait
    for (std::size_t i = b.first; i < b.last; ++i) {
      decoded_instruction& d = p.code[i];
      if (open.waited_for(d)) together = left = 0;
      if (!needs_counter(d)) continue;
      if (together == 0) together = needed_together(p, i, b.last, open);
      if (left == 0 && open.free() != 0) {
        left = (together + open.free() - 1) / open.free();
        do counter = (counter + 1) % result_counters;
        while (open.is_open(counter));
      }
      d.counter = static_cast<std::uint8_t>(counter);
      open.raise(d);
      --together;
      if (left != 0) --left;
    }
  }
}

struct raised_counters {
  std::array<std::uint8_t, name_count> results{};   // for each register and predicate, the counters that may be raised for its value
  std::bitset<register_count> unread;               // registers that a memory instruction may not have read yet
};

// Going over a block: an instruction that waits knows that what else these counters stood for has come, too.
void follow(decoded_program& p, const block& b, raised_counters& raised) {
  for (std::size_t i = b.first; i < b.last; ++i) {
    decoded_instruction& d = p.code[i];
    unsigned waits = 0;
    each_name(d, [&](unsigned n) { waits |= raised.results[n]; });
    if (waits != 0)
      for (std::uint8_t& r : raised.results) r &= static_cast<std::uint8_t>(~waits);
    if (raised.unread.any()) {
      each_result(d, [&](unsigned n) {
        if (n < register_count && raised.unread[n]) waits |= 1u << read_counter;
      });
      if ((waits >> read_counter & 1) != 0) raised.unread.reset();
    }
    d.waits = static_cast<std::uint8_t>(waits);
    if (d.source_read_cycles != 0)
      for (const isa::operand& o : d.instruction->src)
        if (o.is_reg() && o.reg != isa::rz)
          for (unsigned k = 0; k < o.count; ++k) raised.unread.set(o.reg + k);
    if (d.counter == no_counter) continue;
    each_result(d, [&](unsigned n) {
      raised.results[n] = static_cast<std::uint8_t>(1u << d.counter);
      if (n < register_count) raised.unread.reset(n);   // the result comes behind the read
    });
  }
}

void assign_waits(decoded_program& p, const std::vector<block>& blocks) {
  std::vector<raised_counters> before(blocks.size(), raised_counters{});
  std::vector<bool> due(blocks.size(), true);
  for (bool changed = true; changed;) {
    changed = false;
    for (std::size_t b = 0; b < blocks.size(); ++b) {
      if (!due[b]) continue;
      due[b] = false;
      raised_counters raised = before[b];
      follow(p, blocks[b], raised);
      for (const std::size_t n : blocks[b].next) {
        raised_counters joined = before[n];
        for (unsigned k = 0; k < name_count; ++k) joined.results[k] |= raised.results[k];
        joined.unread |= raised.unread;
        if (joined.results == before[n].results && joined.unread == before[n].unread) continue;
        before[n] = joined;
        due[n] = changed = true;
      }
    }
  }
}

// Which two neighbours the pairing rule joins, by their units alone; the issue stage looks at the rest.
bool pairing_allows(const decoded_instruction& first, const decoded_instruction& second, const sub_partition_parameters& parameters) {
  if (parameters.issue_width < 2 || parameters.dual_issue == "none") return false;
  if (first.kind != issue_kind::arithmetic && first.kind != issue_kind::memory) return false;
  if (second.kind != issue_kind::arithmetic && second.kind != issue_kind::memory) return false;
  if (first.unit == second.unit && std::max(first.shared_use, second.shared_use) == lane_use::none) return false;
  return parameters.dual_issue != "maxwell" || first.partner || second.partner;
}

// Along the straight line each instruction issues as early as its predecessors' results allow; the stall counts are the distances.
// Results of fixed latency are forwarded, but not to memory instructions, which wait `memory_operands` cycles longer.
void assign_stalls(decoded_program& p, const sub_partition_parameters& parameters, unsigned memory_operands) {
  std::array<std::uint64_t, name_count> ready{};
  std::array<std::uint64_t, 8> guard_ready{};   // predicates as guards
  std::uint64_t cycle = 0;
  bool paired = false;   // the last instruction is the second of a pair
  for (std::size_t i = 0; i < p.code.size(); ++i) {
    decoded_instruction& d = p.code[i];
    if (i != 0) {
      decoded_instruction& last = p.code[i - 1];
      std::uint64_t operands = 0;
      each_name(d, [&](unsigned n) { operands = std::max(operands, ready[n]); });
      for (unsigned g = d.guards; g != 0; g &= g - 1) operands = std::max(operands, guard_ready[static_cast<unsigned>(__builtin_ctz(g))]);
      if (memory_operands != 0 && d.kind == issue_kind::memory)
        for (const isa::operand& o : d.instruction->src)
          if (o.is_reg() && o.reg != isa::rz)
            for (unsigned k = 0; k < o.count; ++k)
              if (const std::uint64_t result = ready[o.reg + k]; result != 0)
                operands = std::max(operands, std::min(result + memory_operands, cycle + longest_stall));
      paired = !paired && operands <= cycle && pairing_allows(last, d, parameters);
      const std::uint64_t earliest = std::max(operands, cycle + !paired);
      last.stall = static_cast<std::uint8_t>(earliest - cycle);
      cycle = earliest;
    }
    if (d.counter != no_counter) continue;
    each_result(d, [&](unsigned n) { ready[n] = cycle + d.latency_cycles; });
    for (unsigned p = d.written_predicates; p != 0; p &= p - 1)
      guard_ready[static_cast<unsigned>(__builtin_ctz(p))] = cycle + d.latency_cycles + d.guard_cycles;
  }
}

}  // namespace

void assign_control_codes(decoded_program& program, const sub_partition_parameters& parameters, unsigned memory_operands) {
  if (program.code.empty()) return;
  const std::vector<block> blocks = blocks_of(program);
  assign_counters(program, blocks);
  assign_waits(program, blocks);
  assign_stalls(program, parameters, memory_operands);
}

}  // namespace heddle
