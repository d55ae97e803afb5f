// SPDX-License-Identifier: MIT
#include "observe/waveform.h"

#include <fnmatch.h>

#include "config/error.h"
#include "observe/gtkwave_layout.h"

namespace heddle {

namespace {

std::vector<std::string> split_globs(const std::string& scope) {
  std::vector<std::string> globs;
  std::size_t from = 0;
  while (from <= scope.size()) {
    const std::size_t comma = std::min(scope.find(',', from), scope.size());
    if (comma > from) globs.push_back(scope.substr(from, comma - from));
    from = comma + 1;
  }
  return globs;
}

// Traces every module below `object` whose name fits the glob.
unsigned trace_matching(const sc_core::sc_object& object, const std::string& glob, sc_core::sc_trace_file* file) {
  unsigned found = 0;
  if (dynamic_cast<const sc_core::sc_module*>(&object) != nullptr && fnmatch(glob.c_str(), object.name(), 0) == 0) {
    object.trace(file);
    ++found;
  }
  for (const sc_core::sc_object* child : object.get_child_objects()) found += trace_matching(*child, glob, file);
  return found;
}

}  // namespace

waveform::waveform(gpu& g, const std::string& path, const std::string& scope, cycle_t first, cycle_t last)
    : gpu_(g), writer_(path), first_(first), last_(last) {
  sc_core::sc_trace(&writer_, cycle_, std::string(g.name()) + ".cycle");
  for (const std::string& glob : split_globs(scope))
    if (trace_matching(g, glob, &writer_) == 0)
      throw input_error("--trace-scope: '" + glob + "' fits no module, expected hierarchical names such as gpu.sm0* or gpu.l2_slice0");
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
  if (!sampled_) first_sample_ = sc_core::sc_time_stamp().value();
  sampled_ = true;
  writer_.sample();
}

void waveform::close() { writer_.close(); }

std::vector<waveform::side_file> waveform::layout(const std::string& vcd_name) const {
  return gtkwave_layout(vcd_name, writer_.signals(), first_sample_);
}

std::vector<std::string> waveform::layout_names(const std::string& vcd_name) { return gtkwave_layout_names(vcd_name); }

}  // namespace heddle
