// SPDX-License-Identifier: MIT
#include <gtest/gtest.h>

#include <array>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "heddle/frontend/sass_trace/replay/read_kernel.h"
#include "heddle/frontend/sass_trace/replay/trace_recording.h"
#include "heddle/isa/set_bits.h"
#include "sass_trace_files.h"

namespace heddle::sass_trace {
namespace sass_trace_kernel_test {

using namespace sass_trace_test;
using o = isa::opcode;

// A store that keeps nothing of what was read while checking a file.
std::shared_ptr<trace_store> store() { return std::make_shared<trace_store>(64 << 20, 0); }

struct walked_step {
  isa::execution_record step;
  isa::execution_record before;  // the record before it in the segment; empty for the first one
  std::array<std::uint64_t, 32> addresses{};
};

// A warp's records, segment by segment.
std::vector<walked_step> steps_of(const isa::recorded_block& block, unsigned warp) {
  std::vector<walked_step> steps;
  std::vector<std::pair<std::size_t, std::uint32_t>> ends;  // of segments: the next position and lanes
  for (;;) {
    const auto segment = block.segment(warp, steps.size());
    if (segment == nullptr || segment->position != steps.size()) {
      ADD_FAILURE() << "no segment at " << steps.size();
      return steps;
    }
    for (const isa::execution_record* s = segment->first; s != segment->last; ++s) {
      // A request for any record of the segment returns this segment.
      EXPECT_EQ(block.segment(warp, steps.size())->position, segment->position);
      walked_step w{*s, steps.empty() ? isa::execution_record{} : s[-1], {}};
      segment->addresses(*s, w.addresses.data());
      steps.push_back(w);
    }
    if (segment->ends) {
      steps.push_back({*segment->last, steps.empty() ? isa::execution_record{} : segment->last[-1], {}});
      EXPECT_EQ(block.segment(warp, steps.size()), nullptr);
      for (const auto& [at, lanes] : ends) {
        std::size_t next = at;
        while (next + 1 < steps.size() && steps[next].step.mask == 0) ++next;
        EXPECT_EQ(lanes, next + 1 < steps.size() ? steps[next].step.mask : 0u) << at;
      }
      return steps;
    }
    ends.push_back({steps.size(), segment->next_lanes});
    EXPECT_EQ(block.segment(warp, steps.size())->first->mask, segment->last->mask);
    EXPECT_EQ(block.segment(warp, steps.size())->first->instruction, segment->last->instruction);
  }
}

void expect_same(const isa::recorded_block& x, const isa::recorded_block& y, unsigned warps) {
  for (unsigned k = 0; k < 3; ++k) EXPECT_EQ(x.index()[k], y.index()[k]);
  for (unsigned w = 0; w < warps; ++w) {
    const auto a = steps_of(x, w), b = steps_of(y, w);
    ASSERT_EQ(a.size(), b.size());
    for (std::size_t n = 0; n < a.size(); ++n) {
      EXPECT_EQ(a[n].step.instruction, b[n].step.instruction) << w << ' ' << n << ' ' << a.size();
      EXPECT_EQ(a[n].step.mask, b[n].step.mask);
      EXPECT_EQ(a[n].before.mask, b[n].before.mask);
      if (n != 0) {
        EXPECT_EQ(a[n].before.mask, a[n - 1].step.mask);
      }
      EXPECT_EQ(a[n].addresses, b[n].addresses) << w << ' ' << n;
    }
  }
}

const char* const loop =
    "0010 ffffffff 1 R4 IADD3 2 R4 R255 0 1\n"
    "0000 0000ffff 1 R2 MOV 0 0 0\n"
    "0010 ffffffff 1 R4 IADD3 2 R4 R255 0 1\n"
    "0010 ffffffff 1 R5 IADD3 2 R4 R255 0 1\n"
    "0020 00000001 0 BARNEW 0 0 0\n"
    "0030 ffffffff 0 EXIT 0 0 0\n";

TEST(sass_trace_kernel, code_in_the_order_of_addresses) {
  const trace_folder folder;
  head h;
  h.grid = "(3,1,1)";
  h.block = "(64,1,1)";
  const std::string file = folder.write(
      "k.traceg", h.text() + thread_block("0,0,0", warp(1, 6, loop) + warp(0, 2, std::string(loop, 39 + 29))) +
                      thread_block("2,0,0", ""));
  const auto k = read_kernel(file, false, store());
  EXPECT_EQ(k->blocks, 2u);
  EXPECT_EQ(k->warp_instructions, 8u);
  ASSERT_EQ(k->program->code.size(), 6u);  // two at 0x10, and the replay's own EXIT
  EXPECT_EQ(k->program->timing.size(), 6u);
  EXPECT_EQ(k->program->code[0].dst, 2u);
  EXPECT_EQ(k->program->code[4].op, o::exit);
  EXPECT_EQ(k->program->registers, 32u);
  EXPECT_EQ(k->program->shared_bytes, 1024u);
  ASSERT_EQ(k->unknown.size(), 1u);
  EXPECT_EQ(k->unknown.at("BARNEW"), 1u);
  EXPECT_NE(refusal([&] { static_cast<void>(read_kernel(file, true, store())); }).find("'BARNEW'"), std::string::npos);

  block_source source(k);
  const auto instructions = [](const isa::recorded_block& b, unsigned w) {
    std::vector<unsigned> numbers;
    for (const walked_step& s : steps_of(b, w)) numbers.push_back(s.step.instruction);
    return numbers;
  };
  // Warp 0 was truncated and is ended by the replay; warp 1 ends by itself.
  const auto first = source.next();
  EXPECT_EQ(instructions(*first, 0), (std::vector<unsigned>{1, 0, 5}));
  EXPECT_EQ(instructions(*first, 1), (std::vector<unsigned>{1, 0, 1, 2, 3, 4}));
  for (unsigned empty = 0; empty < 2; ++empty) EXPECT_EQ(instructions(*source.next(), 1), std::vector<unsigned>{5});
}

TEST(sass_trace_kernel, addresses_for_the_machine) {
  const trace_folder folder;
  const std::string lines =
      "0000 00000003 1 R4 LD.E.64 1 R2 8 2 0x7f5000000108 65536 0\n"  // shared window
      "0010 00000003 1 R4 LD.E 1 R2 4 1 0x7f4e00000014 4 0\n"         // local window
      "0020 00000003 1 R4 LD.E 1 R2 4 1 0x7f4000000003 4 0\n"         // global, not aligned
      "0030 00000003 1 R4 LDL 1 R2 4 1 0x7f4e00000104 4 0\n"
      "0040 00000003 1 R4 LDS 1 R2 4 1 0x7f5000000008 4 0\n"
      "0050 00000003 0 STG.E 2 R2 R3 4 1 0xffffffffffffffff 1 0\n"
      "0060 00000003 0 EXIT 0 0 0\n";
  const auto k =
      read_kernel(folder.write("k.traceg", head().text() + thread_block("0,0,0", warp(0, 7, lines))), true, store());
  EXPECT_EQ(k->program->local_bytes, 0x10cu);
  block_source source(k);
  const auto steps = steps_of(*source.next(), 0);
  const auto address = [&](unsigned step, unsigned lane) { return steps[step].addresses[lane]; };
  EXPECT_EQ(address(0, 0), isa::shared_window_base + 0x108);
  EXPECT_EQ(address(0, 1), isa::shared_window_base + 0x10108);
  EXPECT_EQ(address(1, 1), isa::local_window_base + 0x18);
  EXPECT_EQ(address(2, 0), 0x7f4000000000u);
  EXPECT_EQ(address(3, 0), 0x104u);
  EXPECT_EQ(address(4, 1), 0xcu);
  EXPECT_EQ(address(5, 0), 0xfffffffffffcu);
  EXPECT_EQ(address(5, 1), 0u);
}

// A window with base 0 was not recorded: no address is in it.
TEST(sass_trace_kernel, addresses_without_recorded_windows) {
  const trace_folder folder;
  std::string text = head().text();
  for (const char* base : {"0x00007f5000000000", "0x00007f4e00000000"})
    text.replace(text.find(base), 18, "0x0000000000000000");
  const std::string lines =
      "0000 00000003 1 R4 LD.E 1 R2 4 2 0x108 65536 0\n"
      "0010 00000003 1 R4 LD.E 1 R2 4 1 0x7f4000000008 4 0\n"
      "0020 00000001 1 R4 LDS 1 R2 4 1 0x7f5000000008 4 0\n"
      "0030 00000000 0 EXIT 0 0 0\n";
  const auto k = read_kernel(folder.write("k.traceg", text + thread_block("0,0,0", warp(0, 4, lines))), true, store());
  block_source source(k);
  const auto steps = steps_of(*source.next(), 0);
  EXPECT_EQ(steps[0].addresses[0], isa::heap_base);
  EXPECT_EQ(steps[0].addresses[1], isa::heap_base);
  EXPECT_EQ(steps[1].addresses[1], 0x7f400000000cu);
  EXPECT_EQ(steps[2].addresses[0], 8u);
}

// Two blocks of two warps each that load the same words of shared memory twice, and words of their own.
std::string blocks_with_common_addresses() {
  const auto lines = [](const std::string& own) {
    return "0000 ffffffff 1 R4 LDS 1 R2 4 1 0x7f5000000008 4 0\n"
           "0010 0000ffff 1 R4 LDS 1 R2 4 1 0x7f5000000008 4 0\n"
           "0010 0000ffff 1 R4 LDS 1 R2 4 1 0x7f5000000008 128 0\n"
           "0020 ffffffff 1 R4 LDG.E 1 R2 4 1 0x7f40000" +
           own +
           " 4 0\n"
           "0030 ffffffff 0 EXIT 0 0 0\n";
  };
  head h;
  h.grid = "(2,1,1)";
  h.block = "(64,1,1)";
  return h.text() + thread_block("0,0,0", warp(0, 5, lines("10000")) + warp(1, 5, lines("20000"))) +
         thread_block("1,0,0", warp(0, 5, lines("30000")) + warp(1, 5, lines("40000")));
}

TEST(sass_trace_kernel, addresses_in_shared_memory_that_steps_have_in_common_are_one_list) {
  const trace_folder folder;
  const auto k = std::make_shared<trace_kernel>(
      *read_kernel(folder.write("k.traceg", blocks_with_common_addresses()), true, store()));
  trace_recording recording(k);
  std::vector<const isa::lane_addresses*> lists[5];
  std::vector<std::shared_ptr<const isa::recorded_block>> blocks;  // keeps the lists alive
  for (unsigned b = 0; b < 2; ++b) {
    const auto block = blocks.emplace_back(recording.next());
    for (unsigned w = 0; w < 2; ++w)
      for (unsigned n = 0; n < 5; ++n) {
        const auto segment = block->segment(w, n);
        const isa::execution_record& step = segment->first[n];
        lists[n].push_back(segment->shared_addresses(step));
        if (lists[n].back() == nullptr) continue;
        std::uint64_t by_lane[32];
        segment->addresses(step, by_lane);
        for (const unsigned lane : set_bits(step.mask)) EXPECT_EQ(by_lane[lane], 8 + lane * (n == 2 ? 128u : 4u)) << n;
        EXPECT_EQ(lists[n].back()->at[1], n == 2 ? 136u : 12u);
      }
  }
  for (unsigned n = 0; n < 3; ++n) {
    ASSERT_NE(lists[n][0], nullptr) << n;
    EXPECT_EQ(lists[n], std::vector<const isa::lane_addresses*>(4, lists[n][0])) << n;
  }
  EXPECT_NE(lists[0][0], lists[1][0]);  // other lanes
  EXPECT_NE(lists[1][0], lists[2][0]);  // another stride
  // 8, 12, ... 132 differ in bits 2 to 7; half of the lanes with 8 to 68 in 2 to 6; 8, 136, ... 1928 in 7 to 10.
  EXPECT_EQ(lists[0][0]->differing_bits, 0xfcu);
  EXPECT_EQ(lists[1][0]->differing_bits, 0x7cu);
  EXPECT_EQ(lists[2][0]->differing_bits, 0x780u);
  EXPECT_EQ(lists[3], std::vector<const isa::lane_addresses*>(4, nullptr));  // addresses in global memory
  EXPECT_EQ(lists[4], std::vector<const isa::lane_addresses*>(4, nullptr));
}

TEST(sass_trace_kernel, kept_blocks_are_those_of_the_file) {
  const trace_folder folder;
  const std::string file = folder.write("k.traceg", blocks_with_common_addresses());
  const auto some = std::make_shared<trace_store>(1000, 1000);
  const auto kept = read_kernel(file, true, some);
  EXPECT_EQ(kept->kept.size(), 2u);
  // 20 records of 12 bytes, 16 with addresses of two words each.
  EXPECT_EQ(some->kept_room(), 1000u - (20 * 12 + 16 * 16));
  const auto little = std::make_shared<trace_store>(1000, 495);
  EXPECT_TRUE(read_kernel(file, true, little)->kept.empty());
  EXPECT_EQ(little->kept_room(), 495u);
  block_source from_memory(kept), from_file(read_kernel(file, true, store()));
  for (unsigned b = 0; b < 3; ++b) expect_same(*from_memory.next(), *from_file.next(), 2);  // the third block is empty
}

// A kernel's first warp need not execute it from beginning to end.
TEST(sass_trace_kernel, kept_blocks_have_the_numbers_of_the_program) {
  const trace_folder folder;
  head h;
  h.block = "(64,1,1)";
  const std::string file = folder.write(
      "k.traceg", h.text() + thread_block("0,0,0", warp(1, 6, loop) + warp(0, 1, "0008 ffffffff 0 NOP 0 0 0\n")));
  const auto kept = read_kernel(file, false, std::make_shared<trace_store>(1000, 1000));
  ASSERT_EQ(kept->kept.size(), 1u);
  const auto block = block_source(kept).next();
  std::vector<std::string> opcodes;
  for (const walked_step& s : steps_of(*block, 1)) opcodes.push_back(kept->program->recorded[s.step.instruction]);
  EXPECT_EQ(opcodes, (std::vector<std::string>{"IADD3", "MOV", "IADD3", "IADD3", "BARNEW", "EXIT"}));
  expect_same(*block, *block_source(read_kernel(file, false, store())).next(), 2);
}

// Warps with many records: all forms of addresses, stretches without active lanes, truncated and empty ones.
std::string long_warps(std::mt19937& random) {
  const auto line = [&](std::uint32_t mask) {
    char text[1200];
    const unsigned lanes = static_cast<unsigned>(__builtin_popcount(mask));
    std::string list;
    switch (random() % 5) {
      case 0: std::snprintf(text, sizeof text, "0010 %08x 1 R4 IADD3 2 R4 R255 0 0\n", mask); break;
      case 1:
        std::snprintf(text, sizeof text, "0020 %08x 1 R4 LDS 1 R2 4 0%s 0\n", mask, [&] {
          for (unsigned k = 0; k < lanes; ++k) list += " 0x7f5000000" + std::to_string(100 + random() % 8 * 100);
          return list.c_str();
        }());
        break;
      case 2:
        std::snprintf(text, sizeof text, "0030 ffffffff 1 R4 LDG.E 1 R2 4 1 0x7f40%08x 4 0\n",
                      static_cast<unsigned>(random()));
        break;
      case 3:
        std::snprintf(text, sizeof text, "0040 %08x 1 R4 LDG.E 1 R2 4 2 0x7f4000000000%s 0\n", mask, [&] {
          for (unsigned k = 1; k < lanes; ++k) list += " " + std::to_string(static_cast<int>(random() % 65536) - 32768);
          return list.c_str();
        }());
        break;
      default:
        std::snprintf(text, sizeof text, "0050 %08x 1 R4 LDG.E 1 R2 4 0%s 0\n", mask, [&] {
          for (unsigned k = 0; k < lanes; ++k)
            list += " 0x7f" + std::to_string(10 + random() % 90) + std::to_string(1000000 + random() % 9000000);
          return list.c_str();
        }());
        break;
    }
    return std::string(text);
  };
  std::string blocks;
  head h;
  h.grid = "(4,1,1)";
  h.block = "(120,1,1)";
  for (unsigned b = 0; b < 4; ++b) {
    std::string warps;
    for (unsigned w = 0; w < 4; ++w) {
      const unsigned steps = b == 3 && w == 1 ? 0 : random() % 3 == 0 ? random() % 130 : 900 + random() % 300;
      std::string lines;
      unsigned masked_off = 0;
      for (unsigned k = 0; k < steps; ++k) {
        if (masked_off == 0 && random() % 200 == 0) masked_off = random() % 400;
        lines += line(masked_off != 0 ? 0 : 1 + static_cast<std::uint32_t>(random() % 0xffffffff));
        masked_off -= masked_off != 0;
      }
      const bool ended = random() % 2 == 0;
      if (ended) lines += "0060 ffffffff 0 EXIT 0 0 0\n";
      if (b != 2 || w != 3) warps += warp(3 - w, steps + ended, lines);
    }
    blocks += thread_block(std::to_string(b) + ",0,0", warps);
  }
  return h.text() + blocks;
}

TEST(sass_trace_kernel, blocks_in_a_temporary_file_are_those_in_memory) {
  const trace_folder folder;
  std::mt19937 random(7);
  for (unsigned turn = 0; turn < 4; ++turn) {
    const std::string file = folder.write("k.traceg", long_warps(random));
    const auto plenty = read_kernel(file, true, std::make_shared<trace_store>(64 << 20, 0));
    const auto none =
        read_kernel(file, true, std::make_shared<trace_store>(0, 64 << 20));  // also a segment too large to be kept
    EXPECT_TRUE(none->kept.empty());
    EXPECT_EQ(plenty->warp_instructions, none->warp_instructions);
    EXPECT_EQ(plenty->program->local_bytes, none->program->local_bytes);
    block_source in_memory(plenty), in_file(none);
    std::vector<std::shared_ptr<const isa::recorded_block>> alive;  // several at a time from one file
    for (unsigned b = 0; b < 5; ++b) {
      alive.push_back(in_memory.next());
      alive.push_back(in_file.next());
      if (b == 2) alive.erase(alive.begin(), alive.begin() + 2);
    }
    for (std::size_t k = 0; k < alive.size(); k += 2) expect_same(*alive[k], *alive[k + 1], 4);
  }
}

TEST(sass_trace_kernel, memory_is_released_at_the_end_of_a_block) {
  const trace_folder folder;
  const auto few = std::make_shared<trace_store>(300, 0);  // room for one of the two blocks
  const auto k = read_kernel(folder.write("k.traceg", blocks_with_common_addresses()), true, few);
  block_source source(k);
  const auto first = source.next();
  EXPECT_FALSE(few->take(53));
  const auto second = source.next();  // read from the file
  EXPECT_TRUE(few->take(52));
  few->give_back(52);
  expect_same(*second, *second, 2);
}

TEST(sass_trace_kernel, a_folder_that_takes_no_file_is_named) {
  const trace_folder folder;
  const auto k =
      read_kernel(folder.write("k.traceg", blocks_with_common_addresses()), true, std::make_shared<trace_store>(0, 0));
  const char* before = std::getenv("TMPDIR");
  const std::string kept = before != nullptr ? before : "";
  ::setenv("TMPDIR", "/nowhere/at all", 1);
  block_source source(k);
  EXPECT_NE(refusal([&] { source.next(); }).find("'/nowhere/at all'"), std::string::npos);
  before != nullptr ? ::setenv("TMPDIR", kept.c_str(), 1) : ::unsetenv("TMPDIR");
}

TEST(sass_trace_kernel, a_file_that_changes_is_noticed) {
  const trace_folder folder;
  const std::string end = "0030 ffffffff 0 EXIT 0 0 0\n";
  const std::string file = folder.write("k.traceg", head().text() + thread_block("0,0,0", warp(0, 1, end)));
  const auto k = read_kernel(file, false, std::make_shared<trace_store>(1000, 0));
  folder.write("k.traceg", head().text());
  block_source shorter(k);
  EXPECT_NE(refusal([&] { shorter.next(); }).find("changed"), std::string::npos);
  folder.write("k.traceg", head().text() + thread_block("0,0,0", warp(0, 1, "0030 ffffffff 0 NOP 0 0 0\n")));
  block_source other(k);
  EXPECT_NE(refusal([&] { other.next(); }).find("changed"), std::string::npos);
}

}  // namespace sass_trace_kernel_test
}  // namespace heddle::sass_trace
