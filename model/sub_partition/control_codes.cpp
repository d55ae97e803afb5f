// SPDX-License-Identifier: MIT
#include "sub_partition/control_codes.h"

#include <algorithm>
#include <array>
#include <bitset>
#include <cstddef>
#include <vector>

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

// Registers that the instruction reads.
template <class F>
void each_source(const decoded_instruction& d, F&& f) {
  for (const isa::operand& o : d.instruction->src)
    if (o.is_reg() && o.reg != isa::rz)
      for (unsigned k = 0; k < o.count; ++k) f(o.reg + k);
}

bool has_result(const decoded_instruction& d) { return d.instruction->dst != isa::rz || d.written_predicates != 0; }
bool needs_counter(const decoded_instruction& d) {
  return has_result(d) && (d.result != producer::fixed || d.latency_cycles > longest_stall);
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

// Counters that may be raised for each register and predicate, bit per counter.
struct raised_counters {
  std::array<std::uint8_t, name_count> results{};      // until its value is there
  std::array<std::uint8_t, register_count> unread{};   // until memory instructions have read it

  bool operator==(const raised_counters& o) const { return results == o.results && unread == o.unread; }
  unsigned all() const {
    unsigned counters = 0;
    for (const unsigned r : results) counters |= r;
    for (const unsigned r : unread) counters |= r;
    return counters;
  }
  void join(const raised_counters& o) {
    for (unsigned n = 0; n < name_count; ++n) results[n] |= o.results[n];
    for (unsigned n = 0; n < register_count; ++n) unread[n] |= o.unread[n];
  }
  unsigned waited_for_by(const decoded_instruction& d) const {
    unsigned counters = 0;
    each_name(d, [&](unsigned n) { counters |= results[n]; });
    each_result(d, [&](unsigned n) {
      if (n < register_count) counters |= unread[n];
    });
    return counters;
  }
  // Somebody has waited for these: what else they stood for has come, too.
  void lower(unsigned counters) {
    if (counters == 0) return;
    for (std::uint8_t& r : results) r &= static_cast<std::uint8_t>(~counters);
    for (std::uint8_t& r : unread) r &= static_cast<std::uint8_t>(~counters);
  }
  void raise(const decoded_instruction& d) {
    if (d.read_counter != no_counter) each_source(d, [&](unsigned n) { unread[n] |= static_cast<std::uint8_t>(1u << d.read_counter); });
    if (d.counter == no_counter) return;
    each_result(d, [&](unsigned n) {
      results[n] = static_cast<std::uint8_t>(1u << d.counter);
      if (n < register_count) unread[n] = 0;   // the result comes behind the read
    });
  }
};

// Writes what each instruction waits for. Returns what may be raised in front of each block.
std::vector<raised_counters> assign_waits(decoded_program& p, const std::vector<block>& blocks) {
  std::vector<raised_counters> before(blocks.size());
  std::vector<bool> due(blocks.size(), true);
  for (bool changed = true; changed;) {
    changed = false;
    for (std::size_t b = 0; b < blocks.size(); ++b) {
      if (!due[b]) continue;
      due[b] = false;
      raised_counters raised = before[b];
      for (std::size_t i = blocks[b].first; i < blocks[b].last; ++i) {
        decoded_instruction& d = p.code[i];
        d.waits = static_cast<std::uint8_t>(raised.waited_for_by(d));
        raised.lower(d.waits);
        raised.raise(d);
      }
      for (const std::size_t n : blocks[b].next) {
        raised_counters joined = before[n];
        joined.join(raised);
        if (joined == before[n]) continue;
        before[n] = joined;
        due[n] = changed = true;
      }
    }
  }
  return before;
}

// Of each instruction, whether a counter must keep others from overwriting its sources before it has read them: a memory instruction's,
// unless nobody writes them behind it, or not before its result, which comes behind the read, has been waited for.
std::vector<bool> guarded_reads(const decoded_program& p, const std::vector<block>& blocks) {
  const std::size_t count = p.code.size();
  std::vector<std::size_t> back(count + 1, count);   // where a jump from here or farther on may lead
  std::array<std::size_t, register_count> written{};   // behind the last instruction that writes the register
  for (std::size_t i = count; i-- > 0;) {
    back[i] = std::min<std::size_t>(back[i + 1], p.code[i].kind == issue_kind::branch ? p.code[i].instruction->target : count);
    each_result(p.code[i], [&](unsigned n) {
      if (n < register_count && written[n] == 0) written[n] = i + 1;
    });
  }
  std::vector<bool> guarded(count, false);
  for (const block& b : blocks) {
    for (std::size_t i = b.first; i < b.last; ++i) {
      if (p.code[i].source_read_cycles == 0) continue;
      std::bitset<name_count> sources, results;
      each_source(p.code[i], [&](unsigned n) { sources.set(n); });
      each_result(p.code[i], [&](unsigned n) { results.set(n), sources.reset(n); });
      bool waited = false, overwritten = false;
      for (std::size_t k = i + 1; k < b.last && !waited && !overwritten; ++k) {
        each_name(p.code[k], [&](unsigned n) { waited |= results[n]; });
        each_result(p.code[k], [&](unsigned n) { overwritten |= sources[n]; });
      }
      std::size_t first = i;   // from here on the program may go on behind the block
      while (back[first] < first) first = back[first];
      if (!overwritten)
        for (unsigned n = 0; n < register_count; ++n) overwritten |= sources[n] && written[n] > first;
      guarded[i] = overwritten && !waited;
    }
  }
  return guarded;
}

// Deals the counters, in one block after the other. Whoever waits for a counter waits for all that have raised it, the last of them, too: what
// shares one should be of one kind, and issue shortly after the other.
class counter_dealer {
 public:
  counter_dealer(decoded_program& p, std::vector<bool> guarded) : program_(p), guarded_(std::move(guarded)) {}

  // `raised`: counters that may be raised in front of the block.
  void deal(const block& b, const raised_counters& raised) {
    raised_ = raised;
    end_ = b.last;
    groups_ = {};
    reads_ = false;
    for (std::size_t i = b.first; i < b.last; ++i) reads_ = reads_ || guarded_[i];
    for (std::size_t i = b.first; i < b.last; ++i) {
      decoded_instruction& d = program_.code[i];
      const unsigned waits = raised_.waited_for_by(d);
      raised_.lower(waits);
      for (group& g : groups_)
        if ((waits >> g.counter & 1) != 0) g = {};
      d.counter = needs_counter(d) ? of_result(i) : no_counter;
      d.read_counter = guarded_[i] ? read_counter : no_counter;
      raised_.raise(d);
    }
  }

 private:
  // Neighbours that share a counter: those of one kind that come before anybody waits for it, as many as there is room for.
  struct group {
    std::uint8_t counter = no_counter;
    std::size_t room = 0;
  };

  // Reads take about the same time each, in order, and much less than most results: one counter is theirs, which results may have where
  // no others are idle and a block has no reads to guard.
  static constexpr std::uint8_t read_counter = counter_count - 1;

  std::uint8_t of_result(std::size_t i) {
    group& g = groups_[static_cast<std::size_t>(program_.code[i].result)];
    if (g.room == 0) {
      const unsigned all = (1u << counter_count) - 1, others = all & ~(1u << read_counter);
      const unsigned idle = ~raised_.all() & (reads_ ? others : all);
      // All are raised: nothing is left but to share one, if possible with its kind, for the last one dealt is the last to be waited for.
      if (idle == 0) return g.counter != no_counter ? g.counter : last_;
      const std::size_t left = static_cast<std::size_t>(__builtin_popcount(idle));
      g = {take(idle), (before_next_wait(i) + left - 1) / left};
    }
    --g.room;
    return g.counter;
  }

  // The one that has been idle for longest.
  std::uint8_t take(unsigned idle) {
    if (idle == 1u << read_counter) return read_counter;
    do last_ = static_cast<std::uint8_t>((last_ + 1) % read_counter);
    while ((idle >> last_ & 1) == 0);
    return last_;
  }

  // Instructions from `i` on that raise a counter for their results, before the first one that waits for one.
  std::size_t before_next_wait(std::size_t i) const {
    std::bitset<name_count> awaited;
    std::size_t count = 0;
    for (; i < end_; ++i) {
      const decoded_instruction& d = program_.code[i];
      bool waits = raised_.waited_for_by(d) != 0;
      each_name(d, [&](unsigned n) { waits |= awaited[n]; });
      if (waits && count != 0) break;
      if (!needs_counter(d)) continue;
      ++count;
      each_result(d, [&](unsigned n) { awaited.set(n); });
    }
    return count;
  }

  decoded_program& program_;
  std::vector<bool> guarded_;
  raised_counters raised_;
  std::array<group, 3> groups_{};           // by kind of results
  std::size_t end_ = 0;
  bool reads_ = false;                      // the block has reads to guard
  std::uint8_t last_ = read_counter - 1;    // dealt
};

void assign_counters(decoded_program& p, const std::vector<block>& blocks) {
  const std::vector<bool> guarded = guarded_reads(p, blocks);
  std::vector<raised_counters> before(blocks.size());
  // Once as if each block began with all of them idle, and once knowing what the first time leaves raised.
  for (unsigned k = 0; k < 2; ++k) {
    counter_dealer dealer(p, guarded);
    for (std::size_t b = 0; b < blocks.size(); ++b) dealer.deal(blocks[b], before[b]);
    before = assign_waits(p, blocks);
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

// Cycles that lie at least between the issue of two instructions of the straight line: the stall counts between them, and the time for which units
// are held by those before. Units are taken as idle when the first one issues, and nothing else as delayed, for what delays an instruction when it
// runs (other warps, the memory) may delay the first one, too. `enough`: no more is asked for.
unsigned distance(const decoded_program& p, std::size_t first, std::size_t last, unsigned enough) {
  std::array<unsigned, static_cast<std::size_t>(isa::unit::count)> open{};
  unsigned cycle = 0;
  for (std::size_t k = first;; ++k) {
    const decoded_instruction& d = p.code[k];
    unsigned& unit_open = open[static_cast<std::size_t>(d.unit)];
    const bool own_lanes = d.shared_use == lane_use::none;   // others may take lanes that sub-partitions share
    if (k != first) cycle += p.code[k - 1].stall;
    if (k != first && own_lanes) cycle = std::max(cycle, unit_open);
    if (k == last || cycle >= enough) return cycle;
    // Stall counts and latencies begin when the operands are read, a unit is held from the issue on.
    const unsigned held = d.initiation_cycles - std::min<unsigned>(d.initiation_cycles, k == first ? d.bank_conflicts : 0);
    if (own_lanes) unit_open = cycle + held;
  }
}

// Each instruction issues as early as its predecessors' results allow: the stall count of the one before it is what the way from them lacks of
// their latency. A unit that is held needs no stall count, since the issue stage waits for it, but counts as way to those behind.
// Results of fixed latency are forwarded, but not to memory instructions, which wait `memory_operands` cycles longer.
void assign_stalls(decoded_program& p, const sub_partition_parameters& parameters, unsigned memory_operands) {
  std::array<std::size_t, name_count> writer{};   // behind the last instruction without a counter that wrote it; 0: none
  bool paired = false;   // the last instruction is the second of a pair
  for (std::size_t i = 0; i < p.code.size(); ++i) {
    const decoded_instruction& d = p.code[i];
    if (i != 0) {
      decoded_instruction& last = p.code[i - 1];
      unsigned stall = 0;
      const auto wait_for = [&](unsigned n, unsigned longer) {
        if (writer[n] == 0) return;
        const std::size_t by = writer[n] - 1;
        const unsigned latency = p.code[by].latency_cycles + longer;
        const unsigned way = distance(p, by, i - 1, latency);
        if (way < latency) stall = std::max(stall, latency - way);
      };
      each_name(d, [&](unsigned n) { wait_for(n, 0); });
      if (memory_operands != 0 && d.kind == issue_kind::memory) each_source(d, [&](unsigned n) { wait_for(n, memory_operands); });
      paired = !paired && stall == 0 && pairing_allows(last, d, parameters);
      last.stall = static_cast<std::uint8_t>(std::clamp(stall, paired ? 0u : 1u, longest_stall));
    }
    if (d.counter == no_counter) each_result(d, [&](unsigned n) { writer[n] = i + 1; });
  }
}

}  // namespace

void assign_control_codes(decoded_program& program, const sub_partition_parameters& parameters, unsigned memory_operands) {
  if (program.code.empty()) return;
  const std::vector<block> blocks = blocks_of(program);
  assign_counters(program, blocks);
  assign_stalls(program, parameters, memory_operands);
}

}  // namespace heddle
