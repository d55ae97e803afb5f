// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <memory>

namespace heddle::isa {

/// One execution of an instruction by a warp, as it was recorded.
struct execution_record {
  std::uint32_t instruction = 0;  // index in the program's code
  std::uint32_t mask = 0;         // lanes that are active and pass the guard
  std::uint32_t addresses = 0;    // the block's handle of the addresses; 0: none
};

/// Addresses of a warp's lanes.
struct lane_addresses {
  std::uint64_t at[32] = {};
  std::uint64_t differing_bits = 0;  // those in which the addresses of active lanes differ
};

/// Steps of one warp that follow each other, as many as are worth being in memory at once: often all that it has.
/// Immutable.
class recorded_segment {
 public:
  virtual ~recorded_segment() = default;
  const execution_record* first = nullptr;  // the step before it lies in front of it, if there is one
  const execution_record* last =
      nullptr;                 // the warp's end, an EXIT that is no other; or also the first step of the next piece
  std::uint64_t position = 0;  // of `first` among the warp's steps, from 0
  bool ends = true;            // nothing follows `last`
  std::uint32_t next_lanes =
      0;  // otherwise: those of the first step from `last` on that has any, but for the warp's end; 0: none has

  /// Addresses of a step's lanes as instructions give them to the machine; lanes that are not in its mask are left
  /// alone.
  virtual void addresses(const execution_record& step, std::uint64_t addresses[32]) const = 0;
  /// The same, where they are kept by lane because many steps share them, for as long as the block is; else null.
  virtual const lane_addresses* shared_addresses(const execution_record& step) const = 0;
};

/// What one thread block did. Immutable, so that whoever runs the block need not copy it.
class recorded_block {
 public:
  virtual ~recorded_block() = default;
  /// Coordinates in the grid.
  virtual const std::uint32_t* index() const = 0;
  /// The piece that has the warp's step at `position` and what follows it; null where the warp has no such step. Throws
  /// when it cannot be brought into memory.
  virtual std::shared_ptr<const recorded_segment> piece(std::uint32_t warp, std::uint64_t position) const = 0;
};

/// A launch that was recorded and is run again without computing anything: its blocks, in the order in which they
/// start.
class recording {
 public:
  virtual ~recording() = default;
  /// Blocks to run, at least 1.
  virtual std::uint64_t blocks() const = 0;
  /// The next block; to be called blocks() times. Throws input_error when the record cannot be read any more.
  virtual std::shared_ptr<const recorded_block> next() = 0;
};

}  // namespace heddle::isa
