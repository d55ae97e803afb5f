// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "heddle/config/error.h"
#include "heddle/occupancy/clusters.h"
#include "heddle/simt/texture/texture.h"
#include "heddle/tlm/protocol/preemption_mode.h"
#include "testbench/files/file_access.h"
#include "testbench/files/open_file.h"
#include "testbench/job/element_type.h"

namespace heddle::sass_trace {
class trace_file;
}

namespace heddle::testbench {

/// The source position of a part of a job, for messages: "FILE:LINE:COL" or "--arg 'buf:16'".
using place = std::string;

[[noreturn]] inline void refuse(const place& where, const std::string& message) {
  throw input_error(where + ": " + message);
}

/// A part of the GPU with SMs, L2 slices and channels of its own.
struct gpu_slice {
  std::string name;
  std::string profile;  // of NVIDIA's for the chip; empty: the numbers below
  unsigned sms = 0;
  unsigned channels = 0;
  place where;
};

/// A process that shares the GPU with others. Clients are numbered from 1 on; 0 is the process of a job without any.
struct gpu_client {
  std::string name;
  double sm_percent = 0;  // its blocks are on at most this part of the SMs of its slice, or GPU; 0: on any
  std::string slice;      // empty: none
  place where;
};

/// Writes the address of buffer `to` plus `offset`, 8 bytes little endian, into a buffer at byte `at`.
struct pointer_patch {
  std::uint64_t at = 0;
  std::string to;
  std::uint64_t offset = 0;
  place where;
};

/// Device memory and its initial content.
struct buffer {
  enum class fill : std::uint8_t { zero, iota32, iotaf, random, file, descriptor };
  std::string name;
  std::uint64_t bytes = 0;
  fill content = fill::zero;
  std::uint64_t seed = 0;  // random
  std::string file;        // file
  open_file_part source;   // descriptor
  std::vector<pointer_patch> pointers;
  unsigned client = 0;  // whose memory it lies in
  place where;
};

/// Makes a buffer accessible as a texture or surface.
struct texture {
  std::string name;
  std::string buffer;
  simt::texture_descriptor descriptor;  // its address is set once the buffers have theirs
  place where;
};

/// A module variable that is written before the first launch.
struct symbol_data {
  std::string symbol;
  std::string module;  // of the job's modules; empty: the one that has it
  std::string file;
  std::uint64_t bytes = 0;  // size of the file
  unsigned client = 0;      // whose variable it is
  place where;
};

/// One kernel argument: bytes of a scalar or struct, or an address.
struct argument {
  enum class kind : std::uint8_t { bytes, buffer, symbol, texture, tensor_map };
  kind what = kind::bytes;
  std::vector<std::uint8_t> bytes;  // bytes; tensor_map: without the buffer's address
  std::string name;                 // buffer, symbol, texture; tensor_map: the buffer
  std::string module;               // symbol: of the job's modules; empty: that of the kernel, or the one that has it
  std::uint64_t offset = 0;         // buffer, tensor_map
  std::string text;                 // the type as the user wrote it, for messages: "u32"
  place where;

  [[nodiscard]] std::uint64_t size() const { return bytes.empty() ? 8 : bytes.size(); }
};

/// One operation of a stream.
struct operation {
  enum class kind : std::uint8_t { kernel, memset, copy, repeat, synchronise };
  kind what = kind::kernel;
  std::uint32_t stream = 0;
  unsigned client = 0;    // whose stream it is
  unsigned position = 0;  // kernel, memset and copy (of a job file) are numbered in the order written, from 0
  place where;
  // kernel; a replayed kernel has only its recording, stream and carve-out
  std::shared_ptr<const sass_trace::trace_file> recording;
  std::string kernel;
  std::string module;  // of the job's modules, that of the kernel; empty: the one that has it
  std::uint32_t grid[3] = {1, 1, 1};
  std::uint32_t block[3] = {1, 1, 1};
  cluster_request cluster;
  bool programmatic = false;  // programmatic stream serialization
  std::uint32_t shared_bytes = 0;
  std::int32_t priority = 0;
  std::uint64_t at_cycle = 0;
  std::int32_t carveout = -1;   // percent; -1: the chip's default
  std::uint32_t registers = 0;  // per thread; 0: as many as the kernel needs
  std::vector<argument> arguments;
  // memset, copy: buffer and offset name the destination
  std::string buffer;
  std::uint64_t offset = 0;
  std::uint64_t bytes = 0;
  std::uint8_t byte = 0;
  std::string from;
  std::uint64_t from_offset = 0;
  // repeat
  std::vector<operation> body;
  // Buffer whose first 4 bytes are tested after each iteration; empty: always `max` iterations.
  std::string while_nonzero;
  std::uint64_t max = 0;
};

/// A buffer or module variable that is written to a file or an open descriptor, or compared, at the end.
struct output {
  std::string name;
  bool is_symbol = false;
  std::string module;     // of a module variable, of the job's modules; empty: the one that has it
  unsigned client = 0;    // whose module variable it is
  std::string file;       // written to this file; empty: not written
  open_file_part target;  // written there when all files are; not open: not written
  std::string expect;     // compared with this file; empty: not compared
  element_type type = element_type::u8;
  double rtol = 0;
  double atol = 0;
  place where;
};

/// Preempts the blocks on some SMs for a time.
struct preemption {
  std::uint64_t at_cycle = 0;
  std::vector<unsigned> sms;  // empty: all
  preemption_mode mode = preemption_mode::context_switch;
  std::uint64_t resume_after = 0;
  place where;
};

/// The contents of files, by name.
using file_contents = std::map<std::string, std::string>;

/// A complete job; file names are as the program opens them (relative to its working directory, or absolute).
struct job {
  std::string name;  // the job file, or the module of a single launch
  std::vector<std::string> modules;
  place modules_where;
  std::vector<gpu_slice> slices;
  std::vector<gpu_client> clients;
  std::vector<buffer> buffers;
  std::vector<symbol_data> symbols;
  std::vector<texture> textures;
  std::vector<operation> operations;
  std::vector<preemption> preemptions;  // ordered by cycle
  std::vector<std::string> untimed;     // traces of launches that only fill the L2, before all operations
  bool in_order = false;  // the host performs all operations in sequence; otherwise each stream is independent
  std::vector<output> outputs;
  std::shared_ptr<const file_contents> read_before;  // contents of files that are not read again; null: none
  file_access access;                                // files that the job may name
};

/// The content of a file of the job, and its size. Both throw input_error.
std::string content_of(const job& j, const std::string& file, const place& where);
std::uint64_t size_of(const job& j, const std::string& file, const place& where);

/// Checks everything that needs no simulated GPU: names, ranges, that input files are readable and have the right
/// size, and that outputs are writable and are not inputs of the job. Throws input_error.
void validate(const job& j);

class file_roles;
/// Adds all files that a job reads and writes. Throws input_error if a file is both an input and an output.
void add_files(const job& j, file_roles& roles);

/// The partition of the divided GPU that a client's slice is, from 1 on; 0: it has none.
unsigned partition_of(const job& j, unsigned client);

const buffer* find_buffer(const job& j, const std::string& name);
/// As above, for a name that must exist. Both throw input_error.
const buffer& existing_buffer(const job& j, const std::string& name, const place& where);
const texture& existing_texture(const job& j, const std::string& name, const place& where);

}  // namespace heddle::testbench
