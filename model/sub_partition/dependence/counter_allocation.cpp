// SPDX-License-Identifier: MIT
#include "heddle/sub_partition/dependence/counter_allocation.h"

#include <algorithm>
#include <array>
#include <bitset>
#include <cstdint>

namespace heddle::control_codes {

namespace {

// Counters that may be raised for each register and predicate, bit per counter.
struct raised_counters {
  std::array<std::uint8_t, name_count> results{};     // until its value is there
  std::array<std::uint8_t, register_count> unread{};  // until memory instructions have read it

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
  // Counters of values that others have by others.
  unsigned beside(const raised_counters& o) const {
    unsigned counters = 0;
    for (unsigned n = 0; n < name_count; ++n) counters |= results[n] & ~static_cast<unsigned>(o.results[n]);
    for (unsigned n = 0; n < register_count; ++n) counters |= unread[n] & ~static_cast<unsigned>(o.unread[n]);
    return counters;
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
  void move(unsigned from, unsigned to) {
    for (std::uint8_t& r : results)
      if ((r >> from & 1) != 0) r = static_cast<std::uint8_t>((r & ~(1u << from)) | 1u << to);
  }
  void raise(const decoded_instruction& d) {
    if (d.read_counter != no_counter)
      each_source(d, [&](unsigned n) { unread[n] |= static_cast<std::uint8_t>(1u << d.read_counter); });
    if (d.counter == no_counter) return;
    each_result(d, [&](unsigned n) {
      results[n] = static_cast<std::uint8_t>(1u << d.counter);
      if (n < register_count) unread[n] = 0;  // the result comes behind the read
    });
  }
};

// What may be raised in front of each block, and behind it.
struct block_states {
  std::vector<raised_counters> before, after;
};

// Writes what each instruction waits for, beside what it is `forced` to.
block_states assign_waits(decoded_program& p, const std::vector<block>& blocks,
                          const std::vector<std::uint8_t>& forced) {
  block_states states{std::vector<raised_counters>(blocks.size()), std::vector<raised_counters>(blocks.size())};
  std::vector<bool> due(blocks.size(), true);
  for (bool changed = true; changed;) {
    changed = false;
    for (std::size_t b = 0; b < blocks.size(); ++b) {
      if (!due[b]) continue;
      due[b] = false;
      raised_counters& raised = states.after[b] = states.before[b];
      for (std::size_t i = blocks[b].first; i < blocks[b].last; ++i) {
        decoded_instruction& d = p.code[i];
        d.waits = static_cast<std::uint8_t>(raised.waited_for_by(d) | forced[i]);
        raised.lower(d.waits);
        raised.raise(d);
      }
      for (const std::size_t n : blocks[b].next) {
        raised_counters joined = states.before[n];
        joined.join(raised);
        if (joined == states.before[n]) continue;
        states.before[n] = joined;
        due[n] = changed = true;
      }
    }
  }
  return states;
}

// A loop that finds a value by one counter when it is entered and by another one in its next turns waits for both in
// each turn, though the turn before may have raised the first one for something else. If so, who enters the loop waits
// for that one, but not for global memory: that would cost more than it saves.
void force_waits_before_loops(const decoded_program& p, const std::vector<block>& blocks, const block_states& states,
                              std::vector<std::uint8_t>& forced) {
  std::vector<raised_counters> turns(blocks.size());  // what may be raised behind a loop's turn
  std::vector<bool> loops(blocks.size(), false);
  for (std::size_t b = 0; b < blocks.size(); ++b)
    for (const std::size_t n : blocks[b].next) {
      if (n > b) continue;
      loops[n] = true;
      turns[n].join(states.after[b]);
    }
  std::bitset<name_count> global;
  for (std::size_t b = 0; b < blocks.size(); ++b) {
    for (std::size_t i = blocks[b].first; i < blocks[b].last; ++i)
      if (const decoded_instruction& d = p.code[i]; d.counter != no_counter)
        each_result(d, [&](unsigned n) { global.set(n, d.result == producer::long_latency); });
    unsigned kept = 0;  // counters that stand for global memory, too
    for (unsigned n = 0; n < name_count; ++n)
      if (global[n]) kept |= states.after[b].results[n];
    for (const std::size_t n : blocks[b].next)
      if (n > b && loops[n])
        forced[blocks[b].last - 1] |=
            static_cast<std::uint8_t>(states.after[b].beside(turns[n]) & turns[n].all() & ~kept);
  }
}

// Of each instruction, whether a counter must keep others from overwriting its sources before it has read them: a
// memory instruction's, unless nobody writes them behind it, or not before its result, which comes behind the read, has
// been waited for.
std::vector<bool> guarded_reads(const decoded_program& p, const std::vector<block>& blocks) {
  const std::size_t count = p.code.size();
  std::vector<std::size_t> back(count + 1, count);    // where a jump from here or farther on may lead
  std::array<std::size_t, register_count> written{};  // behind the last instruction that writes the register
  for (std::size_t i = count; i-- > 0;) {
    back[i] = std::min<std::size_t>(back[i + 1],
                                    p.code[i].kind == issue_kind::branch ? p.code[i].instruction->target : count);
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
      std::size_t first = i;  // from here on the program may go on behind the block
      while (back[first] < first) first = back[first];
      if (!overwritten)
        for (unsigned n = 0; n < register_count; ++n) overwritten |= sources[n] && written[n] > first;
      guarded[i] = overwritten && !waited;
    }
  }
  return guarded;
}

// Deals the counters, in one block after the other. Whoever waits for a counter waits for all that have raised it, up
// to the last of them (maxas; Jia et al. 2018). So each result has one of its own while others are idle. Where all are
// raised something must be lost: two of a kind share one, and the first's user waits for the second, too. Those share
// whose first user comes longest behind them.
class counter_allocator {
 public:
  counter_allocator(decoded_program& p, const std::vector<bool>& guarded)
      : program_(p), guarded_(guarded), forced_(p.code.size(), 0) {}

