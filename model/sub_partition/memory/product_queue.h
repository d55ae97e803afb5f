// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <deque>

#include "heddle/sub_partition/dependence/decoded_program.h"
#include "heddle/tlm/kernel/clock_timing.h"

namespace heddle {

/// The products of warpgroups that a sub-partition has issued. Its tensor unit computes them one after the other; the
/// result of one is complete some cycles after its end.
struct product_queue {
  struct product {
    const decoded_instruction* decoded;
    unsigned slot;        // of its warp
    std::uint32_t group;  // in the warp's products
    cycle_t complete;

    template <class Image>
    void exchange(Image& image) {
      image(decoded, slot, group, complete);
    }
  };
  std::deque<product> waiting;  // the unit computes the first one, until `ends`
  std::deque<product> ending;   // in the order of their completion
  cycle_t ends = never;
  cycle_t next = never;  // the first cycle in which one ends or is complete

  /// For a state_image.
  template <class Image>
  void exchange(Image& image) {
    image(waiting, ending, ends, next);
  }
};

}  // namespace heddle
