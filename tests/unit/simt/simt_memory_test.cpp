// SPDX-License-Identifier: MIT
// Shared memory, constant loads, write-back, atomics, shuffles and votes.
#include <algorithm>
#include <cstring>

#include "heddle/config/error.h"
#include "simt_fixture.h"
#include "simt_reference.h"

namespace heddle::simt {
namespace simt_memory_test {

using isa::atomic_op;
using isa::dtype;
using isa::opcode;

isa::instruction shared(opcode op, dtype type, std::uint8_t words) {
  isa::instruction i;
  i.op = op;
  i.type = type;
  i.mem_space = isa::space::shared;
  i.dst = 4;
  i.dst_count = op == opcode::st || op == opcode::red ? 0 : words;
  i.src = {isa::make_reg(1), isa::make_reg(8, words), isa::make_reg(12, words), isa::operand{}};
  return i;
}

std::uint32_t narrow(dtype t, std::uint32_t v) {
  switch (t) {
    case dtype::u8:
    case dtype::b8: return v & 0xff;
    case dtype::s8: return static_cast<std::uint32_t>(std::int32_t{static_cast<std::int8_t>(v)});
    case dtype::u16:
    case dtype::b16:
    case dtype::f16: return v & 0xffff;
    case dtype::s16: return static_cast<std::uint32_t>(std::int32_t{static_cast<std::int16_t>(v)});
    default: return v;
  }
}

TEST(simt_memory, stores_and_loads_of_every_width) {
  struct width {
    dtype type;
    std::uint8_t words;
    unsigned bytes;
  };
  for (const width& t :
       {width{dtype::u8, 1, 1}, width{dtype::s8, 1, 1}, width{dtype::b16, 1, 2}, width{dtype::s16, 1, 2},
        width{dtype::f16, 1, 2}, width{dtype::b32, 1, 4}, width{dtype::f32, 1, 4}, width{dtype::b64, 2, 8},
        width{dtype::f64, 2, 8}, width{dtype::b128, 4, 16}, width{dtype::b32, 4, 16}}) {
    const auto store = shared(opcode::st, t.type, t.words), load = shared(opcode::ld, t.type, t.words);
    ASSERT_EQ(access_bytes(store), t.bytes);
    ASSERT_EQ(access_bytes(load), t.bytes);
    for (const lane_mask mask : {all_lanes, 0x0f0ff00fu}) {
      test_warp w;
      random_bits random(t.bytes);
      for (auto& b : w.shared) b = 0xee;
      for (unsigned l = 0; l < warp_size; ++l) {
        w.reg(1, l) = (31 - l) * 2 * t.bytes;  // gaps must not be written
        for (unsigned k = 0; k < 4; ++k) w.reg(8 + k, l) = random.word(), w.reg(4 + k, l) = 0x77777777;
      }
      w.run(store, mask);
      for (unsigned l = 0; l < warp_size; ++l) {
        const unsigned at = (31 - l) * 2 * t.bytes;
        std::uint8_t want[16];
        for (unsigned k = 0; k < 4; ++k) std::memcpy(want + 4 * k, &w.reg(8 + k, l), 4);
        if (!(mask >> l & 1)) std::memset(want, 0xee, 16);
        ASSERT_EQ(std::memcmp(w.shared.data() + at, want, t.bytes), 0);
        for (unsigned k = 0; k < t.bytes; ++k) ASSERT_EQ(w.shared[at + t.bytes + k], 0xee);
      }
      w.run(load, mask);
      for (unsigned l = 0; l < warp_size; ++l) {
        for (unsigned k = 0; k < 4; ++k) {
          const bool written = (mask >> l & 1) != 0 && k < t.words;
          ASSERT_EQ(w.reg(4 + k, l), written ? narrow(t.type, w.reg(8 + k, l)) : 0x77777777u)
              << "lane " << l << " word " << k;
        }
      }
    }
  }
}

TEST(simt_memory, addresses_add_the_offset) {
  test_warp w;
  for (unsigned l = 0; l < warp_size; ++l) w.set_pair(6, l, 0x1'0000'0000u * l + 0xfffffff0u);
  std::uint64_t a[warp_size];
  isa::instruction i = shared(opcode::ld, dtype::b32, 1);
  i.src[0] = isa::make_reg(6, 2);
  i.offset = 0x20;
  lane_addresses(i, w.state, all_lanes, a);
  EXPECT_EQ(a[3], 0x4'0000'0010u);
  i.src[0].count = 1;
  lane_addresses(i, w.state, all_lanes, a);
  EXPECT_EQ(a[3], 0x10u);
  i.offset = -16;
  lane_addresses(i, w.state, all_lanes, a);
  EXPECT_EQ(a[3], 0xffffffe0u);
  i.src[0] = isa::make_reg(isa::rz);
  i.offset = 0x123456789a;
  lane_addresses(i, w.state, all_lanes, a);
  EXPECT_EQ(a[31], 0x123456789au);
}

TEST(simt_memory, bad_addresses_are_errors_and_change_nothing) {
  for (const opcode op : {opcode::ld, opcode::st, opcode::atom}) {
    for (const std::uint32_t bad : {4096u, 4093u, 2u, 0xfffffffcu, 0x80000000u}) {
      test_warp w;
      for (unsigned l = 0; l < warp_size; ++l) w.reg(1, l) = 4 * l, w.reg(4, l) = 5, w.reg(8, l) = 9;
      w.reg(1, 6) = w.reg(1, 20) = bad;
      const auto i = shared(op, dtype::b32, 1);
      std::uint64_t addresses[warp_size];
      lane_addresses(i, w.state, all_lanes, addresses);
      unsigned lane = 99;
      EXPECT_THROW(shared_access(i, w.state, all_lanes, addresses, lane), program_error);
      EXPECT_EQ(lane, 6u);
      EXPECT_THROW(w.run(i), program_error);
      EXPECT_EQ(w.reg(4, 0), 5u);
      EXPECT_EQ(w.shared[0], 0);
      EXPECT_NO_THROW(w.run(i, ~(1u << 6 | 1u << 20)));
    }
  }
  test_warp w;
  w.block.shared_bytes = 2;
  EXPECT_THROW(w.run(shared(opcode::ld, dtype::b32, 1)), program_error);
  EXPECT_NO_THROW(w.run(shared(opcode::ld, dtype::b16, 1)));
}

TEST(simt_memory, constant_loads) {
  test_warp w;
  for (unsigned k = 0; k < 64; ++k) w.launch.banks[3].push_back(static_cast<std::uint8_t>(0xc0 + k));
  for (unsigned l = 0; l < warp_size; ++l) w.reg(1, l) = 2 * l;
  isa::instruction i = shared(opcode::ldc, dtype::s16, 1);
  i.sub = 3;
  w.run(i);
  EXPECT_EQ(w.reg(4, 5), 0xffffcbcau);
  EXPECT_EQ(w.reg(4, 31), 0xfffffffeu);
  i.type = dtype::b64;
  i.dst_count = 2;
  i.offset = 4;
  w.run(i);
  EXPECT_EQ(w.pair(4, 2), 0xcfcecdcccbcac9c8u);
  EXPECT_EQ(w.pair(4, 29), 0xfffeu);  // the remaining threads are outside
  EXPECT_EQ(w.pair(4, 31), 0u);
}

TEST(simt_memory, atomic_results) {
  const auto r = [](atomic_op op, dtype t, std::uint64_t old_value, std::uint64_t b, std::uint64_t swap = 0) {
    return atomic_result(op, t, old_value, b, swap);
  };
  EXPECT_EQ(r(atomic_op::add, dtype::u32, 0xffffffff, 2), 1u);
  EXPECT_EQ(r(atomic_op::add, dtype::u64, 0xffffffff, 2), 0x100000001u);
  EXPECT_EQ(r(atomic_op::min, dtype::s32, 5, 0xffffffff), 0xffffffffu);
  EXPECT_EQ(r(atomic_op::min, dtype::u32, 5, 0xffffffff), 5u);
  EXPECT_EQ(r(atomic_op::max, dtype::s32, 5, 0xffffffff), 5u);
  EXPECT_EQ(r(atomic_op::max, dtype::u32, 5, 0xffffffff), 0xffffffffu);
  EXPECT_EQ(r(atomic_op::min, dtype::s64, 5, ~0ull), ~0ull);
  EXPECT_EQ(r(atomic_op::max, dtype::u64, 5, ~0ull), ~0ull);
  EXPECT_EQ(r(atomic_op::inc, dtype::u32, 4, 5), 5u);
  EXPECT_EQ(r(atomic_op::inc, dtype::u32, 5, 5), 0u);
  EXPECT_EQ(r(atomic_op::inc, dtype::u32, 9, 5), 0u);
  EXPECT_EQ(r(atomic_op::dec, dtype::u32, 0, 5), 5u);
  EXPECT_EQ(r(atomic_op::dec, dtype::u32, 9, 5), 5u);
  EXPECT_EQ(r(atomic_op::dec, dtype::u32, 3, 5), 2u);
  EXPECT_EQ(r(atomic_op::and_, dtype::b32, 12, 10), 8u);
  EXPECT_EQ(r(atomic_op::or_, dtype::b32, 12, 10), 14u);
  EXPECT_EQ(r(atomic_op::xor_, dtype::b64, 12, 10), 6u);
  EXPECT_EQ(r(atomic_op::exch, dtype::b32, 12, 0x1'0000'000au), 10u);
  EXPECT_EQ(r(atomic_op::cas, dtype::b32, 12, 12, 99), 99u);
  EXPECT_EQ(r(atomic_op::cas, dtype::b32, 12, 13, 99), 12u);
  EXPECT_EQ(r(atomic_op::cas, dtype::b64, 1ull << 40, 1ull << 40, 7), 7u);
  EXPECT_EQ(r(atomic_op::cas, dtype::b16, 0xab0005, 0xcd0005, 0x12345), 0x2345u);
  EXPECT_EQ(r(atomic_op::add, dtype::f32, bits_of(1.5f), bits_of(0x1p-149f)), bits_of(1.5f));
  EXPECT_EQ(r(atomic_op::add, dtype::f32, 1, 1), 2u);
  EXPECT_EQ(r(atomic_op::add, dtype::f32, 0x7f800000, 0xff800000), 0x7fffffffu);
  EXPECT_EQ(r(atomic_op::add, dtype::f64, bits_of(0.1), bits_of(0.2)), bits_of(0.1 + 0.2));
  EXPECT_EQ(r(atomic_op::add, dtype::f16, 0x3c00, 0x3c01), 0x4000u);  // 1 + 1.0009765625: a tie to even
  EXPECT_EQ(r(atomic_op::add, dtype::f16x2, 0x3c00'4000, 0x4200'3c00), 0x4400'4200u);
  EXPECT_EQ(r(atomic_op::add, dtype::bf16x2, 0x3f80'4000, 0x4040'3f80), 0x4080'4040u);
  EXPECT_EQ(r(atomic_op::max, dtype::f32, 0x80000000, 0), 0u);
  EXPECT_EQ(r(atomic_op::max, dtype::f32, 0x7fc00000, bits_of(1.5f)), bits_of(1.5f)) << "a NaN gives the other operand";
  EXPECT_EQ(r(atomic_op::min, dtype::f16x2, 0x7e00'3c00, 0x4000'7e00), 0x4000'3c00u);
}

TEST(simt_memory, shared_atomics_serve_lanes_in_order) {
  test_warp w;
  for (unsigned l = 0; l < warp_size; ++l) w.reg(1, l) = 64, w.reg(8, l) = l + 1;
  auto add = shared(opcode::atom, dtype::u32, 1);
  add.sub = static_cast<std::uint8_t>(atomic_op::add);
  w.run(add);
  for (unsigned l = 0; l < warp_size; ++l) EXPECT_EQ(w.reg(4, l), l * (l + 1) / 2);
  add.op = opcode::red;
  add.dst = isa::rz;
  w.run(add, 0xffff);
  std::uint32_t cell = 0;
  std::memcpy(&cell, w.shared.data() + 64, 4);
  EXPECT_EQ(cell, 528u + 136u);
  auto cas = shared(opcode::atom, dtype::b64, 2);
  cas.sub = static_cast<std::uint8_t>(atomic_op::cas);
  for (unsigned l = 0; l < warp_size; ++l) {
    w.reg(1, l) = 128;
    w.set_pair(8, l, l == 0 ? 0 : 0x5'0000'0000u + l - 1);
    w.set_pair(12, l, 0x5'0000'0000u + l);
  }
  w.run(cas);
  EXPECT_EQ(w.pair(4, 0), 0u);
  for (unsigned l = 1; l < warp_size; ++l) EXPECT_EQ(w.pair(4, l), 0x5'0000'0000u + l - 1);
  std::uint32_t words[4][warp_size];
  lane_store_data(cas, w.state, words);
  EXPECT_EQ(words[0][7], 6u);
  EXPECT_EQ(words[1][7], 5u);
  EXPECT_EQ(words[2][7], 7u);
  EXPECT_EQ(words[3][7], 5u);
}

TEST(simt_memory, shared_atomics_of_16_bytes_compare_and_swap_all_of_them) {
  const auto set = [](test_warp& w, unsigned first, unsigned lane, std::uint32_t n) {
    for (unsigned k = 0; k < 4; ++k) w.reg(first + k, lane) = n == 0 ? 0 : n * 16 + k;
  };
  test_warp w;
  auto cas = shared(opcode::atom, dtype::b128, 4);
  cas.sub = static_cast<std::uint8_t>(atomic_op::cas);
  for (unsigned l = 0; l < warp_size; ++l) {
    w.reg(1, l) = 128;
    set(w, 8, l, l);  // what the lane before has left
    set(w, 12, l, l + 1);
    if (l >= 20) w.reg(8 + l % 4, l) ^= 1;  // another value, in one word of four
  }
  ASSERT_EQ(access_bytes(cas), 16u);
  w.run(cas);
  const auto found = [&](unsigned l, unsigned k) { return w.reg(4 + k, l); };
  for (unsigned l = 0; l < warp_size; ++l)
    for (unsigned k = 0; k < 4; ++k) EXPECT_EQ(found(l, k), l == 0 ? 0 : std::min(l, 20u) * 16 + k) << l;
  std::uint32_t words[operand_words][warp_size];
  lane_store_data(cas, w.state, words);
  for (unsigned k = 0; k < 8; ++k) EXPECT_EQ(words[k][7], (k < 4 ? 7u : 8u) * 16 + k % 4);
  auto exch = shared(opcode::atom, dtype::b128, 4);
  exch.sub = static_cast<std::uint8_t>(atomic_op::exch);
  for (unsigned l = 0; l < warp_size; ++l) set(w, 8, l, 100 + l);
  w.run(exch, 0xf0);
  for (unsigned k = 0; k < 4; ++k) {
    EXPECT_EQ(found(4, k), 20 * 16 + k);
    EXPECT_EQ(found(7, k), 106 * 16 + k);
    std::uint32_t cell = 0;
    std::memcpy(&cell, w.shared.data() + 128 + 4 * k, 4);
    EXPECT_EQ(cell, 107 * 16 + k);
  }
}

TEST(simt_memory, shuffles_follow_the_ptx_definition) {
  random_bits random(17);
  for (int round = 0; round < 400; ++round) {
    test_warp w;
    auto i = make(opcode::shfl, dtype::b32);
    const unsigned mode = static_cast<unsigned>(round) & 3;
    i.sub = static_cast<std::uint8_t>(mode);
    i.pdst[0] = 2;
    for (unsigned l = 0; l < warp_size; ++l) {
      w.reg(4, l) = 1000 + l;
      w.reg(6, l) = random.word();
      w.reg(8, l) =
          (round & 4) ? (mode == 0 ? 0u : 0x1fu) | ((32u - (1u << (round / 8 % 6))) & 31u) << 8 : random.word();
    }
    w.run(i);
    for (unsigned l = 0; l < warp_size; ++l) {
      const unsigned b = w.reg(6, l) & 31, c = w.reg(8, l) & 31, mask = w.reg(8, l) >> 8 & 31;
      const int max_lane = static_cast<int>((l & mask) | (c & ~mask)), min_lane = static_cast<int>(l & mask);
      int j = 0;
      bool p = false;
      if (mode == 0) j = static_cast<int>(l) - static_cast<int>(b), p = j >= max_lane;
      if (mode == 1) j = static_cast<int>(l + b), p = j <= max_lane;
      if (mode == 2) j = static_cast<int>(l ^ b), p = j <= max_lane;
      if (mode == 3) j = min_lane | static_cast<int>(b & ~mask), p = j <= max_lane;
      if (!p) j = static_cast<int>(l);
      ASSERT_EQ(w.reg(2, l), 1000u + static_cast<unsigned>(j));
      ASSERT_EQ((w.state.predicates[2] >> l & 1) != 0, p);
    }
  }
  test_warp w;  // the destination may be the source
  for (unsigned l = 0; l < warp_size; ++l) w.reg(4, l) = l;
  auto i = make(opcode::shfl, dtype::b32);
  i.dst = 4;
  i.sub = static_cast<std::uint8_t>(isa::shuffle_mode::bfly);
  i.src[1] = isa::make_immediate(1);
  i.src[2] = isa::make_immediate(31);
  w.run(i);
  for (unsigned l = 0; l < warp_size; ++l) EXPECT_EQ(w.reg(4, l), l ^ 1);
}

TEST(simt_memory, shuffles_from_absent_lanes_give_zero) {
  test_warp w;
  for (unsigned l = 0; l < warp_size; ++l) w.reg(4, l) = 1000 + l;
  auto i = make(opcode::shfl, dtype::b32);
  i.sub = static_cast<std::uint8_t>(isa::shuffle_mode::down);
  i.pdst[0] = 2;
  i.src[1] = isa::make_immediate(4);
  i.src[2] = isa::make_immediate(31);
  w.run(i, 0xff);
  for (unsigned l = 0; l < 8; ++l) {
    EXPECT_EQ(w.reg(2, l), l < 4 ? 1004 + l : 0u);
    EXPECT_TRUE(w.state.predicates[2] >> l & 1);
  }
}

TEST(simt_memory, votes) {
  random_bits random(23);
  for (int round = 0; round < 200; ++round) {
    for (unsigned mode = 0; mode <= static_cast<unsigned>(isa::vote_mode::activemask); ++mode) {
      test_warp w;
      const lane_mask executing = random.word() | 1u << (round % 32), members = round & 1 ? executing : random.word();
      w.state.predicates[0] = round % 5 == 0 ? members : round % 5 == 1 ? 0 : random.word();
      for (unsigned l = 0; l < warp_size; ++l) w.reg(4, l) = members;
      isa::instruction i = make(opcode::vote, dtype::b32);
      i.sub = static_cast<std::uint8_t>(mode);
      i.psrc[0] = {0, (round & 2) != 0};
      i.pdst[0] = 3;
      i.src[0] = round & 1 ? isa::operand{} : isa::make_reg(4);
      w.run(i, executing);
      const lane_mask p = i.psrc[0].negate ? ~w.state.predicates[0] : w.state.predicates[0];
      const lane_mask voters = executing & members;
      for (unsigned l = 0; l < warp_size; ++l) {
        if (!(executing >> l & 1)) continue;
        const bool truth = (w.state.predicates[3] >> l & 1) != 0;
        switch (static_cast<isa::vote_mode>(mode)) {
          case isa::vote_mode::any: ASSERT_EQ(truth, (p & voters) != 0); break;
          case isa::vote_mode::all: ASSERT_EQ(truth, (~p & voters) == 0); break;
          case isa::vote_mode::uni: ASSERT_EQ(truth, (~p & voters) == 0 || (p & voters) == 0); break;
          case isa::vote_mode::ballot: ASSERT_EQ(w.reg(2, l), p & voters); break;
          case isa::vote_mode::activemask: ASSERT_EQ(w.reg(2, l), executing); break;
        }
      }
    }
  }
}

}  // namespace simt_memory_test
}  // namespace heddle::simt
