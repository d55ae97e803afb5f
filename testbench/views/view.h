// SPDX-License-Identifier: MIT
#pragma once

#include <string>
#include <vector>

namespace heddle {
namespace isa {
struct program;
}
}  // namespace heddle

namespace heddle::testbench {

/// An observer of a run that writes files: a waveform, a timeline. It is created after the GPU and before the
/// simulation starts, and writes under names that result_files::reserve() returns.
class view {
 public:
  virtual ~view() = default;
  /// Before the simulation: the programs that the job launches. Throws input_error.
  virtual void begin(const std::vector<const isa::program*>& programs) { static_cast<void>(programs); }
  /// Completes the files after the simulation, with `mark` at their end if the run was cut. Throws input_error: full
  /// disk.
  virtual void finish(const std::string& mark) = 0;
};

}  // namespace heddle::testbench