  // `raised`: counters that may be raised in front of the block; `wanted`: those that blocks behind it expect results
  // to have.
  void deal(const block& b, const raised_counters& raised, const raised_counters& wanted) {
    raised_ = raised;
    wanted_ = wanted;
    end_ = b.last;
    groups_.clear();
    reads_ = false;
    for (std::size_t i = b.first; i < b.last; ++i) reads_ = reads_ || guarded_[i];
    for (std::size_t i = b.first; i < b.last; ++i) {
      decoded_instruction& d = program_.code[i];
      lower(raised_.waited_for_by(d));
      d.counter = needs_counter(d) ? of_result(i) : no_counter;
      d.read_counter = guarded_[i] ? read_counter : no_counter;
      if (d.counter != no_counter) each_result(d, [&](unsigned n) { writer_[n] = i + 1; });
      raised_.raise(d);
    }
  }

  // Of each instruction, counters that it waits for though it needs none of their results.
  const std::vector<std::uint8_t>& forced() const { return forced_; }

 private:
  // Instructions of the block that share a counter for which nobody has waited yet.
  struct group {
    std::uint8_t counter;
    producer kind;
    std::size_t user;                  // the first that uses one of their results; behind the block if none does
    std::vector<std::size_t> members;  // in their order
  };

  // Reads take about the same time each, in order, and less than most results: one counter is theirs, which results may
  // have where no others are idle and the block has no reads to guard.
  static constexpr std::uint8_t read_counter = counter_count - 1;

  std::uint8_t of_result(std::size_t i) {
    if (idle_counters() == 0) {
      forced_[i] = passed_counters(i);
      lower(forced_[i]);
    }
    groups_.push_back({no_counter, program_.code[i].result, first_user(i), {i}});
    if (idle_counters() == 0) {
      const std::uint8_t joined = share();
      if (joined != no_counter) return joined;
    }
    unsigned idle = idle_counters(), wanted = 0;
    each_result(program_.code[i], [&](unsigned n) { wanted |= wanted_.results[n]; });
    return groups_.back().counter = take((idle & wanted) != 0 ? idle & wanted : idle);
  }

  void lower(unsigned counters) {
    if (counters == 0) return;
    raised_.lower(counters);
    groups_.erase(std::remove_if(groups_.begin(), groups_.end(),
                                 [&](const group& g) { return (counters >> g.counter & 1) != 0; }),
                  groups_.end());
  }

  unsigned idle_counters() const {
    const unsigned all = (1u << counter_count) - 1;
    return ~raised_.all() & (reads_ ? all & ~(1u << read_counter) : all);
  }

