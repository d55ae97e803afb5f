// SPDX-License-Identifier: MIT
#pragma once

#include "heddle/config/parameters.h"
#include "heddle/frontend/ptx/select/code/hopper_code.h"
#include "heddle/frontend/ptx/select/code/operand_reader.h"
#include "heddle/isa/instruction.h"

namespace heddle::ptx {

/// What the GPU can execute. The functions `require_` throw input_error for the current instruction if it cannot.
class chip_limits {
 public:
  chip_limits(const gpu_config& gpu, const operand_reader& in)
      : gpu_(gpu), in_(in), imad_(gpu.integer.multiplier != choice::multiplier::xmad) {}

  [[nodiscard]] bool has_imad() const { return imad_; }
  [[nodiscard]] bool has_hopper_code() const { return ptx::has_hopper_code(gpu_); }
  [[nodiscard]] bool has_capability(unsigned major, unsigned minor) const;
  void require_capability(unsigned major, unsigned minor = 0) const;
  /// wgmma: no chip after Hopper has it.
  void require_warpgroup_products() const;
  void require_bulk_copies() const;
  void require_fp64() const;
  void require_half() const;
  /// How the chip adds the products of the matrix instruction `i`, of which op and src_type are set.
  void set_sums(isa::instruction& i) const;

 private:
  const gpu_config& gpu_;
  const operand_reader& in_;
  const bool imad_;
};

}  // namespace heddle::ptx
