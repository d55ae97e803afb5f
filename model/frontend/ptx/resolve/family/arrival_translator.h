// SPDX-License-Identifier: MIT
#pragma once

#include "heddle/frontend/ptx/resolve/expansion.h"
#include "heddle/frontend/ptx/resolve/operand_resolver.h"

namespace heddle::ptx {

/// mbarrier: an object of 64 bits (simt/scalar/arrival.h). Arrivals update it by a dedicated atomic operation; waits
/// read it.
class arrival_translator {
 public:
  arrival_translator(block_builder& code, operand_resolver& in) : code_(code), in_(in) {}

  void translate(const hir_instruction& h, const ast_instruction& i);
  /// Appends an arrival of `count` at the object, which also adds `bytes` to the expected bytes. `state` receives the
  /// old value; none: not needed.
  void arrive_at(const hir_instruction& h, const ast_operand& where, value state, value count, value bytes);

  /// Appends the completion of `bytes` bytes at the object.
  void complete(const hir_instruction& h, const ast_operand& where, unsigned bytes) {
    arrive_at(h, where, {}, immediate_value(0), immediate_value(std::uint32_t{0} - bytes));
  }

 private:
  void check(const hir_instruction& h, const ast_instruction& i) const;
  value number(const ast_instruction& i, std::size_t k);
  void start(const hir_instruction& h, const ast_instruction& i);
  void wait(const hir_instruction& h, const ast_instruction& i);
  void suspend(const hir_instruction& h, const ast_instruction& i);
  void pending_count(const hir_instruction& h, const ast_instruction& i);
  void arrive(const hir_instruction& h, const ast_instruction& i);

  block_builder& code_;
  operand_resolver& in_;
};

}  // namespace heddle::ptx
