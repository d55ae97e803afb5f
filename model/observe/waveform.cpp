// SPDX-License-Identifier: MIT
#include "heddle/observe/waveform.h"

#include <algorithm>
#include <cstdio>

#include "heddle/gpu/cwd/grid_distributor.h"
#include "heddle/isa/program.h"
#include "heddle/observe/code_line.h"
#include "heddle/observe/ends_with.h"
#include "heddle/observe/gtkwave_layout.h"
#include "heddle/observe/module_scope.h"

namespace heddle {

namespace {

constexpr std::uint64_t cycle_ps = 1000;  // on the time axis

std::string about(gpu& g) {
  char text[160];
  std::snprintf(text, sizeof text, "1 ns on the time axis is 1 core cycle, which lasts %.6g ps at %.6g MHz",
                1e6 / g.core_clock().frequency_mhz(), g.core_clock().frequency_mhz());
  return text;
}

}  // namespace

waveform::waveform(gpu& g, const std::string& path, const std::string& scope, cycle_t first, cycle_t last,
                   const power_ledger* ledger)
    : gpu_(g), writer_(path, {first, last}), first_(first), last_(last) {
  writer_.set_comment(about(g));
  sc_core::sc_trace(&writer_, cycle_, std::string(g.name()) + ".cycle");
  std::vector<const sc_core::sc_object*> modules;
  for (const unit_in_scope& unit : units_in_scope(g, scope)) {
    unit.trace(&writer_);
    if (unit.module != nullptr) modules.push_back(unit.module);
  }
  if (g.config().energy.account) power_ = std::make_unique<power_signals>(g, ledger, modules, &writer_);
  for (std::size_t k = 0; k < writer_.signals().size(); ++k) {
    const std::string& signal = writer_.signals()[k].name;
    if (ends_with(signal, ".resource_manager.resident_blocks")) blocks_.push_back(k);
    if (ends_with(signal, ".issued")) issued_.push_back(k);
  }
  note();
  g.core_clock().observe(*this);
  // Units in other clock domains change in their own cycles.
  if (scope != "gpu.cwd,gpu.sm0*") {
    g.l2_clock().observe(*this);
    g.dram_clock().observe(*this);
  }
}

waveform::~waveform() {
  gpu_.core_clock().ignore(*this);
  gpu_.l2_clock().ignore(*this);
  gpu_.dram_clock().ignore(*this);
}

void waveform::after_cycle() {
  cycle_ = gpu_.cycle();
  if (power_ != nullptr && cycle_ <= last_) power_->after_cycle(cycle_);
  if (cycle_ < first_) return note();
  const std::uint64_t now = present();
  begin_if_noted(now);
  if (cycle_ > last_) return;
  writer_.sample(now);
  start_if_triggered(now);
}

// If no unit works when the window begins, the last values before it are those that it begins with.
void waveform::note() {
  noted_ = gpu_.cycle() < first_ && gpu_.core_clock().next_wake() > first_;
  if (!noted_) return;
  cycle_ = first_;
  writer_.note();
}

void waveform::begin_if_noted(std::uint64_t now) {
  const std::uint64_t begin = first_ * cycle_ps;
  if (noted_ && now > begin) {
    writer_.start(begin);
    start_if_triggered(begin);
  }
  noted_ = false;
}

void waveform::start_if_triggered(std::uint64_t now) {
  std::uint64_t blocks = 0;
  for (const std::size_t k : blocks_) blocks += writer_.value(k);
  if (!sampled_ || blocks > most_blocks_) {
    start_ = now;
    most_blocks_ = blocks;
    sampled_ = waits_for_issue_ = true;
  }
  if (!waits_for_issue_ || blocks < most_blocks_) return;
  if (std::none_of(issued_.begin(), issued_.end(), [&](std::size_t k) { return writer_.value(k) != 0; })) return;
  start_ = now;
  waits_for_issue_ = false;
}

// The current time on the axis: the core clock's last edge plus the elapsed fraction of its period.
std::uint64_t waveform::present() const {
  const clock_domain& clock = gpu_.core_clock();
  const cycle_t cycle = clock.cycle();
  const std::uint64_t now = sc_core::sc_time_stamp().value(), edge = clock.time_of(cycle).value(),
                      next = clock.time_of(cycle + 1).value();
  const std::uint64_t since = now > edge && next > edge ? (now - edge) * cycle_ps / (next - edge) : 0;
  return cycle * cycle_ps + std::min(since, cycle_ps - 1);
}

// A window ends with its last cycle, whose values hold until the next edge.
void waveform::close(const std::string& mark) {
  begin_if_noted(present());
  if (power_ != nullptr && gpu_.cycle() >= first_ && gpu_.cycle() <= last_) {
    cycle_ = gpu_.cycle();
    power_->finish(cycle_);
    writer_.sample(present());
  }
  writer_.close(last_ == never ? present() : std::min(present(), (last_ + 1) * cycle_ps), mark);
}

// The lines of the program that runs in the window, by instruction; empty: of several.
std::vector<std::string> waveform::places() const {
  const isa::program* runs = nullptr;
  for (const grid_record& g : gpu_.cwd().grids()) {
    if (g.dispatched == 0 || g.start_cycle > last_ || (g.finished && g.end_cycle < first_)) continue;
    if (runs != nullptr && runs != g.launch->program.get()) return {};
    runs = g.launch->program.get();
  }
  std::vector<std::string> all;
  if (runs != nullptr)
    for (const isa::instruction& i : runs->code) all.push_back(line_text(*runs, i.line));
  return all;
}

std::vector<waveform::side_file> waveform::layout(const std::string& vcd_name) const {
  return gtkwave_layout(vcd_name, writer_.signals(), open_at_ == never ? start_ : open_at_ * cycle_ps, places());
}

std::vector<std::string> waveform::layout_names(const std::string& vcd_name) { return gtkwave_layout_names(vcd_name); }

}  // namespace heddle
