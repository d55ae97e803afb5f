// SPDX-License-Identifier: MIT
#pragma once

#include <vector>

#include "heddle/frontend/ptx/resolve/expansion.h"
#include "heddle/frontend/ptx/resolve/operand_resolver.h"

namespace heddle::ptx {

/// cp.async.bulk, cp.reduce.async.bulk, their forms on tensors and their groups, and changes of tensor maps. Each copy
/// is one instruction of the machine, whose sources are gathered here in the order of isa::instruction.
class bulk_translator {
 public:
  /// `strides_without_low_bits`: global_stride is in units of 16 bytes, as ptxas takes it in PTX below 8.5.
  bulk_translator(block_builder& code, operand_resolver& in, bool strides_without_low_bits)
      : code_(code), in_(in), strides_without_low_bits_(strides_without_low_bits) {}

  void translate(const hir_instruction& h, const ast_instruction& i);

 private:
  /// What a copy needs; none: zero.
  struct descriptor {
    value global, shared, bytes, barrier, blocks;
    value policy;  // upper word of the cache policy
    std::vector<value> coordinates, offsets;
  };
  void change_map(const hir_instruction& h, const ast_instruction& i);
  void store_field(const hir_instruction& h, const ast_operand& map, std::size_t offset, isa::dtype type,
                   const value& v);
  void copy_map(const hir_instruction& h, const ast_instruction& i);
  void group(const hir_instruction& h, const ast_instruction& i);
  void contiguous(const hir_instruction& h, const ast_instruction& i);
  void tensor(const hir_instruction& h, const ast_instruction& i);
  void append(const hir_instruction& h, isa::opcode op, std::uint8_t sub, const descriptor& d);
  value policy(const hir_instruction& h, const expansion& steps, const ast_instruction& i);
  value shared_address(const expansion& steps, const ast_operand& o);
  value global_address(const expansion& steps, const ast_operand& o, state_space space);
  void map_and_coordinates(const hir_instruction& h, const expansion& steps, const ast_operand& o, descriptor& d);
  [[noreturn]] void refuse(const ast_instruction& i, const char* expected) const;

  block_builder& code_;
  operand_resolver& in_;
  bool strides_without_low_bits_;
};

}  // namespace heddle::ptx
