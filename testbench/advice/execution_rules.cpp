// SPDX-License-Identifier: MIT
// Advice about what warps execute, and how many of them there are.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <set>
#include <string>

#include "heddle/occupancy/limiter.h"
#include "testbench/advice/advice.h"
#include "testbench/advice/line_registers.h"
#include "testbench/advice/rules.h"

namespace heddle::testbench {

namespace {

using json = nlohmann::ordered_json;

// Cycles of warps at a line that do other work for the same values: the instruction in its place waits for what was
// loaded as long.
double cycles_of(const place_sums& line) { return line.cycles - line.waits(warp_stall::long_scoreboard); }

// Warp-cycles for which float instructions wait for what was converted from double.
double waits_for_conversions(const time_model& t) {
  std::set<std::string> converted;
  for (const place_sums& line : t.lines)
    if (line.contains(".f32.f64")) {
      const std::set<std::string> written = registers_in(line.texts).written;
      converted.insert(written.begin(), written.end());
    }
  double waits = 0;
  for (const place_sums& line : t.lines)
    if (!line.contains(".f64") && meets(registers_in(line.texts).read, converted))
      waits += line.waits(warp_stall::short_scoreboard);
  return waits;
}

}  // namespace

// Literals without f, and functions without f, turn float expressions into double ones. The conversions vanish, and
// what is left takes the time of the FP32 unit.
void double_precision(const time_model& t, std::vector<advice>& to) {
  const double fp64 = number_at(t.kernel, {"instructions", "fp64"});
  double converted = 0, conversions = 0, arithmetic = 0, queued = 0, executed = 0, most = 0;
  std::string first;
  for (const place_sums& line : t.lines) {
    if (line.contains("cvt.f64.f32") || line.contains(".f32.f64")) {
      converted += line.executed;
      conversions += cycles_of(line);
      if (line.executed <= most) continue;
      most = line.executed;
      first = line.name;
    } else if (line.contains(".f64")) {
      arithmetic += cycles_of(line);
      queued += line.waits(warp_stall::math_pipe_throttle);
      executed += line.executed;
    }
  }
  if (fp64 == 0 || first.empty()) return;
  conversions += waits_for_conversions(t);
  const double all = number_at(t.kernel, {"warp_cycles", "active"});
  const double parts = t.machine.number("sm.sub_partitions") * t.machine.number("gpu.sm_count");
  const double lanes =
      t.machine.number("fp32.lanes") * parts + t.machine.number("fp32.shared_lanes") * t.machine.number("gpu.sm_count");
  const double as_floats = ratio(warp_threads * fp64, number_at(t.kernel, {"cycles"}) * lanes);
  const double shorter_queue = std::min(1.0, ratio(as_floats, t.use_of("fp64")));
  const double shorter_latency =
      std::min(1.0, ratio(t.machine.number("fp32.latency_cycles"), t.machine.number("fp64.latency_cycles")));
  relief r;
  r.parts["fp64"] = 1;
  for (const char* unit : {"sfu", "half"})  // some chips convert there
    r.parts[unit] = std::min(1.0, ratio(converted, number_at(t.kernel, {"instructions", unit})));
  r.parts["issue slots"] = ratio(converted, number_at(t.kernel, {"metrics", "inst_executed"}));
  const double after = std::max(queued * shorter_queue + (arithmetic - queued) * shorter_latency,
                                std::min(arithmetic, as_floats * std::min(1.0, ratio(executed, fp64)) * all));
  r.lifetime = ratio(conversions + arithmetic - after, all);
  to.push_back(
      {"double precision", first,
       fmt::format("floats are converted to double and back; {:.0f} % of the instructions are of the fp64 unit",
                   100 * ratio(fp64, number_at(t.kernel, {"metrics", "inst_executed"}))),
       "write 1.0f for 1.0, sqrtf for sqrt", t.speedup(r)});
}

// The most registers with which so many blocks fit.
static double registers_for(const time_model& t, double blocks) {
  const double step = std::max(1.0, t.machine.number("sm.register_allocation_unit") / warp_threads);
  for (double r = std::floor(number_at(t.kernel, {"registers_per_thread"}) / step) * step; r > 0; r -= step)
    if (t.blocks_that_fit(r) >= blocks) return r;
  return 0;
}

// What is left of a finding when one unit less is taken.
static const char* of_one_less(double now, double less, double fit) {
  return now - less <= fit ? "is enough" : "brings nothing";
}

// One block more on each SM, where warps wait and nothing is at its peak.
void occupancy(const time_model& t, std::vector<advice>& to) {
  const auto limiters = t.kernel.find("occupancy_limiters");
  const double blocks = number_at(t.kernel, {"blocks_per_sm"}), waves = number_at(t.kernel, {"waves"});
  if (limiters == t.kernel.end() || !limiters->is_array() || limiters->size() != 1 || blocks < 1) return;
  if (waves < 1 + 1 / blocks) return;
  const limiter only = (*limiters)[0].is_string() ? limiter_named((*limiters)[0].get<std::string>()) : limiter::none;
  std::string finding, remedy;
  relief r;
  if (only == limiter::registers) {
    const double now = number_at(t.kernel, {"registers_per_thread"}), fit = registers_for(t, blocks + 1);
    if (fit <= 0 || fit >= now) return;
    finding =
        fmt::format("{:.0f} registers a thread let {:.0f} blocks on an SM; one more with {:.0f} (one register less {})",
                    now, blocks, fit, of_one_less(now, 1, fit));
    remedy = fmt::format(
        "__launch_bounds__({:.0f}, {:.0f}): up to {:.0f} values of a thread are spilled then, each "
        "stored and loaded once by this estimate, more often in a loop",
        t.threads_of_a_block(), blocks + 1, now - fit);
    // A thread waits for what it loads again, and issues these instructions.
    const double spilled = t.round_trip() + 2 * (now - fit);
    r.lifetime = -ratio(spilled * number_at(t.kernel, {"warps"}), number_at(t.kernel, {"warp_cycles", "active"}));
  } else if (only == limiter::shared_memory) {
    const double now = number_at(t.kernel, {"shared_bytes_per_block"});
    const double each = std::floor(t.machine.number("shared_memory.size_bytes") / (blocks + 1) / 128) * 128 -
                        t.machine.number("shared_memory.reserved_per_block_bytes");
    if (each <= 0 || each >= now) return;
    finding = fmt::format(
        "{:.0f} bytes of shared memory a block let {:.0f} on an SM; one more with {:.0f} (256 bytes less {})", now,
        blocks, each, of_one_less(now, 256, each));
    remedy = "smaller tiles, or smaller types in them";
  } else {
    return;
  }
  r.blocks = std::ceil(waves) / std::ceil(waves * blocks / (blocks + 1));
  to.push_back({"occupancy", "", finding, remedy, t.speedup(r)});
}

}  // namespace heddle::testbench
