// SPDX-License-Identifier: MIT
#include "testbench/run/preemption_summary.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>

#include "heddle/metrics/run_metrics.h"
#include "testbench/text/text.h"

namespace heddle::testbench {

namespace {

/// Durations of one phase, in cycles.
struct phase {
  std::uint64_t count = 0;
  std::uint64_t sum = 0;
  std::uint64_t longest = 0;

  void add(std::uint64_t from, std::uint64_t to) {
    if (to < from || to == 0) return;  // the switch did not reach this phase
    ++count;
    sum += to - from;
    longest = std::max(longest, to - from);
  }

  std::string text(const char* name, double core_clock_mhz) const {
    const double mean = static_cast<double>(sum) / static_cast<double>(count);
    return fmt::format("{:<19}{} cycles = {}{}", name, grouped(static_cast<std::uint64_t>(std::llround(mean))),
                       duration(mean / (core_clock_mhz * 1e6)), count > 1 ? ", at most " + grouped(longest) : "");
  }
};

/// All switches of one mode.
struct mode_sum {
  std::uint64_t switches = 0;
  std::uint64_t blocks = 0;
  std::uint64_t saved_bytes = 0;
  std::uint64_t restored_bytes = 0;
  phase saving;
  phase restoring;
};

}  // namespace

std::string scaled(double value, const char* unit) {
  constexpr const char* prefixes[] = {"", "k", "M", "G", "T"};
  std::size_t i = 0;
  for (; value >= 1000 && i < 4; ++i) value /= 1000;
  return fmt::format("{:.4g} {}{}", value, prefixes[i], unit);
}

std::string duration(double seconds) {
  if (seconds >= 1) return fmt::format("{:.4g} s", seconds);
  if (seconds >= 1e-3) return fmt::format("{:.4g} ms", seconds * 1e3);
  return fmt::format("{:.4g} us", seconds * 1e6);
}

std::vector<std::string> preemption_lines(const run_metrics& m) {
  std::map<std::string, mode_sum> modes;
  for (const context_switch_metrics& c : m.context_switches) {
    mode_sum& s = modes[c.mode];
    ++s.switches;
    s.blocks += c.blocks.size();
    s.saved_bytes += c.bytes_saved;
    s.restored_bytes += c.bytes_restored;
    s.saving.add(c.request_cycle, c.saved_cycle);
    if (c.restore_cycle != 0) s.restoring.add(c.restore_cycle, c.resumed_cycle);
  }
  std::vector<std::string> lines;
  for (const auto& [mode, s] : modes) {
    std::string text =
        fmt::format("{} by {}, {} block{}", grouped(s.switches), mode, grouped(s.blocks), s.blocks == 1 ? "" : "s");
    if (s.saved_bytes != 0)
      text += "; " + scaled(static_cast<double>(s.saved_bytes), "B") + " saved, " +
              scaled(static_cast<double>(s.restored_bytes), "B") + " restored";
    lines.push_back(text);
    if (s.saving.count != 0) lines.push_back(s.saving.text("request to saved", m.config.gpu.core_clock_mhz));
    if (s.restoring.count != 0) lines.push_back(s.restoring.text("restore to resumed", m.config.gpu.core_clock_mhz));
  }
  if (m.preempt_requests.found_no_blocks != 0)
    lines.push_back(fmt::format("{} of {} requests found no blocks on their SM",
                                grouped(m.preempt_requests.found_no_blocks), grouped(m.preempt_requests.asked)));
  return lines;
}

}  // namespace heddle::testbench
