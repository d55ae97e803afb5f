// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>

#include "heddle/tlm/protocol/gpu_request.h"
#include "heddle/tlm/protocol/lsu_protocol.h"

namespace heddle {

/// Loads: copies bytes from a line image to t.words, for those of `lanes` whose sector is in `sectors`. Does nothing if
/// t.data says that the values are not needed.
void bytes_to_lanes(lsu_transaction& t, std::uint32_t lanes, std::uint8_t sectors, const std::uint8_t* line);

/// Stores: writes the bytes of `lanes` to a line image, clears the line's byte enables and sets those of the written
/// bytes to 0xff. Where lanes write the same byte, the highest lane wins.
void lanes_to_bytes(const lsu_transaction& t, std::uint32_t lanes, std::uint8_t* line, std::uint8_t* enables);

/// Atomics: fills in the cells and operands of `lanes`.
void lanes_to_atomic(const lsu_transaction& t, std::uint32_t lanes, atomic_request& request);

/// Atomics: copies the old values to t.words.
void atomic_to_lanes(lsu_transaction& t, const atomic_request& request);

/// An atomic's cells, and the passes in which lanes with one cell change it one after another.
struct atomic_cells {
  unsigned different = 0;
  unsigned passes = 0;
};
atomic_cells cells_of(const atomic_request& request);

}  // namespace heddle
