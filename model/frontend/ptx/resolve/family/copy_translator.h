// SPDX-License-Identifier: MIT
#pragma once

#include <vector>

#include "heddle/frontend/ptx/resolve/expansion.h"
#include "heddle/frontend/ptx/resolve/family/arrival_translator.h"
#include "heddle/frontend/ptx/resolve/operand_resolver.h"

namespace heddle::ptx {

/// cp.async. A copy of all its bytes, or of none, is one instruction of the machine; the bytes of other copies are
/// loaded and stored.
class copy_translator {
 public:
  copy_translator(block_builder& code, operand_resolver& in, arrival_translator& arrivals)
      : code_(code), in_(in), arrivals_(arrivals) {}

  void translate(const hir_instruction& h, const ast_instruction& i);
  /// The function is complete but for the copies of some bytes, which follow its end: most copies are of all or none.
  void finish();

 private:
  void copy(const hir_instruction& h, const ast_instruction& i);
  void copy_counted(const expansion& steps, hir_instruction whole, value taken, std::uint64_t bytes);
  void group(const hir_instruction& h, std::uint8_t what, const value& newest, bool signals = false);
  void wait_for_all(const hir_instruction& h, bool signals);
  std::uint64_t size(const hir_instruction& h, const ast_instruction& i);
  // A copy of some of its bytes, and the labels of its code and of what follows the copy.
  struct partial_copy {
    hir_instruction whole;
    value count;
    std::uint64_t bytes;
    std::uint32_t begin, behind;
  };
  void copy_some(const partial_copy& c);
  void copy_byte(const expansion& steps, const hir_instruction& whole, unsigned k, const value& word);

  block_builder& code_;
  operand_resolver& in_;
  arrival_translator& arrivals_;
  std::vector<partial_copy> partial_;
};

}  // namespace heddle::ptx
