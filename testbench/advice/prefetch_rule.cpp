// SPDX-License-Identifier: MIT
// Advice about loads in loops whose values are used at once.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "testbench/advice/advice.h"
#include "testbench/advice/carried_values.h"
#include "testbench/advice/line_registers.h"
#include "testbench/advice/rules.h"

namespace heddle::testbench {

namespace {

constexpr double in_flight = 4;       // iterations whose loads are in flight after mending
constexpr double most_threads = 0.9;  // of the threads: otherwise a condition of its own has to be known before a load
constexpr double least_waits = 0.02;  // of a warp's life
constexpr double least_iterations = 8;  // of a warp: shorter loops gain less than an estimate

bool is_load(const place_sums& p) { return p.contains("ld.global") && p.accesses > 0; }

/// Lines of PTX from the first to the last one of a loop of the machine program, which may have several of the source's
/// iterations in one.
struct loop_body {
  std::size_t first = 0, last = 0;
  std::size_t first_step = 0, last_step = 0;
};

std::vector<loop_body> loop_bodies(const time_model& t) {
  std::vector<loop_body> bodies;
  for (std::size_t block = 0; block < t.code.blocks.size(); ++block)
    for (const std::size_t next : t.code.blocks[block].next) {
      if (next > block) continue;
      loop_body b{t.lines.size(), 0, t.code.blocks[next].first, t.code.blocks[block].last};
      for (std::size_t k = b.first_step; k <= b.last_step; ++k) {
        const std::size_t line = t.index_of(t.code.steps[k].line);
        if (line == t.lines.size()) continue;
        b.first = std::min(b.first, line);
        b.last = std::max(b.last, line);
      }
      bodies.push_back(b);
    }
  return bodies;
}

// The innermost loop around a line; null: none.
const loop_body* body_around(const std::vector<loop_body>& bodies, std::size_t line) {
  const loop_body* inner = nullptr;
  for (const loop_body& b : bodies)
    if (b.first <= line && line <= b.last && (inner == nullptr || b.last - b.first < inner->last - inner->first))
      inner = &b;
  return inner;
}

// Whether the next address is computed from what is loaded: such a load cannot be made earlier.
bool is_chased(const time_model& t, const loop_body& b, std::size_t line) {
  for (std::size_t k = b.first_step; k <= b.last_step; ++k)
    if (t.code.steps[k].is("LD") && t.index_of(t.code.steps[k].line) == line &&
        follows_itself(t.code, b.first_step, b.last_step, k))
      return true;
  return false;
}

// The first line after the load, in the loop, that waits for its value. The machine program may need the value first in
// another order than the source: a line hardly waits then.
std::size_t use_of(const std::vector<registers_of_line>& body, std::size_t load,
                   const std::function<double(std::size_t)>& waits) {
  constexpr double hardly = 0.05;  // of the longest wait
  std::vector<std::size_t> uses;
  double longest = 0;
  for (std::size_t k = 1; k < body.size(); ++k) {
    const std::size_t at = (load + k) % body.size();
    if (!meets(body[at].read, body[load].written)) continue;
    uses.push_back(at);
    longest = std::max(longest, waits(at));
  }
  for (const std::size_t at : uses)
    if (waits(at) >= hardly * longest) return at;
  return load;
}

double memory_use(const time_model& t) {
  double most = 0;
  for (const char* part : {"L1 look-ups", "L1", "SMs to L2", "L2 to SMs", "DRAM"})
    most = std::max(most, t.use_of(part));
  return most;
}

/// The loads of a loop and the waits for their values. An instruction that needs the values of several loads waits
/// once.
struct loop_loads {
  std::vector<const place_sums*> loads;
  std::set<std::size_t> uses;
  double cycles = 0, longest = 0;

  // Loads that are made one after another without a wait: their latencies overlap, and all but one wait is short.
  [[nodiscard]] double together() const {
    return ratio(static_cast<double>(loads.size()), std::max(1.0, ratio(cycles, longest)));
  }
};

/// A loop by its first and last line.
using loops = std::map<std::pair<std::size_t, std::size_t>, loop_loads>;

// Adds a load to its loop, unless it is in none, or cannot be made earlier.
void add_load(const time_model& t, const loop_body& b, std::size_t k, loops& to) {
  std::vector<registers_of_line> body;
  double lanes = 0;  // of the loop
  for (std::size_t i = b.first; i <= b.last; ++i) {
    body.push_back(registers_in(t.lines[i].texts));
    lanes = std::max(lanes, ratio(t.lines[i].thread_executed, t.lines[i].executed));
  }
  const bool conditional = t.lines[k].thread_executed < most_threads * lanes * t.lines[k].executed;
  if (conditional || is_chased(t, b, k)) return;
  loop_loads& loop = to[{b.first, b.last}];
  const std::size_t use = b.first + use_of(body, k - b.first, [&](std::size_t line) {
                            return t.lines[b.first + line].waits(warp_stall::long_scoreboard);
                          });
  loop.loads.push_back(&t.lines[k]);
  if (!loop.uses.insert(use).second) return;
  const double waits = t.lines[use].waits(warp_stall::long_scoreboard);
  loop.cycles += waits;
  loop.longest = std::max(loop.longest, waits);
}

}  // namespace

void prefetch_distance(const time_model& t, std::vector<advice>& to) {
  const double all = number_at(t.kernel, {"warp_cycles", "active"}), warps = number_at(t.kernel, {"warps"});
  const std::vector<loop_body> bodies = loop_bodies(t);
  loops found;
  for (std::size_t k = 0; k < t.lines.size(); ++k) {
    if (!is_load(t.lines[k]) || t.lines[k].executed < least_iterations * warps) continue;
    if (const loop_body* body = body_around(bodies, k); body != nullptr) add_load(t, *body, k, found);
  }
  for (const auto& [lines, loop] : found) {
    if (loop.cycles < least_waits * all || loop.cycles == 0 || worth_telling * loop.together() >= in_flight) continue;
    const place_sums& first = *loop.loads.front();
    const double iterations = ratio(first.executed, warps), groups = std::floor(iterations / in_flight);
    const double left = ratio(groups + iterations - in_flight * groups, iterations);  // the rest is as before
    relief r;
    r.states[warp_stall::long_scoreboard] =
        std::max(0.0, 1 - left * loop.together()) * ratio(loop.cycles, all * t.share_of(warp_stall::long_scoreboard));
    // If all have the same work, the last warps are those that wait longest.
    if (t.has_equal_warps()) r.rest = r.states[warp_stall::long_scoreboard];
    // More loads at a time do not come sooner from a part that is busy already.
    const double most = std::max(1.0, ratio(fully_busy, memory_use(t)));
    to.push_back(
        {"prefetch distance", first.name,
         fmt::format("each iteration waits {:.0f} cycles for what it has just loaded, {:.0f} % of a warp's life",
                     ratio(loop.cycles, first.executed), 100 * ratio(loop.cycles, all)),
         "load for later iterations first: unroll the loop by 4, keep the next value in a register, or cp.async",
         std::min(most, t.speedup(r))});
  }
}

}  // namespace heddle::testbench
