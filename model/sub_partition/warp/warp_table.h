// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <vector>

#include "heddle/sub_partition/warp/warp_slot.h"

namespace heddle {

/// The warp slots of a sub-partition, at most 64.
class warp_table {
 public:
  explicit warp_table(unsigned slots) : slots_(slots) {}

  warp_slot& operator[](unsigned slot) { return slots_[slot]; }
  const warp_slot& operator[](unsigned slot) const { return slots_[slot]; }
  [[nodiscard]] unsigned size() const { return static_cast<unsigned>(slots_.size()); }
  [[nodiscard]] unsigned slot_of(const warp_slot& w) const { return static_cast<unsigned>(&w - slots_.data()); }

  /// Mask of the slots that hold a warp; a reference, because waveforms sample it.
  [[nodiscard]] const std::uint64_t& active() const { return active_; }
  void set_active(unsigned slot) { active_ |= std::uint64_t{1} << slot; }
  void clear_active(unsigned slot) { active_ &= ~(std::uint64_t{1} << slot); }
  /// The slots, without the warps that they hold.
  void exchange(state_image& image) {
    image.each(slots_);
    image(active_);
  }

 private:
  std::vector<warp_slot> slots_;
  std::uint64_t active_ = 0;
};

}  // namespace heddle
