// SPDX-License-Identifier: MIT
#pragma once

#include <array>
#include <cstdint>

#include "heddle/isa/instruction.h"
#include "heddle/simt/texture/texture_descriptor.h"
#include "heddle/simt/warp/warp_state.h"

namespace heddle::simt {

/// The texels that one texture or surface instruction reads or writes: up to eight of each of two levels per lane, each
/// an access of the warp.
struct texture_access {
  static constexpr unsigned corners = 8, most = 2 * corners;
  unsigned bytes = 0;                  // per lane and access
  unsigned count = 0;                  // accesses
  lane_mask lanes = 0;                 // lanes that execute the instruction
  std::array<lane_mask, most> mask{};  // lanes that access memory; for the others the texel is outside and zero
  std::uint64_t addresses[most][warp_size];
  std::int32_t weights[most][warp_size];  // of the texels in the filter, in units of 2^-16
  const texture_descriptor* descriptor[warp_size];
  std::uint32_t words[most][4][warp_size];  // the texels read, or in [0] the data to write
};

/// Determines the accesses of TEX, TLD4, SULD and SUST. Throws program_error (text without place) with `bad_lane` set:
/// no such handle, a surface coordinate outside under .trap, handles with different texel sizes in one instruction.
void plan_texture(const isa::instruction& i, const warp_state& w, lane_mask mask, texture_access& a,
                  unsigned& bad_lane);

/// Writes the results of TEX, TLD4 and SULD from the texels read.
void finish_texture(const isa::instruction& i, warp_state& w, texture_access& a);

}  // namespace heddle::simt
