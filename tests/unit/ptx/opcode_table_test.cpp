// SPDX-License-Identifier: MIT
// The columns of the opcode tables against each other, and against what is known of single opcodes.
#include <gtest/gtest.h>

#include <set>
#include <string>

#include "heddle/config/error.h"
#include "heddle/frontend/ptx/syntax/ptx_op.h"
#include "heddle/isa/instruction.h"
#include "heddle/isa/matrix.h"
#include "heddle/isa/opcode.h"
#include "heddle/isa/texture.h"
#include "heddle/simt/execute.h"

namespace {

using namespace heddle;
using isa::access_kind;
using isa::effect_kind;
using isa::opcode;

TEST(opcode_tables, columns_of_a_machine_opcode_agree) {
  std::set<std::string> names;
  for (unsigned k = 0; k < static_cast<unsigned>(opcode::count); ++k) {
    const isa::opcode_info& row = isa::info(static_cast<opcode>(k));
    EXPECT_TRUE(names.insert(row.mnemonic).second) << row.mnemonic;
    const isa::unit unit = isa::unit_of(row.timing);
    const bool address_based = row.timing == isa::op_class::load_store || row.timing == isa::op_class::texture;
    EXPECT_EQ(row.access != access_kind::none, address_based) << row.mnemonic;
    if (row.flow != isa::flow_kind::none) {
      EXPECT_EQ(unit, isa::unit::branch) << row.mnemonic;
      EXPECT_EQ(row.effect, effect_kind::order) << row.mnemonic;
    }
    const bool writes = row.access == access_kind::store || row.access == access_kind::copy ||
                        row.access == access_kind::atomic || row.access == access_kind::reduction ||
                        row.access == access_kind::surface_store;
    EXPECT_EQ(row.effect == effect_kind::write, writes) << row.mnemonic;
    EXPECT_EQ(row.bulk != isa::bulk_rule::none, row.flow == isa::flow_kind::bulk_copy) << row.mnemonic;
    if (row.multiply != isa::multiply_rule::no) {
      EXPECT_EQ(unit, isa::unit::integer) << row.mnemonic;
    }
    if (row.exchange != isa::exchange_rule::no) {
      EXPECT_EQ(row.constants, isa::constant_use::later) << row.mnemonic;
    }
    // Lanes that exchange values name those that take part.
    const bool collective = row.timing == isa::op_class::tensor || row.timing == isa::op_class::vote ||
                            (row.timing == isa::op_class::shuffle && static_cast<opcode>(k) != opcode::txq);
    if (collective) {
      EXPECT_NE(row.members, isa::member_mask::no) << row.mnemonic;
    }
  }
}

// What is asked of several opcodes follows from their columns.
TEST(opcode_tables, groups_of_opcodes_follow_from_columns) {
  const auto those = [](auto&& holds) {
    std::set<opcode> all;
    for (unsigned k = 0; k < static_cast<unsigned>(opcode::count); ++k)
      if (holds(static_cast<opcode>(k))) all.insert(static_cast<opcode>(k));
    return all;
  };
  using set = std::set<opcode>;
  EXPECT_EQ(those(isa::is_atomic), (set{opcode::atom, opcode::red}));
  EXPECT_EQ(those(isa::is_store), (set{opcode::st, opcode::sust}));
  EXPECT_EQ(those(isa::samples_texture), (set{opcode::tex, opcode::tld4}));
  EXPECT_EQ(those(isa::is_texture), (set{opcode::tex, opcode::tld4, opcode::suld, opcode::sust}));
  EXPECT_EQ(those(isa::names_address), (set{opcode::ld, opcode::st, opcode::ldgsts, opcode::atom, opcode::red}));
  EXPECT_EQ(those(isa::is_matrix), (set{opcode::hmma, opcode::imma, opcode::bmma, opcode::dmma}));
  EXPECT_EQ(those(isa::is_warpgroup_product), (set{opcode::hgmma, opcode::qgmma, opcode::igmma, opcode::bgmma}));
  EXPECT_EQ(those([](opcode op) { return isa::info(op).multiply != isa::multiply_rule::no; }),
            (set{opcode::mov, opcode::shl, opcode::iadd3}));
}

/// The function that executes an instruction; null: none does, and its lanes should.
simt::execute_function function_of(const isa::instruction& i) {
  try {
    return simt::select(i);
  } catch (const internal_error&) {
    return nullptr;
  }
}

/// Whether a function executes the opcode for at least one type, function (sub) and, of accesses, space.
bool executes(opcode op, isa::space space) {
  isa::instruction nothing;
  nothing.op = opcode::nop;
  isa::instruction i;
  i.op = op;
  i.mem_space = space;
  for (unsigned type = 0; type <= static_cast<unsigned>(isa::dtype::e5m2x2); ++type) {
    i.type = i.src_type = static_cast<isa::dtype>(type);
    for (i.sub = 0; i.sub < 16; ++i.sub) {
      const simt::execute_function f = function_of(i);
      if (f != nullptr && f != simt::select(nothing)) return true;
    }
  }
  return false;
}

// What the lanes compute has a function; what the warp or the memory does has none.
TEST(opcode_tables, a_machine_opcode_has_a_function_that_executes_it) {
  for (unsigned k = 0; k < static_cast<unsigned>(opcode::count); ++k) {
    const auto op = static_cast<opcode>(k);
    const isa::opcode_info& row = isa::info(op);
    const bool constant = row.access == access_kind::constant_load || row.access == access_kind::matrix_load;
    const bool textures = isa::is_texture(op);
    const bool flow = row.flow != isa::flow_kind::none || op == opcode::nop;
    const bool copies = row.access == access_kind::copy;
    EXPECT_EQ(executes(op, isa::space::shared), !flow && !textures && !copies) << row.mnemonic;
    EXPECT_EQ(executes(op, isa::space::global), !flow && (row.access == access_kind::none || constant)) << row.mnemonic;
  }
}

// A form that no function executes is refused when its program is loaded.
TEST(opcode_tables, what_no_function_executes_is_refused) {
  isa::instruction i;
  i.op = opcode::mufu;
  i.type = isa::dtype::f32;
  EXPECT_NE(function_of(i), nullptr);
  i.sub = 99;
  try {
    simt::select(i);
    ADD_FAILURE() << "a MUFU that there is not was accepted";
  } catch (const internal_error& e) {
    EXPECT_NE(std::string(e.what()).find("no function executes MUFU.f32"), std::string::npos) << e.what();
  }
}

TEST(opcode_tables, columns_of_a_ptx_instruction_agree) {
  using namespace heddle::ptx;
  for (unsigned k = 0; k < static_cast<unsigned>(ptx_op::count); ++k) {
    const auto op = static_cast<ptx_op>(k);
    const ptx_op_info& row = info(op);
    if (*row.name) {
      EXPECT_EQ(find_op(row.name), op) << row.name;
    }
    EXPECT_EQ(row.family == op_family::part || op == ptx_op::system_call, *row.name == '\0')
        << "the lowering's own instructions have no name in PTX: " << k;
    EXPECT_TRUE(!row.guardable || row.needed == needed_kind::by_use)
        << row.name << ": a guard is for what may be left out";
    EXPECT_TRUE(!row.commutes || row.sources >= 2) << row.name;
    EXPECT_TRUE(row.operands != operand_use::none || row.needed == needed_kind::always || op == ptx_op::ret)
        << row.name;
    EXPECT_LE(row.types, 3) << row.name;
  }
  EXPECT_EQ(find_op("s2r"), unknown_op) << "the lowering's own instructions have no name in PTX";
  EXPECT_EQ(find_op(""), unknown_op);
  EXPECT_EQ(find_op("vadd2"), ptx_op::vadd2);
  EXPECT_EQ(find_op("vavrg"), unknown_op) << "averages are of halves and bytes alone";
}

}  // namespace
