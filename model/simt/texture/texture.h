// SPDX-License-Identifier: MIT
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "heddle/isa/instruction.h"
#include "heddle/simt/warp/warp_state.h"

namespace heddle::simt {

/// Memory format of a texel's channel. Normalised types are read as floats from 0 or -1 to 1.
enum class texel_type : std::uint8_t { u8, s8, u16, s16, u32, s32, f16, f32, unorm8, snorm8, unorm16, snorm16 };
enum class texture_address : std::uint8_t { wrap, clamp, mirror, border };

/// A texture or surface: an image in device memory, stored by rows and layers.
struct texture_descriptor {
  std::uint64_t address = 0;
  std::uint32_t width = 1;
  std::uint32_t height = 1;
  std::uint32_t depth = 1;  // or number of layers
  texel_type type = texel_type::f32;
  std::uint8_t channels = 1;      // 1, 2 or 4
  bool linear = false;            // filter; only for types read as floats
  bool normalized = false;        // coordinates from 0 to 1
  std::uint64_t pitch_bytes = 0;  // distance between rows; 0: rows without gaps
  std::array<texture_address, 3> mode{texture_address::clamp, texture_address::clamp, texture_address::clamp};
};
using texture_table = std::vector<texture_descriptor>;

constexpr unsigned channel_bytes(texel_type t) {
  switch (t) {
    case texel_type::u8:
    case texel_type::s8:
    case texel_type::unorm8:
    case texel_type::snorm8: return 1;
    case texel_type::u32:
    case texel_type::s32:
    case texel_type::f32: return 4;
    default: return 2;
  }
}
inline unsigned texel_bytes(const texture_descriptor& d) { return channel_bytes(d.type) * d.channels; }
inline std::uint64_t row_bytes(const texture_descriptor& d) { return std::uint64_t{d.width} * texel_bytes(d); }

/// Throws input_error if a descriptor is inconsistent: sizes of 0 or above 2^17 (the texture units' own limit), three
/// channels, a linear filter over integers, rows that overlap or cut texels.
void check_texture(const texture_descriptor& d);

/// The texels that one texture or surface instruction reads or writes: up to eight per lane, each an access of the
/// warp.
struct texture_access {
  unsigned bytes = 0;               // per lane and access
  unsigned count = 0;               // accesses
  lane_mask lanes = 0;              // lanes that execute the instruction
  std::array<lane_mask, 8> mask{};  // lanes that access memory; for the others the texel is outside and zero
  std::uint64_t addresses[8][warp_size];
  std::int32_t weights[8][warp_size];  // of the texels in the filter, in units of 2^-8
  const texture_descriptor* descriptor[warp_size];
  std::uint32_t words[8][4][warp_size];  // the texels read, or in [0] the data to write
};

/// Determines the accesses of TEX, TLD4, SULD and SUST. Throws program_error (text without place) with `bad_lane` set:
/// no such handle, a surface coordinate outside under .trap, handles with different texel sizes in one instruction.
void plan_texture(const isa::instruction& i, const warp_state& w, lane_mask mask, texture_access& a,
                  unsigned& bad_lane);

/// Writes the results of TEX, TLD4 and SULD from the texels read.
void finish_texture(const isa::instruction& i, warp_state& w, texture_access& a);

}  // namespace heddle::simt
