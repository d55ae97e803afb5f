// SPDX-License-Identifier: MIT
// mma.sync, ldmatrix and movmatrix through PTX. Fragments are laid out here element by element according to the PTX
// ISA's figures.
#include <gtest/gtest.h>

#include <functional>
#include <numeric>

#include "heddle/isa/imad_form.h"
#include "ptx_machine.h"
#include "tests/unit/simt/tensor_reference.h"

namespace heddle {
namespace ptx_tensor_test {

using u16 = std::uint16_t;
using u32 = std::uint32_t;
using u64 = std::uint64_t;

struct place {
  unsigned row, column;
};

/// Position of element i of a lane's fragment in its matrix.
using layout = std::function<place(unsigned i, unsigned lane)>;

struct mma_case {
  const char* words;
  element a_type, b_type, d_type;
  unsigned m, n, k;
  layout a, b, c;
};

unsigned group(unsigned lane) { return lane >> 2; }
unsigned member(unsigned lane) { return lane % 4; }

place c16(unsigned i, unsigned l) { return {i < 2 ? group(l) : group(l) + 8, member(l) * 2 + (i & 1)}; }
place a_k8(unsigned i, unsigned l) { return {i < 2 ? group(l) : group(l) + 8, member(l) * 2 + (i & 1)}; }
place b_k8(unsigned i, unsigned l) { return {member(l) * 2 + i, group(l)}; }
place a_k16(unsigned i, unsigned l) {
  const bool low = i < 2 || (i >= 4 && i < 6);
  return {low ? group(l) : group(l) + 8, member(l) * 2 + (i & 1) + (i >= 4 ? 8 : 0)};
}
place b_k16(unsigned i, unsigned l) { return {member(l) * 2 + (i & 1) + (i >= 2 ? 8 : 0), group(l)}; }
place a_tf32(unsigned i, unsigned l) {
  return {i % 2 == 0 ? group(l) : group(l) + 8, i < 2 ? member(l) : member(l) + 4};
}
place b_tf32(unsigned i, unsigned l) { return {i == 0 ? member(l) : member(l) + 4, group(l)}; }
place a_byte8(unsigned i, unsigned l) { return {group(l), member(l) * 4 + i}; }
place b_byte16(unsigned i, unsigned l) { return {member(l) * 4 + i, group(l)}; }
place c8(unsigned i, unsigned l) { return {group(l), member(l) * 2 + i}; }
place a_byte16(unsigned i, unsigned l) { return {i < 4 ? group(l) : group(l) + 8, member(l) * 4 + (i & 3)}; }
place a_byte32(unsigned i, unsigned l) {
  const bool low = i < 4 || (i >= 8 && i < 12);
  return {low ? group(l) : group(l) + 8, member(l) * 4 + (i & 3) + (i >= 8 ? 16 : 0)};
}
place b_byte32(unsigned i, unsigned l) { return {member(l) * 4 + (i & 3) + (i >= 4 ? 16 : 0), group(l)}; }
place a_f64(unsigned, unsigned l) { return {l >> 2, l % 4}; }
place b_f64(unsigned i, unsigned l) { return {i * 4 + l % 4, l >> 2}; }
place a_tall(unsigned i, unsigned l) { return {i % 2 == 0 ? group(l) : group(l) + 8, i / 2 * 4 + member(l)}; }

const mma_case cases[] = {
    {"m16n8k8.row.col.f32.f16.f16.f32", element::f16, element::f16, element::f32, 16, 8, 8, a_k8, b_k8, c16},
    {"m16n8k8.row.col.f16.f16.f16.f16", element::f16, element::f16, element::f16, 16, 8, 8, a_k8, b_k8, c16},
    {"m16n8k16.row.col.f32.f16.f16.f32", element::f16, element::f16, element::f32, 16, 8, 16, a_k16, b_k16, c16},
    {"m16n8k16.row.col.f16.f16.f16.f16", element::f16, element::f16, element::f16, 16, 8, 16, a_k16, b_k16, c16},
    {"m16n8k8.row.col.f32.bf16.bf16.f32", element::bf16, element::bf16, element::f32, 16, 8, 8, a_k8, b_k8, c16},
    {"m16n8k16.row.col.f32.bf16.bf16.f32", element::bf16, element::bf16, element::f32, 16, 8, 16, a_k16, b_k16, c16},
    {"m16n8k4.row.col.f32.tf32.tf32.f32", element::tf32, element::tf32, element::f32, 16, 8, 4, a_tf32, b_tf32, c16},
    {"m16n8k8.row.col.f32.tf32.tf32.f32", element::tf32, element::tf32, element::f32, 16, 8, 8, a_tf32, b_tf32, c16},
    {"m8n8k16.row.col.s32.s8.s8.s32", element::s8, element::s8, element::s32, 8, 8, 16, a_byte8, b_byte16, c8},
    {"m8n8k16.row.col.satfinite.s32.u8.s8.s32", element::u8, element::s8, element::s32, 8, 8, 16, a_byte8, b_byte16,
     c8},
    {"m16n8k16.row.col.s32.s8.u8.s32", element::s8, element::u8, element::s32, 16, 8, 16, a_byte16, b_byte16, c16},
    {"m16n8k32.row.col.s32.u8.u8.s32", element::u8, element::u8, element::s32, 16, 8, 32, a_byte32, b_byte32, c16},
    {"m16n8k32.row.col.s32.s8.s8.s32", element::s8, element::s8, element::s32, 16, 8, 32, a_byte32, b_byte32, c16},
    {"m8n8k4.row.col.f64.f64.f64.f64", element::f64, element::f64, element::f64, 8, 8, 4, a_f64, b_f64, c8},
    {"m16n8k4.row.col.f64.f64.f64.f64", element::f64, element::f64, element::f64, 16, 8, 4, a_tall, b_f64, c16},
    {"m16n8k8.row.col.rp.f64.f64.f64.f64", element::f64, element::f64, element::f64, 16, 8, 8, a_tall, b_f64, c16},
    {"m16n8k16.row.col.rz.f64.f64.f64.f64", element::f64, element::f64, element::f64, 16, 8, 16, a_tall, b_f64, c16}};

/// 64 bytes per lane: its fragment's elements, starting with the first register.
std::vector<std::uint8_t> fragments(const matrix& m, element t, unsigned count, const layout& where) {
  std::vector<std::uint8_t> bytes(32 * 64);
  for (unsigned l = 0; l < 32; ++l)
    for (unsigned i = 0; i < count; ++i) {
      const u64 bits = encode(t, m.at(where(i, l).row, where(i, l).column));
      std::memcpy(&bytes[l * 64 + i * bytes_of(t)], &bits, bytes_of(t));
    }
  return bytes;
}

std::string list(char which, unsigned count) {
  std::string s = "{";
  for (unsigned k = 0; k < count; ++k) s += (k ? ", %" : "%") + std::string(1, which) + std::to_string(k);
  return s + "}";
}

/// Each lane loads `a`, `b`, `c` registers from its 64 bytes of the buffers, executes the instruction and stores d.
std::string kernel(const std::string& instruction, unsigned a, unsigned b, unsigned c, bool wide) {
  const std::string type = wide ? ".f64" : ".b32", size = wide ? "8" : "4";
  std::string s =
      ".version 8.4\n.target sm_90\n.address_size 64\n.visible .entry k(.param .u64 pa, .param .u64 pb, .param .u64 pc, .param .u64 pd) {\n"
      ".reg .b64 %p<4>; .reg .b32 %l; .reg " +
      type + " %a<8>, %b<8>, %c<8>, %d<8>;\nmov.u32 %l, %laneid;\n";
  const auto each = [&](const char* buffer, unsigned count, const char* verb, char which) {
    s += std::string("ld.param.u64 %p0, [") + buffer + "]; mad.wide.u32 %p1, %l, 64, %p0;\n";
    for (unsigned k = 0; k < count; ++k) {
      const std::string at = "[%p1+" + std::to_string(k * (wide ? 8 : 4)) + "]",
                        reg = std::string("%") + which + std::to_string(k);
      s += std::string(verb) + ".global" + type + " " + (verb[0] == 'l' ? reg + ", " + at : at + ", " + reg) + ";\n";
    }
  };
  each("pa", a, "ld", 'a');
  each("pb", b, "ld", 'b');
  each("pc", c, "ld", 'c');
  s += "mma.sync.aligned." + instruction + " " + list('d', c) + ", " + list('a', a) + ", " + list('b', b) + ", " +
       list('c', c) + ";\n";
  each("pd", c, "st", 'd');
  return s + "ret; }\n";
}

TEST(mma, multiplies_fragments_as_the_ptx_isa_lays_them_out) {
  for (const mma_case& x : cases) {
    SCOPED_TRACE(x.words);
    const auto low = [](element t) { return t == element::u8 ? 0 : -7; };
    const matrix a = numbers(x.m, x.k, 5, low(x.a_type), 7), b = numbers(x.k, x.n, 6, low(x.b_type), 7),
                 c = numbers(x.m, x.n, 7, -100, 100);
    const unsigned na = x.m * x.k / 32, nb = x.k * x.n / 32, nc = x.m * x.n / 32;
    const bool wide = x.a_type == element::f64;
    const unsigned unit = wide ? 8 : 4;
    const std::string text = kernel(x.words, na * bytes_of(x.a_type) / unit, nb * bytes_of(x.b_type) / unit,
                                    nc * bytes_of(x.d_type) / unit, wide);
    ptx_machine machine(text);
    const u64 pa = machine.buffer(fragments(a, x.a_type, na, x.a)),
              pb = machine.buffer(fragments(b, x.b_type, nb, x.b)),
              pc = machine.buffer(fragments(c, x.d_type, nc, x.c)),
              pd = machine.buffer(std::vector<std::uint8_t>(32 * 64));
    machine.run("k", {1, 1, 1}, {32, 1, 1}, {pa, pb, pc, pd});
    EXPECT_EQ(machine.read<std::uint8_t>(pd, 32 * 64), fragments(product(a, b, c), x.d_type, nc, x.c));
  }
}

// A factor's registers are copied next to each other where it is used. Another block of code need not have run.
TEST(mma, each_alternative_has_its_own_copies_of_the_factors) {
  const mma_case& x = cases[2];
  const matrix a = numbers(16, 16, 5, -7, 7), b = numbers(16, 8, 6, -7, 7), c = numbers(16, 8, 7, -100, 100);
  std::string text = kernel(x.words, 4, 2, 4, false);
  const std::size_t begin = text.find("mma.sync"), end = text.find(";\n", begin) + 2;
  const std::string product_line = text.substr(begin, end - begin);
  text.replace(
      begin, end - begin,
      ".reg .pred %q; .reg .b32 %i; mov.u32 %i, %nctaid.x; setp.eq.u32 %q, %i, 2; @%q bra OTHER;\nbar.sync 0; " +
          product_line + "bra.uni END;\nOTHER: bar.sync 1; " + product_line + "END:\n");
  ptx_machine machine(text);
  const u64 pa = machine.buffer(fragments(a, x.a_type, 8, x.a)), pb = machine.buffer(fragments(b, x.b_type, 4, x.b)),
            pc = machine.buffer(fragments(c, x.d_type, 4, x.c));
  for (const unsigned blocks : {1u, 2u}) {
    const u64 pd = machine.buffer(std::vector<std::uint8_t>(32 * 64));
    machine.run("k", {blocks, 1, 1}, {32, 1, 1}, {pa, pb, pc, pd});
    EXPECT_EQ(machine.read<std::uint8_t>(pd, 32 * 64), fragments(product(a, b, c), x.d_type, 4, x.c)) << blocks;
  }
}

// Loaded into neighbouring registers at once, they need no copies at all, even if two products use them.
TEST(mma, factors_of_two_products_are_not_copied) {
  std::string text = kernel(cases[2].words, 4, 2, 4, false);
  const std::size_t begin = text.find("mma.sync");
  text.insert(begin, "mma.sync.aligned." + std::string(cases[2].words) +
                         " {%d4, %d5, %d6, %d7}, {%a0, %a1, %a2, %a3}, {%b0, %b1}, {%a3, %a2, %a1, %a0};\n"
                         "st.global.v4.b32 [%p1+32], {%d4, %d5, %d6, %d7};\n");
  ptx_machine once(kernel(cases[2].words, 4, 2, 4, false)), twice(text);
  const auto moves = [](const isa::program& p) {
    return std::count_if(p.code.begin(), p.code.end(), [](const auto& i) {
      return i.op == isa::opcode::mov || isa::form_of(i) == isa::imad_form::move;
    });
  };
  // The second sum begins with a copy of four registers, which that product overwrites.
  EXPECT_EQ(moves(twice.program("k")), moves(once.program("k")) + 4);
}

TEST(mma, four_quad_pairs_multiply_four_matrices) {
  for (const char* types : {"f32.f16.f16.f32", "f16.f16.f16.f16"})
    for (unsigned l = 0; l < 4; ++l) {
      const bool a_col = l & 1, b_row = l & 2, f32 = types[1] == '3';
      SCOPED_TRACE(std::string(types) + (a_col ? " col" : " row") + (b_row ? " row" : " col"));
      const element d = f32 ? element::f32 : element::f16;
      const layout a = [&](unsigned i, unsigned lane) {
        const unsigned up = lane < 16 ? 0 : 4;
        return a_col ? place{i + up, lane % 4} : place{lane % 4 + up, i};
      };
      const layout b = [&](unsigned i, unsigned lane) {
        const unsigned up = lane < 16 ? 0 : 4;
        return b_row ? place{lane % 4, i + up} : place{i, lane % 4 + up};
      };
      const layout c = [&](unsigned i, unsigned lane) {
        const unsigned up = lane < 16 ? 0 : 4;
        if (!f32) return place{lane % 4 + up, i};
        return place{(lane & 1) + (i & 2) + up, (i & 4) + (lane & 2) + (i & 1)};
      };
      std::vector<std::uint8_t> fa(2048), fb(2048), fc(2048), expected(2048);
      for (unsigned q = 0; q < 4; ++q) {
        const matrix ma = numbers(8, 4, q, -9, 9), mb = numbers(4, 8, q + 10, -9, 9),
                     mc = numbers(8, 8, q + 20, -90, 90), md = product(ma, mb, mc);
        const auto take = [&](std::vector<std::uint8_t>& to, const std::vector<std::uint8_t>& from) {
          for (unsigned lane = 0; lane < 32; ++lane)
            if (lane % 16 / 4 == q) std::copy_n(from.begin() + lane * 64, 64, to.begin() + lane * 64);
        };
        take(fa, fragments(ma, element::f16, 4, a));
        take(fb, fragments(mb, element::f16, 4, b));
        take(fc, fragments(mc, d, 8, c));
        take(expected, fragments(md, d, 8, c));
      }
      const std::string words = std::string("m8n8k4.") + (a_col ? "col." : "row.") + (b_row ? "row." : "col.") + types;
      ptx_machine machine(kernel(words, 2, 2, f32 ? 8 : 4, false));
      machine.config().gpu.compute_capability = choice::named<choice::compute_capability>("7.0");
      const u64 pa = machine.buffer(fa), pb = machine.buffer(fb), pc = machine.buffer(fc),
                pd = machine.buffer(std::vector<std::uint8_t>(2048));
      machine.run("k", {1, 1, 1}, {32, 1, 1}, {pa, pb, pc, pd});
      EXPECT_EQ(machine.read<std::uint8_t>(pd, 2048), expected);
    }
}

/// One element of d if all elements of a are `a`, of b `b`, of c `c`.
u32 uniform(const char* words, unsigned regs_a, unsigned regs_b, u32 a, u32 b, u32 c) {
  ptx_machine machine(kernel(words, regs_a, regs_b, 4, false));
  const u64 pa = machine.buffer(std::vector<u32>(512, a)), pb = machine.buffer(std::vector<u32>(512, b)),
            pc = machine.buffer(std::vector<u32>(512, c)), pd = machine.buffer(std::vector<u32>(512));
  machine.run("k", {1, 1, 1}, {32, 1, 1}, {pa, pb, pc, pd});
  return machine.read<u32>(pd, 1)[0];
}

TEST(mma, sums_are_rounded_to_f32_after_eight_products) {
  const char* words = "m16n8k16.row.col.f32.f16.f16.f32";
  const u32 half = 0x10001000u;                                                // two f16 of 2^-11: products of 2^-22
  EXPECT_EQ(uniform(words, 4, 2, half, half, 0x3f800000u), 0x3f800000u + 32);  // 16 products of 2^-22 are 2^-18
  EXPECT_EQ(uniform(words, 4, 2, half, 0x04000400u, 0x3f800000u),
            0x3f800000u + 4);  // 2^-25 each: 2^-22 after eight, twice
  EXPECT_EQ(uniform(words, 4, 2, half, 0x01000100u, 0x3f800000u),
            0x3f800000u);                                           // 2^-27 each: half a unit, to even, twice
  EXPECT_EQ(uniform(words, 4, 2, 0x7c007c00u, 0, 0), 0x7fffffffu);  // infinity times zero
  EXPECT_EQ(uniform(words, 4, 2, 0x7c007c00u, 0x3c003c00u, 0), 0x7f800000u);
}

TEST(mma, ignores_the_bits_that_tf32_does_not_have) {
  EXPECT_EQ(uniform("m16n8k8.row.col.f32.tf32.tf32.f32", 4, 2, 0x3f801fffu, 0x40000000u, 0x3f800000u),
            0x41880000u);  // 8 * 2 + 1
}

TEST(mma, saturates_or_wraps) {
  EXPECT_EQ(uniform("m16n8k32.row.col.s32.s8.s8.s32", 4, 2, 0x7f7f7f7fu, 0x01010101u, 0x7fffffffu), 0x80000fdfu);
  EXPECT_EQ(uniform("m16n8k32.row.col.satfinite.s32.s8.s8.s32", 4, 2, 0x7f7f7f7fu, 0x01010101u, 0x7fffffffu),
            0x7fffffffu);
  EXPECT_EQ(uniform("m16n8k32.row.col.satfinite.s32.s8.s8.s32", 4, 2, 0x81818181u, 0x01010101u, 0x80000000u),
            0x80000000u);
}

std::vector<u32> run_on_shared(const std::string& code, unsigned registers) {
  std::string s =
      ".version 8.4\n.target sm_90\n.address_size 64\n.visible .entry k(.param .u64 out) {\n.reg .b64 %p<3>; .reg .b32 %l, %a, %s, %d<4>, %x; .reg .b16 %h;\n"
      ".shared .align 16 .b8 pad[64]; .shared .align 16 .b8 tile[1024];\nmov.u32 %l, %laneid; mov.u32 %s, tile;\n";
  // Element e of the tile is e: 512 of them.
  for (unsigned k = 0; k < 16; ++k)
    s += "add.u32 %a, %l, " + std::to_string(32 * k) +
         "; cvt.u16.u32 %h, %a; shl.b32 %a, %a, 1; add.u32 %a, %a, %s; st.shared.u16 [%a], %h;\n";
  s += "bar.sync 0; shl.b32 %a, %l, 4; add.u32 %a, %a, %s;\n" + code +
       "\nld.param.u64 %p0, [out]; mad.wide.u32 %p1, %l, 16, %p0;\n";
  for (unsigned k = 0; k < registers; ++k)
    s += "st.global.u32 [%p1+" + std::to_string(4 * k) + "], %d" + std::to_string(k) + ";\n";
  ptx_machine machine(s + "ret; }\n");
  const u64 out = machine.buffer(std::vector<u32>(128));
  machine.run("k", {1, 1, 1}, {32, 1, 1}, {out});
  return machine.read<u32>(out, 128);
}

/// Lane l's register k: two elements of matrix k, whose row r has elements 64k+8r to 64k+8r+7.
u32 expected_pair(unsigned k, unsigned l, bool transposed) {
  const auto at = [&](unsigned row, unsigned column) {
    return 64 * k + 8 * (transposed ? column : row) + (transposed ? row : column);
  };
  return at(group(l), 2 * member(l)) | at(group(l), 2 * member(l) + 1) << 16;
}

TEST(ldmatrix, gives_each_lane_two_elements_of_a_row) {
  struct row {
    const char* code;
    unsigned count;
    bool transposed;
  };
  const row rows[] = {
      {"ldmatrix.sync.aligned.m8n8.x1.shared.b16 {%d0}, [%a];", 1, false},
      {"ldmatrix.sync.aligned.m8n8.x2.shared.b16 {%d0, %d1}, [%a];", 2, false},
      {"ldmatrix.sync.aligned.m8n8.x4.shared::cta.b16 {%d0, %d1, %d2, %d3}, [%a];", 4, false},
      {"ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%d0, %d1, %d2, %d3}, [%a];", 4, true},
      {"ldmatrix.sync.aligned.m8n8.x1.trans.shared.b16 {%d0}, [%a];", 1, true},
      {"cvt.u64.u32 %p0, %a; cvta.shared.u64 %p0, %p0; ldmatrix.sync.aligned.m8n8.x2.b16 {%d0, %d1}, [%p0];", 2, false},
      {"sub.u32 %a, %a, 64; ldmatrix.sync.aligned.m8n8.x2.trans.shared.b16 {%d0, %d1}, [%a+64];", 2, true}};
  for (const row& r : rows) {
    SCOPED_TRACE(r.code);
    const std::vector<u32> got = run_on_shared(r.code, r.count);
    for (unsigned l = 0; l < 32; ++l)
      for (unsigned k = 0; k < r.count; ++k)
        ASSERT_EQ(got[4 * l + k], expected_pair(k, l, r.transposed)) << "lane " << l << " register " << k;
  }
}

TEST(movmatrix, transposes) {
  const std::vector<u32> got = run_on_shared(
      "ldmatrix.sync.aligned.m8n8.x1.shared.b16 {%x}, [%a];\nmovmatrix.sync.aligned.m8n8.trans.b16 %d0, %x;", 1);
  for (unsigned l = 0; l < 32; ++l) ASSERT_EQ(got[4 * l], expected_pair(0, l, true)) << "lane " << l;
}

// Each lane stores its number times 4 plus the register number twice, with 0x8000 in the upper half; then the tile is
// read element by element.
TEST(stmatrix, lays_two_elements_of_a_row_of_each_lane) {
  struct row {
    const char* code;
    unsigned count;
    bool transposed;
  };
  const row rows[] = {
      {"stmatrix.sync.aligned.m8n8.x1.shared.b16 [%a], {%d0};", 1, false},
      {"stmatrix.sync.aligned.m8n8.x2.shared::cta.b16 [%a], {%d0, %d1};", 2, false},
      {"stmatrix.sync.aligned.m8n8.x4.shared.b16 [%a], {%d0, %d1, %d2, %d3};", 4, false},
      {"stmatrix.sync.aligned.m8n8.x4.trans.shared.b16 [%a], {%d0, %d1, %d2, %d3};", 4, true},
      {"stmatrix.sync.aligned.m8n8.x1.trans.shared.b16 [%a], {%d0};", 1, true},
      {"cvt.u64.u32 %p0, %a; cvta.shared.u64 %p0, %p0; stmatrix.sync.aligned.m8n8.x2.b16 [%p0], {%d0, %d1};", 2, false},
      {"setp.eq.u32 %q, %s, 0; @!%q stmatrix.sync.aligned.m8n8.x2.shared.b16 [%a], {%d0, %d1}; @%q stmatrix.sync.aligned.m8n8.x2.shared.b16 [%a+256], {%d0, %d1};",
       2, false},
      {"sub.u32 %a, %a, 64; stmatrix.sync.aligned.m8n8.x2.trans.shared.b16 [%a+64], {%d0, %d1};", 2, true}};
  const auto word = [](unsigned k, unsigned l) { return 4 * l + k; };
  std::string fill = ".reg .pred %q;\n";
  for (unsigned k = 0; k < 4; ++k) {
    const std::string d = "%d" + std::to_string(k);
    fill += "shl.b32 " + d + ", %l, 2; add.u32 " + d + ", " + d + ", " + std::to_string(k) + "; mad.lo.u32 " + d +
            ", " + d + ", 65536, " + d + "; or.b32 " + d + ", " + d + ", 0x80000000;\n";
  }
  const std::string read =
      "\nbar.sync 0; shl.b32 %a, %l, 4; add.u32 %a, %a, %s; ld.shared.v4.b32 {%d0, %d1, %d2, %d3}, [%a];";
  for (const row& r : rows) {
    SCOPED_TRACE(r.code);
    const std::vector<u32> got = run_on_shared(fill + r.code + read, 4);
    for (unsigned e = 0; e < 256; ++e) {
      const unsigned k = e / 64, i = e / 8 % 8, j = e % 8, line = r.transposed ? j : i, place = r.transposed ? i : j;
      const u32 expected = k >= r.count ? e : word(k, 4 * line + place / 2) | (place % 2 != 0 ? 0x8000 : 0);
      ASSERT_EQ(got[e / 2] >> (e % 2 * 16) & 0xffff, expected) << "element " << e;
    }
  }
}

std::string refusal(const std::string& words, unsigned a, unsigned b, unsigned c, const char* capability) {
  ptx_machine machine(kernel(words, a, b, c, false));
  machine.config().gpu.compute_capability = choice::named<choice::compute_capability>(capability);
  try {
    machine.program("k");
  } catch (const input_error& e) {
    return e.what();
  }
  return "lowered";
}

TEST(mma, names_what_is_wrong) {
  const auto has = [](const std::string& text, const char* part) { return text.find(part) != std::string::npos; };
  EXPECT_TRUE(has(refusal("m16n8k8.row.col.f32.f16.f16.f32", 2, 1, 4, "7.0"),
                  "'mma.sync.aligned.m16n8k8.row.col.f32.f16.f16.f32' needs compute capability 7.5, the GPU"));
  EXPECT_TRUE(has(refusal("m8n8k4.row.col.f32.f16.f16.f32", 2, 2, 8, "6.1"), "needs compute capability 7.0"));
  EXPECT_TRUE(has(refusal("m16n8k16.row.col.f32.f16.f16.f32", 4, 2, 4, "7.5"), "needs compute capability 8.0"));
  EXPECT_TRUE(has(refusal("m16n8k16.row.col.f32.f16.f16.f32", 4, 1, 4, "8.0"), "needs 4, 2 and 4 registers"));
  EXPECT_TRUE(has(refusal("m16n8k16.col.col.f32.f16.f16.f32", 4, 2, 4, "8.0"), "unsupported type or form"));
  EXPECT_TRUE(has(refusal("m16n8k16.row.col.f32.f16.bf16.f32", 4, 2, 4, "8.0"), "unsupported type or form"));
  EXPECT_TRUE(has(refusal("m16n8k32.row.col.f32.e4m3.e4m3.f32", 4, 2, 4, "8.0"), "needs compute capability 8.9"));
  EXPECT_TRUE(has(refusal("m16n8k32.row.col.f32.e3m2.e4m3.f32", 4, 2, 4, "8.9"), "unsupported modifier '.e3m2'"));
  EXPECT_TRUE(has(refusal("m16n8k256.row.col.s32.b1.b1.s32", 4, 2, 4, "8.0"), "unsupported type or form"));
  EXPECT_TRUE(has(refusal("row.col.rn.m8n8k4.f64.f64.f64.f64", 1, 1, 2, "8.0"), "unsupported modifier '.rn'"))
      << "it stands behind the shape";
  EXPECT_TRUE(has(refusal("m16n8k99999999999.row.col.f32.f16.f16.f32", 4, 2, 4, "8.9"), "unsupported modifier"));
}

}  // namespace ptx_tensor_test
}  // namespace heddle
