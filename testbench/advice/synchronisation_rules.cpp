// SPDX-License-Identifier: MIT
// Advice about threads that wait for each other: at barriers, and to change one address.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "testbench/advice/advice.h"
#include "testbench/advice/rules.h"

namespace heddle::testbench {

namespace {

using json = nlohmann::ordered_json;

constexpr double few_instructions = 40;  // between two barriers

// Warps that could go on instead of waiting at a barrier would join the queues of those that go on now.
double share_that_remains(const time_model& t) {
  double queues = 0;
  for (const char* state : {"not_selected", "math_pipe_throttle", "mio_throttle", "lg_throttle", "tex_throttle",
                            "dispatch_stall", "long_scoreboard"})
    queues += t.share_of(state);
  return ratio(queues, queues + t.share_of("barrier"));
}

double threads_of_a_block(const time_model& t) {
  double threads = 1;
  for (const json& d : t.kernel.value("block", json::array())) threads *= d.is_number() ? d.get<double>() : 1;
  return threads;
}

}  // namespace

void barriers(const time_model& t, std::vector<advice>& to) {
  const double all = number_at(t.kernel, {"warp_cycles", "active"});
  const double gone = 1 - share_that_remains(t);
  double executed = 0;  // barriers
  for (const place_sums& line : t.lines)
    if (line.contains("bar")) executed += line.executed;
  const double apart = ratio(number_at(t.kernel, {"metrics", "inst_executed"}), executed);
  for (const place_sums& p : t.places) {
    const double waits = p.waits("barrier");
    if (waits == 0) continue;
    double here = 0;
    for (const place_sums& line : t.lines)
      if (line.name == p.name && line.waits("barrier") > 0) here += line.executed;
    relief r;
    r.states["barrier"] = gone * ratio(waits, all * t.share_of("barrier"));
    const bool often = apart < few_instructions;
    to.push_back({"barriers", p.name,
                  fmt::format("a warp waits {} cycles there on average, {:.0f} % of its life; {:.0f} instructions lie "
                              "between two barriers",
                              rounded(ratio(waits, here)), 100 * ratio(waits, all), apart),
                  often ? "fewer barriers: shuffles and __syncwarp within a warp, more work between two of them"
                        : "divide the work before it evenly among the warps",
                  t.speedup(r)});
  }
}

namespace {

void global_atomics(const time_model& t, const place_sums& p, std::vector<advice>& to) {
  const double lanes = ratio(p.thread_executed, p.executed), addresses = most_addresses(p);
  const double aggregated = p.executed / std::ceil(threads_of_a_block(t) / 32);  // one lane of a block
  const double saved = 1 - ratio(aggregated, t.atomic_cycles(p));
  relief r;
  for (const char* state : {"long_scoreboard", "lg_throttle", "mio_throttle", "drain"})
    r.states[state] = saved * std::min(1.0, t.use_of("atomics") / fully_busy);
  r.parts["atomics"] = saved * ratio(t.atomic_cycles(p), t.all_atomic_cycles());
  r.parts["SMs to L2"] = saved * ratio(p.count("l2_sectors"), t.moved("l2_sectors"));
  r.parts["L2 to SMs"] = r.parts["SMs to L2"];
  to.push_back({"atomics by address", p.name,
                fmt::format("{:.0f} lanes of a warp change {} at most, one after another", lanes,
                            addresses < 1.5 ? std::string("one address") : fmt::format("{:.0f} addresses", addresses)),
                "add up within the warp (__reduce_add_sync, shuffles) and the block first, then one atomic a block",
                t.speedup(r)});
}

void shared_atomics(const time_model& t, const place_sums& p, std::vector<advice>& to) {
  const double passes = p.count("shared_passes"), accesses = p.count("accesses");
  if (passes < 2 * accesses) return;
  const double all = t.moved("shared_passes"), saved = ratio(passes - accesses, all);
  const double latency = t.machine.number("shared_memory.latency_cycles"),
               each = t.machine.number("shared_memory.atomic_interval_cycles", 1);
  const double alone =
      ratio(each * (passes - accesses), latency * accesses + each * (passes - accesses)) * ratio(passes, all);
  relief r;
  r.parts["shared memory"] = saved;
  r.states["mio_throttle"] = saved;
  r.states["short_scoreboard"] = r.states["barrier"] = t.use_of("shared memory") >= 0.6 ? saved : alone;
  to.push_back({"atomics by address", p.name,
                fmt::format("{} passes over the banks an access: lanes that change one address take one each",
                            rounded(passes / accesses)),
                "add up within the warp first, or give each lane or warp a copy of the counters", t.speedup(r)});
}

}  // namespace

void atomics_by_address(const time_model& t, std::vector<advice>& to) {
  const auto is_shared = [](const place_sums& p) { return is_atomic(p) && p.contains(".shared"); };
  const auto is_global = [](const place_sums& p) {
    return is_atomic(p) && !p.contains(".shared") && share_addresses(p);
  };
  for (const place_sums& p : joined(t, is_shared)) shared_atomics(t, p, to);
  for (const place_sums& p : joined(t, is_global)) global_atomics(t, p, to);
}

}  // namespace heddle::testbench
