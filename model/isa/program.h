// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "heddle/isa/instruction.h"
#include "heddle/isa/source_map.h"

namespace heddle::isa {

/// Layout of constant bank 0 as on CC 6.x: launch geometry first, kernel parameters from 0x140.
namespace bank0 {
constexpr std::uint32_t ntid = 0x08;              // three u32: x y z
constexpr std::uint32_t nctaid = 0x14;            // three u32
constexpr std::uint32_t shared_window = 0x20;     // u64: generic address of shared memory
constexpr std::uint32_t local_window = 0x28;      // u64: generic address of local memory
constexpr std::uint32_t dynamic_shared = 0x30;    // u32: bytes of dynamic shared memory
constexpr std::uint32_t grid_workspace = 0x38;    // u64: where the blocks of a cooperative grid synchronise; 0: none
constexpr std::uint32_t cluster_nctaid = 0x40;    // three u32: blocks of a cluster in x y z
constexpr std::uint32_t cluster_nctarank = 0x4c;  // u32: blocks of a cluster
constexpr std::uint32_t nclusterid = 0x50;        // three u32: clusters of the grid
constexpr std::uint32_t explicit_cluster = 0x5c;  // u32: 1 if the launch or the kernel gives the cluster's size
constexpr std::uint32_t parameters = 0x140;
}  // namespace bank0

/// Windows of shared and local memory in the generic address space; everything above them is global.
constexpr std::uint64_t shared_window_base = 0x0100'0000;
constexpr std::uint64_t local_window_base = 0x0200'0000;
constexpr std::uint64_t window_bytes = 0x0100'0000;
/// Generic addresses of kernel parameters that hold tensor maps: within the window of local memory, above the local
/// memory of any thread. Only the TMA unit reads there.
constexpr std::uint64_t parameter_window_base = local_window_base + window_bytes / 2;
constexpr std::uint64_t code_window_base = 0x0300'0000;  // addresses of functions; no memory
/// Shared-memory addresses of other blocks of a cluster: above the offset in the block stands its rank plus one; 0 is
/// the block itself.
constexpr unsigned cluster_offset_bits = 18;
constexpr std::uint64_t cluster_offset_mask = (std::uint64_t{1} << cluster_offset_bits) - 1;
constexpr std::uint32_t cluster_rank_mask = 63;  // of rank + 1
constexpr std::uint64_t heap_base = 0x1000'0000;

struct kernel_parameter {
  std::string name;
  std::uint32_t offset = 0;  // in the parameter area, bytes
  std::uint32_t size = 0;    // bytes
  std::uint32_t align = 1;
};

/// A copy of a kernel's parameter in local memory.
struct parameter_copy {
  std::uint32_t local = 0;  // offset there
  std::uint32_t bytes = 0;
  std::uint32_t bank = 0;  // offset in constant bank 0
};

/// A kernel lowered to machine code, as the SMs run it.
struct program {
  std::string kernel;                        // entry name
  std::string file;                          // PTX file it came from, for messages
  std::shared_ptr<const source_map> source;  // what the PTX was compiled from; nullptr: unknown
  std::vector<instruction> code;
  std::vector<op_class> timing;       // traced program: by instruction, as it is not executed; otherwise empty
  std::vector<flop_rule> flops;       // traced program: by instruction; otherwise empty
  std::vector<std::string> recorded;  // traced program: each instruction's name in the trace; otherwise empty
  std::vector<kernel_parameter> parameters;
  std::uint32_t parameter_bytes = 0;
  bool follows = false;  // its warps follow a trace of a run of itself: it is timed as it is, and not executed
  std::uint64_t code_address = 0;            // then: where it lay
  bool narrow_addresses = false;             // from a module with 32-bit addresses: pointer parameters have 4 bytes
  std::uint32_t registers = 0;               // 32-bit registers per thread, as allocated
  std::uint32_t most_registers = 0;          // that a warp takes by SETMAXREG or holds before; 0: it has no SETMAXREG
  std::uint32_t shared_bytes = 0;            // static shared memory per block
  std::uint32_t local_bytes = 0;             // local memory per thread (variables, spills, stack)
  std::uint32_t spill_bytes = 0;             // of these, of spilled registers
  std::uint32_t register_limit = 0;          // registers per thread that made them spill
  std::string register_limit_of;             // its directive, "registers_per_thread" (of the launch) or "chip"
  std::uint32_t barriers = 0;                // named barriers used (0..16)
  std::vector<std::uint8_t> bank2;           // literal pool
  std::uint32_t max_threads[3] = {0, 0, 0};  // .maxntid, 0 = not given
  std::uint32_t required_threads[3] = {0, 0, 0};  // .reqntid
  std::uint32_t required_cluster[3] = {0, 0, 0};  // .reqnctapercluster, blocks; 0 = not given
  std::uint32_t most_cluster_blocks = 0;          // .maxclusterrank, 0 = not given
  bool needs_cluster = false;                     // .explicitcluster
  bool grid_of_clusters = false;                  // .blocksareclusters: a launch counts clusters
  bool cluster_barrier = false;                   // it waits at the barrier of its cluster, or arrives there
  std::vector<parameter_copy> parameter_copies;   // whose addresses the program may know
  bool leaves_block = false;                      // it accesses shared memory of other blocks of its cluster

  /// Registers of a thread that hold values at some time.
  [[nodiscard]] std::uint32_t stored_registers() const { return std::max(registers, most_registers); }
};

/// One machine instruction as text, e.g. "@!P0 FFMA R3, R4, c[0x0][0x144], R3"; index-relative targets as L<index>.
std::string to_string(const instruction& i);
/// Its place in the PTX: "FILE:LINE:COLUMN"; and, if known, in the source from which that was compiled:
/// "FILE:LINE:COLUMN (kernel.cu:12)".
std::string place_of(const program& p, const instruction& i);
/// The instruction at an index of a program as text; for a traced program, with its name in the trace.
std::string text_of(const program& p, std::size_t index);

}  // namespace heddle::isa
