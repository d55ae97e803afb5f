// SPDX-License-Identifier: MIT
// Advice about blocks and warps that end while others go on.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "testbench/advice/advice.h"
#include "testbench/advice/block_times.h"
#include "testbench/advice/rules.h"
#include "testbench/advice/serial_work.h"

namespace heddle::testbench {

using json = nlohmann::ordered_json;

// The last wave takes as long as the others and fills a part of the GPU.
void partial_wave(const time_model& t, std::vector<advice>& to) {
  const block_times times(t);
  if (times.waves <= 1 || number_at(t.kernel, {"lost_occupancy", "partial_last_wave"}) < 0.03) return;
  relief r;
  r.lifetime = std::min((1 - times.waves / times.whole_waves) * ratio(times.even(), times.kernel),
                        ratio(times.partial(), times.kernel));
  to.push_back({"partial last wave", "",
                fmt::format("{} waves of blocks take the time of {:.0f}", rounded(times.waves), times.whole_waves),
                "blocks that divide the work by a whole number of waves, or a loop over a grid of one wave",
                t.speedup(r)});
}

namespace {

/// Warps of an SM over time, and what they issue: no more than a number of instructions a cycle, nor than each its own
/// in the cycles that latencies take.
struct issue_over_time {
  struct step {
    double cycles, sms, warps;  // of SMs with warps, and warps of each
  };
  std::vector<step> steps;
  double latency = 0;  // cycles of a warp for an instruction, without waits for others

  explicit issue_over_time(const time_model& t) {
    const json over_time = t.kernel.value("occupancy_over_time", json::object());
    const json sms = over_time.value("active_sms", json::array()),
               filled = over_time.value("achieved_occupancy", json::array());
    for (std::size_t k = 0; k < std::min(sms.size(), filled.size()); ++k)
      steps.push_back({number_at(over_time, {"step_cycles"}), sms[k].get<double>(),
                       filled[k].get<double>() * t.machine.number("sm.max_warps")});
    const double all = number_at(t.kernel, {"warp_cycles", "active"});
    double cycles = number_at(t.kernel, {"warp_states", name_of(warp_stall::selected)});
    for (const warp_stall state : {warp_stall::wait, warp_stall::branch_resolving, warp_stall::short_scoreboard})
      cycles += all * t.share_of(state);
    cycles += all * t.share_of(warp_stall::long_scoreboard) * t.loads_alone();
    latency = ratio(cycles, number_at(t.kernel, {"metrics", "inst_executed"}));
  }
  [[nodiscard]] double issued(double most_a_cycle) const {
    double n = 0;
    for (const step& s : steps) n += s.cycles * s.sms * std::min(most_a_cycle, ratio(s.warps, latency));
    return n;
  }
  /// In which SMs have at most a quarter of the warps that they had.
  [[nodiscard]] double cycles_of_last_quarter() const {
    const auto fewer = [](const step& a, const step& b) { return a.sms * a.warps < b.sms * b.warps; };
    const auto most = std::max_element(steps.begin(), steps.end(), fewer);
    double cycles = 0;
    for (auto s = most; s != steps.end(); ++s)
      if (4 * s->sms * s->warps <= most->sms * most->warps) cycles += s->cycles;
    return cycles;
  }
  /// Instructions an SM issues in a cycle while it has warps enough, if all have so many.
  [[nodiscard]] double rate(double instructions) const {
    double low = 0, high = 16;
    for (unsigned k = 0; k < 40; ++k) (issued((low + high) / 2) < instructions ? low : high) = (low + high) / 2;
    return low;
  }
};

constexpr double long_alone = 0.3;   // blocks of equal length end one after another in less of the time
constexpr double short_lives = 0.7;  // and live for more of it

// Blocks on one SM, each SM with as many: the longest are alone at the end, too few to fill it.
void imbalance_on_sms(const time_model& t, const block_times& times, std::vector<advice>& to) {
  const double sms = t.machine.number("gpu.sm_count"), blocks = number_at(t.kernel, {"blocks"});
  const double instructions = number_at(t.kernel, {"metrics", "inst_executed"});
  const bool even = std::fmod(blocks, sms) == 0 && number_at(t.kernel, {"lost_occupancy", "partial_last_wave"}) < 0.03;
  if (!even || blocks < 2 * sms || times.ended >= 0.1) return;
  if (t.has_equal_blocks()) return;  // they end one after another, behind each other in queues
  const issue_over_time issue(t);
  const double alone = ratio(issue.cycles_of_last_quarter(), times.kernel);
  // Where latencies bound the warps, not what an SM issues, each will live as long as the mean does.
  const double lives = times.whole_waves * times.block;
  const double then = std::max(ratio(instructions, issue.rate(instructions) * sms), lives) + times.start;
  const double speedup = std::min(ratio(times.kernel, then), ratio(1, t.busiest()));
  const bool are_short = lives + times.start < short_lives * times.kernel;
  if ((alone < long_alone && !are_short) || speedup < 1.1) return;
  to.push_back(
      {"imbalance between blocks", "",
       fmt::format(
           "for {:.0f} % of the time SMs have a quarter of their warps or fewer, and blocks live {:.0f} % of it: "
           "the longest are left alone, too few to fill them",
           100 * alone, 100 * ratio(lives, times.kernel)),
       "give blocks work of equal length, or let blocks fetch work items from a common counter", speedup});
}

}  // namespace

// Some blocks are longer than the mean of all.
void imbalance_between_blocks(const time_model& t, std::vector<advice>& to) {
  const block_times times(t);
  const double blocks = number_at(t.kernel, {"blocks"}), sms = t.machine.number("gpu.sm_count");
  const double speedup = ratio(times.kernel, times.even_sms(blocks, sms));
  if (number_at(t.kernel, {"busiest_sm_instructions"}) == 0) {
    imbalance_on_sms(t, times, to);
    return;
  }
  if (speedup < 1.1 || blocks < 2) return;
  to.push_back({"imbalance between blocks", "",
                fmt::format("SMs have blocks for {:.0f} of {:.0f} cycles on average: the longest blocks end the kernel",
                            times.sm, times.kernel),
                "begin with the long blocks, divide them, or let blocks fetch work items from a common counter",
                speedup});
}

// A block keeps its place until its last warp has ended.
void imbalance_within_blocks(const time_model& t, std::vector<advice>& to) {
  const block_times times(t);
  if (times.ended < 0.1 || !t.warps_differ()) return;
  const std::vector<serial_section> serial = serial_sections(t);  // which has a rule of its own
  if (std::any_of(serial.begin(), serial.end(), [](const serial_section& s) { return s.ends_kernel; })) return;
  const place_sums* longest = nullptr;
  for (const place_sums& p : t.places)
    if (longest == nullptr || p.cycles > longest->cycles) longest = &p;
  relief r;
  r.blocks = 1 / (1 - std::min(0.99, times.ended));
  to.push_back(
      {"imbalance within blocks", longest == nullptr ? "" : longest->name,
       fmt::format(
           "a warp has ended for {:.0f} % of the life of its block, on average, whose last warp is here most of the time",
           100 * times.ended),
       "divide the work of a block evenly among its warps", t.speedup(r)});
}

}  // namespace heddle::testbench
