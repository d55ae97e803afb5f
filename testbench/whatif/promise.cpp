// SPDX-License-Identifier: MIT
#include "testbench/whatif/promise.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <string>
#include <utility>

#include "heddle/occupancy/limiter.h"
#include "heddle/sub_partition/account/warp_state.h"

namespace heddle::testbench {

namespace {

using json = nlohmann::ordered_json;

/// The states of waiting warps (docs/use/metrics.md) that a section of the configuration may shorten.
struct waits {
  const char* section;
  std::vector<warp_stall> states;
};

const std::vector<waits>& waits_by_section() {
  static const std::vector<warp_stall> arithmetic = {warp_stall::wait, warp_stall::math_pipe_throttle,
                                                     warp_stall::dispatch_stall};
  static const std::vector<warp_stall> far = {warp_stall::long_scoreboard, warp_stall::lg_throttle};
  static const std::vector<waits> all = {
      {"fp32", arithmetic},
      {"int", arithmetic},
      {"fp64", arithmetic},
      {"half", arithmetic},
      {"tensor", arithmetic},
      {"sfu",
       {warp_stall::wait, warp_stall::math_pipe_throttle, warp_stall::short_scoreboard, warp_stall::mio_throttle}},
      {"branch", {warp_stall::branch_resolving}},
      {"instruction_cache", {warp_stall::no_instruction}},
      {"constant_cache", {warp_stall::imc_miss}},
      {"texture", {warp_stall::tex_throttle, warp_stall::long_scoreboard}},
      {"shared_memory", {warp_stall::short_scoreboard, warp_stall::mio_throttle}},
      {"ldst",
       {warp_stall::short_scoreboard, warp_stall::mio_throttle, warp_stall::lg_throttle, warp_stall::long_scoreboard}},
      {"l1", far},
      {"tlb", far},
      {"interconnect", far},
      {"l2", far},
      {"memory", far},
      {"dram", far},
      {"cwd", {warp_stall::drain}},
      {"sub_partition",
       {warp_stall::not_selected, warp_stall::wait, warp_stall::math_pipe_throttle, warp_stall::dispatch_stall,
        warp_stall::short_scoreboard}},
  };
  return all;
}

/// The parts of all waiting that the states have, over all kernels.
class wait_shares {
 public:
  explicit wait_shares(const json& metrics) {
    if (!metrics.contains("kernels")) return;
    for (const json& kernel : metrics.at("kernels")) {
      if (!kernel.contains("warp_states")) continue;
      for (const auto& [state, cycles] : kernel.at("warp_states").items()) {
        if (state == name_of(warp_stall::selected) || !cycles.is_number()) continue;
        cycles_[state] += cycles.get<double>();
        all_ += cycles.get<double>();
      }
    }
  }
  /// 0 to 1. Sections that no states are known of have 1.
  [[nodiscard]] double of(const std::string& section) const {
    for (const waits& w : waits_by_section()) {
      if (section != w.section) continue;
      double sum = 0;
      for (const warp_stall state : w.states)
        if (const auto found = cycles_.find(name_of(state)); found != cycles_.end()) sum += found->second;
      return all_ > 0 ? sum / all_ : 1;
    }
    return 1;
  }

 private:
  std::map<std::string, double> cycles_;
  double all_ = 0;
};

/// What keeps more blocks from an SM (docs/use/metrics.md), for parameters that say how many warps it holds.
limiter limiter_of(const std::string& key) {
  if (key == "sm.register_allocation_unit") return limiter::registers;
  for (const limiter_row& row : limiter_rows)
    if (key == row.parameter) return row.what;
  return limiter::none;
}

class promises {
 public:
  explicit promises(const json& metrics) : shares_(metrics) {
    if (!metrics.contains("kernels")) return;
    for (const json& kernel : metrics.at("kernels"))
      if (kernel.value("waves", 2.0) > 1 && kernel.contains("occupancy_limiters"))
        for (const json& limiter : kernel.at("occupancy_limiters"))
          limiters_.insert(limiter_named(limiter.get<std::string>()));
  }
  /// Of changes in the order in which they are made: the first parameters of a section are its clock and size.
  [[nodiscard]] double of(const candidate& c) {
    constexpr double advice = 2, choice = 0.1, other_direction = 0.02, least = 0.01, next = 0.95;
    if (c.what == candidate::kind::advice) return advice;
    const std::string& key = c.settings.front().first;
    const std::string section = key.substr(0, key.find('.'));
    const limiter limits = limiter_of(key);
    double promise = std::max(shares_.of(section), least);
    if (limits != limiter::none && limiters_.count(limits) == 0) promise = least;
    const double kind = c.what == candidate::kind::choice ? choice : c.sooner ? 1 : other_direction;
    return promise * kind * std::pow(next, made_[section + std::to_string(kind)]++);
  }

 private:
  wait_shares shares_;
  std::set<limiter> limiters_;
  std::map<std::string, unsigned> made_;
};

}  // namespace

std::vector<candidate> by_promise(std::vector<candidate> all, const json& metrics) {
  promises of(metrics);
  std::vector<std::pair<double, candidate>> ranked;
  for (candidate& c : all) {
    const double promise = of.of(c);
    ranked.emplace_back(promise, std::move(c));
  }
  std::stable_sort(ranked.begin(), ranked.end(), [](const auto& a, const auto& b) { return a.first > b.first; });
  all.clear();
  for (auto& [promise, c] : ranked) all.push_back(std::move(c));
  return all;
}

}  // namespace heddle::testbench
