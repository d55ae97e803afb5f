// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <map>
#include <memory>

#include "heddle/frontend/sass_trace/replay/trace_recording.h"
#include "heddle/gpu/cwd/grid_distributor.h"
#include "heddle/memory/common/touched_lines.h"

namespace heddle {

/// Reads the blocks of recorded launches and hands them to the CWD, one of each resident launch before it is
/// dispatched. So files are read on the host's side, and the CWD knows no traces.
class block_feed {
 public:
  void connect(grid_distributor& cwd) { cwd_ = &cwd; }
  /// Launch `launch`, which is about to be submitted, follows a trace.
  void add(std::uint32_t launch, std::shared_ptr<const sass_trace::trace_kernel> kernel);
  /// Forgets all launches.
  void clear() { recordings_.clear(); }
  /// Forgets a launch that has ended.
  void forget(std::uint32_t launch) { recordings_.erase(launch); }
  /// Reads the blocks that were left out, and tells `follower` what they access. Throws input_error.
  executed_blocks skip(const grid_record& grid, line_follower& follower);
  /// Hands over the next block of a recorded launch, if one is left. Throws input_error if the trace can no longer be
  /// read.
  void hand_over(const grid_record& grid);

 private:
  grid_distributor* cwd_ = nullptr;
  std::map<std::uint32_t, sass_trace::trace_recording> recordings_;  // with blocks left, by launch
};

}  // namespace heddle
