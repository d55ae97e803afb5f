// SPDX-License-Identifier: MIT
#include "testbench/run/summary.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "testbench/report/verdict_lines.h"
#include "testbench/run/job_runner.h"
#include "testbench/run/preemption_summary.h"
#include "testbench/text/text.h"

namespace heddle::testbench {

namespace {

constexpr std::size_t width = 80;
constexpr std::size_t label_width = 16;
constexpr std::size_t kernels_in_full = 3;
constexpr std::size_t kernels_listed = 20;
constexpr std::size_t hot_lines = 5;

struct amount {
  std::string name;
  std::uint64_t cycles;
};

std::string shortened(const std::string& text, std::size_t most) {
  return text.size() <= most ? text : text.substr(0, most - 3) + "...";
}

/// A file name truncated at the front, which matters least.
std::string tail(const std::string& text, std::size_t most) {
  return text.size() <= most ? text : "..." + text.substr(text.size() - most + 3);
}

std::string hits(const cache_counts& c) {
  if (c.accesses == 0) return "unused";
  return percent(static_cast<double>(c.hits) / static_cast<double>(c.accesses)) + " hits";
}

std::string dimensions(const std::uint32_t (&d)[3]) {
  std::string text = std::to_string(d[0]);
  if (d[1] > 1 || d[2] > 1) text += "x" + std::to_string(d[1]);
  if (d[2] > 1) text += "x" + std::to_string(d[2]);
  return text;
}

// Breaks lines at blanks; a word longer than a line is split.
std::vector<std::string> wrap(const std::string& text, std::size_t most) {
  std::vector<std::string> lines;
  std::string rest = text;
  while (rest.size() > most) {
    std::size_t end = rest.rfind(' ', most);
    if (end == std::string::npos || end == 0) end = most;
    lines.push_back(rest.substr(0, end));
    rest = rest.substr(end + (rest[end] == ' '));
  }
  lines.push_back(rest);
  return lines;
}

/// Collects lines of a label and a text.
class page {
 public:
  explicit page(text_style style) : style_(style) {}

  void title(const std::string& text) { text_ += paint("1", shortened(text, width)) + "\n"; }
  void line(const std::string& label, const std::string& text) {
    text_ += fmt::format("  {:<{}}{}\n", label, label_width, shortened(text, width - 2 - label_width));
  }
  void bad(const std::string& label, const std::string& text) {
    text_ += fmt::format("  {:<{}}", label, label_width) + paint("31", shortened(text, width - 2 - label_width)) + "\n";
  }
  void share(const std::string& label, const std::string& name, double ratio) {
    const auto stars = static_cast<std::size_t>(std::lround(ratio * 24));
    text_ += fmt::format("  {:<{}}{:<27}{:>7}  ", label, label_width, name, percent(ratio)) +
             paint("36", std::string(stars, '#'));
    while (text_.back() == ' ') text_.pop_back();
    text_ += "\n";
  }
  /// A text of one or more lines; an empty `colour` means none.
  void wrapped(const std::string& label, const std::string& text, const char* colour = "") {
    std::string first = label;
    for (const std::string& part : wrap(text, width - 2 - label_width)) {
      text_ += fmt::format("  {:<{}}", first, label_width) + (*colour ? paint(colour, part) : part) + "\n";
      first.clear();
    }
  }
  void gap() { text_ += "\n"; }
  std::string take() { return std::move(text_); }

 private:
  std::string paint(const char* code, const std::string& text) const { return style_.with(code, text); }

