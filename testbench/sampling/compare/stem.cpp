// SPDX-License-Identifier: MIT
#include "testbench/sampling/compare/stem.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <map>

#include "testbench/sampling/strata/sorted_times.h"

namespace heddle::testbench {

namespace {

/// Launches of a kernel, in the order of their times.
struct time_range {
  std::size_t first, end;
  double drawn;  // launches

  [[nodiscard]] double size() const { return static_cast<double>(end - first); }
};

/// Its deviation is that of the launches about their mean, as in the paper.
stratum population(const sorted_times& times, const time_range& r) {
  stratum s = times.part("", r.first, r.end);
  s.deviation *= std::sqrt((r.size() - 1) / r.size());
  return s;
}

class kernel_division {
 public:
  kernel_division(const sorted_times& times, double deviations_per_error)
      : times_(times), deviations_(deviations_per_error) {}

  std::vector<stem_stratum> run() {
    time_range whole{0, times_.size(), 0};
    const stratum s = population(times_, whole);
    whole.drawn = std::ceil(std::pow(deviations_ * s.deviation / s.mean, 2));
    std::vector<time_range> open = {whole};
    while (!open.empty()) {
      const time_range now = open.back();
      open.pop_back();
      std::array<time_range, 2> halves{};
      if (divide(now, halves)) {
        open.insert(open.end(), halves.begin(), halves.end());
      } else {
        keep(now);
      }
    }
    return std::move(strata_);
  }

 private:
  bool divide(const time_range& whole, std::array<time_range, 2>& halves) const {
    const stratum s = population(times_, whole);
    if (whole.end - whole.first < 2 || whole.drawn == 0 || s.deviation == 0) return false;
    const std::size_t cut = times_.best_cut(whole.first, whole.end);
    halves = {time_range{whole.first, cut, 0}, time_range{cut, whole.end, 0}};
    double weights = 0, time = 0, simulated = 0;
    for (const time_range& h : halves) {
      const stratum part = population(times_, h);
      weights += h.size() * part.deviation * std::sqrt(part.mean);
      time += part.total();
    }
    for (time_range& h : halves) {
      const stratum part = population(times_, h);
      h.drawn = std::ceil(weights / std::pow(time / deviations_, 2) * h.size() * part.deviation / std::sqrt(part.mean));
      simulated += h.drawn * part.mean;
    }
    return simulated <= whole.drawn * s.mean;
  }
  void keep(const time_range& r) {
    strata_.push_back(
        {times_.part("", r.first, r.end).members, static_cast<std::size_t>(std::clamp(r.drawn, 1.0, r.size()))});
  }

  const sorted_times& times_;
  double deviations_;
  std::vector<stem_stratum> strata_;
};

}  // namespace

std::vector<stem_stratum> stem_strata(const launch_list& list, const accuracy& wanted) {
  std::map<std::string, std::vector<std::uint32_t>> kernels;
  for (std::uint32_t k = 0; k < list.launches.size(); ++k) kernels[list.launches[k].name].push_back(k);
  std::vector<stem_stratum> all;
  for (const auto& [name, members] : kernels) {
    const sorted_times times(list, members);
    for (stem_stratum& s : kernel_division(times, wanted.deviations() / wanted.error).run())
      all.push_back(std::move(s));
  }
  return all;
}

}  // namespace heddle::testbench
