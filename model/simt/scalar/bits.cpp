// SPDX-License-Identifier: MIT
// Bit fields, byte permutation, bit counts (PTX ISA: prmt, szext, bfe, bfi, bmsk, popc, bfind, brev).
#include "heddle/simt/scalar/topics.h"
#include "heddle/simt/warp/lane_loop.h"

namespace heddle::simt {

namespace {

using isa::dtype;
using isa::instruction;
using isa::opcode;

/// The four selector nibbles of a mode of PRMT; `b` chooses one of its rows.
std::uint32_t prmt_selector(unsigned mode, std::uint32_t b) {
  constexpr std::uint16_t table[6][4] = {{0x3210, 0x4321, 0x5432, 0x6543},   // f4e
                                         {0x5670, 0x6701, 0x7012, 0x0123},   // b4e
                                         {0x0000, 0x1111, 0x2222, 0x3333},   // rc8
                                         {0x3210, 0x3211, 0x3222, 0x3333},   // ecl
                                         {0x0000, 0x1110, 0x2210, 0x3210},   // ecr
                                         {0x1010, 0x3232, 0x1010, 0x3232}};  // rc16
  return mode >= 1 && mode <= 6 ? table[mode - 1][b & 3] : b;
}

void prmt(const instruction& i, warp_state& w, lane_mask mask) {
  apply<modifiers::integer>(i, w, mask, [&](std::uint32_t a, std::uint32_t b, std::uint32_t c) {
    const std::uint64_t bytes = a | std::uint64_t{c} << 32;
    const std::uint32_t selector = prmt_selector(i.sub, b);
    std::uint32_t d = 0;
    for (unsigned k = 0; k < 4; ++k) {
      const std::uint32_t nibble = selector >> (4 * k) & 15;
      std::uint32_t byte = static_cast<std::uint32_t>(bytes >> (8 * (nibble & 7))) & 0xff;
      if (nibble & 8) byte = (byte & 0x80) ? 0xff : 0;
      d |= byte << (8 * k);
    }
    return d;
  });
}

void iabs(const instruction& i, warp_state& w, lane_mask mask) {
  apply<modifiers::integer>(i, w, mask,
                            [](std::uint32_t a, std::uint32_t, std::uint32_t) { return (a >> 31) ? 0u - a : a; });
}

void sgxt(const instruction& i, warp_state& w, lane_mask mask) {
  apply<modifiers::integer>(i, w, mask, [&](std::uint32_t a, std::uint32_t b, std::uint32_t) {
    const unsigned bits = i.wrap ? b & 31 : b;
    if (bits == 0) return 0u;
    if (bits >= 32) return a;
    const std::uint32_t top = a << (32 - bits);
    return i.type == dtype::s32 ? static_cast<std::uint32_t>(static_cast<std::int32_t>(top) >> (32 - bits))
                                : top >> (32 - bits);
  });
}

std::uint32_t low_bits(unsigned n) { return n >= 32 ? 0xffffffffu : (1u << n) - 1; }

void bfe(const instruction& i, warp_state& w, lane_mask mask) {
  apply<modifiers::integer>(i, w, mask, [&](std::uint32_t a, std::uint32_t b, std::uint32_t) {
    const unsigned position = b & 0xff;
    const unsigned length = b >> 8 & 0xff;
    if (length == 0) return 0u;
    const unsigned sign_position = position + length - 1 < 31 ? position + length - 1 : 31;
    const bool ones = i.type == dtype::s32 && (a >> sign_position & 1) != 0;
    const std::uint32_t field = position > 31 ? 0 : a >> position;
    const unsigned valid = position > 31 ? 0 : length < 32 - position ? length : 32 - position;
    return (field & low_bits(valid)) | (ones ? ~low_bits(valid) : 0);
  });
}

void bfi(const instruction& i, warp_state& w, lane_mask mask) {
  apply<modifiers::integer>(i, w, mask, [](std::uint32_t a, std::uint32_t b, std::uint32_t c) {
    const unsigned position = b & 0xff;
    const unsigned length = b >> 8 & 0xff;
    if (position > 31) return c;
    const std::uint32_t field = low_bits(length) << position;
    return (c & ~field) | (a << position & field);
  });
}

void bmsk(const instruction& i, warp_state& w, lane_mask mask) {
  apply<modifiers::integer>(i, w, mask, [&](std::uint32_t a, std::uint32_t b, std::uint32_t) {
    if (!i.wrap && a > 31) return 0u;
    const unsigned position = a & 31;
    const unsigned length = i.wrap ? b & 31 : b > 32 ? 32 : b;
    return low_bits(length) << position;
  });
}

void popc(const instruction& i, warp_state& w, lane_mask mask) {
  apply<modifiers::integer>(i, w, mask, [](std::uint32_t a, std::uint32_t, std::uint32_t) {
    return static_cast<std::uint32_t>(__builtin_popcount(a));
  });
}

void flo(const instruction& i, warp_state& w, lane_mask mask) {
  apply<modifiers::integer>(i, w, mask, [&](std::uint32_t a, std::uint32_t, std::uint32_t) {
    if (i.type == dtype::s32 && (a >> 31)) a = ~a;
    if (a == 0) return 0xffffffffu;
    const auto zeros = static_cast<std::uint32_t>(__builtin_clz(a));
    return i.sub != 0 ? zeros : 31 - zeros;
  });
}

void brev(const instruction& i, warp_state& w, lane_mask mask) {
  apply<modifiers::integer>(i, w, mask, [](std::uint32_t a, std::uint32_t, std::uint32_t) {
    a = (a >> 1 & 0x55555555u) | (a & 0x55555555u) << 1;
    a = (a >> 2 & 0x33333333u) | (a & 0x33333333u) << 2;
    a = (a >> 4 & 0x0f0f0f0fu) | (a & 0x0f0f0f0fu) << 4;
    return __builtin_bswap32(a);
  });
}

}  // namespace

execute_function select_bits(const instruction& i) {
  switch (i.op) {
    case opcode::prmt: return prmt;
    case opcode::iabs: return iabs;
    case opcode::sgxt: return sgxt;
    case opcode::bfe: return bfe;
    case opcode::bfi: return bfi;
    case opcode::bmsk: return bmsk;
    case opcode::popc: return popc;
    case opcode::flo: return flo;
    case opcode::brev: return brev;
    default: return nullptr;
  }
}

}  // namespace heddle::simt
