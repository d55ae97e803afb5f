// SPDX-License-Identifier: MIT
#include "heddle/frontend/ptx/select/code/chip_limits.h"

#include "heddle/config/error.h"

namespace heddle::ptx {

bool chip_limits::has_capability(unsigned major, unsigned minor) const {
  return compute_capability(gpu_) >= static_cast<int>(major * 10 + minor);
}

void chip_limits::require_capability(unsigned major, unsigned minor) const {
  if (has_capability(major, minor)) return;
  in_.fail("instruction '" + in_.now().source->mnemonic() + "' needs compute capability " + std::to_string(major) +
           "." + std::to_string(minor) + ", the GPU (" + gpu_.gpu.name + ") has " + compute_capability_text(gpu_));
}

void chip_limits::require_warpgroup_products() const {
  require_capability(9);
  if (has_capability(10, 0))
    in_.fail("instruction '" + in_.now().source->mnemonic() + "' exists on compute capability 9.0 only, the GPU (" +
             gpu_.gpu.name + ") has " + compute_capability_text(gpu_));
}

void chip_limits::require_bulk_copies() const {
  require_capability(9);
  if (gpu_.tma.requests_in_flight == 0)
    in_.fail("instruction '" + in_.now().source->mnemonic() +
             "' needs a unit for bulk copies, which a GPU with tma.requests_in_flight = 0 does not have");
}

void chip_limits::require_fp64() const {
  if (gpu_.fp64.lanes == 0)
    in_.fail("instruction '" + in_.now().source->mnemonic() + "' needs double precision, which compute capability " +
             compute_capability_text(gpu_) + " (" + gpu_.gpu.name + ") does not have");
}

void chip_limits::require_half() const {
  if (gpu_.half.lanes == 0)
    in_.fail("instruction '" + in_.now().source->mnemonic() +
             "' needs half precision arithmetic, which compute capability " + compute_capability_text(gpu_) + " (" +
             gpu_.gpu.name + ") does not have");
}

void chip_limits::set_sums(isa::instruction& i) const {
  using isa::dtype;
  const bool bytes = i.src_type == dtype::e4m3x2 || i.src_type == dtype::e5m2x2;
  // Compute capabilities 9.0 to 11.0 have no QMMA; the chips' compilers convert the factors to f16.
  i.wide = bytes && i.op == isa::opcode::hmma && has_capability(9, 0) && !has_capability(12, 0);
  const unsigned products = gpu_.tensor.sum_products;
  const bool twice = bytes && !i.wide;
  i.sum_products = narrow<std::uint8_t>(twice ? 2 * products : i.src_type == dtype::b32 ? products / 2 : products);
  i.sum_fraction_bits =
      narrow<std::uint8_t>(twice ? gpu_.tensor.byte_sum_fraction_bits : gpu_.tensor.sum_fraction_bits);
}

}  // namespace heddle::ptx
