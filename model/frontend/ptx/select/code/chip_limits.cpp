// SPDX-License-Identifier: MIT
#include "heddle/frontend/ptx/select/code/chip_limits.h"

namespace heddle::ptx {

bool chip_limits::has_capability(unsigned major, unsigned minor) const {
  return compute_capability(gpu_) >= static_cast<int>(major * 10 + minor);
}

void chip_limits::require_capability(unsigned major, unsigned minor) const {
  if (has_capability(major, minor)) return;
  in_.fail("instruction '" + in_.now().source->mnemonic() + "' needs compute capability " + std::to_string(major) +
           "." + std::to_string(minor) + ", the GPU (" + gpu_.gpu.name + ") has " + compute_capability_text(gpu_));
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

}  // namespace heddle::ptx
