// SPDX-License-Identifier: MIT
// Advice about what warps execute, and how many of them there are.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "testbench/advice/advice.h"
#include "testbench/advice/rules.h"

namespace heddle::testbench {

namespace {

using json = nlohmann::ordered_json;

constexpr double lanes = 32;

double lost(const time_model& t, const char* cause) { return number_at(t.kernel, {"lost_occupancy", cause}); }

}  // namespace

// The threads of a warp whose branches differ execute one side after another.
void divergence(const time_model& t, std::vector<advice>& to) {
  if (number_at(t.kernel, {"metrics", "branch_efficiency"}) >= 1) return;
  double cycles = 0, instructions = 0, most = 0;
  const place_sums* worst = nullptr;
  for (const place_sums& p : t.places) {
    const double idle = 1 - std::min(1.0, ratio(p.thread_executed, lanes * p.executed));
    if (p.thread_executed == 0 || idle < 0.1) continue;
    instructions += p.executed * idle;
    cycles += p.cycles * idle;
    if (p.cycles * idle <= most) continue;
    most = p.cycles * idle;
    worst = &p;
  }
  if (worst == nullptr) return;
  relief r;
  r.lifetime = ratio(cycles, number_at(t.kernel, {"warp_cycles", "active"}));
  for (const char* part : {"issue slots", "fp32", "int", "fp64", "half", "sfu", "ldst"})
    r.parts[part] = ratio(instructions, number_at(t.kernel, {"metrics", "inst_executed"}));
  to.push_back(
      {"divergence", worst->name,
       fmt::format("{} of 32 threads execute it, on average", rounded(worst->thread_executed / worst->executed)),
       "let the threads of a warp take the same branch: branch by warp, sort the work", t.speedup(r)});
}

// Literals without f, and functions without f, turn float expressions into double ones. The conversions vanish, and
// what is left takes the time of the FP32 unit.
void double_precision(const time_model& t, std::vector<advice>& to) {
  const double fp64 = number_at(t.kernel, {"instructions", "fp64"});
  double converted = 0, conversions = 0, arithmetic = 0, most = 0;
  std::string first;
  for (const place_sums& line : t.lines) {
    if (line.contains("cvt.f64.f32") || line.contains(".f32.f64")) {
      converted += line.executed;
      conversions += line.cycles;
      if (line.executed <= most) continue;
      most = line.executed;
      first = line.name;
    } else if (line.contains(".f64")) {
      arithmetic += line.cycles;
    }
  }
  if (fp64 == 0 || first.empty()) return;
  const double all = number_at(t.kernel, {"warp_cycles", "active"});
  const double parts = t.machine.number("sm.sub_partitions", 1) * t.machine.number("gpu.sm_count", 1);
  const double as_floats =
      ratio(lanes * fp64, number_at(t.kernel, {"cycles"}) * t.machine.number("fp32.lanes") * parts);
  const double faster = std::max(ratio(as_floats, t.use_of("fp64")), ratio(t.machine.number("fp32.latency_cycles"),
                                                                           t.machine.number("fp64.latency_cycles")));
  relief r;
  r.parts["fp64"] = 1;
  for (const char* unit : {"sfu", "half"})  // some chips convert there
    r.parts[unit] = std::min(1.0, ratio(converted, number_at(t.kernel, {"instructions", unit})));
  r.parts["issue slots"] = ratio(converted, number_at(t.kernel, {"metrics", "inst_executed"}));
  r.lifetime = ratio(conversions + arithmetic * (1 - std::min(1.0, faster)), all);
  to.push_back(
      {"double precision", first,
       fmt::format("floats are converted to double and back; {:.0f} % of the instructions are of the fp64 unit",
                   100 * ratio(fp64, number_at(t.kernel, {"metrics", "inst_executed"}))),
       "write 1.0f for 1.0, sqrtf for sqrt", t.speedup(r)});
}

// One block more on each SM, where warps wait and nothing is at its peak.
void occupancy(const time_model& t, std::vector<advice>& to) {
  const auto limiters = t.kernel.find("occupancy_limiters");
  const double blocks = number_at(t.kernel, {"blocks_per_sm"});
  if (limiters == t.kernel.end() || !limiters->is_array() || limiters->size() != 1 || blocks < 1) return;
  if (number_at(t.kernel, {"waves"}) < 1 + 1 / blocks) return;
  const std::string limiter = (*limiters)[0].is_string() ? (*limiters)[0].get<std::string>() : "";
  double threads = 1;
  for (const json& d : t.kernel.value("block", json::array())) threads *= d.is_number() ? d.get<double>() : 1;
  std::string finding, remedy;
  if (limiter == "registers") {
    const double now = number_at(t.kernel, {"registers_per_thread"});
    const double warps = std::ceil(threads / lanes);
    const double fit = std::floor(t.machine.number("sm.registers") / ((blocks + 1) * warps * lanes) / 8) * 8;
    if (fit <= 0 || fit >= now) return;
    finding =
        fmt::format("{:.0f} registers a thread let {:.0f} blocks on an SM; one more with {:.0f} (one register less {})",
                    now, blocks, fit, now - 1 <= fit ? "is enough" : "brings nothing");
    remedy = fmt::format("__launch_bounds__({:.0f}, {:.0f}), if that spills nothing", threads, blocks + 1);
  } else if (limiter == "shared_memory") {
    const double now = number_at(t.kernel, {"shared_bytes_per_block"});
    const double each = std::floor(t.machine.number("shared_memory.size_bytes") / (blocks + 1) / 128) * 128 -
                        t.machine.number("shared_memory.reserved_per_block_bytes");
    if (each <= 0 || each >= now) return;
    finding = fmt::format(
        "{:.0f} bytes of shared memory a block let {:.0f} on an SM; one more with {:.0f} (256 bytes less {})", now,
        blocks, each, now - 256 <= each ? "are enough" : "bring nothing");
    remedy = "smaller tiles, or smaller types in them";
  } else {
    return;
  }
  relief r;
  r.lifetime = 1 - blocks / (blocks + 1);
  to.push_back({"occupancy", "", finding, remedy, t.speedup(r)});
}

// The last wave takes as long as the others and fills a part of the GPU.
void partial_wave(const time_model& t, std::vector<advice>& to) {
  const double waves = number_at(t.kernel, {"waves"});
  if (waves <= 1 || lost(t, "partial_last_wave") < 0.03) return;
  relief r;
  r.lifetime = 1 - waves / std::ceil(waves);
  to.push_back({"partial last wave", "",
                fmt::format("{} waves of blocks take the time of {:.0f}", rounded(waves), std::ceil(waves)),
                "blocks that divide the work by a whole number of waves, or a loop over a grid of one wave",
                t.speedup(r)});
}

// The share of the SMs' time that is left when blocks end and others go on: from the last time on when most SMs had
// blocks.
static double idle_at_the_end(const time_model& t) {
  const auto over_time = t.kernel.find("occupancy_over_time");
  if (over_time == t.kernel.end() || !over_time->is_object()) return 0;
  const json sms = over_time->value("active_sms", json::array());
  double most = 0, idle = 0, all = 0;
  for (const json& n : sms) most = std::max(most, n.is_number() ? n.get<double>() : 0);
  for (const json& n : sms) {
    const double active = n.is_number() ? n.get<double>() : 0;
    all += most;
    idle = active > 0.98 * most ? 0 : idle + most - active;
  }
  return ratio(idle, all);
}

void idle_sms(const time_model& t, std::vector<advice>& to) {
  const double idle = idle_at_the_end(t);
  if (number_at(t.kernel, {"waves"}) < 1 || lost(t, "partial_last_wave") >= 0.03 || idle < 0.05) return;
  to.push_back({"imbalance between blocks", "",
                fmt::format("SMs are idle for {:.0f} % of the time, until the longest blocks end", 100 * idle),
                "begin with the long blocks, divide them, or let blocks fetch pieces of work", 1 / (1 - idle)});
}

}  // namespace heddle::testbench
