// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <memory>

namespace heddle::isa {

/// One execution of an instruction by a warp, as it was recorded.
struct recorded_step {
  std::uint32_t instruction = 0;      // index in the program's code
  std::uint32_t mask = 0;             // lanes that are active and pass the guard
  std::uint32_t addresses = 0;        // the block's handle of the addresses; 0: none
};

/// The steps of one warp. The last one is an EXIT, and the only one at which the warp ends.
struct recorded_warp {
  const recorded_step* first = nullptr;
  const recorded_step* last = nullptr;
};

/// Addresses of a warp's lanes.
struct lane_addresses {
  std::uint64_t at[32] = {};
  std::uint64_t differing_bits = 0;   // those in which the addresses of active lanes differ
};

/// What one thread block did. Immutable, so that whoever runs the block need not copy it.
class recorded_block {
 public:
  virtual ~recorded_block() = default;
  /// Coordinates in the grid.
  virtual const std::uint32_t* index() const = 0;
  virtual recorded_warp warp(std::uint32_t number) const = 0;
  /// Addresses of a step's lanes as instructions give them to the machine; lanes that are not in its mask are left alone.
  virtual void addresses(const recorded_step& step, std::uint64_t addresses[32]) const = 0;
  /// The same, where they are kept by lane because many steps share them, for as long as the block is; else null.
  virtual const lane_addresses* shared_addresses(const recorded_step& step) const = 0;
};

/// A launch that was recorded and is run again without computing anything: its blocks, in the order in which they start.
class recording {
 public:
  virtual ~recording() = default;
  /// Blocks to run, at least 1.
  virtual std::uint64_t blocks() const = 0;
  /// The next block; to be called blocks() times. Throws input_error when the record cannot be read any more.
  virtual std::shared_ptr<const recorded_block> next() = 0;
};

}  // namespace heddle::isa
