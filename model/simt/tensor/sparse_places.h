// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>

#include "heddle/simt/tensor/elements.h"

namespace heddle::simt {

/// The places along k of the stored elements of a row of a sparse a: two of four, or of tf32 one of two. Source: PTX
/// ISA, "Sparse matrix storage"; which lanes hold which groups of four is that of CUTLASS' reordered metadata.
class sparse_places {
 public:
  /// `metadata`: of the lanes. `stored`: elements of a row. `selector`: which of four lanes hold theirs.
  sparse_places(const std::uint32_t* metadata, isa::dtype type, unsigned stored, unsigned selector)
      : metadata_(metadata),
        bits_(element_bits(type)),
        groups_(bits_ == 32 ? stored : stored / 2),
        selector_(selector) {}

  /// Of stored element `k` of row `row`.
  [[nodiscard]] unsigned operator()(unsigned row, unsigned k) const {
    // A lane holds four groups of two rows, or of bytes eight groups of one row.
    const bool bytes = bits_ == 8;
    const unsigned group = bits_ == 32 ? k : k / 2, half = row / 8, lanes = groups_ / 4;
    const unsigned lane = row % 8 * 4 + lanes * selector_ + (bytes ? 2 * (group / 8) + half : group / 4);
    const unsigned at = bytes ? 4 * (group % 8) : 4 * (group % 4) + 16 * half;
    const unsigned nibble = metadata_[lane % 32] >> at & 15;
    if (bits_ == 32) return 2 * k + (nibble == 0xe ? 1 : 0);
    return 4 * group + (k % 2 == 0 ? nibble & 3 : nibble >> 2);
  }

 private:
  const std::uint32_t* metadata_;
  unsigned bits_, groups_, selector_;
};

}  // namespace heddle::simt
