// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "heddle/frontend/sass_trace/block/address_list.h"
#include "heddle/frontend/sass_trace/block/common_addresses.h"
#include "heddle/isa/recording.h"

namespace heddle::sass_trace {

/// One execution of an instruction by a warp; `addresses` is a handle of the block's list, or, with the highest bit
/// set, an index into the block's common_addresses.
using trace_record = isa::execution_record;
constexpr std::uint32_t common_bit = std::uint32_t{1} << 31;

/// The records of one warp in its block's list.
struct warp_trace {
  std::uint32_t warp = 0;  // index in the block
  std::size_t first = 0;
  std::size_t count = 0;
};

/// The records of one thread block, or of a part of it.
struct block_trace {
  std::uint32_t index[3] = {0, 0, 0};
  std::vector<warp_trace> warps;  // in the order of the file, at most one for each warp of the block
  std::vector<trace_record> records;
  address_list addresses;
  std::shared_ptr<const common_addresses> common;

  struct room {
    std::size_t records = 0;
    std::size_t addresses = 0;
  };
  /// Reserves memory, so that vectors are not reallocated repeatedly while a block is read.
  void reserve(const room& r) {
    records.reserve(r.records);
    addresses.reserve(r.addresses);
  }
  [[nodiscard]] std::size_t bytes() const { return records.size() * sizeof(trace_record) + addresses.bytes(); }
  void clear() {
    warps.clear();
    records.clear();
    addresses.clear();
  }
};

}  // namespace heddle::sass_trace
