// SPDX-License-Identifier: MIT
// The program's end of the socket. Nothing here throws, and nothing of SystemC is needed.
#pragma once

#include <cstdint>
#include <vector>

#include "testbench/exec/wire.h"

namespace heddle::cuda {

/// What a call has led to; `body` what it asked for.
struct reply {
  std::int32_t status = wire::unknown;
  std::vector<std::uint8_t> body;
  wire::reader read() const { return wire::reader(body); }
};

/// Makes a call and waits for its reply; prints what kernels have printed meanwhile. The first one of a thread
/// connects.
reply call(wire::call what, const wire::writer& arguments);
/// Waits for the GPU.
std::int32_t wait(wire::wait_kind kind, std::uint32_t number);

/// The modelled chip; connects. Null: there is no simulator, which has been said.
const wire::device_info* chip();

}  // namespace heddle::cuda
