// SPDX-License-Identifier: MIT
// Which two instructions issue in one cycle: every pair of classes in both orders, as machine code, so that no assembler comes between.
// The table of docs/scheduling.md.
#include <gtest/gtest.h>

#include <fstream>
#include <iterator>
#include <sstream>

#include "config/config.h"
#include "fresh_simulation.h"
#include "sm_harness.h"

namespace heddle::test {
namespace {

struct instruction_class {
  const char* name;
  isa::instruction (*make)(std::uint8_t d);   // that writes registers from `d` on
};

isa::instruction typed(isa::instruction i, isa::dtype type, isa::space space = isa::space::generic) {
  i.type = type;
  i.mem_space = space;
  return i;
}

// No lane takes part in accesses: the address does not matter. P0 is false.
isa::instruction access(isa::opcode o, std::uint8_t d, isa::space space) {
  isa::instruction i = typed(op(o, d, isa::make_reg(2, space == isa::space::global ? 2 : 1), isa::make_reg(4)), isa::dtype::u32, space);
  i.guard.reg = 0;
  return i;
}

const instruction_class classes[] = {
    {"FFMA", [](std::uint8_t d) { return ffma(d, 1, 2, 3); }},
    {"IADD3", [](std::uint8_t d) { return typed(op(isa::opcode::iadd3, d, isa::make_reg(1), isa::make_reg(2), isa::make_reg(3)), isa::dtype::u32); }},
    {"DADD", [](std::uint8_t d) {
       isa::instruction i = typed(op(isa::opcode::dadd, d, isa::make_reg(2, 2), isa::make_reg(4, 2)), isa::dtype::f64);
       i.dst_count = 2;
       return i;
     }},
    {"MUFU", [](std::uint8_t d) {
       isa::instruction i = op(isa::opcode::mufu, d, isa::make_reg(2));
       i.sub = static_cast<std::uint8_t>(isa::mufu_function::rcp);
       return i;
     }},
    {"POPC", [](std::uint8_t d) { return typed(op(isa::opcode::popc, d, isa::make_reg(2)), isa::dtype::u32); }},
    {"LD shared", [](std::uint8_t d) { return access(isa::opcode::ld, d, isa::space::shared); }},
    {"LD global", [](std::uint8_t d) { return access(isa::opcode::ld, d, isa::space::global); }},
    {"ST global", [](std::uint8_t) { return access(isa::opcode::st, isa::rz, isa::space::global); }},
};

struct chip {
  char letter;   // in the page's table; ' ': as its neighbour, or none
  const char* name;
  const char* gpu;
  std::vector<std::string> settings;
};

const chip chips[] = {
    // GF104 has three groups of 16 lanes to GF100's two: its schedulers share the third.
    {'F', "Fermi 2.1", "gtx480", {"sub_partition.issue_width=2", "sub_partition.dual_issue=any", "sub_partition.instruction_buffer_entries=4",
                                  "fp32.shared_lanes=32", "int.shared_lanes=32"}},
    {'K', "Kepler (gtxtitan)", "gtxtitan", {}},
    {'M', "Maxwell (gtx980)", "gtx980", {}},
    {' ', "Pascal (p100)", "p100", {}},
    {'P', "Pascal (gtx1080)", "gtx1080", {}},
    {' ', "Volta (v100)", "v100", {}},
    {' ', "Hopper (h100)", "h100", {}},
};

class dual_issue : public fresh_simulation {
 protected:
  /// Whether one warp's first two instructions issue in its first cycle.
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

std::string page() {
  std::ifstream in(HEDDLE_SOURCE "/docs/scheduling.md");
  return {std::istreambuf_iterator<char>(in), {}};
}

// A row: the first instruction of the pair; a column: the second; the chips that issue both in one cycle.
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
        if (c.letter != ' ' && issue_together(load_config(c.gpu, c.settings), {first.make(8), second.make(16)})) letters += std::string(" ") + c.letter;
      table << (letters.empty() ? " -" : letters) << " |";
    }
    table << "\n";
  }
  EXPECT_NE(std::string::npos, page().find(table.str())) << table.str();
}

