// SPDX-License-Identifier: MIT
// Which two instructions issue in one cycle: every pair of classes in both orders, as machine code, so that no
// assembler is involved. Writes the table of docs/model/scheduling.md.
#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>
#include <iterator>
#include <sstream>

#include "heddle/config/config.h"
#include "sm_harness.h"
#include "tests/unit/common/fresh_simulation.h"

namespace heddle::test {
namespace dual_issue_test {

// The resource that an instruction occupies according to the chips' documents, independent of the model.
enum class group { core, slow_core, fp64, sfu, memory, control };  // slow_core: not supported by every core

struct instruction_class {
  const char* name;
  group unit;
  bool writes_register;
  isa::instruction (*make)(
      std::uint8_t d);  // writes registers from `d` on; the first one of a pair has 8, the second one 16
};

isa::instruction typed(isa::instruction i, isa::dtype type, isa::space space = isa::space::generic) {
  i.type = type;
  i.mem_space = space;
  return i;
}

isa::instruction integer(isa::opcode o, std::uint8_t d) {
  return typed(op(o, d, isa::make_reg(1), isa::make_reg(2), isa::make_reg(3)), isa::dtype::u32);
}

isa::instruction two_operands(isa::opcode o, std::uint8_t d) {
  return typed(op(o, d, isa::make_reg(1), isa::make_reg(2)), isa::dtype::u32);
}

isa::instruction compare(isa::opcode o, std::uint8_t d, isa::dtype type) {
  isa::instruction i = typed(op(o, isa::rz, isa::make_reg(1), isa::make_reg(2)), type);
  i.dst_count = 0;
  i.cmp = isa::compare::eq;
  i.pdst[0] = d == 8 ? 1 : 2;
  return i;
}

// Accesses have no active lanes, so the address does not matter. P0 is false.
isa::instruction access(isa::opcode o, std::uint8_t d, isa::space space) {
  isa::instruction i =
      typed(op(o, d, isa::make_reg(2, space == isa::space::global ? 2 : 1), isa::make_reg(4)), isa::dtype::u32, space);
  i.guard.reg = 0;
  return i;
}

const instruction_class classes[] = {
    {"FFMA", group::core, true, [](std::uint8_t d) { return ffma(d, 1, 2, 3); }},
    {"IADD3", group::core, true, [](std::uint8_t d) { return integer(isa::opcode::iadd3, d); }},
    {"IMAD", group::slow_core, true, [](std::uint8_t d) { return integer(isa::opcode::imad, d); }},
    {"SHL", group::slow_core, true, [](std::uint8_t d) { return two_operands(isa::opcode::shl, d); }},
    {"LOP3", group::core, true, [](std::uint8_t d) { return integer(isa::opcode::lop3, d); }},
    {"MOV", group::core, true,
     [](std::uint8_t d) { return typed(op(isa::opcode::mov, d, isa::make_reg(2)), isa::dtype::u32); }},
    {"SEL", group::core, true, [](std::uint8_t d) { return two_operands(isa::opcode::sel, d); }},
    {"ISETP", group::core, false, [](std::uint8_t d) { return compare(isa::opcode::isetp, d, isa::dtype::u32); }},
    {"FSETP", group::core, false, [](std::uint8_t d) { return compare(isa::opcode::fsetp, d, isa::dtype::f32); }},
    {"F2I", group::sfu, true,
     [](std::uint8_t d) {
       isa::instruction i = typed(op(isa::opcode::f2i, d, isa::make_reg(2)), isa::dtype::s32);
       i.src_type = isa::dtype::f32;
       return i;
     }},
    {"MUFU", group::sfu, true,
     [](std::uint8_t d) {
       isa::instruction i = op(isa::opcode::mufu, d, isa::make_reg(2));
       i.sub = static_cast<std::uint8_t>(isa::mufu_function::rcp);
       return i;
     }},
    {"DFMA", group::fp64, true,
     [](std::uint8_t d) {
       const isa::operand same = isa::make_reg(2, 2);  // so that no two registers conflict in a bank
       isa::instruction i = typed(op(isa::opcode::dfma, d, same, isa::make_reg(4, 2), same), isa::dtype::f64);
       i.dst_count = 2;
       return i;
     }},
    {"LDS", group::memory, true, [](std::uint8_t d) { return access(isa::opcode::ld, d, isa::space::shared); }},
    {"LDG", group::memory, true, [](std::uint8_t d) { return access(isa::opcode::ld, d, isa::space::global); }},
    {"STG", group::memory, false, [](std::uint8_t) { return access(isa::opcode::st, isa::rz, isa::space::global); }},
    {"ATOM", group::memory, true,
     [](std::uint8_t d) {
       isa::instruction i = access(isa::opcode::atom, d, isa::space::global);
       i.sub = static_cast<std::uint8_t>(isa::atomic_op::add);
       return i;
     }},
    {"SHFL", group::memory, true,
     [](std::uint8_t d) {
       isa::instruction i =
           typed(op(isa::opcode::shfl, d, isa::make_reg(2), isa::make_immediate(1), isa::make_immediate(31)),
                 isa::dtype::b32);
       i.sub = static_cast<std::uint8_t>(isa::shuffle_mode::bfly);
       return i;
     }},
    {"BAR", group::control, false, [](std::uint8_t) { return op(isa::opcode::bar, isa::rz, isa::make_immediate(0)); }},
    {"BRA", group::control, false,
     [](std::uint8_t d) {  // to the next instruction
       isa::instruction i = op(isa::opcode::bra, isa::rz);
       i.target = d == 8 ? 1 : 2;
       return i;
     }},
};

struct chip {
  char letter;  // in the page's table; ' ': as the adjacent row, or none
  const char* name;
  const char* gpu;
  std::vector<std::string> settings;
};

const chip chips[] = {
    // GF104 has three groups of 16 lanes where GF100 has two: its schedulers share the third.
    {'F',
     "Fermi 2.1",
     "gtx480",
     {"sub_partition.issue_width=2", "sub_partition.dual_issue=any", "sub_partition.instruction_buffer_entries=4",
      "fp32.shared_lanes=32", "int.shared_lanes=32"}},
    {'K', "Kepler (gtxtitan)", "gtxtitan", {}},
    {'M', "Maxwell (gtx980)", "gtx980", {}},
    {' ', "Maxwell (gtx750ti)", "gtx750ti", {}},
    {' ', "Pascal (p100)", "p100", {}},
    {'P', "Pascal (gtx1080)", "gtx1080", {}},
    {' ', "Pascal (titanxp)", "titanxp", {}},
    {' ', "Fermi 2.0 (gtx480)", "gtx480", {}},
    {' ', "Volta (v100)", "v100", {}},
    {' ', "Turing (rtx2060)", "rtx2060", {}},
    {' ', "Ampere (a100)", "a100", {}},
    {' ', "Ada (rtx4090)", "rtx4090", {}},
    {' ', "Hopper (h100)", "h100", {}},
};

class dual_issue : public fresh_simulation {
 protected:
  /// True if one warp's first two instructions issue in its first cycle.
  static bool issue_together(const gpu_config& config, std::vector<isa::instruction> code) {
    restart();
    sm_harness h(config);
    code.push_back(exit_instruction());
    const std::size_t length = code.size();
    h.run(std::move(code), 32, 1, 32);
    EXPECT_EQ("", h.fault);
    h.sm.check_invariants();
    EXPECT_EQ(length, h.total(0).inst_executed);
    return h.total(0).inst_issued2 != 0;
  }
};

constexpr char page_file[] = HEDDLE_SOURCE "/docs/model/scheduling.md";

std::string page() {
  std::ifstream in(page_file);
  return {std::istreambuf_iterator<char>(in), {}};
}

// A row is the first instruction of the pair, a column the second; the cell has the chips that issue both in one cycle.
TEST_F(dual_issue, of_every_pair_of_classes_is_what_the_page_says) {
  std::ostringstream table;
  table << "| |";
  for (const instruction_class& second : classes) table << " " << second.name << " |";
  table << "\n|---|" << [] {
    std::string bars;
    for (std::size_t k = 0; k < std::size(classes); ++k) bars += "---|";
    return bars;
  }() << "\n";
  for (const instruction_class& first : classes) {
    table << "| " << first.name << " |";
    for (const instruction_class& second : classes) {
      std::string letters;
      for (const chip& c : chips)
        if (c.letter != ' ' && issue_together(load_config(c.gpu, c.settings), {first.make(8), second.make(16)}))
          letters += c.letter;
      table << " " << (letters.empty() ? "-" : letters) << " |";
    }
    table << "\n";
  }
  if (std::getenv("HEDDLE_RENEW_MICROBENCH") != nullptr) {
    std::string text = page();
    const std::size_t begin = text.find("| | FFMA |"), end = text.find("\n\n", begin);
    ASSERT_NE(std::string::npos, end);
    text.replace(begin, end + 1 - begin, table.str());
    std::ofstream(page_file) << text;
  }
  EXPECT_NE(std::string::npos, page().find(table.str())) << "meant so? then: ./dev microbench renew\n" << table.str();
}

// The documented rules, independent of the model: units, the instructions that Maxwell allows in a pair, and that the
// second must not depend on the first.
TEST_F(dual_issue, follows_the_rule_of_the_chip) {
  const auto core = [](group g) { return g == group::core || g == group::slow_core; };
  const auto partner = [](group g) { return g == group::memory || g == group::sfu; };
  for (const chip& c : chips) {
    const gpu_config config = load_config(c.gpu, c.settings);
    const choice::dual_issue rule = config.sub_partition.dual_issue;
    for (const instruction_class& first : classes)
      for (const instruction_class& second : classes) {
        const group a = first.unit, b = second.unit;
        bool expected = config.sub_partition.issue_width == 2 && rule != choice::dual_issue::none && a != b &&
                        !(core(a) && core(b));
        if (rule == choice::dual_issue::maxwell) expected = expected && (partner(a) || partner(b));
        if (rule == choice::dual_issue::any && core(a) && core(b))
          expected = a == group::core || b == group::core;  // one of them on the lanes that schedulers share
        if (a == group::control || b == group::control) expected = false;
        if (config.fp64.issues_alone && (a == group::fp64 || b == group::fp64))
          expected = false;  // Fermi: double precision does not pair
        EXPECT_EQ(expected, issue_together(config, {first.make(8), second.make(16)}))
            << c.name << ": " << first.name << ", " << second.name;
      }
  }
}

TEST_F(dual_issue, never_pairs_dependent_instructions) {
  for (const chip& c : chips) {
    if (c.letter == ' ') continue;  // as the adjacent row, or none
    const gpu_config config = load_config(c.gpu, c.settings);
    for (const instruction_class& first : classes)
      for (const instruction_class& second : classes) {
        if (!first.writes_register || second.unit == group::control) continue;
        EXPECT_FALSE(issue_together(config, {first.make(2), second.make(16)}))
            << c.name << ": " << second.name << " reads what " << first.name << " writes";
        if (!second.writes_register) continue;
        EXPECT_FALSE(issue_together(config, {first.make(8), second.make(8)})) << c.name << ": both write";
      }
  }
}

// A policy only decides on the first instruction of a warp. With policies that hold back memory accesses, a global
// access is never the second.
TEST_F(dual_issue, does_not_circumvent_a_policy_that_throttles_accesses) {
  for (const char* policy : {"lrr", "gto", "two_level", "memory_aware", "ccws"})
    for (const instruction_class& second : classes) {
      const std::string name = second.name;
      const bool global = name == "LDG" || name == "STG" || name == "ATOM";
      const bool asked = std::string(policy) == "memory_aware" || std::string(policy) == "ccws";
      const gpu_config config = load_config("gtxtitan", {std::string("sub_partition.scheduler=") + policy});
      const bool expected = second.unit != group::control && !(asked && global);
      EXPECT_EQ(expected, issue_together(config, {classes[0].make(8), second.make(16)})) << policy << ": " << name;
    }
}

TEST_F(dual_issue, is_what_width_and_rule_say) {
  const std::vector<isa::instruction> pair = {ffma(8, 1, 2, 3), classes[1].make(16)};
  const std::vector<isa::instruction> two = {ffma(8, 1, 2, 3), ffma(16, 1, 2, 3)};
  EXPECT_TRUE(issue_together(load_config("gtxtitan"), pair));
  EXPECT_FALSE(issue_together(load_config("gtxtitan", {"sub_partition.issue_width=1"}), pair));
  EXPECT_FALSE(issue_together(load_config("gtxtitan", {"sub_partition.dual_issue=none"}), pair));
  EXPECT_FALSE(issue_together(load_config("gtxtitan", {"sub_partition.instruction_buffer_entries=2",
                                                       "fp32.shared_lanes=0", "int.shared_lanes=0"}),
                              two));
}

}  // namespace dual_issue_test
}  // namespace heddle::test
