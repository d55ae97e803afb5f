// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "heddle/frontend/sass_trace/block/block_trace.h"
#include "heddle/frontend/sass_trace/code/code_table.h"
#include "heddle/frontend/sass_trace/read/kernel_header.h"
#include "heddle/frontend/sass_trace/read/trace_reader.h"
#include "heddle/frontend/sass_trace/replay/trace_store.h"
#include "heddle/isa/program.h"

namespace heddle::sass_trace {

/// A traced kernel whose file has been read once, to its end: its machine program, and what there is to know before a
/// block of it is replayed. Immutable.
struct trace_kernel {
  std::string file;
  kernel_header header;
  std::shared_ptr<code_table> code;             // frozen: instructions are numbered as in the program
  std::shared_ptr<const isa::program> program;  // its last instruction is an EXIT of the replay's own
  std::uint64_t blocks = 0;                     // in the file; those of the grid that did nothing are left out of it
  std::uint64_t warp_instructions = 0;
  std::vector<std::shared_ptr<const block_trace>>
      kept;                                      // all blocks, as a block_source gives them; empty: they are read again
  std::map<std::string, std::uint64_t> unknown;  // opcodes that are not in the generation's table: times executed
  std::shared_ptr<trace_store> store;            // of its blocks

  /// The replay's own EXIT, with all threads that the warp has.
  trace_record end_of(std::uint32_t warp) const;
};

/// Reads the whole file, so that nothing is wrong with it any more when the kernel runs. `strict`: an opcode that is
/// not known is an error. Blocks are kept if the store has room for all of them. Throws input_error.
std::shared_ptr<const trace_kernel> read_kernel(const std::string& file, bool strict,
                                                std::shared_ptr<trace_store> store);

/// The blocks of a kernel for its replay, one by one in the order of the file, which is read again unless they were
/// kept. They are in memory if the store has room.
class block_source {
 public:
  explicit block_source(std::shared_ptr<const trace_kernel> kernel);
  /// The next block; behind those of the file come any number that do nothing. Throws input_error when the file is not
  /// what it was.
  std::shared_ptr<const isa::recorded_block> next();

 private:
  std::shared_ptr<const trace_kernel> kernel_;
  std::unique_ptr<trace_reader> reader_;
  std::shared_ptr<common_addresses> common_;
  std::size_t delivered_ = 0;
  block_trace::room last_;  // blocks of a kernel are mostly of one size
};

/// A traced kernel as the machine runs it: block by block from its file, which is open from the first block to the last
/// only.
class trace_recording : public isa::recording {
 public:
  explicit trace_recording(std::shared_ptr<const trace_kernel> kernel) : kernel_(std::move(kernel)) {}
  std::uint64_t blocks() const override { return kernel_->blocks != 0 ? kernel_->blocks : 1; }
  std::shared_ptr<const isa::recorded_block> next() override;

 private:
  std::shared_ptr<const trace_kernel> kernel_;
  std::unique_ptr<block_source> source_;
  std::uint64_t delivered_ = 0;
};

}  // namespace heddle::sass_trace