  text_style style_;
  std::string text_;
};

void write_cycles(page& p, const warp_cycle_counts& counts) {
  if (counts.active == 0) return;
  std::vector<amount> amounts;
  counts.visit([&amounts](const char* name, std::uint64_t n) {
    if (n > 0 && std::strcmp(name, "active") != 0) amounts.push_back({name, n});
  });
  std::stable_sort(amounts.begin(), amounts.end(),
                   [](const amount& a, const amount& b) { return a.cycles > b.cycles; });
  const char* label = "warp cycles";
  for (const amount& a : amounts) {
    const double ratio = static_cast<double>(a.cycles) / static_cast<double>(counts.active);
    if (ratio < 0.0005) continue;
    p.share(label, a.name, ratio);
    label = "";
  }
}

// The source lines at which most warp-cycles were lost, and the main stall reasons.
void write_hot_lines(page& p, const kernel_metrics& k) {
  std::vector<const line_metrics*> hot;
  const auto lost = [](const line_metrics& l) { return l.warp_cycles.active - l.warp_cycles[warp_cycle::selected]; };
  for (const line_metrics& l : k.lines)
    if (lost(l) * 100 >= k.warp_cycles.active) hot.push_back(&l);
  std::stable_sort(hot.begin(), hot.end(), [&](const auto* a, const auto* b) { return lost(*a) > lost(*b); });
  if (hot.size() > hot_lines) hot.resize(hot_lines);
  const char* label = "hot lines";
  for (const line_metrics* l : hot) {
    amount most{"", 0};
    for (std::size_t s = 0; s < l->warp_cycles.states.size(); ++s) {
      const auto state = static_cast<warp_cycle>(s);
      const std::uint64_t n = l->warp_cycles[state];
      if (n > most.cycles && state != warp_cycle::selected) most = {name_of(state), n};
    }
    const std::string source = l->source.substr(l->source.find_last_of('/') + 1), number = std::to_string(l->line);
    p.line(label,
           fmt::format("{:<27}{:>7}  {} {}",
                       source.empty() ? tail(k.file, 18) + ":" + number : tail(source, 17) + " (PTX " + number + ")",
                       percent(static_cast<double>(lost(*l)) / static_cast<double>(k.warp_cycles.active)), most.name,
                       percent(static_cast<double>(most.cycles) / static_cast<double>(lost(*l)))));
    label = "";
  }
}

// What moved, and of what the memory could have moved in the kernel's time.
void write_dram(page& p, const kernel_metrics& k, double seconds, const gpu_config& c) {
  const dram_counts& d = k.memory.dram;
  const auto moved = static_cast<double>(d.read_bytes + d.write_bytes);
  const double in_a_cycle = c.memory.model == choice::memory_model::dram
                                ? c.dram.bytes_per_cycle * c.dram.clock_mhz / c.gpu.core_clock_mhz
                                : c.memory.bytes_per_cycle;
  const double possible = in_a_cycle * c.memory.channels * static_cast<double>(k.cycles);
  p.line("DRAM",
         fmt::format("{} read, {} written, {}{}", scaled(static_cast<double>(d.read_bytes), "B"),
                     scaled(static_cast<double>(d.write_bytes), "B"), scaled(seconds > 0 ? moved / seconds : 0, "B/s"),
                     possible > 0 ? ", " + percent(moved / possible) + " of the peak" : ""));
}

// The DRAM bus between the first and the last data: the share of cycles that moved data, and the causes of the others.
void write_dram_bus(page& p, const dram_counts& d, const gpu_config& c) {
  if (c.memory.model != choice::memory_model::dram || d.busy_cycles == 0) return;
  const std::uint64_t all = d.busy_cycles + d.idle_cycles + d.refresh_cycles + d.turnaround_cycles + d.row_cycles;
  const auto share = [all](std::uint64_t n) { return percent(static_cast<double>(n) / static_cast<double>(all)); };
  p.line("DRAM bus", fmt::format("moved data {} of the time from first to last byte; else:", share(d.busy_cycles)));
  p.line("", fmt::format("idle {}, rows {}, turnaround {}, refresh {}", share(d.idle_cycles), share(d.row_cycles),
                         share(d.turnaround_cycles), share(d.refresh_cycles)));
}

// The causes that keep the achieved occupancy below the theoretical one by at least 1 % of all warp slots.
void write_lost_occupancy(page& p, const kernel_metrics& k) {
  static const char* const texts[] = {"imbalance within blocks", "imbalance between blocks", "too few blocks",
                                      "partial last wave",       "launch latency",           "other kernels"};
  const char* label = "lost to";
  std::size_t i = 0;
  k.lost.visit([&](const char*, double share) {
    const char* text = texts[i++];
    if (share < 0.01) return;
    p.share(label, text, share);
    label = "";
  });
}

// Under a power cap also how long it was effective, and whether it was exceeded.
void write_energy(page& p, const energy_metrics& e, const gpu_config& c) {
  if (!e.known || e.seconds <= 0) return;
  const double j = e.total_joules;
  p.line("energy", fmt::format("{}, {:.4g} W on average, energy x delay {:.4g} J s",
                               j < 1e-3 ? fmt::format("{:.4g} uJ", j * 1e6)
                               : j < 1  ? fmt::format("{:.4g} mJ", j * 1e3)
                                        : fmt::format("{:.4g} J", j),
                               e.mean_watts(), e.energy_delay_product()));
  if (e.throttled_cycles > 0)
    p.line("power cap", fmt::format("{:.6g} MHz on average, {} cycles below the full clock", e.mean_clock_mhz,
                                    grouped(e.throttled_cycles)));
  constexpr double rounding = 1.001, nearly = 1.02;
  if (!e.capped() || e.mean_watts() <= rounding * c.energy.power_cap_watts) return;
  const double least = std::max(c.energy.least_clock_mhz, c.gpu.core_clock_mhz / 8);
  p.bad("power cap",
        fmt::format("{:.4g} W are not held{}", c.energy.power_cap_watts,
                    e.least_clock_mhz < nearly * least ? " with the least clock"
                                                       : ": the clock follows the power an interval late"));
}

std::string estimate_text(const sampled_metrics& s) {
  const std::string cycles = grouped(static_cast<std::uint64_t>(std::llround(s.cycles))) + " cycles";
  return s.error > 0 ? fmt::format("about {} (+- {:.1f} %)", cycles, 100 * s.error) : cycles;
}

void write_kernel(page& p, const kernel_metrics& k, const gpu_config& c) {
  const double seconds =
      k.energy.capped() ? k.energy.seconds : static_cast<double>(k.cycles) / (c.gpu.core_clock_mhz * 1e6);
  p.title(fmt::format("{}  grid {} x block {} on {}", shortened(k.name, 32), dimensions(k.grid), dimensions(k.block),
                      c.gpu.name));
  p.line("kernel cycles", fmt::format("{} = {} at {:.6g} MHz", grouped(k.cycles), duration(seconds),
                                      k.energy.capped() ? k.energy.mean_clock_mhz : c.gpu.core_clock_mhz));
  if (k.sampled.known)
    p.line("whole launch", fmt::format("{}, {} of {} blocks simulated", estimate_text(k.sampled),
                                       grouped(k.sampled.simulated_blocks), grouped(k.blocks)));
  if (const unsigned launch = c.cwd.launch_overhead_cycles; launch != 0)
    p.line("as profiled",
           fmt::format("{} elapsed cycles, {} of them for the launch", grouped(k.cycles + launch), launch));
  p.line("IPC per SM",
         fmt::format("{:.2f}, {} of the issue slots used", k.metrics.ipc, percent(k.metrics.issue_slot_utilization)));
  p.line("occupancy", fmt::format("{} of {}, {} blocks an SM (limit: {})", percent(k.metrics.achieved_occupancy),
                                  percent(k.theoretical_occupancy), k.blocks_per_sm, join(k.occupancy_limiters, ", ")));
  write_lost_occupancy(p, k);
  p.line("a thread takes", fmt::format("{} registers; a block {} bytes of shared memory", k.registers_per_thread,
                                       grouped(k.shared_bytes_per_block)));
  write_cycles(p, k.warp_cycles);
  write_hot_lines(p, k);
  p.line("L1", hits(k.memory.l1));
  p.line("L2", hits(k.memory.l2));
  write_dram(p, k, seconds, c);
  write_dram_bus(p, k.memory.dram, c);
  if (k.memory.shared.accesses > 0) {
    p.line("shared memory", fmt::format("{} accesses, {} bank conflicts", grouped(k.memory.shared.accesses),
                                        grouped(k.memory.shared.bank_conflicts)));
  }
  write_energy(p, k.energy, c);
  p.gap();
}

// Where blocks were left out, the estimate for all.
std::string kernel_cycles(const kernel_metrics& k) {
  if (!k.sampled.known || k.sampled.error <= 0) return grouped(k.cycles);
  return "~" + grouped(static_cast<std::uint64_t>(std::llround(k.sampled.cycles)));
}

void write_table(page& p, const run_metrics& m) {
  p.title(fmt::format("{} launches on {}", m.kernels.size(), m.config.gpu.name));
  p.line("kernel", fmt::format("{:<20}{:>12}{:>14}{:>8}{:>8}", "", "blocks", "kernel cycles", "IPC", "occup."));
  warp_cycle_counts sum;
  for (std::size_t i = 0; i < m.kernels.size(); ++i) {
    const kernel_metrics& k = m.kernels[i];
    sum.add(k.warp_cycles.states);
    if (i >= kernels_listed) continue;
    p.line("", fmt::format("{:<20}{:>12}{:>14}{:>8.2f}{:>8.2f}", shortened(k.name, 19), grouped(k.blocks),
                           kernel_cycles(k), k.metrics.ipc, k.metrics.achieved_occupancy));
  }
  if (m.kernels.size() > kernels_listed)
    p.line("", fmt::format("and {} more; --metrics has them all", m.kernels.size() - kernels_listed));
  write_cycles(p, sum);
  p.gap();
}

void write_clients(page& p, const run_metrics& m) {
  if (m.clients.empty()) return;
  p.line("clients", fmt::format("{:<18}{:>6}{:>13}{:>10}{:>7}{:>8}", "", "SMs", "cycles", "L2 hits", "IPC", "alone x"));
  for (const client_metrics& c : m.clients)
    p.line("", fmt::format("{:<18}{:>6}{:>13}{:>10}{:>7.2f}{:>8}", shortened(c.name, 17), c.most_sms, grouped(c.cycles),
                           c.l2_accesses == 0
                               ? "unused"
                               : percent(static_cast<double>(c.l2_hits) / static_cast<double>(c.l2_accesses)),
                           c.ipc, c.alone_cycles == 0 ? "-" : fmt::format("{:.3f}", c.slowdown())));
}

void write_preemptions(page& p, const run_metrics& m) {
  const char* label = "preemptions";
  for (const std::string& text : preemption_lines(m)) {
    p.line(label, text);
    label = "";
  }
}

// The first lines of the report: the verdict.
void write_verdict(page& p, const run_metrics& m) {
  const verdict_lines v = verdict_of(m);
  if (v.bound.empty()) return;
  p.gap();
  p.wrapped("verdict", v.bound, "1");
  if (!v.advice.empty()) p.wrapped("try", v.advice);
  if (!v.kernel.empty()) p.wrapped("in the kernel", v.kernel);
}

// Repeats the failure without its details at the end of the summary, where users look last; the full message is above,
// on stderr.
void write_failure(page& p, const std::string& failure) {
  if (failure.empty()) return;
  p.gap();
  const char* label = "failed";
  for (const std::string& line : split(failure, '\n')) {
    if (line.empty() || line[0] == ' ') continue;
    p.wrapped(label, line, "31");
    label = "";
  }
}

}  // namespace

std::string summary_text(const run_outcome& outcome, const text_style& style) {
  page p(style);
  const run_metrics& m = outcome.metrics;
  if (!m.stopped.empty()) {
    p.bad("stopped", fmt::format("by {} in cycle {}: what ran until then", m.stopped, grouped(m.cut_cycle)));
    p.gap();
  }
  if (m.kernels.size() <= kernels_in_full) {
    for (const auto& k : m.kernels) write_kernel(p, k, m.config);
  } else {
    write_table(p, m);
  }
  const double clock_mhz = m.energy.capped() ? m.energy.mean_clock_mhz : m.config.gpu.core_clock_mhz;
  p.line("job cycles", fmt::format("{} = {}, from the first launch to the last end", grouped(m.cycles),
                                   duration(static_cast<double>(m.cycles) / (clock_mhz * 1e6))));
  if (const sampled_metrics s = sampled_of(m); s.known) p.line("with all blocks", estimate_text(s));
  if (m.kernels.size() > kernels_in_full) write_energy(p, m.energy, m.config);
  write_clients(p, m);
  write_preemptions(p, m);
  p.line("host", fmt::format("{:.3g} s CPU, {:.3g} M warp instructions a CPU second", m.host.cpu_seconds,
                             m.host.warp_instructions_per_second * 1e-6));
  p.line("host memory", scaled(static_cast<double>(m.host.peak_rss_bytes), "B") + " at the peak");
  for (const comparison& c : outcome.checks) {
    const std::string file = tail(c.expect, 30);
    const std::string name = shortened(c.name, 16);
    if (c.differing) {
      p.bad("check",
            fmt::format("{} differs from {}: {} of {}", name, file, grouped(c.differing), grouped(c.elements)));
    } else {
      p.line("check", fmt::format("{} matches {}: {} elements", name, file, grouped(c.elements)));
    }
  }
  for (const std::string& path : outcome.written) p.line("written", tail(path, width - 2 - label_width));
  write_verdict(p, m);
  write_failure(p, outcome.failure);
  return p.take();
}

}  // namespace heddle::testbench