  // The one that has been idle for longest. Without one: all are raised by other blocks, and the last one dealt is the
  // last to be waited for.
  std::uint8_t take(unsigned idle) {
    if (idle == 0) return last_;
    if (idle == 1u << read_counter) return read_counter;
    do last_ = static_cast<std::uint8_t>((last_ + 1) % read_counter);
    while ((idle >> last_ & 1) == 0);
    return last_;
  }

  // Raised counters whose results are of a known latency, which has passed on the straight line before `i` is to issue:
  // to wait for them costs nothing.
  std::uint8_t passed_counters(std::size_t i) const {
    unsigned open = 0;
    for (unsigned n = 0; n < name_count; ++n) {
      if (raised_.results[n] == 0) continue;
      const std::size_t by = writer_[n];
      const unsigned latency = by == 0 ? 0 : program_.code[by - 1].latency_cycles;
      if (latency == 0 || distance(program_, by - 1, i - 1, latency) + program_.code[i - 1].stall < latency)
        open |= raised_.results[n];
    }
    for (const unsigned r : raised_.unread) open |= r;
    return static_cast<std::uint8_t>(raised_.all() & ~open);
  }

  // Makes one group of two neighbours of a kind (of the last two, if no two are). A counter is idle then for the new
  // group, the last one, unless that has joined another, whose counter is returned.
  std::uint8_t share() {
    std::size_t a = 0, b = 0, longest = 0;
    for (std::size_t second = 1; second < groups_.size(); ++second) {
      std::size_t first = second - 1;
      while (first != 0 && groups_[first].kind != groups_[second].kind) --first;
      if (groups_[first].kind != groups_[second].kind) continue;
      const std::size_t last = std::max(groups_[first].members.back(), groups_[second].members.back());
      const std::size_t behind = std::min(groups_[first].user, groups_[second].user) - last;
      if (behind < longest) continue;
      longest = behind;
      a = first;
      b = second;
    }
    if (groups_.size() < 2) return no_counter;
    if (b == 0) a = (b = groups_.size() - 1) - 1;
    const std::uint8_t counter = groups_[a].counter, other = groups_[b].counter;
    for (const std::size_t m : groups_[b].members) program_.code[m].counter = counter;
    groups_[a].members.insert(groups_[a].members.end(), groups_[b].members.begin(), groups_[b].members.end());
    std::sort(groups_[a].members.begin(), groups_[a].members.end());
    groups_[a].user = std::min(groups_[a].user, groups_[b].user);
    groups_.erase(groups_.begin() + static_cast<std::ptrdiff_t>(b));
    if (other == no_counter) return counter;
    raised_.move(other, counter);
    return no_counter;
  }

  std::size_t first_user(std::size_t i) const {
    std::bitset<name_count> results;
    each_result(program_.code[i], [&](unsigned n) { results.set(n); });
    bool used = false;
    while (++i < end_ && !used) each_name(program_.code[i], [&](unsigned n) { used = used || results[n]; });
    return used ? i - 1 : end_;
  }

  decoded_program& program_;
  const std::vector<bool>& guarded_;
  std::vector<std::uint8_t> forced_;
  raised_counters raised_, wanted_;
  std::vector<group> groups_;                     // in the order of their first members
  std::array<std::size_t, name_count> writer_{};  // behind the last instruction with a counter that wrote it; 0: none
  std::size_t end_ = 0;                           // of the block
  bool reads_ = false;                            // the block has reads to guard
  std::uint8_t last_ = read_counter - 1;          // dealt
};

}  // namespace

void assign_counters(decoded_program& p, const std::vector<block>& blocks) {
  const std::vector<bool> guarded = guarded_reads(p, blocks);
  std::vector<raised_counters> before(blocks.size());
  // Once as if each block began with all of them idle, and once knowing what the first time leaves raised.
  for (unsigned k = 0; k < 2; ++k) {
    counter_allocator dealer(p, guarded);
    for (std::size_t b = 0; b < blocks.size(); ++b) {
      raised_counters wanted;
      for (const std::size_t n : blocks[b].next) wanted.join(before[n]);
      dealer.deal(blocks[b], before[b], wanted);
    }
    std::vector<std::uint8_t> forced = dealer.forced();
    force_waits_before_loops(p, blocks, assign_waits(p, blocks, forced), forced);
    before = assign_waits(p, blocks, forced).before;
  }
}

}  // namespace heddle::control_codes
