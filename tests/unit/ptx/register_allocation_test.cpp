// SPDX-License-Identifier: MIT
#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <fstream>
#include <iterator>

#include "heddle/config/config.h"
#include "heddle/config/error.h"
#include "heddle/frontend/ptx/lower.h"
#include "heddle/frontend/ptx/machine/register_allocation.h"
#include "ptx_lower_text.h"

namespace heddle {
namespace register_allocation_test {

using namespace ptx_lower_text;

std::string wide_kernel(unsigned values) {
  std::string s = ".entry k(.param .u64 o) { .reg .b64 %d; .reg .f32 %f<512>; ld.param.u64 %d, [o];\n";
  for (unsigned k = 0; k < values; ++k)
    s += "ld.global.volatile.f32 %f" + std::to_string(k) + ", [%d+" + std::to_string(4 * k) + "];\n";
  s += "bar.sync 0;\nmov.f32 %f500, 0f00000000;\n";
  for (unsigned k = 0; k < values; ++k) s += "fma.rn.f32 %f500, %f" + std::to_string(k) + ", %f500, %f500;\n";
  return s + "st.global.f32 [%d], %f500; ret; }";
}

TEST(register_allocation, uses_what_is_live_and_spills_beyond_the_limit) {
  const auto free = lower(wide_kernel(100));
  EXPECT_GE(free->registers, 100u);
  EXPECT_LE(free->registers, 106u);
  EXPECT_EQ(free->local_bytes, 0u);
  const auto tight = lower(wide_kernel(100), "imad", 40);
  EXPECT_LE(tight->registers, 40u);
  EXPECT_GE(tight->local_bytes, 4u * 60);
  const auto huge = lower(wide_kernel(300));
  EXPECT_LE(huge->registers, 255u);
  EXPECT_GE(huge->local_bytes, 4u * 45);
}

// Spilled values occupy local memory without gaps, and an instruction that reads one twice loads it once.
TEST(register_allocation, a_spilled_word_has_one_place_and_is_loaded_once) {
  std::string s = ".entry k(.param .u64 o) { .reg .b64 %d; .reg .b32 %r<41>; ld.param.u64 %d, [o];\n";
  for (int k = 0; k < 24; ++k)
    s += "ld.volatile.global.u32 %r" + std::to_string(k) + ", [%d+" + std::to_string(4 * k) + "];\n";
  for (int k = 0; k < 24; ++k)
    s += "mul.lo.u32 %r40, %r" + std::to_string(k) + ", %r" + std::to_string(k) + "; st.global.u32 [%d+" +
         std::to_string(4 * k) + "], %r40;\n";
  const auto p = lower(s + "ret; }", "imad", 24);
  const unsigned stores =
      static_cast<unsigned>(std::count_if(p->code.begin(), p->code.end(), [](const isa::instruction& i) {
        return i.op == opcode::st && i.mem_space == isa::space::local;
      }));
  const unsigned loads =
      static_cast<unsigned>(std::count_if(p->code.begin(), p->code.end(), [](const isa::instruction& i) {
        return i.op == opcode::ld && i.mem_space == isa::space::local;
      }));
  EXPECT_GT(stores, 0u) << text_of(*p);
  EXPECT_EQ(loads, stores) << text_of(*p);
  EXPECT_EQ(p->local_bytes, 4 * stores) << text_of(*p);
}

TEST(register_allocation, a_limit_that_no_code_fits_is_refused) {
  EXPECT_THROW(lower(vector_add, "imad", 2), input_error);
}

TEST(register_allocation, verifier_finds_shared_registers) {
  ptx::machine_function f;
  const std::uint32_t a = f.new_register(1), b = f.new_register(1);
  ptx::machine_block block;
  const auto put = [&](opcode op, std::uint32_t d, std::initializer_list<std::uint32_t> sources) {
    ptx::machine_instruction i;
    i.base.op = op;
    if (d != ptx::no_register) i.dst = {d, 0, 1};
    else i.dst.count = 0;
    unsigned k = 0;
    for (std::uint32_t s : sources) i.src[k++] = ptx::register_part{s, 0, 1};
    block.code.push_back(i);
  };
  put(opcode::s2r, a, {});
  put(opcode::s2r, b, {});
  put(opcode::st, ptx::no_register, {a, b});
  f.blocks.push_back(block);
  ptx::register_allocation allocation;
  allocation.registers = 2;
  allocation.physical = {0, 1};
  EXPECT_NO_THROW(ptx::verify_allocation(f, allocation));
  allocation.physical = {1, 1};
  EXPECT_THROW(ptx::verify_allocation(f, allocation), internal_error);
  ptx::register_allocation good;
  ASSERT_TRUE(ptx::allocate_registers(f, ptx::register_rules(), good));
  EXPECT_EQ(good.registers, 2u);
}

std::shared_ptr<const isa::program> lower_for(const std::string& capability, const std::string& text,
                                              unsigned registers = 0) {
  gpu_config gpu;
  gpu.gpu.compute_capability = choice::named<choice::compute_capability>(capability);
  gpu.sub_partition.register_banks = 2;
  gpu.integer.multiplier = choice::multiplier::imad;
  return ptx::lower(
      ptx::place(ptx::parse(".version 7.0\n.target sm_75\n.address_size 64\n" + text, "k.ptx"), isa::heap_base), "k",
      gpu, registers);
}

// As `ptxas -v` reports: R1 is the stack pointer, and from Volta on two registers are added to the highest.
TEST(register_count, of_a_kernel_that_needs_none) {
  const std::string empty = ".entry k() { ret; }";
  EXPECT_EQ(lower_for("6.1", empty)->registers, 2u);
  EXPECT_EQ(lower_for("7.0", empty)->registers, 4u);
  EXPECT_EQ(lower_for("8.0", empty)->registers, 4u);
  EXPECT_EQ(lower_for("1.0", empty)->registers, 1u);
}

TEST(register_count, nothing_is_placed_in_the_stack_pointer) {
  const auto p = lower_for("8.0", wide_kernel(40));
  EXPECT_EQ(isa::to_string(p->code.front()), "MOV R1, c[0x0][0x28]");
  for (std::size_t at = 1; at < p->code.size(); ++at)
    for (unsigned k = 0; k < p->code[at].dst_count; ++k) EXPECT_NE(p->code[at].dst + k, 1u) << text_of(*p);
}

TEST(register_count, of_a_call_of_the_system) {
  const std::string text =
      ".extern .func (.param .b32 r) vprintf (.param .b64 a, .param .b64 b);\n"
      ".entry k(.param .u64 o) { .reg .b64 %d; .reg .b32 %r<9>; ld.param.u64 %d, [o];\n";
  const std::string call =
      "{ .param .b64 x; .param .b64 y; .param .b32 z; st.param.b64 [x], %d; st.param.b64 [y], %d; call.uni (z), vprintf, (x, y); }\n";
  EXPECT_EQ(lower_for("8.0", text + call + "ret; }")->registers, 24u);
  std::string loads, stores;
  for (int k = 0; k < 9; ++k) {
    loads += "ld.global.u32 %r" + std::to_string(k) + ", [%d+" + std::to_string(4 * k) + "];\n";
    stores += "st.global.u32 [%d+" + std::to_string(64 + 4 * k) + "], %r" + std::to_string(k) + ";\n";
  }
  EXPECT_GE(lower_for("8.0", text + loads + call + stores + "ret; }")->registers, 16u + 9 + 2)
      << "what lives on stands from R16 on";
}

TEST(register_count, of_the_slow_path_of_a_division) {
  const auto divide = [](const std::string& form) {
    return lower_for(
               "7.5",
               ".entry k(.param .u64 o) { .reg .b64 %d; .reg .f32 %f<3>; ld.param.u64 %d, [o]; ld.global.f32 %f0, [%d]; ld.global.f32 %f1, [%d+4];\n"
               "div." +
                   form + ".f32 %f2, %f0, %f1; st.global.f32 [%d], %f2; ret; }")
        ->registers;
  };
  EXPECT_GE(divide("rn"), 13u);
  EXPECT_LT(divide("full"), divide("rn"));
}

// A shuffle reads its source after it was issued, so that the sum behind it goes to another register.
TEST(register_count, nothing_is_written_where_a_shuffle_before_it_may_still_read) {
  std::string s =
      ".entry k(.param .u64 o) { .reg .b64 %d; .reg .b32 %r<12>; ld.param.u64 %d, [o]; ld.volatile.global.u32 %r0, [%d];\n";
  for (int k = 1; k < 6; ++k) {
    const std::string sum = "%r" + std::to_string(2 * k), before = "%r" + std::to_string(2 * k - 2),
                      other = "%r" + std::to_string(2 * k - 1);
    s += "shfl.sync.bfly.b32 " + other + ", " + before + ", " + std::to_string(32 >> k) + ", 31, -1;\n" + "add.u32 " +
         sum + ", " + before + ", " + other + ";\n";
  }
  const auto p = lower_for("8.0", s + "st.global.u32 [%d], %r10; ret; }");
  unsigned shuffles = 0;
  for (std::size_t k = 0; k < p->code.size(); ++k) {
    const isa::instruction& shuffle = p->code[k];
    if (shuffle.op != opcode::shfl) continue;
    ++shuffles;
    for (std::size_t j = k + 1; j < std::min(k + 5, p->code.size()); ++j)
      if (p->code[j].dst_count > 0) {
        EXPECT_NE(p->code[j].dst, shuffle.src[0].reg) << text_of(*p);
      }
  }
  EXPECT_EQ(shuffles, 5u);
}

// A store's data and the low word of its address are in different banks.
TEST(register_count, stored_data_avoid_the_bank_of_the_address) {
  const auto p = lower_for(
      "8.0",
      ".entry k(.param .u64 o) { .reg .b64 %d<3>; .reg .b32 %r<4>; ld.param.u64 %d0, [o]; mov.u32 %r0, %tid.x; mul.wide.u32 %d1, %r0, 4;\n"
      "add.s64 %d2, %d0, %d1; ld.global.u32 %r1, [%d2]; mul.lo.u32 %r2, %r1, %r1; st.global.u32 [%d2], %r2; ret; }");
  bool stored = false;
  for (const isa::instruction& i : p->code) {
    if (i.op != opcode::st) continue;
    stored = true;
    EXPECT_NE(i.src[0].reg % 2, i.src[1].reg % 2) << text_of(*p);
  }
  EXPECT_TRUE(stored);
  EXPECT_EQ(p->registers, 8u) << "as ptxas: R5 holds the product\n" << text_of(*p);
}

// Of a factor and an array's address, the factor is moved to a register: one word, shared by all arrays.
TEST(register_count, arrays_share_the_factor_of_their_elements) {
  const auto p = lower_for("8.0", vector_add);
  unsigned moves = 0;
  for (const isa::instruction& i : p->code) moves += i.op == opcode::mov;
  EXPECT_EQ(moves, 3u) << "with the stack pointer and the descriptor\n" << text_of(*p);
}

// Between 40 and 48 registers, more registers only reduce the number of warps per SM: ptxas also uses 40 for this
// kernel on 8.0.
TEST(register_count, is_reduced_where_an_sm_then_holds_more_warps) {
  std::ifstream file(HEDDLE_SOURCE "/testbench/workloads/wmma_gemm/wmma_gemm.ptx");
  const std::string text{std::istreambuf_iterator<char>(file), {}};
  EXPECT_LE(
      ptx::lower(ptx::place(ptx::parse(text, "wmma_gemm.ptx"), isa::heap_base), "wmma_gemm", load_config("a100", {}))
          ->registers,
      40u);
}

// Loads are moved up to hide their latency, but not so far that values must leave the registers: `values` words live
// all the time, with an address, the stack pointer, a loaded word, and two registers that the chip keeps.
TEST(register_count, loads_move_up_only_as_far_as_registers_last) {
  for (const unsigned limit : {32u, 40u, 64u})
    for (const unsigned values : {limit - 10, limit - 6}) {
      std::string s = ".entry k(.param .u64 o) { .reg .b64 %d; .reg .f32 %a<64>, %t<64>; ld.param.u64 %d, [o];\n";
      const auto line = [&](const std::string& text, unsigned address, const std::string& rest, unsigned k) {
        s += text + "[%d+" + std::to_string(address + 4 * k) + "]" + rest + ";\n";
      };
      for (unsigned k = 0; k < values; ++k) line("ld.volatile.global.f32 %a" + std::to_string(k) + ", ", 0, "", k);
      for (unsigned k = 0; k < values; ++k) {
        const std::string n = std::to_string(k);
        line("ld.global.f32 %t" + n + ", ", 4096, "", k);
        s += "fma.rn.f32 %a" + n + ", %t" + n + ", %t" + n + ", %a" + n + ";\n";
      }
      for (unsigned k = 0; k < values; ++k) line("st.global.f32 ", 8192, ", %a" + std::to_string(k), k);
      const auto p = lower_for("7.0", s + "ret; }", limit);
      EXPECT_EQ(p->local_bytes, 0u) << values << " values in " << limit << " registers";
      EXPECT_LE(p->registers, limit);
    }
}

// A double that does not fit an immediate operand is placed in a constant bank, not in two registers.
TEST(register_count, doubles_are_placed_in_the_constant_bank) {
  const auto p = lower_for(
      "8.0",
      ".entry k(.param .u64 o) { .reg .b64 %d; .reg .f64 %x<4>; ld.param.u64 %d, [o]; ld.global.f64 %x0, [%d];\n"
      "mul.f64 %x1, %x0, 0d3FD5555555555555; add.f64 %x2, %x1, 0d3FF0000000000000; fma.rn.f64 %x3, %x2, %x0, 0d3FD5555555555555;\n"
      "st.global.f64 [%d], %x3; ret; }");
  ASSERT_EQ(p->bank2.size(), 8u) << "one number, twice";
  std::uint64_t number = 0;
  std::memcpy(&number, p->bank2.data(), 8);
  EXPECT_EQ(number, 0x3fd5555555555555u);
  EXPECT_NE(text_of(*p).find("c[0x2][0x0]"), std::string::npos) << text_of(*p);
  EXPECT_EQ(text_of(*p).find(", 0x5555"), std::string::npos) << text_of(*p);
}

TEST(register_allocation, predicates_beyond_seven_survive) {
  std::string s =
      ".entry k(.param .u64 o) { .reg .b64 %d; .reg .pred %p<12>; .reg .b32 %r<4>; ld.param.u64 %d, [o]; mov.u32 %r0, %tid.x; mov.u32 %r1, 0;\n";
  for (unsigned k = 0; k < 12; ++k) s += "setp.eq.u32 %p" + std::to_string(k) + ", %r0, " + std::to_string(k) + ";\n";
  s += "bar.sync 0;\n";
  for (unsigned k = 0; k < 12; ++k)
    s += "@%p" + std::to_string(k) + " add.u32 %r1, %r1, " + std::to_string(k + 1) + ";\n";
  const auto p = lower(s + "st.global.u32 [%d], %r1; ret; }");
  EXPECT_EQ(p->local_bytes, 0u);
  EXPECT_GE(count(*p, opcode::isetp), 12u);
}

}  // namespace register_allocation_test
}  // namespace heddle
