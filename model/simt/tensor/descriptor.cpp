// SPDX-License-Identifier: MIT
#include "heddle/simt/tensor/descriptor.h"

namespace heddle::simt {

// Within each 128, 64 or 32 bytes the place of 16 bytes is combined with the number of the 128 bytes.
std::uint64_t matrix_descriptor::swizzled(std::uint64_t address) const {
  const std::uint64_t row = (address >> 7) - base_;
  return address ^ (row & (width() - 1)) << 4;
}

std::uint64_t matrix_descriptor::along_k(unsigned line, unsigned chunk) const {
  const std::uint64_t next = swizzle_ == 0 ? leading_ : 16;
  return swizzled(start_ + line / 8 * stride_ + line % 8 * width() * std::uint64_t{16} + chunk * next);
}

std::uint64_t matrix_descriptor::across_k(unsigned k, unsigned chunk) const {
  const std::uint64_t along = swizzle_ == 0 ? leading_ : stride_, across = swizzle_ == 0 ? stride_ : leading_;
  const std::uint64_t first = start_ + k / 8 * along + k % 8 * width() * std::uint64_t{16};
  return swizzled(first + chunk / width() * across + chunk % width() * std::uint64_t{16});
}

}  // namespace heddle::simt
