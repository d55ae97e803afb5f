// SPDX-License-Identifier: MIT
// Advice about blocks and warps that end while others go on.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "testbench/advice/advice.h"
#include "testbench/advice/rules.h"

namespace heddle::testbench {

namespace {

using json = nlohmann::ordered_json;

/// How long blocks last, in core cycles, and what keeps the kernel longer.
struct block_times {
  double kernel = 0;
  double block = 0;  // mean, from a block's start to its end
  double ended = 0;  // share of it in which a warp has ended, on average
  double waves = 0, whole_waves = 0;
  double start = 0;   // until as many warps are there as ever
  double sm = 0;      // mean time in which an SM has blocks, of those that ever have
  double late = 0;    // the longest such time of an SM with the mean of instructions or less; 0: unknown
  double queues = 0;  // share of a warp's time in which it waits behind others

  explicit block_times(const time_model& t)
      : kernel(number_at(t.kernel, {"cycles"})),
        waves(number_at(t.kernel, {"waves"})),
        whole_waves(std::max(1.0, std::ceil(waves))) {
    const json over_time = t.kernel.value("occupancy_over_time", json::object());
    const double step = number_at(over_time, {"step_cycles"});
    const json sms = over_time.value("active_sms", json::array()),
               filled = over_time.value("achieved_occupancy", json::array());
    double most = 0, most_sms = 0, sm_cycles = 0;
    const auto warps = [&](std::size_t k) { return sms[k].get<double>() * filled[k].get<double>(); };
    const std::size_t steps = std::min(sms.size(), filled.size());
    for (std::size_t k = 0; k < steps; ++k) {
      most = std::max(most, warps(k));
      most_sms = std::max(most_sms, sms[k].get<double>());
      sm_cycles += sms[k].get<double>() * step;
    }
    for (std::size_t k = 0; k < steps && warps(k) < 0.9 * most; ++k) start += step;
    const double active = number_at(t.kernel, {"warp_cycles", "active"});
    const double gone = number_at(t.kernel, {"lost_occupancy", "imbalance_within_blocks"}) * sm_cycles *
                        t.machine.number("sm.max_warps");
    block = ratio(active + gone, number_at(t.kernel, {"warps"}));
    ended = ratio(gone, active + gone);
    sm = ratio(sm_cycles, most_sms);
    late = number_at(t.kernel, {"longest_even_sm_cycles"});
    for (const wait_share& w : waits(t.kernel))
      if (is_queue(w.name)) queues += w.share;
  }
  /// The time that blocks of equal length would take.
  [[nodiscard]] double even() const { return std::min(kernel, whole_waves * block + start); }
  /// The time of the last wave beyond its share of a full one. Its blocks are shorter, since fewer wait less behind
  /// each other.
  [[nodiscard]] double partial() const {
    const double full = std::floor(waves), part = waves - full, shorter = 1 - queues * (1 - part);
    return std::max(0.0, ratio(block * waves, full + part * shorter) * (shorter - part));
  }
  /// The time that SMs with as much to do would take, where some have a block more than others. Within an SM blocks end
  /// one after another even if they are equal, since schedulers prefer some warps. An SM that has no more than the mean
  /// to do and is late all the same waits for something else, and gets no less to do.
  [[nodiscard]] double even_sms(double blocks, double sms) const {
    const double each = ratio(blocks, sms);
    return std::min(kernel, std::max(late, sm * std::max(1.0, ratio(std::ceil(each), each))) + start);
  }
};

}  // namespace

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
    double cycles = number_at(t.kernel, {"warp_states", "selected"});
    for (const char* state : {"wait", "branch_resolving", "short_scoreboard"}) cycles += all * t.share_of(state);
    cycles += all * t.share_of("long_scoreboard") * t.loads_alone();
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

constexpr double long_alone = 0.3;  // blocks of equal length end one after another in less of the time

// Blocks on one SM, each SM with as many: the longest are alone at the end, too few to fill it.
void imbalance_on_sms(const time_model& t, const block_times& times, std::vector<advice>& to) {
  const double sms = t.machine.number("gpu.sm_count"), blocks = number_at(t.kernel, {"blocks"});
  const double instructions = number_at(t.kernel, {"metrics", "inst_executed"});
  const bool even = std::fmod(blocks, sms) == 0 && number_at(t.kernel, {"lost_occupancy", "partial_last_wave"}) < 0.03;
  if (!even || blocks < 2 * sms || times.ended >= 0.1) return;
  if (t.has_equal_blocks()) return;  // they end one after another, behind each other in queues
  const issue_over_time issue(t);
  const double alone = ratio(issue.cycles_of_last_quarter(), times.kernel);
  const double then = ratio(instructions, issue.rate(instructions) * sms) + times.start;
  const double speedup = std::min(ratio(times.kernel, then), ratio(1, t.busiest()));
  if (alone < long_alone || speedup < 1.1) return;
  to.push_back(
      {"imbalance between blocks", "",
       fmt::format("for {:.0f} % of the time SMs have a quarter of their warps or fewer: the longest blocks are "
                   "left alone, too few to fill them",
                   100 * alone),
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
