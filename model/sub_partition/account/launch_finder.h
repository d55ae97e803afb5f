// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <functional>

namespace heddle {

struct resident_launch;

/// Gives the launch with this number, for the state of what has worked for it.
using launch_finder = std::function<const resident_launch&(std::uint32_t)>;

}  // namespace heddle
