// SPDX-License-Identifier: MIT
#pragma once

#include <gtest/gtest.h>

#include <array>
#include <cstdint>
#include <cstring>
#include <functional>
#include <string>
#include <vector>

#include "heddle/isa/program.h"
#include "heddle/simt/execute.h"
#include "heddle/simt/vector/fast_kernels.h"

namespace heddle::simt {

/// xorshift64*: the tests' own random numbers, identical on every machine.
class random_bits {
 public:
  explicit random_bits(std::uint64_t seed) : state_(seed * 2654435769u + 1) {}
  std::uint64_t next() {
    state_ ^= state_ >> 12;
    state_ ^= state_ << 25;
    state_ ^= state_ >> 27;
    return state_ * 2685821657736338717u;
  }
  std::uint32_t word() { return static_cast<std::uint32_t>(next() >> 32); }

 private:
  std::uint64_t state_;
};

/// A warp of a one-block launch with 16 registers and 4 KiB of shared memory.
class test_warp {
 public:
  static constexpr unsigned registers = 16;
  test_warp() {
    launch.block = {32, 1, 1};
    launch.grid = {1, 1, 1};
    launch.banks[0].resize(0x200);
    block.launch = &launch;
    block.shared = shared.data();
    block.shared_bytes = static_cast<std::uint32_t>(shared.size());
    block.sm_id = 3;
    state.regs = storage;
    state.predicates.fill(0);
    state.predicates[7] = all_lanes;
    state.active = state.live = all_lanes;
    state.block = &block;
  }
  std::uint32_t& reg(unsigned r, unsigned lane) { return storage[r * warp_size + lane]; }
  void set_pair(unsigned r, unsigned lane, std::uint64_t v) {
    reg(r, lane) = static_cast<std::uint32_t>(v);
    reg(r + 1, lane) = static_cast<std::uint32_t>(v >> 32);
  }
  std::uint64_t pair(unsigned r, unsigned lane) { return reg(r, lane) | std::uint64_t{reg(r + 1, lane)} << 32; }
  void run(const isa::instruction& i, lane_mask mask = all_lanes) { select(i)(i, state, mask); }

