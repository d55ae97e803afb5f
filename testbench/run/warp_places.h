// SPDX-License-Identifier: MIT
#pragma once

#include <string>

namespace heddle {
class gpu;
}

namespace heddle::testbench {

/// Where the resident warps are, in lines of the source or of the PTX: a line for each of the places with most warps,
/// each after a line break; "" if no warp is resident. All SMs must be at the same cycle.
std::string warp_places(gpu& g);

}  // namespace heddle::testbench
