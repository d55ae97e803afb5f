// SPDX-License-Identifier: MIT
// wmma through PTX: every shape, type and layout, on old and new chips, against an integer product.
#include <gtest/gtest.h>

#include "ptx_machine.h"
#include "tests/unit/simt/tensor_reference.h"

namespace heddle {
namespace ptx_wmma_test {

struct form {
  element inputs;
  unsigned m, n, k;
  element c, d;
};

struct layouts {
  bool a, b, c, d;  // column-major
};

const char* layout(bool column_major) { return column_major ? "col" : "row"; }

std::string shape(const form& f) {
  return "m" + std::to_string(f.m) + "n" + std::to_string(f.n) + "k" + std::to_string(f.k);
}

bool is_byte(element t) { return t == element::s8 || t == element::u8; }

unsigned fragment(const form& f, char which) {
  if (which == 'c' || which == 'd') {
    const element t = which == 'c' ? f.c : f.d;
    return t == element::f16 ? 4 : t == element::f64 ? 2 : 8;
  }
  if (f.inputs == element::f16) return 8;
  if (f.inputs == element::f64) return 1;
  return (which == 'a' ? f.m : f.n) * f.k * bytes_of(f.inputs) / 128;
}

std::string registers(const char* prefix, unsigned count) {
  std::string s = "{";
  for (unsigned k = 0; k < count; ++k) s += (k ? ", " : "") + std::string(prefix) + std::to_string(k);
  return s + "}";
}

std::string prefix_of(element t, char which) {
  return std::string("%") + which + (t == element::f64 ? "d" : t == element::f32 ? "f" : "r");
}

/// Copies a, b and c to shared memory.
std::string stage() {
  std::string s = ".shared .align 32 .b8 tiles[12288]; .reg .b64 %to, %from; .reg .b32 %word; .reg .pred %more;\n";
  for (unsigned k = 0; k < 3; ++k) {
    const std::string pointer = std::string("%p") + "abc"[k], label = std::string("L") + "abc"[k];
    s +=
        "mov.u32 %tid, %laneid; mul.wide.u32 %from, %tid, 4; mov.u64 %to, tiles; add.u64 %to, %to, %from; add.u64 %from, %from, " +
        pointer + ";\n" + label + ": ld.global.b32 %word, [%from]; st.shared.b32 [%to+" + std::to_string(4096 * k) +
        "], %word; add.u64 %from, %from, 128; add.u64 %to, %to, 128; add.u32 %tid, %tid, 32; setp.lt.u32 %more, %tid, 1024; @%more bra " +
        label + ";\nmov.u64 " + pointer + ", tiles; add.u64 " + pointer + ", " + pointer + ", " +
        std::to_string(4096 * k) + ";\n";
  }
  return s + "bar.sync 0;\n";
}

/// One warp: loads a, b, c, multiplies, stores d. Strides are registers if `dynamic`; otherwise default strides are
/// omitted.
std::string kernel(const form& f, const layouts& l, unsigned padding, const std::string& space, element b_type) {
  const std::string end = "." + shape(f);
  const auto access = [&](char which, bool column_major, element t, const char* verb) {
    const unsigned rows = which == 'b' ? f.k : f.m, columns = which == 'a' ? f.k : f.n;
    const std::string regs = registers(prefix_of(t, which).c_str(), fragment(f, which));
    const std::string address = std::string("[%p") + which + "]";
    const std::string stride = padding ? ", %s" + std::string(1, which) : "";
    const unsigned leading = (column_major ? rows : columns) + padding;
    std::string s = padding ? "mov.u32 %s" + std::string(1, which) + ", " +
                                  (padding == 16 ? "%big;" : std::to_string(leading) + ";")
                            : "";
    if (padding == 16)
      s += "add.u32 %s" + std::string(1, which) + ", %s" + which + ", " + std::to_string(leading) + ";";
    s += std::string("wmma.") + verb + "." + which + ".sync.aligned." + layout(column_major) + end +
         (which == 'd' ? ".global" : space) + "." + name_of(t) + " ";
    return s + (which == 'd' ? address + ", " + regs : regs + ", " + address) + stride + ";\n";
  };
  std::string declarations = ".reg .b64 %pa, %pb, %pc, %pd; .reg .b32 %sa, %sb, %sc, %sd, %big, %tid;\n";
  for (const char which : {'a', 'b', 'c', 'd'})
    declarations +=
        std::string(".reg .b32 %") + which + "r<8>; .reg .f32 %" + which + "f<8>; .reg .f64 %" + which + "d<2>;\n";
  std::string mma = std::string("wmma.mma.sync.aligned.") + layout(l.a) + "." + layout(l.b) + end + "." + name_of(f.d);
  if (f.inputs != element::f16) mma += std::string(".") + name_of(f.inputs) + "." + name_of(b_type);
  mma += std::string(".") + name_of(f.c) + " " + registers(prefix_of(f.d, 'd').c_str(), fragment(f, 'd')) + ", " +
         registers(prefix_of(f.inputs, 'a').c_str(), fragment(f, 'a')) + ", " +
         registers(prefix_of(b_type, 'b').c_str(), fragment(f, 'b')) + ", " +
         registers(prefix_of(f.c, 'c').c_str(), fragment(f, 'c')) + ";\n";
  return ".version 8.4\n.target sm_90\n.address_size 64\n.visible .entry k(.param .u64 a, .param .u64 b, .param .u64 c, .param .u64 d, .param .u32 zero) {\n" +
         declarations +
         "ld.param.u64 %pa, [a]; ld.param.u64 %pb, [b]; ld.param.u64 %pc, [c]; ld.param.u64 %pd, [d]; ld.param.u32 %big, [zero];\n" +
         (space == ".shared" ? stage() : "") + access('a', l.a, f.inputs, "load") + access('b', l.b, b_type, "load") +
         access('c', l.c, f.c, "load") + mma + access('d', l.d, f.d, "store") + "ret; }\n";
}

std::vector<std::uint8_t> image(const matrix& m, element t, bool column_major, unsigned padding) {
  const unsigned leading = (column_major ? m.rows : m.columns) + padding, size = bytes_of(t);
  std::vector<std::uint8_t> bytes(std::size_t{leading} * (column_major ? m.columns : m.rows) * size);
  for (unsigned r = 0; r < m.rows; ++r)
    for (unsigned c = 0; c < m.columns; ++c) {
      const std::uint64_t bits = encode(t, m.at(r, c));
      std::memcpy(&bytes[std::size_t{column_major ? c * leading + r : r * leading + c} * size], &bits, size);
    }
  return bytes;
}

void expect_product(const form& f, const layouts& l, unsigned padding, const std::string& space, const char* capability,
                    element b_type) {
  SCOPED_TRACE(shape(f) + " " + name_of(f.inputs) + " on " + capability + ", " + layout(l.a) + layout(l.b) +
               layout(l.c) + layout(l.d));
  const int least = f.inputs == element::u8 ? 0 : -6;
  const matrix a = numbers(f.m, f.k, 1, least, 6), b = numbers(f.k, f.n, 2, b_type == element::u8 ? 0 : -6, 6),
               c = numbers(f.m, f.n, 3, -90, 90);
  ptx_machine machine(kernel(f, l, padding, space, b_type));
  machine.config().gpu.compute_capability = choice::named<choice::compute_capability>(capability);
  const std::uint64_t pa = machine.buffer(image(a, f.inputs, l.a, padding)),
                      pb = machine.buffer(image(b, b_type, l.b, padding)),
                      pc = machine.buffer(image(c, f.c, l.c, padding)),
                      pd = machine.buffer(std::vector<std::uint8_t>(8192, 0xee));
  machine.run("k", {1, 1, 1}, {32, 1, 1}, {pa, pb, pc, pd, 0});
  const std::vector<std::uint8_t> expected = image(product(a, b, c), f.d, l.d, padding),
                                  got = machine.read<std::uint8_t>(pd, expected.size());
  const unsigned leading = (l.d ? f.m : f.n) + padding, size = bytes_of(f.d);
  unsigned wrong = 0;
  for (std::size_t k = 0; k < expected.size(); ++k) {
    const bool pad = k / size % leading >= leading - padding;
    wrong += pad ? got[k] != 0xee : got[k] != expected[k];
  }
  EXPECT_EQ(wrong, 0u);
}

const form forms[] = {
    {element::f16, 16, 16, 16, element::f32, element::f32}, {element::f16, 32, 8, 16, element::f32, element::f32},
    {element::f16, 8, 32, 16, element::f32, element::f32},  {element::f16, 16, 16, 16, element::f16, element::f16},
    {element::f16, 32, 8, 16, element::f16, element::f16},  {element::f16, 8, 32, 16, element::f16, element::f16},
    {element::f16, 16, 16, 16, element::f16, element::f32}, {element::f16, 8, 32, 16, element::f32, element::f16},
    {element::s8, 16, 16, 16, element::s32, element::s32},  {element::u8, 32, 8, 16, element::s32, element::s32},
    {element::s8, 8, 32, 16, element::s32, element::s32},   {element::bf16, 16, 16, 16, element::f32, element::f32},
    {element::bf16, 32, 8, 16, element::f32, element::f32}, {element::bf16, 8, 32, 16, element::f32, element::f32},
    {element::tf32, 16, 16, 8, element::f32, element::f32}, {element::f64, 8, 8, 4, element::f64, element::f64}};

bool has(const char* capability, element inputs) {
  const std::string c = capability;
  if (inputs == element::f16) return true;
  return is_byte(inputs) ? c != "7.0" : c != "7.0" && c != "7.5";
}

TEST(wmma, multiplies_in_every_shape_type_and_layout) {
  for (const form& f : forms)
    for (unsigned l = 0; l < 16; ++l)
      expect_product(f, {(l & 1) != 0, (l & 2) != 0, (l & 4) != 0, (l & 8) != 0}, l % 3 * 8, l & 1 ? "" : ".global",
                     "8.0", f.inputs);
}

TEST(wmma, chips_without_the_deep_shapes_give_the_same) {
  for (const char* capability : {"7.0", "7.5", "8.6", "9.0"})
    for (const form& f : forms)
      if (has(capability, f.inputs)) expect_product(f, {false, true, false, true}, 16, ".global", capability, f.inputs);
}

// Factors of 16-bit elements in shared memory come by LDSM from 7.5 on, transposed where the layout asks for it.
TEST(wmma, loads_factors_from_shared_memory) {
  for (const char* capability : {"7.0", "7.5", "8.0", "9.0"})
    for (const form& f : forms)
      for (unsigned l = 0; l < 4; ++l)
        if (has(capability, f.inputs))
          expect_product(f, {(l & 1) != 0, (l & 2) != 0, true, false}, l / 2 * 8 + 8, ".shared", capability, f.inputs);
}

TEST(wmma, the_factors_may_differ_in_sign) {
  expect_product({element::s8, 16, 16, 16, element::s32, element::s32}, {false, false, false, false}, 16, "", "7.5",
                 element::u8);
  expect_product({element::u8, 8, 32, 16, element::s32, element::s32}, {false, false, false, false}, 16, "", "8.0",
                 element::s8);
}

std::string refusal(const form& f, const char* capability) {
  ptx_machine machine(kernel(f, {}, 0, "", f.inputs));
  machine.config().gpu.compute_capability = choice::named<choice::compute_capability>(capability);
  try {
    machine.program("k");
  } catch (const input_error& e) {
    return e.what();
  }
  return "lowered";
}

TEST(wmma, is_refused_by_name_where_the_chip_lacks_it) {
  EXPECT_NE(refusal(forms[0], "6.1")
                .find("'wmma.load.a.sync.aligned.row.m16n16k16.f16' needs compute capability 7.0, the GPU"),
            std::string::npos)
      << refusal(forms[0], "6.1");
  EXPECT_NE(refusal(forms[8], "7.0").find("needs compute capability 7.2"), std::string::npos);
  EXPECT_NE(refusal(forms[11], "7.5").find("needs compute capability 8.0"), std::string::npos);
  EXPECT_EQ(refusal(forms[15], "8.0"), "lowered");
}

unsigned count(const isa::program& p, isa::opcode op) {
  unsigned n = 0;
  for (const isa::instruction& i : p.code) n += i.op == op;
  return n;
}

TEST(wmma, a_product_is_as_many_instructions_as_on_the_chip) {
  const auto lowered = [](const char* capability, const std::string& space) {
    ptx_machine machine(kernel(forms[0], {false, true, false, false}, 0, space, element::f16));
    machine.config().gpu.compute_capability = choice::named<choice::compute_capability>(capability);
    return machine.program("k");
  };
  const isa::program newer = lowered("8.0", ".global"), turing = lowered("7.5", ".global");
  EXPECT_EQ(count(newer, isa::opcode::hmma), 2u);
  EXPECT_EQ(count(newer, isa::opcode::ld), 4u + 4u + 4u);  // halves in pairs, f32 in pairs
  EXPECT_EQ(count(newer, isa::opcode::st), 4u);
  EXPECT_EQ(count(newer, isa::opcode::mov), 2u)
      << "those at the beginning: registers of fragments are those of the instruction";
  EXPECT_EQ(count(turing, isa::opcode::hmma), 4u);
  // ptxas 13.0 has as many LDSM for each factor from shared memory.
  EXPECT_EQ(count(lowered("9.0", ".shared"), isa::opcode::ldsm), 2u);
  EXPECT_EQ(count(lowered("8.0", ".shared"), isa::opcode::ldsm), 2u);
  EXPECT_EQ(count(lowered("7.5", ".shared"), isa::opcode::ldsm), 4u);
  EXPECT_EQ(count(lowered("7.0", ".shared"), isa::opcode::ldsm), 0u);
}

}  // namespace ptx_wmma_test
}  // namespace heddle
