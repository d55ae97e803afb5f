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
  std::array<std::uint8_t, name_count> results{};     // until its value is available
  std::array<std::uint8_t, register_count> unread{};  // until memory instructions have read it

  bool operator==(const raised_counters& o) const { return results == o.results && unread == o.unread; }
  [[nodiscard]] unsigned all() const {
    unsigned counters = 0;
    for (const unsigned r : results) counters |= r;
    for (const unsigned r : unread) counters |= r;
    return counters;
  }
  void join(const raised_counters& o) {
    for (unsigned n = 0; n < name_count; ++n) results[n] |= o.results[n];
    for (unsigned n = 0; n < register_count; ++n) unread[n] |= o.unread[n];
  }
  // Counters of names for which `o` does not have the same counter.
  [[nodiscard]] unsigned beside(const raised_counters& o) const {
    unsigned counters = 0;
    for (unsigned n = 0; n < name_count; ++n) counters |= results[n] & ~static_cast<unsigned>(o.results[n]);
    for (unsigned n = 0; n < register_count; ++n) counters |= unread[n] & ~static_cast<unsigned>(o.unread[n]);
    return counters;
  }
  [[nodiscard]] unsigned waited_for_by(const decoded_instruction& d) const {
    unsigned counters = 0;
    each_name(d, [&](unsigned n) { counters |= results[n]; });
    each_result(d, [&](unsigned n) {
      if (n < register_count) counters |= unread[n];
    });
    return counters;
  }
  // An instruction has waited for these counters, so all that they guarded is available.
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
      if (n < register_count) unread[n] = 0;  // the result comes after the read
    });
  }
};

// Counters that may be raised before each block, and after it.
struct block_states {
  std::vector<raised_counters> before, after;
};

// Writes which counters each instruction waits for, including those in `forced`.
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

// A loop that finds a value guarded by one counter on entry, and by another on later iterations, waits for both in each
// iteration, although the previous iteration may have raised the first one for another value. In that case the code
// before the loop waits for the first counter, unless it guards global memory: that wait would cost more than it saves.
void force_waits_before_loops(const decoded_program& p, const std::vector<block>& blocks, const block_states& states,
                              std::vector<std::uint8_t>& forced) {
  std::vector<raised_counters> at_back_edge(blocks.size());  // counters that may be raised at the end of an iteration
  std::vector<bool> loops(blocks.size(), false);
  for (std::size_t b = 0; b < blocks.size(); ++b)
    for (const std::size_t n : blocks[b].next) {
      if (n > b) continue;
      loops[n] = true;
      at_back_edge[n].join(states.after[b]);
    }
  std::bitset<name_count> global;
  for (std::size_t b = 0; b < blocks.size(); ++b) {
    for (std::size_t i = blocks[b].first; i < blocks[b].last; ++i)
      if (const decoded_instruction& d = p.code[i]; d.counter != no_counter)
        each_result(d, [&](unsigned n) { global.set(n, d.result == producer::long_latency); });
    unsigned kept = 0;  // counters that also guard global memory
    for (unsigned n = 0; n < name_count; ++n)
      if (global[n]) kept |= states.after[b].results[n];
    for (const std::size_t n : blocks[b].next)
      if (n > b && loops[n])
        forced[blocks[b].last - 1] |=
            static_cast<std::uint8_t>(states.after[b].beside(at_back_edge[n]) & at_back_edge[n].all() & ~kept);
  }
}

// For each instruction, whether a counter must keep later instructions from overwriting its sources before it has read
// them. This concerns memory instructions. It is not needed if no later instruction writes the sources, or if the
// result, which comes after the read, is waited for before.
std::vector<bool> guarded_reads(const decoded_program& p, const std::vector<block>& blocks) {
  const std::size_t count = p.code.size();
  std::vector<std::size_t> back(count + 1, count);    // lowest target of the branches from here on
  std::array<std::size_t, register_count> written{};  // index + 1 of the last instruction that writes the register
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
      std::size_t first = i;  // first instruction that may execute after the block
      while (back[first] < first) first = back[first];
      if (!overwritten)
        for (unsigned n = 0; n < register_count; ++n) overwritten |= sources[n] && written[n] > first;
      guarded[i] = overwritten && !waited;
    }
  }
  return guarded;
}

// Allocates the counters, block by block. An instruction that waits for a counter waits for all instructions that have
// raised it (maxas; Jia et al. 2018). So each result gets its own counter while one is idle. If all are raised, two
// results of a kind share one, and the first user of either waits for both. The pair is chosen whose first user follows
// at the largest distance.
class counter_allocator {
 public:
  counter_allocator(decoded_program& p, const std::vector<bool>& guarded)
      : program_(p), guarded_(guarded), forced_(p.code.size(), 0) {}

