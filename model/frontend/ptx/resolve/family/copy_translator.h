// SPDX-License-Identifier: MIT
#pragma once

#include <vector>

#include "heddle/frontend/ptx/resolve/expansion.h"
#include "heddle/frontend/ptx/resolve/family/arrival_translator.h"
#include "heddle/frontend/ptx/resolve/operand_resolver.h"

namespace heddle::ptx {

/// cp.async, expanded to the load and the store that it represents. A copy may complete at any time before its group is
/// waited for; in the model it is complete when it has issued. Loads are placed ahead of the stores, so consecutive
/// copies overlap.
class copy_translator {
 public:
  copy_translator(block_builder& code, operand_resolver& in, arrival_translator& arrivals)
      : code_(code), in_(in), arrivals_(arrivals) {}

  void translate(const hir_instruction& h, const ast_instruction& i);

 private:
  void copy(const hir_instruction& h, const ast_instruction& i);
  std::uint64_t size(const hir_instruction& h, const ast_instruction& i);
  void copy_part(const expansion& steps, hir_instruction load, value taken, std::uint64_t bytes,
                 const std::vector<value>& data);
  void copy_byte(const expansion& steps, const hir_instruction& whole, unsigned k, const value& word);
  void bulk_copy(const hir_instruction& h, const ast_instruction& i);
  value own_base(const expansion& steps, hir_instruction& access);
  void arrive_with(const hir_instruction& h, const ast_operand& barrier, value bytes);

  block_builder& code_;
  operand_resolver& in_;
  arrival_translator& arrivals_;
};

}  // namespace heddle::ptx
