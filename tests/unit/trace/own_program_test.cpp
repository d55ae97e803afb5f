// SPDX-License-Identifier: MIT
// What heddle --record writes: programs and steps, and what is refused of them.
#include <gtest/gtest.h>

#include <random>
#include <string>

#include "heddle/config/error.h"
#include "heddle/frontend/sass_trace/own/own_steps.h"
#include "heddle/frontend/sass_trace/own/program_text.h"
#include "heddle/frontend/sass_trace/own/recordable.h"
#include "sass_trace_files.h"

namespace heddle::sass_trace {
namespace own_program_test {

using namespace sass_trace_test;

isa::operand any_operand(std::mt19937& random) {
  isa::operand o;
  o.kind = static_cast<isa::operand_kind>(random() % 4);
  o.reg = static_cast<std::uint8_t>(random());
  o.count = static_cast<std::uint8_t>(random() % 65);
  o.bank = static_cast<std::uint8_t>(random() % 4);
  o.negate = random() % 2 != 0;
  o.absolute = random() % 2 != 0;
  o.invert = random() % 2 != 0;
  o.value = std::uint64_t{random()} << 32 | random();
  return o;
}

isa::instruction any_instruction(std::mt19937& random) {
  isa::instruction i;
  i.op = random() % 2 != 0 ? isa::opcode::ffma : isa::opcode::ld;
  i.type = random() % 2 != 0 ? isa::dtype::f32 : isa::dtype::s64;
  i.guard = {static_cast<std::uint8_t>(random() % 8), random() % 2 != 0};
  i.dst = static_cast<std::uint8_t>(random());
  i.pdst = {static_cast<std::uint8_t>(random() % 8), static_cast<std::uint8_t>(random() % 8)};
  for (isa::operand& o : i.src) o = any_operand(random);
  i.sub = static_cast<std::uint8_t>(random());
  i.wide = random() % 2 != 0;
  i.uniform = random() % 2 != 0;
  i.mem_space = isa::space::shared;
  i.offset = static_cast<std::int32_t>(random());
  i.target = random();
  i.line = random();
  i.column = random();
  return i;
}

isa::program any_program(std::mt19937& random) {
  isa::program p;
  p.kernel = "k";
  p.registers = 40;
  p.shared_bytes = 1234;
  p.local_bytes = 16;
  p.barriers = 3;
  for (unsigned k = 0; k < 50; ++k) p.code.push_back(any_instruction(random));
  return p;
}

std::string text_of(const isa::program& p) {
  std::string text;
  write_program(text, p);
  return text;
}

TEST(own_program, is_read_as_it_was_written) {
  std::mt19937 random(1);
  const trace_folder folder;
  const std::string text = text_of(any_program(random));
  line_reader reader(folder.write("p", text));
  const std::string name = "k";
  const auto p = read_program(reader, name);
  EXPECT_TRUE(p->follows);
  EXPECT_EQ(p->kernel, "k");
  EXPECT_EQ(p->registers, 40u);
  EXPECT_EQ(p->shared_bytes, 1234u);
  EXPECT_EQ(p->local_bytes, 16u);
  EXPECT_EQ(p->code.size(), 50u);
  EXPECT_EQ(text_of(*p), text);
}

TEST(own_program, is_refused_with_any_digit_changed) {
  std::mt19937 random(2);
  const trace_folder folder;
  const std::string text = text_of(any_program(random));
  for (unsigned k = 0; k < 50; ++k) {
    std::string edited = text;
    std::size_t at = 0;
    do at = random() % edited.size();
    while (edited[at] < '0' || edited[at] > '9');
    edited[at] = edited[at] == '9' ? '0' : static_cast<char>(edited[at] + 1);
    line_reader reader(folder.write("p", edited));
    EXPECT_THROW(read_program(reader, "k"), input_error) << at;
  }
}

// A program of one load from local memory, one copy and an EXIT; lines of steps, and what they are read as.
class own_steps : public ::testing::Test {
 protected:
  own_steps() : reader_(folder_.write("t", "x\n")) {
    program_.kernel = "k";
    program_.local_bytes = 32;
    program_.code.resize(4);
    program_.code[0].op = isa::opcode::ld;
    program_.code[0].mem_space = isa::space::local;
    program_.code[1].op = isa::opcode::ldgsts;
    program_.code[2].op = isa::opcode::bar;
    program_.code[2].src[0] = isa::make_reg(3);
    program_.code[3].op = isa::opcode::exit;
  }
  void read(const std::string& line, bool last = false) {
    read_step({reader_, program_, 0xffffffffu, last}, line, block_);
  }
  void refused(const std::string& line, const std::string& what, bool last = false) {
    try {
      read(line, last);
      ADD_FAILURE() << line;
    } catch (const input_error& e) {
      EXPECT_NE(std::string(e.what()).find(what), std::string::npos) << e.what();
    }
  }
  const trace_folder folder_;
  line_reader reader_;
  isa::program program_;
  block_trace block_;
};

TEST_F(own_steps, have_a_record_more_where_a_guard_does_not_pass) {
  read("0 ff ff 0 0 4");
  read("0 ff f 0 0 0");
  read("2 ff ff 0 2000000001 0");
  read("3 ffffffff ffffffff 0", true);
  ASSERT_EQ(block_.records.size(), 5u);
  EXPECT_EQ(block_.records[1].instruction, isa::step::lanes);
  EXPECT_EQ(block_.records[1].mask, 0xffu);
  EXPECT_EQ(block_.records[2].mask, 0xfu);
  std::uint64_t a[32];
  block_.addresses.expand(block_.records[0].addresses, 0xff, a);
  EXPECT_EQ(a[3], 12u);
  block_.addresses.expand(block_.records[3].addresses, 0xff, a);
  EXPECT_EQ(a[7], 0x2000000001u);
}

TEST_F(own_steps, of_a_copy_have_both_ends) {
  refused("1 ff ff 0 1000 4", "both ends of a copy");
  read("1 f ff 1 40 8");
  refused("3 ff ff 0", "both ends of a copy");
  read("1 ff ff 0 1000 4");
  ASSERT_EQ(block_.records.size(), 3u);
  EXPECT_EQ(block_.records[0].instruction, 1u | isa::step::target | isa::step::lanes);
  EXPECT_EQ(block_.records[0].mask, 0xfu);
  EXPECT_EQ(block_.records[1].instruction, 1u | isa::step::target);
  EXPECT_EQ(block_.records[2].instruction, 1u);
}

TEST_F(own_steps, that_no_run_has_are_refused) {
  refused("4 ff ff 0", "the place of an instruction");
  refused("0 ff 1ff 0 0 4", "some of the active lanes");
  refused("0 0 0 0", "lanes of the warp");
  refused("0 ff ff 16 0 4", "flags of a step");
  refused("0 ff ff 0", "an address");
  refused("0 ff ff 0 20 0", "within the 32 bytes of local memory");
  refused("3 ff ff 0 0", "the end of the line");
  refused("2 ff ff 0", "an address");
  refused("0 ff ff 0 0 4", "an EXIT as the last step", true);
}

TEST(own_recordable, names_the_class_of_a_program_that_is_not) {
  isa::program p;
  p.kernel = "k";
  p.code.resize(2);
  EXPECT_EQ(why_not_recordable(p), "");
  p.code[1].op = isa::opcode::tex;
  EXPECT_EQ(why_not_recordable(p), "kernel 'k' has textures or surfaces, which a trace does not hold");
  p.needs_cluster = true;
  EXPECT_EQ(why_not_recordable(p), "kernel 'k' has clusters of blocks, which a trace does not hold");
}

}  // namespace own_program_test
}  // namespace heddle::sass_trace
