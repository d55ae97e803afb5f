// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "heddle/config/parameters.h"
#include "heddle/frontend/sass_trace/replay/trace_file.h"
#include "heddle/gpu/gpu.h"
#include "heddle/memory/common/touched_lines.h"

namespace heddle::testbench {

/// Brings into a GPU's L2 and instruction caches what recorded launches leave there, without simulating them.
class l2_warm_up {
 public:
  using trace_ptr = std::shared_ptr<const sass_trace::trace_file>;
  using traces_by_file = std::map<std::string, trace_ptr>;
  /// `strict`: an unknown opcode is an error.
  l2_warm_up(gpu& chip, bool strict);

  /// Of launches in their order, as many of the last ones as touch all lines that the L2 holds, or all of them; with
  /// their code, also in the SMs' second instruction caches. `next`: the traces that are launched then. Nothing may be
  /// in flight. Throws input_error for a trace that cannot be read or run on this GPU.
  void follow(const std::vector<std::string>& traces, const traces_by_file& next);

 private:
  using block_lines = std::vector<std::vector<line_touch>>;
  using block_user = std::function<void(std::vector<line_touch> lines)>;
  struct recorded {
    trace_ptr trace;
    std::shared_ptr<const block_lines> lines;  // of all blocks; null: there is no room for them
    std::uint64_t together = 1;                // blocks that the GPU holds
    std::uint64_t code_address = 0, code_bytes = 0;
  };
  recorded& read(const std::string& trace, const traces_by_file& next);
  void each_block(const recorded& r, const block_user& use) const;
  void keep(recorded& r);
  void follow_code(const recorded& r);
  void follow_blocks(std::uint64_t together, const std::function<void(const block_user& use)>& each);

  gpu& chip_;
  const gpu_config& config_;
  std::shared_ptr<sass_trace::trace_set> set_;
  std::map<std::string, recorded> read_;  // by file: a trace may be named again
  std::size_t room_;                      // for lines that are kept
};

}  // namespace heddle::testbench