// What the rules say, apart from what the model does: units, the instructions that Maxwell lets into a pair, and that the second must not need
// the first.
TEST_F(dual_issue, follows_the_rule_of_the_chip) {
  const unsigned unit_of[] = {0, 1, 2, 3, 3, 4, 4, 4};
  const bool partner[] = {false, false, false, true, true, true, true, true};
  for (const chip& c : chips) {
    const gpu_config config = load_config(c.gpu, c.settings);
    const std::string& rule = config.sub_partition.dual_issue;
    for (unsigned a = 0; a < std::size(classes); ++a)
      for (unsigned b = 0; b < std::size(classes); ++b) {
        bool expected = config.sub_partition.issue_width == 2 && rule != "none" && unit_of[a] != unit_of[b];
        if (rule == "maxwell") expected = expected && (partner[a] || partner[b]);
        if (a == 0 && b == 0) expected = config.fp32.shared_lanes != 0;   // Kepler's third pair of lanes
        if (a == 1 && b == 1) expected = config.integer.shared_lanes != 0;   // half of which do integers
        if (config.fp64.issues_alone && (unit_of[a] == 2 || unit_of[b] == 2)) expected = false;   // Fermi: double precision pairs with nothing
        const std::vector<isa::instruction> pair = {classes[a].make(8), classes[b].make(16)};
        EXPECT_EQ(expected, issue_together(config, pair)) << c.name << ": " << classes[a].name << ", " << classes[b].name;
      }
  }
}

TEST_F(dual_issue, never_joins_an_instruction_with_one_that_needs_its_result_or_overwrites_it) {
  for (const chip& c : chips) {
    const gpu_config config = load_config(c.gpu, c.settings);
    for (unsigned a = 0; a < 5; ++a)
      for (unsigned b = 0; b < 5; ++b) {
        EXPECT_FALSE(issue_together(config, {classes[a].make(2), classes[b].make(16)})) << c.name << ": " << classes[b].name << " reads what " << classes[a].name << " writes";
        EXPECT_FALSE(issue_together(config, {classes[a].make(8), classes[b].make(8)})) << c.name << ": both write";
      }
  }
}

// The policy is asked about the first instruction of a warp alone; with those that keep warps from the memory a global access is never the second.
TEST_F(dual_issue, does_not_go_round_a_policy_that_holds_accesses_back) {
  for (const char* policy : {"lrr", "gto", "two_level", "memory_aware", "ccws"})
    for (const instruction_class& second : classes) {
      const bool global = std::string(second.name).find("global") != std::string::npos;
      const bool asked = std::string(policy) == "memory_aware" || std::string(policy) == "ccws";
      const gpu_config config = load_config("gtxtitan", {std::string("sub_partition.scheduler=") + policy});
      EXPECT_EQ(!(asked && global), issue_together(config, {classes[0].make(8), second.make(16)})) << policy << ": " << second.name;
    }
}

TEST_F(dual_issue, is_what_width_and_rule_say) {
  const std::vector<isa::instruction> pair = {ffma(8, 1, 2, 3), classes[1].make(16)};
  const std::vector<isa::instruction> two = {ffma(8, 1, 2, 3), ffma(16, 1, 2, 3)};
  EXPECT_TRUE(issue_together(load_config("gtxtitan"), pair));
  EXPECT_FALSE(issue_together(load_config("gtxtitan", {"sub_partition.issue_width=1"}), pair));
  EXPECT_FALSE(issue_together(load_config("gtxtitan", {"sub_partition.dual_issue=none"}), pair));
  EXPECT_FALSE(issue_together(load_config("gtxtitan", {"sub_partition.instruction_buffer_entries=2", "fp32.shared_lanes=0", "int.shared_lanes=0"}), two));
}

}  // namespace
}  // namespace heddle::test
