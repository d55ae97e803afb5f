// SPDX-License-Identifier: MIT
#pragma once

#include <systemc>

namespace heddle {

/// Learns that a module is put into a trace file: signals that follow from times must be kept up to date from then on.
class trace_observer {
 public:
  virtual void traced(const sc_core::sc_trace_file* file) const = 0;

 protected:
  ~trace_observer() = default;
};

}  // namespace heddle
