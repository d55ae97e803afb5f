// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "heddle/config/parameters.h"
#include "heddle/memory/common/address_map.h"

namespace heddle {

class l2_slice;
class byte_store;

/// Large untimed accesses to a GPU's own memory: directly to the pages behind its slices if the L2 holds no line of
/// them and no memory request is outstanding. This avoids three transports (interconnect, slice, channel) for each
/// block of the interleaving.
class bulk_access {
 public:
  /// An access through the L2, within a block of the interleaving; returns the number of bytes moved.
  using l2_access = std::function<unsigned(std::uint64_t address, std::uint8_t* data, unsigned bytes)>;

  explicit bulk_access(const gpu_config& config) : map_(config), interleave_(config.l2.interleave_bytes) {}
  /// The next slice, in the order of their numbers, and its bytes in the channel behind it.
  void add(const l2_slice& slice, byte_store& bytes) { parts_.push_back({&slice, &bytes}); }

  /// Returns the number of bytes moved from `address` on: all, or those before the first that `through_l2` could not
  /// move. The access must not wrap at the end of the address space.
  unsigned move(bool write, std::uint64_t address, std::uint8_t* data, unsigned bytes, const l2_access& through_l2);

 private:
  struct part {
    const l2_slice* slice;
    byte_store* bytes;
  };
  /// The access, of which move_page moves what lies in one page of one slice.
  struct request {
    bool write;
    std::uint64_t address;
    std::uint8_t* data;
    unsigned bytes;
    const l2_access& through_l2;
    unsigned good;  // bytes before the first that could not be moved
  };
  /// A page of a slice, by its number.
  struct place {
    unsigned slice;
    std::uint64_t number;
    bool in_memory_alone;  // the L2 holds nothing of it
    std::uint8_t* bytes;   // null: nothing was written yet, or the L2 holds some of it
  };
  [[nodiscard]] place place_of(unsigned slice, std::uint64_t number) const;
  void move_block(request& r, place& here, unsigned at, std::uint64_t address, unsigned n) const;
  void move_page(request& r, place here, const place& next) const;
  void move_blocks(request& r);
  static unsigned finished(const request& r);

  address_map map_;
  unsigned interleave_;
  std::vector<part> parts_;
};

}  // namespace heddle