  alignas(64) std::uint32_t storage[registers * warp_size] = {};
  std::array<std::uint8_t, 4096> shared{};
  launch_context launch;
  block_context block;
  warp_state state;
};

/// All implementations of the instruction in this build.
inline std::vector<execute_function> all_paths(const isa::instruction& i) {
  std::vector<execute_function> paths{select(i)};
  if (execute_function f = baseline::select_fast(i)) paths.push_back(f);
#if defined(HEDDLE_SIMT_AVX2)
  if (host_has_avx2()) {
    if (execute_function f = avx2::select_fast(i)) paths.push_back(f);
  }
#endif
  return paths;
}

struct operands {
  std::uint64_t a = 0, b = 0, c = 0;
  bool p = true;  // psrc[0] if the instruction reads P0
};

/// Expected results of the instruction: d, and predicates.
struct outcome {
  std::uint64_t d = 0;
  bool p0 = false, p1 = false;
};

/// dst R2 (pair R2:R3), sources R4, R6, R8 of `count` words each.
inline isa::instruction make(isa::opcode op, isa::dtype type, std::uint8_t dst_count = 1, std::uint8_t count = 1) {
  isa::instruction i;
  i.op = op;
  i.type = type;
  i.dst = 2;
  i.dst_count = dst_count;
  i.src = {isa::make_reg(4, count), isa::make_reg(6, count), isa::make_reg(8, count), isa::operand{}};
  return i;
}

/// Runs the cases, 32 at a time, with every implementation, with all lanes and with a random mask, and compares with
/// `expected`. Registers and predicates of lanes outside the mask, and everything else, must not change.
template <class F>
void check(const isa::instruction& i, const std::vector<operands>& cases, F expected) {
  random_bits random(cases.size());
  const bool pair = i.dst_count > 1;
  for (std::size_t first = 0; first < cases.size(); first += warp_size) {
    const lane_mask random_mask = random.word();
    for (execute_function path : all_paths(i)) {
      for (const lane_mask mask : {all_lanes, random_mask}) {
        test_warp w;
        for (unsigned l = 0; l < warp_size; ++l) {
          const operands& o = cases[(first + l) % cases.size()];
          for (unsigned r = 0; r < test_warp::registers; ++r) w.reg(r, l) = 0xdead0000u + r;
          w.set_pair(4, l, o.a);
          w.set_pair(6, l, o.b);
          w.set_pair(8, l, o.c);
          if (o.p) w.state.predicates[0] |= 1u << l;
        }
        w.state.predicates[1] = 0x0f0f3c5au;
        w.state.predicates[2] = 0xa5a5c33cu;
        const test_warp before = w;
        w.state.regs = w.storage;
        path(i, w.state, mask);
        for (unsigned l = 0; l < warp_size; ++l) {
          const operands& o = cases[(first + l) % cases.size()];
          const outcome e = expected(o);
          const bool on = (mask >> l & 1) != 0;
          const std::uint64_t old = before.storage[2 * 32 + l] | std::uint64_t{before.storage[3 * 32 + l]} << 32;
          const std::uint64_t want = !on || i.dst_count == 0 ? old
                                     : pair                  ? e.d
                                                             : (old >> 32 << 32 | (e.d & 0xffffffffu));
          ASSERT_EQ(w.pair(2, l), want) << to_string(i) << std::hex << " a=" << o.a << " b=" << o.b << " c=" << o.c
                                        << " p=" << o.p << " lane " << l << " mask " << mask;
          for (unsigned k = 0; k < 2; ++k) {
            if (i.pdst[k] == isa::pt) continue;
            const bool was = (before.state.predicates[i.pdst[k]] >> l & 1) != 0;
            ASSERT_EQ((w.state.predicates[i.pdst[k]] >> l & 1) != 0, on ? (k ? e.p1 : e.p0) : was)
                << to_string(i) << " predicate result " << k << std::hex << " a=" << o.a << " b=" << o.b
                << " p=" << o.p;
          }
        }
        for (unsigned r = 0; r < test_warp::registers; ++r) {
          if (i.dst_count != 0 && (r == 2 || (pair && r == 3))) continue;
          ASSERT_EQ(std::memcmp(w.storage + r * 32, before.storage + r * 32, 128), 0) << to_string(i) << " R" << r;
        }
      }
    }
  }
}

/// All triples of `edges`, thinned to about `limit`, then random bits.
inline std::vector<operands> mixed_cases(const std::vector<std::uint64_t>& edges, std::size_t limit, unsigned seed,
                                         std::size_t random_count) {
  std::vector<operands> cases;
  random_bits random(seed);
  const std::size_t n = edges.size();
  const std::size_t all = n * n * n;
  const std::size_t stride = all <= limit ? 1 : all / limit | 1;
  for (std::size_t k = 0; k < all; k += stride)
    cases.push_back({edges[k % n], edges[k / n % n], edges[k / n / n], (k & 1) != 0});
  for (std::size_t k = 0; k < random_count; ++k) {
    cases.push_back({random.next(), random.next(), random.next(), (random.word() & 1) != 0});
    if (random.word() & 1) cases.back().b = random.word() & 63;  // small shift amounts, positions
    if (random.word() & 1) cases.back().c = random.word() & 63;
  }
  return cases;
}

inline const std::vector<std::uint64_t>& integer_edges() {
  static const std::vector<std::uint64_t> edges{0,
                                                1,
                                                2,
                                                3,
                                                31,
                                                32,
                                                33,
                                                63,
                                                64,
                                                0x7f,
                                                0x80,
                                                0xff,
                                                0x100,
                                                0x7fff,
                                                0x8000,
                                                0xffff,
                                                0x10000,
                                                0x7fffffff,
                                                0x80000000,
                                                0x80000001,
                                                0xfffffffe,
                                                0xffffffff,
                                                0x100000000,
                                                0x7fffffffffffffff,
                                                0x8000000000000000,
                                                0xffffffffffffffff};
  return edges;
}

}  // namespace heddle::simt
