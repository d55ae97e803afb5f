// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <memory>

namespace heddle::isa {

/// One execution of an instruction by a warp, from a trace.
struct execution_record {
  std::uint32_t instruction = 0;  // index in the program's code
  std::uint32_t mask = 0;         // lanes that are active and pass the guard
  std::uint32_t addresses = 0;    // handle of the addresses in the block; 0: none
};

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
  /// The segment that holds the warp's record at `position` and those after it; null if the warp has no such record.
  /// Throws if it cannot be loaded.
  [[nodiscard]] virtual std::shared_ptr<const recorded_segment> segment(std::uint32_t warp,
                                                                        std::uint64_t position) const = 0;
};

}  // namespace heddle::isa
