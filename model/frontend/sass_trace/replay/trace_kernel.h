// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "heddle/frontend/sass_trace/block/block_trace.h"
#include "heddle/frontend/sass_trace/code/code_table.h"
#include "heddle/frontend/sass_trace/read/kernel_header.h"
#include "heddle/frontend/sass_trace/replay/trace_store.h"
#include "heddle/isa/program.h"

namespace heddle::sass_trace {

/// A traced kernel whose file has been read once completely: its machine program and the properties needed before a
/// block is replayed. Immutable.
struct trace_kernel {
  std::string file;
  kernel_header header;
  std::shared_ptr<code_table> code;             // frozen: instructions are numbered as in the program
  std::shared_ptr<const isa::program> program;  // its last instruction is an EXIT added by the replay
  std::uint64_t blocks = 0;                     // in the file, which omits blocks of the grid that did nothing
  std::uint64_t warp_instructions = 0;
  std::vector<std::shared_ptr<const block_trace>>
      kept;                              // all blocks as block_source returns them; empty: they are read again
  std::uint64_t absent_warps = 0;        // of the blocks in the file: their threads have no instruction
  std::uint64_t warps_without_exit = 0;  // whose last instruction is no EXIT
  std::uint64_t warps_after_exit = 0;    // with lanes that are active after their EXIT
  std::uint64_t bulk_copies = 0;         // executed; their data are not moved
  // Opcodes missing in the table of the generation, with their execution counts.
  std::map<std::string, std::uint64_t> unknown;
  std::shared_ptr<trace_store> store;     // holds its blocks
  std::shared_ptr<const void> kept_room;  // of the store, for `kept`

  /// A record of the added EXIT, with all threads of the warp.
  [[nodiscard]] trace_record end_of(std::uint32_t warp) const;
  /// Memory that it takes, about.
  [[nodiscard]] std::size_t bytes() const;
};

}  // namespace heddle::sass_trace
