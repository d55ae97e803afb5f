// SPDX-License-Identifier: MIT
#pragma once

#include <vector>

#include "heddle/frontend/ptx/select/code/code_writer.h"
#include "heddle/frontend/ptx/select/code/machine_operand.h"
#include "heddle/frontend/ptx/select/code/operand_reader.h"

namespace heddle::ptx {

/// Values in aligned consecutive registers, as vectors, matrices and textures need them: gathered from registers of the
/// program, and spread over them.
class register_runs {
 public:
  register_runs(const operand_reader& in, code_writer& out) : in_(in), out_(out) {}

  virtual_operand gather(std::size_t first, std::size_t count, unsigned words);
  virtual_operand factor(std::size_t first, std::size_t count);
  void spread(register_part from, std::size_t first, unsigned words);
  [[nodiscard]] register_part part_of_dst(std::size_t k, unsigned words) const;
  void extract_elements(register_part from, unsigned size, bool is_signed);
  /// Factors that were gathered are not used again.
  void forget() { factors_block_ = nullptr; }
  register_part pack_elements(unsigned size, std::size_t first);

 private:
  void forget_written_factors();
  struct gathered {
    std::vector<std::uint32_t> sources;
    virtual_operand all;
  };

  const operand_reader& in_;
  code_writer& out_;
  const machine_block* factors_block_ = nullptr;
  const hir_instruction* seen_ = nullptr;  // instructions of that block before it have been examined
  std::vector<gathered> factors_;          // of that block
};

}  // namespace heddle::ptx
