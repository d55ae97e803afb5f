// SPDX-License-Identifier: MIT
#pragma once

#include <memory>
#include <tlm>
#include <utility>

#include "heddle/frontend/sass_trace/replay/trace_kernel.h"

namespace heddle {

/// Ignorable extension of a write to the command register: the recorded kernel that the command launches. A recording
/// does not exist in the GPU's memory, so it accompanies the descriptor.
struct recorded_kernel : tlm::tlm_extension<recorded_kernel> {
  explicit recorded_kernel(std::shared_ptr<const sass_trace::trace_kernel> k) : kernel(std::move(k)) {}
  std::shared_ptr<const sass_trace::trace_kernel> kernel;

  [[nodiscard]] tlm::tlm_extension_base* clone() const override { return new recorded_kernel(*this); }
  void copy_from(const tlm::tlm_extension_base& o) override { kernel = static_cast<const recorded_kernel&>(o).kernel; }
};

}  // namespace heddle
