// SPDX-License-Identifier: MIT
// Advice about sums in steps through shared memory.
#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <vector>

#include "testbench/advice/advice.h"
#include "testbench/advice/rules.h"

namespace heddle::testbench {

namespace {

// A block's sum has one or two: of what its warps have made, and of its result.
constexpr std::size_t steps_of_a_row = 3;

/// Iterations of a loop, or consecutive steps, that exchange values through shared memory, of a part of the threads
/// each.
struct shared_steps {
  double cycles = 0, iterations = 0, barriers = 0, instructions = 0;  // of warps
  bool parts = false;                                                 // some threads store and load, all meet
};

bool has_loop_inside(const machine_code& code, std::size_t first, std::size_t last) {
  for (const code_block& block : code.blocks)
    for (const std::size_t next : block.next) {
      const std::size_t begin = code.blocks[next].first;
      if (begin <= block.first && begin >= first && block.last <= last && (begin != first || block.last != last))
        return true;
    }
  return false;
}

// The loop that is closed by a branch from `last` back to `first`.
shared_steps steps_of(const machine_code& code, std::size_t first, std::size_t last) {
  shared_steps s;
  double threads = 0, stored = 0, loaded = 0;
  for (std::size_t k = first; k <= last; ++k) {
    const machine_step& step = code.steps[k];
    s.cycles += step.cycles();
    s.instructions += step.executed;
    if (step.is("BAR")) {
      s.barriers += step.executed;
      threads = std::max(threads, step.lanes);
    }
    if (step.is("LDS")) loaded = std::max(loaded, step.lanes);
    if (step.is("STS")) stored = std::max(stored, step.lanes);
  }
  s.iterations = code.steps[last].executed;
  s.parts = stored > 0 && loaded > 0 && std::max(stored, loaded) < 0.75 * threads;
  return s;
}

}  // namespace

namespace {

// Sums in steps, each of which half of the threads make. A shuffle takes as long as an access to shared memory.
void advise(const time_model& t, const shared_steps& s, unsigned line, std::vector<advice>& to) {
  const double all = number_at(t.kernel, {"warp_cycles", "active"});
  const double now = ratio(s.cycles, s.barriers);
  const double then = t.machine.number("shared_memory.latency_cycles") + t.machine.number("fp32.latency_cycles");
  relief r;
  r.lifetime = (1 - std::min(1.0, ratio(then, now))) * ratio(s.cycles, all);
  to.push_back(
      {"steps in shared memory", t.place_of(line),
       fmt::format("a step writes shared memory, waits at a barrier and reads it, which takes {:.0f} cycles; a "
                   "shuffle and an addition take {:.0f}",
                   now, then),
       "exchange by shuffles within a warp, and once through shared memory between warps", t.speedup(r)});
}

void steps_in_loops(const time_model& t, std::vector<advice>& to) {
  for (const code_block& block : t.code.blocks)
    for (const std::size_t next : block.next) {
      const std::size_t first = t.code.blocks[next].first;
      if (first > block.first) continue;
      if (has_loop_inside(t.code, first, block.last)) continue;
      const shared_steps s = steps_of(t.code, first, block.last);
      if (!s.parts || s.instructions >= few_instructions * s.barriers) continue;
      advise(t, s, t.code.steps[block.last].line, to);
    }
}

bool has_branch_back(const machine_code& code, std::size_t first, std::size_t last) {
  return std::any_of(code.blocks.begin(), code.blocks.end(), [&](const code_block& b) {
    return b.last >= first && b.last <= last && std::any_of(b.next.begin(), b.next.end(), [&](std::size_t next) {
             return code.blocks[next].first <= b.last;
           });
  });
}

// Steps one after another, each from behind a barrier to the next.
void steps_in_a_row(const time_model& t, std::vector<advice>& to) {
  std::vector<std::size_t> barriers;
  for (std::size_t k = 0; k < t.code.steps.size(); ++k)
    if (t.code.steps[k].is("BAR") && t.code.steps[k].executed > 0) barriers.push_back(k);
  shared_steps row;
  std::size_t steps = 0;
  unsigned line = 0;
  const auto end_row = [&] {
    if (steps >= steps_of_a_row) advise(t, row, line, to);
    row = {};
    steps = 0;
  };
  for (std::size_t k = 1; k < barriers.size(); ++k) {
    const std::size_t first = barriers[k - 1] + 1, last = barriers[k];
    const shared_steps s = steps_of(t.code, first, last);
    const bool as_often = t.code.steps[first - 1].executed == t.code.steps[last].executed;
    if (!s.parts || !as_often || s.instructions >= few_instructions * s.barriers ||
        has_branch_back(t.code, first, last)) {
      end_row();
      continue;
    }
    if (steps++ == 0) line = t.code.steps[last].line;
    row.cycles += s.cycles;
    row.barriers += s.barriers;
  }
  end_row();
}

}  // namespace

void steps_in_shared_memory(const time_model& t, std::vector<advice>& to) {
  steps_in_loops(t, to);
  steps_in_a_row(t, to);
}

}  // namespace heddle::testbench