  // `raised`: counters that may be raised before the block; `wanted`: counters that successor blocks expect for
  // results.
  void allocate(const block& b, const raised_counters& raised, const raised_counters& wanted) {
    raised_ = raised;
    wanted_ = wanted;
    end_ = b.last;
    distant_ = next_distant_;
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

  // For each instruction, counters that it waits for without needing their results.
  [[nodiscard]] const std::vector<std::uint8_t>& forced() const { return forced_; }

 private:
  // Instructions of the block that share a counter which no instruction has waited for yet.
  struct group {
    std::uint8_t counter;
    producer kind;
    std::size_t user;  // first instruction that uses one of their results; end of the block if none does
    std::vector<std::size_t> members;  // in program order
  };

  // Reads take about the same time each, complete in order, and are shorter than most results, so they share one
  // counter. Results may use it only if no other counter is idle and the block has no reads to guard.
  static constexpr std::uint8_t read_counter = counter_count - 1;

  std::uint8_t of_result(std::size_t i) {
    if (idle_counters() == 0) {
      forced_[i] = passed_counters(i);
      lower(forced_[i]);
    }
    groups_.push_back({no_counter, program_.code[i].result, first_user(i), {i}});
    if (const std::uint8_t joined = with_distant(groups_.back()); joined != no_counter)
      return groups_.back().counter = joined;
    if (idle_counters() == 0) {
      const std::uint8_t joined = share();
      if (joined != no_counter) return joined;
    }
    unsigned idle = idle_counters(), wanted = 0;
    each_result(program_.code[i], [&](unsigned n) { wanted |= wanted_.results[n]; });
    const std::uint8_t taken = take((idle & wanted) != 0 ? idle & wanted : idle);
    if (taken == distant_) distant_ = no_counter;
    if (is_distant(groups_.back())) next_distant_ = taken;
    else if (taken == next_distant_) next_distant_ = no_counter;
    return groups_.back().counter = taken;
  }

  // Loads of global memory whose users follow in other blocks share the counter of one in a block before rather than
  // leave too few for what is waited for at once. no_counter: they need not.
  [[nodiscard]] std::uint8_t with_distant(const group& g) const {
    constexpr std::size_t kept = 3;  // counters for other results
    if (!is_distant(g) || distant_ == no_counter || (raised_.all() >> distant_ & 1) == 0) return no_counter;
    const std::size_t idle = std::bitset<counter_count>(idle_counters() & ~(1u << read_counter)).count();
    return idle <= kept ? distant_ : no_counter;
  }
  [[nodiscard]] bool is_distant(const group& g) const { return g.kind == producer::long_latency && g.user == end_; }

  void lower(unsigned counters) {
    if (counters == 0) return;
    raised_.lower(counters);
    groups_.erase(std::remove_if(groups_.begin(), groups_.end(),
                                 [&](const group& g) { return (counters >> g.counter & 1) != 0; }),
                  groups_.end());
  }

  [[nodiscard]] unsigned idle_counters() const {
    const unsigned all = (1u << counter_count) - 1;
    return ~raised_.all() & (reads_ ? all & ~(1u << read_counter) : all);
  }

  // Takes the counter that has been idle longest. If none is idle, all are raised by other blocks, and the one
  // allocated last is likely to be waited for last.
  std::uint8_t take(unsigned idle) {
    if (idle == 0) return last_;
    if (idle == 1u << read_counter) return read_counter;
    do last_ = static_cast<std::uint8_t>((last_ + 1) % read_counter);
    while ((idle >> last_ & 1) == 0);
    return last_;
  }

  // Raised counters whose results have a known latency that passes in straight-line code before `i` issues: waiting for
  // them costs nothing.
  [[nodiscard]] std::uint8_t passed_counters(std::size_t i) const {
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

  // Merges two groups of the same kind (the last two, if no kind occurs twice) to free a counter for the newest group.
  // If the newest group itself was merged, returns the counter of its new group.
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

  [[nodiscard]] std::size_t first_user(std::size_t i) const {
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
  std::array<std::size_t, name_count> writer_{};  // index + 1 of the name's last writer with a counter; 0: none
  std::size_t end_ = 0;                           // end of the block
  bool reads_ = false;                            // the block has reads to guard
  std::uint8_t last_ = read_counter - 1;          // allocated last
  // Allocated last to a load of global memory that its block does not use: in blocks before, and in all.
  std::uint8_t distant_ = no_counter, next_distant_ = no_counter;
};

}  // namespace

void assign_counters(decoded_program& p, const std::vector<block>& blocks) {
  const std::vector<bool> guarded = guarded_reads(p, blocks);
  std::vector<raised_counters> before(blocks.size());
  // The first pass assumes that all counters are idle before each block; each further one uses the result before.
  for (unsigned k = 0; k < 3; ++k) {
    counter_allocator allocator(p, guarded);
    for (std::size_t b = 0; b < blocks.size(); ++b) {
      raised_counters wanted;
      for (const std::size_t n : blocks[b].next) wanted.join(before[n]);
      allocator.allocate(blocks[b], before[b], wanted);
    }
    std::vector<std::uint8_t> forced = allocator.forced();
    force_waits_before_loops(p, blocks, assign_waits(p, blocks, forced), forced);
    before = assign_waits(p, blocks, forced).before;
  }
}

}  // namespace heddle::control_codes
