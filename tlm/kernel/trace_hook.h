// SPDX-License-Identifier: MIT
#pragma once

#include <functional>
#include <systemc>

namespace heddle {

/// What a module calls when it is put into a trace file: levels that follow from times are then kept up to date by
/// whoever set it.
struct trace_hook {
  std::function<void(const sc_core::sc_trace_file*)> call;
  void operator()(const sc_core::sc_trace_file* file) const {
    if (call) call(file);
  }
};

}  // namespace heddle
