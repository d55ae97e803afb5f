// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "heddle/frontend/sass_trace/code/opcode_table.h"
#include "heddle/frontend/sass_trace/text/line_reader.h"

namespace heddle::sass_trace {

/// Optional fields of a trace's instruction lines.
struct line_format {
  bool block_ids = false;    // block coordinates and warp number in front (versions 1 and 2)
  bool line_number = false;  // source line in front (from version 4 on, where the header says so)
  unsigned immediates = 0;   // at the end: none, one (version 5), two (tracers for Hopper)
  bool values = false;       // then Val with register values, or NoVal (version 6)
};

/// The header of a kernel's trace: "-key = value" lines and the format of the instruction lines.
struct kernel_header {
  std::string name;  // mangled
  std::uint64_t id = 0;
  std::uint32_t grid[3] = {1, 1, 1};
  std::uint32_t block[3] = {1, 1, 1};
  std::uint32_t shared_bytes = 0;  // of a block, static and dynamic
  std::uint32_t registers = 0;     // of a thread
  unsigned binary_version = 0;     // 10 x compute capability
  sass_trace::generation generation = generation::volta;
  std::uint64_t stream = 0;
  std::uint64_t shared_base = 0;  // generic address of shared memory; 0: not given
  std::uint64_t local_base = 0;   // generic address of local memory; 0: not given
  std::string tracer;             // version of the instrumentation tool, as written
  unsigned version = 0;           // of the tracer, 1 to 6 (1.2 is 1)
  line_format format;
  // Of a run of Heddle (--record) only:
  static constexpr unsigned own_version = 2;  // of the form in which its program and its steps are written
  bool own = false;
  std::uint64_t code_address = 0;
  std::uint64_t local_address = 0;  // of its local memory
  std::uint64_t launch_cycle = 0;
  std::int32_t carveout = -1;
  std::int32_t priority = 0;
  std::string machine;                    // that ran it; its launch cycle counts there only
  std::string source;                     // the program's PTX file, for messages
  std::vector<std::string> unknown_keys;  // keys that were ignored, in the order of the file

  [[nodiscard]] std::uint64_t blocks() const { return std::uint64_t{grid[0]} * grid[1] * grid[2]; }
  [[nodiscard]] std::uint32_t threads() const { return block[0] * block[1] * block[2]; }
  [[nodiscard]] std::uint32_t warps() const { return (threads() + 31) / 32; }
};

/// Reads the header up to and including the "#traces format" line, which together with the version determines the
/// format of the lines. Throws input_error for a missing, repeated or wrong value, an unknown version, chip or field of
/// the lines.
kernel_header read_header(line_reader& reader);

}  // namespace heddle::sass_trace
