// SPDX-License-Identifier: MIT
#pragma once

#include <bitset>
#include <cstdint>
#include <vector>

#include "heddle/isa/program.h"

namespace heddle::sanitize {

/// The products of a warpgroup (wgmma) that a warp has not waited for, with the registers that they write. A read of
/// such a register is wrong; products may add to it. A move hands the register on, as it stands for no instruction of
/// the source.
class product_check {
 public:
  /// The warp executes an instruction with this index, which may be a product. Returns the index of the product whose
  /// result it reads too early, or isa::no_target.
  std::uint32_t executes(const isa::instruction& i, std::uint32_t index);
  void commits() { ++closed_; }
  /// Waits until at most `left` of the newest groups are in flight.
  void waits(unsigned left);

 private:
  using registers = std::bitset<256>;
  struct product {
    registers results;
    std::uint32_t index;
    unsigned group;
  };
  [[nodiscard]] std::uint32_t reads(const registers& some) const;
  std::vector<product> in_flight_;
  unsigned closed_ = 0;  // groups
};

}  // namespace heddle::sanitize
