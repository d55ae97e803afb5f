// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <memory>

#include "heddle/isa/instruction.h"

namespace heddle::isa {

/// One execution of an instruction by a warp, from a trace.
struct execution_record {
  std::uint32_t instruction = 0;  // index in the program's code
  std::uint32_t mask = 0;         // lanes that are active and pass the guard
  std::uint32_t addresses = 0;    // handle of the addresses in the block; 0: none
};

/// What a record of a run of Heddle says beside the index of its instruction, in the highest bits.
namespace step {
constexpr std::uint32_t waits = 1u << 31;     // its lanes only began to wait for others of the warp
constexpr std::uint32_t diverges = 1u << 30;  // a branch that some lanes take
constexpr std::uint32_t yields = 1u << 29;    // other lanes run while these sleep
// No steps, but more of the step that follows:
constexpr std::uint32_t target = 1u << 28;  // the other end of a copy, offsets in shared memory
constexpr std::uint32_t lanes = 1u << 27;   // active lanes, where some do not pass the guard; with `target`: those of
                                            // the copy that read
constexpr std::uint32_t precedes = target | lanes;
constexpr std::uint32_t index = lanes - 1;
constexpr unsigned index_bits = 27;
}  // namespace step

/// What a warp has executed, or the other end of a copy that it executes next: `active` are then the lanes that read.
struct executed_step {
  std::uint32_t instruction = 0;  // its index, and flags of `step`
  std::uint32_t active = 0;
  std::uint32_t mask = 0;       // of these lanes, those that pass the guard
  std::uint32_t addresses = 0;  // handle, 0: none
};

/// A BAR whose number or count of threads is in a register or constant. In a record of a run of Heddle, they are its
/// addresses: the number, and the count in the high word.
inline bool computes_barrier(const instruction& bar) {
  const auto computed = [](const operand& o) {
    return o.kind == operand_kind::constant || (o.is_reg() && o.reg != rz);
  };
  return bar.op == opcode::bar && (computed(bar.src[0]) || computed(bar.src[1]));
}

/// Addresses of a warp's lanes.
struct lane_addresses {
  std::uint64_t at[32] = {};
  std::uint64_t differing_bits = 0;  // bits in which the addresses of active lanes differ
};

/// Consecutive records of one warp that are in memory together; often all of its records. Immutable.
class recorded_segment {
 public:
  virtual ~recorded_segment() = default;
  const execution_record* first = nullptr;  // the record before it, if there is one, precedes it in memory
  const execution_record* last =
      nullptr;  // the warp's final EXIT, which has no other record; or the first record of the next segment
  std::uint64_t position = 0;  // index of `first` among the warp's records, from 0
  bool ends = true;            // no record follows `last`
  std::uint32_t next_lanes =
      0;  // otherwise: lanes of the first record from `last` on that has any, except the warp's end; 0: none

  /// Addresses of a record's lanes, as an instruction passes them to the memory system. Entries of lanes outside its
  /// mask are not written.
  virtual void addresses(const execution_record& record, std::uint64_t addresses[32]) const = 0;
  /// The same as a stored array, if many records share it; valid for the block's lifetime. Otherwise null.
  [[nodiscard]] virtual const lane_addresses* shared_addresses(const execution_record& record) const = 0;
};

/// The trace of one thread block. Immutable, so that executors need not copy it.
class recorded_block {
 public:
  virtual ~recorded_block() = default;
  /// Coordinates in the grid.
  [[nodiscard]] virtual const std::uint32_t* index() const = 0;
  /// Number of records of all its warps.
  [[nodiscard]] virtual std::uint64_t records() const = 0;
  /// The segment that holds the warp's record at `position` and those after it; null if the warp has no such record.
  /// Throws if it cannot be loaded.
  [[nodiscard]] virtual std::shared_ptr<const recorded_segment> segment(std::uint32_t warp,
                                                                        std::uint64_t position) const = 0;
};

}  // namespace heddle::isa
