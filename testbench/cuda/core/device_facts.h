// SPDX-License-Identifier: MIT
// What the runtime says of the device.
#pragma once

#include <cstddef>

#include "testbench/cuda/core/client.h"
#include "testbench/cuda/core/types.h"

namespace heddle::cuda {

/// The properties of all releases.
device_properties_12 properties_of(const wire::device_info& d);
/// Chips since the A100 set aside sixteenths of their L2 for lines that persist: at most ten, three if not told.
constexpr std::size_t persisting_unit(const wire::device_info& d) {
  return d.major >= 8 ? static_cast<std::size_t>(d.l2_bytes) / 16 : 0;
}
constexpr std::size_t most_persisting(const wire::device_info& d) { return 10 * persisting_unit(d); }
/// True for flags with which a context is made: how the host waits is one way.
constexpr bool are_context_flags(unsigned flags) {
  constexpr unsigned known = 0xff, waiting = 7;
  const unsigned how = flags & waiting;
  return (flags & ~known) == 0 && (how & (how - 1)) == 0;
}

}  // namespace heddle::cuda
