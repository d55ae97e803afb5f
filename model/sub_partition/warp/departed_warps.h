// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "heddle/config/error.h"
#include "heddle/simt/warp/warp_state.h"
#include "heddle/sub_partition/dependence/decoded_program.h"

namespace heddle {

/// A finished warp whose stores are not all acknowledged. Its slot may already hold another warp.
struct departed_warp {
  unsigned slot = 0;
  std::uint16_t residency = 0;
  unsigned stores = 0;
  std::uint64_t block = 0;  // id that the supervisor gave it
  const resident_launch* launch = nullptr;
  simt::dim3 index;  // of its block in the grid
  std::uint32_t warp_in_block = 0;

  /// For a state_image.
  template <class Image>
  void exchange(Image& image) {
    image(slot, residency, stores, block, launch, index, warp_in_block);
  }
};

/// The departed warps of a sub-partition.
class departed_warps {
 public:
  void add(const departed_warp& w) { warps_.push_back(w); }
  [[nodiscard]] bool empty() const { return warps_.empty(); }
  /// For a state_image.
  template <class Image>
  void exchange(Image& image) {
    image(warps_);
  }
  [[nodiscard]] bool contains(unsigned slot, std::uint16_t residency) const {
    return find(slot, residency) != warps_.end();
  }
  /// The warp, which must be here.
  [[nodiscard]] const departed_warp& at(unsigned slot, std::uint16_t residency) const {
    const auto w = find(slot, residency);
    invariant(w != warps_.end(), "a store of no warp was answered");
    return *w;
  }
  /// One of the warp's stores is acknowledged. Returns true if it was the last one; the warp is then removed, and
  /// `block` is set to its block.
  bool store_acknowledged(unsigned slot, std::uint16_t residency, std::uint64_t& block) {
    const auto w = warps_.begin() + (&at(slot, residency) - warps_.data());
    if (--w->stores != 0) return false;
    block = w->block;
    warps_.erase(w);
    return true;
  }

 private:
  [[nodiscard]] std::vector<departed_warp>::const_iterator find(unsigned slot, std::uint16_t residency) const {
    return std::find_if(warps_.begin(), warps_.end(),
                        [=](const departed_warp& w) { return w.slot == slot && w.residency == residency; });
  }

  std::vector<departed_warp> warps_;
};

}  // namespace heddle
