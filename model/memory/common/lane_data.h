// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>

#include "heddle/tlm/protocol/gpu_request.h"
#include "heddle/tlm/protocol/lsu_protocol.h"

namespace heddle {

/// Loads: copies the bytes of those of `lanes` whose sector is in `sectors` from the image of a line to t.words, unless
/// t.data says that nobody looks at them.
void bytes_to_lanes(lsu_transaction& t, std::uint32_t lanes, std::uint8_t sectors, const std::uint8_t* line);

/// Stores: writes the bytes of `lanes` and 0xff for each byte written to the image of a line and to its byte enables,
/// which are cleared before. Where lanes write the same byte the highest lane's stays.
void lanes_to_bytes(const lsu_transaction& t, std::uint32_t lanes, std::uint8_t* line, std::uint8_t* enables);

/// Atomics: the cells and operands of `lanes`.
void lanes_to_atomic(const lsu_transaction& t, std::uint32_t lanes, atomic_request& request);

/// Atomics: the old values to t.words.
void atomic_to_lanes(lsu_transaction& t, const atomic_request& request);

}  // namespace heddle
