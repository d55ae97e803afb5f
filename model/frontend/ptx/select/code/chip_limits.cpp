// SPDX-License-Identifier: MIT
#include "heddle/frontend/ptx/select/code/chip_limits.h"

namespace heddle::ptx {

bool chip_limits::has_capability(unsigned major, unsigned minor) const {
  unsigned number[2] = {0, 0}, at = 0;
  for (const char c : gpu_.gpu.compute_capability) {
    if (c == '.') at = 1;
    else if (c >= '0' && c <= '9' && number[at] < 1000) number[at] = number[at] * 10 + static_cast<unsigned>(c - '0');
  }
  return number[0] > major || (number[0] == major && number[1] >= minor);
}

void chip_limits::require_capability(unsigned major, unsigned minor) const {
  if (has_capability(major, minor)) return;
  in_.fail("instruction '" + in_.now().source->mnemonic() + "' needs compute capability " + std::to_string(major) +
           "." + std::to_string(minor) + ", the GPU (" + gpu_.gpu.name + ") has " + gpu_.gpu.compute_capability);
}

void chip_limits::require_fp64() const {
  if (gpu_.fp64.lanes == 0)
    in_.fail("instruction '" + in_.now().source->mnemonic() + "' needs double precision, which compute capability " +
             gpu_.gpu.compute_capability + " (" + gpu_.gpu.name + ") does not have");
}

void chip_limits::require_half() const {
  if (gpu_.half.lanes == 0)
    in_.fail("instruction '" + in_.now().source->mnemonic() +
             "' needs half precision arithmetic, which compute capability " + gpu_.gpu.compute_capability + " (" +
             gpu_.gpu.name + ") does not have");
}

}  // namespace heddle::ptx
