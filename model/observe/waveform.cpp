// SPDX-License-Identifier: MIT
#include "observe/waveform.h"

#include "observe/gtkwave_layout.h"
#include "observe/module_scope.h"
#include "sm/sm.h"

namespace heddle {

namespace {

// A sub-partition holds a warp: what one comes to see has begun.
bool any_warp(const gpu& g) {
  for (unsigned i = 0; i < g.sm_count(); ++i)
    if (g.sm_at(i).resource_manager.resident_blocks() != 0) return true;
  return false;
}

}  // namespace

waveform::waveform(gpu& g, const std::string& path, const std::string& scope, cycle_t first, cycle_t last)
    : gpu_(g), writer_(path, {first, last}), first_(first), last_(last) {
  sc_core::sc_trace(&writer_, cycle_, std::string(g.name()) + ".cycle");
  for (const sc_core::sc_object* module : modules_in_scope(g, scope)) module->trace(&writer_);
  g.core_clock().observe(*this);
  // Units of the other clocks change in their own cycles.
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
  if (cycle_ < first_ || cycle_ > last_) return;
  if (!sampled_ || !active_) first_sample_ = sc_core::sc_time_stamp().value();
  sampled_ = true;
  active_ = active_ || any_warp(gpu_);
  writer_.sample();
}

// A window ends with its last cycle, whose values hold to the edge behind it.
void waveform::close() {
  writer_.close(last_ == never ? sc_core::sc_max_time() : gpu_.core_clock().time_of(last_ + 1));
}

std::vector<waveform::side_file> waveform::layout(const std::string& vcd_name) const {
  return gtkwave_layout(vcd_name, writer_.signals(), first_sample_);
}

std::vector<std::string> waveform::layout_names(const std::string& vcd_name) { return gtkwave_layout_names(vcd_name); }

}  // namespace heddle
