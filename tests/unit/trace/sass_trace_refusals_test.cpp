// SPDX-License-Identifier: MIT
#include <gtest/gtest.h>

#include <vector>

#include "heddle/frontend/sass_trace/read/kernels_list.h"
#include "heddle/frontend/sass_trace/read/trace_reader.h"
#include "sass_trace_files.h"
#include "sass_trace_texts.h"

namespace heddle::sass_trace {
namespace sass_trace_refusals_test {

using namespace sass_trace_texts;

struct bad_text {
  const char* what;
  std::string text;
  const char* message;  // part of the message
};

TEST(sass_trace_reader, refuses_with_a_place) {
  const trace_folder folder;
  const std::string h = head().text();
  const auto block = [&](const std::string& lines) { return h + thread_block("0,0,0", warp(0, 1, lines)); };
  const auto edited = [&](const std::string& from, const std::string& to) {
    std::string t = h;
    t.replace(t.find(from), from.size(), to);
    return t;
  };
  std::string endless;
  for (int k = 0; k < 1001; ++k) endless += "-key " + std::to_string(k) + " = 1\n";
  const std::vector<bad_text> cases = {
      {"empty", "", ":1:1: the file ends in the trace's head"},
      {"no head", "hello\n", ":1:1: got 'hello'"},
      {"cut head", h.substr(0, 60), "traceg:4:1: the file ends"},
      {"future", edited("tracer version = 5", "tracer version = 7"), "tracer version '7' (of NVBit 1.7) is not known"},
      {"version word", edited("tracer version = 5", "tracer version = five"), "'five' (of NVBit 1.7) is not known"},
      {"version against format", edited("tracer version = 5", "tracer version = 4"),
       "does not write lines of this format"},
      {"chip", edited("binary version = 80", "binary version = 20"), "binary version 20 is not known"},
      {"grid", edited("(1,1,1)", "(0,1,1)"), "expected (X,Y,Z)"},
      {"format", edited("#traces format", "#trace format"), "expected '#traces format = ...'"},
      {"block", edited("(32,1,1)", "(32,64,1)"), "more than 1024 threads"},
      {"version 4.5", edited("tracer version = 5", "tracer version = 4.5"),
       "tracer version '4.5' (of NVBit 1.7) is not known"},
      {"twice", edited("-nregs = 32\n", "-nregs = 32\n-nregs = 16\n"), ":7:1: '-nregs' is given twice"},
      {"endless head", endless, ":1001:1: the head has more than 1000 lines"},
      {"other field", edited("PC mask", "PC FOO mask"), ":15:21: got the field 'FOO', expected 'mask'"},
      {"more fields", edited("[mem_addresses]", "[mem_addresses] pred_reg"), "got the field 'pred_reg'"},
      {"few fields",
       edited("PC mask dest_num [reg_dests] opcode src_num [reg_srcs] mem_width [adrrescompress?] "
              "[mem_addresses] immediate",
              "PC mask"),
       "the fields end, expected 'dest_num'"},
      {"big id", edited("kernel id = 1", "kernel id = 99999999999999999999"),
       "expected a whole number of at most 64 bits"},
      {"bytes", edited("-nregs = 32", "-nregs = \x1b\xff"), "got '\\x1b\\xff', expected registers"},
      {"blank lines", h + std::string((1u << 20) + 2, '\n'), "more than 1 MiB of blank lines"},
      {"missing", edited("-nregs = 32\n", ""), "without '-nregs"},
      {"mask", block("0000 gg 0 EXIT 0 0 0\n"), ":24:6: got 'gg'"},
      {"wide mask", block("0000 1ffffffff 0 EXIT 0 0 0\n"), ":24:6: got '1ffffffff'"},
      {"opcode", block("0000 f 0 exit 0 0 0\n"), "expected an opcode"},
      {"register", block("0000 f 1 R256 MOV 0 0 0\n"), "expected a register"},
      {"missing register", block("0000 f 2 R1 MOV 0 0 0\n"), "got 'MOV', expected a register"},
      {"short", block("0000 f 0 EXIT 0\n"), "the line ends, expected bytes"},
      {"no immediate", block("0000 f 0 EXIT 0 0\n"), "the line ends, expected an immediate"},
      {"more", block("0000 f 0 EXIT 0 0 0 0\n"), ":24:21: got '0', expected the end of the line"},
      {"form", block("0000 f 1 R1 LDG 1 R2 4 3 0x0 4 0\n"), "form of the addresses"},
      {"few addresses", block("0000 f 1 R1 LDG 1 R2 4 0 0x0 0x4 0x8\n"), "an address for each active lane"},
      {"gaps", block("0000 5 1 R1 LDG 1 R2 4 1 0x0 4 0\n"), "are no run"},
      {"huge delta", block("0000 3 1 R1 LDG 1 R2 4 2 0x0 99999999999999999999 0\n"), "a difference"},
      {"cut in warp", h + "#BEGIN_TB\nthread block = 0,0,0\nwarp = 0\ninsts = 2\n0000 f 0 NOP 0 0 0\n",
       ":22:1: the file ends in warp 0 of thread block (0,0,0) of kernel '_Z4testPf'"},
      {"cut in block", h + "#BEGIN_TB\nthread block = 0,0,0\n", "the file ends in thread block (0,0,0)"},
      {"cut", h + "#BEGIN_TB\n", "the file ends in a thread block"},
      {"count", h + thread_block("0,0,0", warp(0, 2, "0000 f 0 EXIT 0 0 0\n")), "there are 1"},
      {"huge count", h + thread_block("0,0,0", warp(0, 4294967295u, "0000 f 0 EXIT 0 0 0\n")), "there are 1"},
      {"too many", block("0000 f 0 NOP 0 0 0\n0010 f 0 EXIT 0 0 0\n"), "expected 'warp = N'"},
      {"warp", h + thread_block("0,0,0", warp(1, 0, "")), "expected the number of a warp"},
      {"warp twice", h + thread_block("0,0,0", warp(0, 0, "") + warp(0, 0, "")), "comes twice"},
      {"outside", h + thread_block("1,0,0", ""), "within the grid"},
      {"too many blocks", h + thread_block("0,0,0", "") + thread_block("0,0,0", ""), "more thread blocks than the 1"},
      {"between", h + "rubbish\n", "expected '#BEGIN_TB'"},
      {"long line", h + std::string(700000, 'x'), "longer than"},
      {"zero bytes", h + std::string(100, '\0') + "\n", "expected '#BEGIN_TB'"},
  };
  for (const bad_text& c : cases) {
    SCOPED_TRACE(c.what);
    const std::string file = folder.write("k.traceg", c.text);
    const std::string message = refusal([&] {
      trace_reader r(file);
      block_trace b;
      while (r.next_block(b)) {}
    });
    EXPECT_EQ(message.rfind(file + ":", 0), 0u) << message;
    EXPECT_NE(message.find(c.message), std::string::npos) << message;
    EXPECT_EQ(message.find('\n'), std::string::npos) << message;
  }
}

// A byte of each empty line counts, so 700,000 of them are below the limit of 1 MiB.
TEST(sass_trace_reader, skips_blank_lines_below_the_limit) {
  trace_folder folder;
  const std::string file = folder.write("k.traceg", head().text() + std::string(700000, '\n') +
                                                        thread_block("0,0,0", warp(0, 1, "0000 f 0 EXIT 0 0 0\n")));
  trace_reader r(file);
  block_trace b;
  EXPECT_TRUE(r.next_block(b));
  EXPECT_FALSE(r.next_block(b));
}

// Blocks of a three-dimensional grid are identified in any order; the last one is a duplicate.
TEST(sass_trace_reader, a_duplicate_block_is_refused) {
  head h;
  h.grid = "(3,4,5)";
  trace_folder folder;
  for (const char* again : {"0,0,0", "2,1,3", "2,3,4"}) {
    std::string text = h.text();
    for (int k = 0; k < 60; ++k) {
      const int place = k * 37 % 60;
      const std::string name =
          std::to_string(place % 3) + "," + std::to_string(place / 3 % 4) + "," + std::to_string(place / 12);
      if (k < 59) text += thread_block(name, "");
    }
    // Left out: 59 * 37 % 60 = 23, which is (2,3,1).
    const auto read = [&](const std::string& whole) {
      const std::string file = folder.write("k.traceg", whole);
      trace_reader r(file);
      block_trace b;
      unsigned blocks = 0;
      while (r.next_block(b)) ++blocks;
      return blocks;
    };
    EXPECT_EQ(read(text + thread_block("2,3,1", "")), 60u);
    const std::string message = refusal([&] { read(text + thread_block(again, "")); });
    EXPECT_NE(message.find("thread block (" + std::string(again) + ") of kernel '_Z4testPf' comes twice"),
              std::string::npos)
        << message;
  }
}

TEST(sass_trace_reader, every_cut_is_refused) {
  const trace_folder folder;
  const std::string text = text_of_version("5 hopper");
  // The last character ends the last line; without it the file is still complete.
  for (std::size_t n = 0; n + 1 < text.size(); n += n + 40 < text.size() ? 7 : 1)
    refusal([&] {
      const std::string file = folder.write("k.traceg", text.substr(0, n));
      trace_reader r(file);
      block_trace b;
      if (!r.next_block(b)) throw input_error("no block");
    });
}

TEST(sass_trace_reader, unknown_keys_of_the_head_are_noted) {
  const trace_folder folder;
  const trace_reader r(folder.write("k.traceg", "\xEF\xBB\xBF-foo bar = 5\n" + head().text()));
  EXPECT_EQ(r.header().unknown_keys, std::vector<std::string>{"foo bar"});
  EXPECT_EQ(r.header().name, "_Z4testPf");
}

TEST(sass_trace_reader, a_byte_order_mark_hides_no_kernel) {
  const trace_folder folder;
  folder.write("kernel-1.traceg", "");
  folder.write("kernel-2.traceg", "");
  const auto commands = read_kernels_list(folder.write(
      "kernelslist.g", "\xEF\xBB\xBFkernel-1.traceg\n//kernel-3.traceg\n# kernel-4.traceg\nkernel-2.traceg\n"));
  ASSERT_EQ(commands.size(), 2u);
  EXPECT_EQ(commands[0].file, folder.path("kernel-1.traceg"));
}

TEST(sass_trace_reader, kernels_list) {
  const trace_folder folder;
  folder.write("kernel-1.traceg", "");
  folder.write("kernel-2-ctx_0x55.traceg.xz", "");
  const auto commands = read_kernels_list(folder.write(
      "kernelslist.g",
      "MemcpyHtoD,0x00007f4000000000,65536\n\n# a remark\nMemcpyDtoH,0x1,2\nkernel-1.traceg\r\nkernel-2-ctx_0x55.traceg.xz"));
  ASSERT_EQ(commands.size(), 3u);
  EXPECT_EQ(commands[0].what, list_command::kind::copy_to_device);
  EXPECT_EQ(commands[0].address, 0x7f4000000000u);
  EXPECT_EQ(commands[0].bytes, 65536u);
  EXPECT_EQ(commands[1].file, folder.path("kernel-1.traceg"));
  EXPECT_EQ(commands[2].file, folder.path("kernel-2-ctx_0x55.traceg.xz"));
  const auto behind = read_kernels_list(folder.write("kernelslist.g", "Untimed, kernel-1.traceg\nkernel-1.traceg\n"));
  ASSERT_EQ(behind.size(), 2u);
  EXPECT_EQ(behind[0].what, list_command::kind::untimed);
  EXPECT_EQ(behind[0].file, folder.path("kernel-1.traceg"));
  EXPECT_EQ(behind[1].what, list_command::kind::kernel);
  EXPECT_EQ(commands[2].line, 6u);
}

TEST(sass_trace_reader, kernels_list_refusals) {
  const trace_folder folder;
  folder.write("kernel-1.trace", "");
  for (const auto& [text, message] :
       std::vector<std::pair<std::string, std::string>>{{"", ":1:1: the list names no kernel"},
                                                        {"MemcpyHtoD,0x10,4\n", "the list names no kernel"},
                                                        {"\nkernel-9.traceg\n", ":2:1: the trace '"},
                                                        {"kernel-1.trace\n", "is no trace that is read"},
                                                        {"kernel-1.tracez.xz\n", "is no trace that is read"},
                                                        {"\nKernel-1.traceg\n", ":2:1: got 'Kernel-1.traceg'"},
                                                        {"MemcpyHtoD,0x10\n", ":1:1: expected MemcpyHtoD"},
                                                        {"MemcpyHtoD,0xxyz,4\n", "expected MemcpyHtoD"},
                                                        {"MemcpyHtoD,0x10,-4\n", "expected MemcpyHtoD"}}) {
    const std::string file = folder.write("kernelslist.g", text);
    const std::string got = refusal([&] { read_kernels_list(file); });
    EXPECT_NE(got.find(message), std::string::npos) << got;
  }
  EXPECT_NE(refusal([&] { read_kernels_list(folder.path("nothing.g")); }).find("cannot be read"), std::string::npos);
  EXPECT_NE(refusal([&] { read_kernels_list(folder.path(".")); }).find("no regular file"), std::string::npos);
}

}  // namespace sass_trace_refusals_test
}  // namespace heddle::sass_trace
