// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "heddle/config/parameters.h"
#include "heddle/memory/common/address_map.h"

namespace heddle {

class l2_slice;
class memory_model;

/// Untimed accesses of many bytes to a GPU's own memory: straight to the pages of its channels where the L2 has nothing
/// of them and nothing is on its way. A block of the interleaving costs about what its copy does, where the way through
/// interconnect, slice and channel is three calls with a payload each.
class bulk_access {
 public:
  /// The way through the L2, for bytes within a block of the interleaving; returns how many it has moved.
  using other_way = std::function<unsigned(std::uint64_t address, std::uint8_t* data, unsigned bytes)>;

  explicit bulk_access(const gpu_config& config) : map_(config), interleave_(config.l2.interleave_bytes) {}
  /// The next channel, in the order of their numbers.
  void add(const l2_slice& slice, memory_model& channel) { parts_.push_back({&slice, &channel}); }

  /// Returns how many bytes from `address` on were moved: all, or those before the first that the other way does not
  /// give.
  unsigned move(bool write, std::uint64_t address, std::uint8_t* data, unsigned bytes, const other_way& through_l2);

 private:
  struct part {
    const l2_slice* slice;
    memory_model* channel;
  };
  /// What lies in one page of one channel, block for block of the interleaving.
  struct request {
    bool write;
    std::uint64_t address;
    std::uint8_t* data;
    unsigned bytes;
    const other_way& through_l2;
    unsigned good;  // bytes before the first that could not be moved
  };
  void move_page(request& r, unsigned channel, std::uint64_t number) const;

  address_map map_;
  unsigned interleave_;
  std::vector<part> parts_;
};

}  // namespace heddle
