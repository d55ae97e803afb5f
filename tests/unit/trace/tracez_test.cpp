// SPDX-License-Identifier: MIT
// .tracez files: the same blocks as from text, and no file that is cut off or changed does harm.
#include "tracez_files.h"

#include <gtest/gtest.h>
#include <malloc.h>

#include <algorithm>
#include <random>
#include <utility>

#include "heddle/frontend/sass_trace/read/kernels_list.h"
#include "heddle/frontend/sass_trace/read/trace_reader.h"
#include "sass_trace_files.h"
#include "sass_trace_texts.h"

namespace heddle::sass_trace {
namespace tracez_test {

using namespace sass_trace_texts;

/// Everything that a reader finds in a file: places of blocks, warps, masks, opcodes and addresses.
std::string content_of(const std::string& file) {
  trace_reader reader(file);
  std::string text = reader.header().name + "\n";
  for (block_trace b; reader.next_block(b);) {
    text += "block " + std::to_string(b.index[0]) + " " + std::to_string(b.index[1]) + "\n";
    const auto code = reader.code()->ordered();
    for (const warp_trace& w : b.warps) {
      text += "warp " + std::to_string(w.warp) + "\n";
      for (std::size_t k = w.first; k < w.first + w.count; ++k) {
        const trace_record& r = b.records[k];
        text += code[r.instruction]->opcode + " " + code[r.instruction]->fields + std::to_string(r.mask);
        std::uint64_t a[32] = {};
        if (code[r.instruction]->has_addresses) b.addresses.expand(r.addresses, r.mask, a);
        for (const std::uint64_t x : a) text += x == 0 ? "" : " " + std::to_string(x);
        text += "\n";
      }
    }
  }
  return text;
}

head hopper_head() {
  head h = head_of_version("6");
  h.grid = "(2,2,1)";
  h.block = "(64,1,1)";
  return h;
}

std::vector<std::string> lines_of_warp(unsigned seed, unsigned count) {
  std::vector<std::string> lines;
  for (unsigned k = 0; k + 1 < count; ++k) {
    const std::string address = std::to_string(4096 + 128 * (seed * 97 + k));
    lines.push_back(k % 3 == 0   ? "0000 ffffffff 1 R4 IADD3 2 R5 R255 0 0 0 NoVal"
                    : k % 3 == 1 ? "0010 ffffffff 1 R8 LDG.E 1 R4 4 1 0x" + address + " 4 0 0 NoVal"
                                 : "0020 000000f0 0 STG.E 2 R4 R8 4 2 0x" + address + " 8 16 -4 0 0 Val 1 3f800000");
  }
  lines.emplace_back("0030 ffffffff 0 EXIT 0 0 0 0 NoVal");
  return lines;
}

std::vector<packed_block> four_blocks(unsigned lines) {
  std::vector<packed_block> blocks;
  for (std::uint32_t n = 0; n < 4; ++n)
    blocks.push_back({{n % 2, n / 2, 0}, {lines_of_warp(2 * n, lines), lines_of_warp(2 * n + 1, lines + n)}});
  return blocks;
}

std::string as_text(const std::string& head, const std::vector<packed_block>& blocks) {
  std::string text = head;
  for (const packed_block& b : blocks) {
    std::string warps = "cluster id = 0,0,0\ncluster cta = 0,0,0\ncluster rank = 0\n";
    for (unsigned w = 0; w < b.warps.size(); ++w) {
      std::string lines;
      for (const std::string& l : b.warps[w]) lines += l + "\n";
      warps += warp(w, static_cast<unsigned>(b.warps[w].size()), lines);
    }
    text += thread_block(
        std::to_string(b.place[0]) + "," + std::to_string(b.place[1]) + "," + std::to_string(b.place[2]), warps);
  }
  return text;
}

TEST(tracez, gives_the_same_blocks_as_text) {
  const trace_folder folder;
  const std::string head = hopper_head().text();
  for (const unsigned lines : {1u, 2u, 40u, 5000u}) {
    const std::vector<packed_block> blocks = four_blocks(lines);
    const std::string expected = content_of(folder.write("k.traceg", as_text(head, blocks)));
    for (const std::string& dictionary : {std::string(), dictionary_of(lines_of_warp(9, 500))})
      for (const std::size_t frame_lines : {std::size_t{1}, std::size_t{7}, std::size_t{2048}})
        EXPECT_EQ(expected, content_of(folder.write("k.tracez", tracez(head, blocks, frame_lines, dictionary))))
            << lines << " lines, " << frame_lines << " a frame, a dictionary of " << dictionary.size() << " bytes";
  }
}

TEST(tracez, is_named_by_a_list_of_kernels) {
  const trace_folder folder;
  folder.write("kernel-1.tracez", "");
  const auto commands = read_kernels_list(folder.write("kernelslist.g", "kernel-1.tracez\n"));
  ASSERT_EQ(1u, commands.size());
  EXPECT_EQ(folder.path("kernel-1.tracez"), commands[0].file);
}

TEST(tracez, has_fields_of_its_own_for_groups_and_bulk_copies) {
  const trace_folder folder;
  const head h = hopper_head();
  // Each with the fields of Accel-Sim 2 and as earlier tracers write it.
  for (const char* line : {"0000 ffffffff 1 R4 HGMMA.64x128x16.F32 2 R24 R255 1 0 3 0 NoVal",
                           "0000 ffffffff 1 R4 HGMMA.64x128x16.F32 2 R24 R255 0 3 0 NoVal",
                           "0000 00000001 0 UTMALDG.2D 2 UR4 UR8 4 0x400 1 3 8192 0 4 0x7f00 4 128 128 -64 0 0 NoVal",
                           "0000 00000001 0 UTMASTG.2D 2 UR4 UR8 4 0x0 0 4096 0 3 2 0x7f00 0x7f80 0 0 NoVal",
                           "0000 00000001 0 UBLKCP.S.G 2 UR4 UR8 4 0x400 0 0 0 4 0x0 0 0 0 NoVal",
                           "0000 00000001 0 UBLKCP.S.G 2 UR4 UR8 0 0 0 NoVal"}) {
    const std::string text =
        h.text() +
        thread_block("0,0,0", warp(0, 3, std::string(line) + "\n" + line + "\n0010 ffffffff 0 EXIT 0 0 0 0 NoVal\n"));
    std::string found;
    EXPECT_NO_THROW(found = content_of(folder.write("k.traceg", text))) << line;
    EXPECT_NE(std::string::npos, found.find("EXIT")) << line;
  }
  trace_reader flag(folder.write(
      "k.traceg",
      h.text() +
          thread_block("0,0,0", warp(0, 1, "0000 ffffffff 1 R4 HGMMA.64x128x16.F32 2 R24 R255 1 0 3 0 NoVal\n"))));
  block_trace b;
  ASSERT_TRUE(flag.next_block(b));
  EXPECT_FALSE(flag.code()->ordered()[0]->has_addresses) << "the flag was taken for bytes of a memory access";
  for (const char* line : {"0000 00000001 0 UTMALDG.2D 2 UR4 UR8 4 0x400 1 3 8192 0 5 0x7f00 1 0 0 NoVal",
                           "0000 00000001 0 UTMALDG.2D 2 UR4 UR8 4 0x400 0 8192 0 4 0x7f00 3 128 0 0 NoVal",
                           "0000 ffffffff 1 R4 HGMMA.64x128x16.F32 2 R24 R255 2 0 3 0 NoVal"}) {
    const std::string file =
        folder.write("k.traceg", h.text() + thread_block("0,0,0", warp(0, 1, line + std::string("\n"))));
    EXPECT_NE("", refusal([&] { content_of(file); })) << line;
  }
}

TEST(tracez, a_tracer_that_is_not_known_is_named) {
  const trace_folder folder;
  head h = hopper_head();
  h.version = "7";
  const std::string got =
      refusal([&] { content_of(folder.write("k.tracez", tracez(h.text(), four_blocks(2), 4, ""))); });
  EXPECT_NE(std::string::npos, got.find("tracer version '7' (of NVBit 1.7) is not known, expected 1 to 6")) << got;
}

/// Blocks that a broken file still gives are as good as those of text: the reader has checked each line.
bool harmless(const std::string& file) {
  try {
    content_of(file);
    return true;
  } catch (const input_error& e) {
    const std::string what = e.what();
    EXPECT_EQ(std::string::npos, what.find('\n')) << what;
    return false;
  }
}

TEST(tracez, is_refused_wherever_it_is_cut_off) {
  const trace_folder folder;
  const std::string whole = tracez(hopper_head().text(), four_blocks(4), 3, "");
  ASSERT_TRUE(harmless(folder.write("k.tracez", whole)));
  for (std::size_t n = 0; n < whole.size(); n += n + 200 < whole.size() ? 7 : 1)
    EXPECT_FALSE(harmless(folder.write("k.tracez", whole.substr(0, n)))) << n << " of " << whole.size() << " bytes";
}

// What became of a file after a bit of it was flipped.
struct flips {
  std::size_t refused = 0, same = 0, other = 0, other_in_frames = 0;
};

/// Flips each bit behind the head, which is text without redundancy, or one of `every`.
flips after_flips(const packing& how, std::size_t every) {
  const trace_folder folder;
  std::vector<std::pair<std::size_t, std::size_t>> frames;
  const std::string head = hopper_head().text(), whole = tracez(head, four_blocks(3), 2, how, &frames);
  const std::string expected = content_of(folder.write("k.tracez", whole));
  flips f;
  for (std::size_t bit = 8 * head.size(); bit < 8 * whole.size(); bit += every) {
    const std::size_t n = bit / 8;
    const bool in_frame =
        std::any_of(frames.begin(), frames.end(), [n](const auto& at) { return n >= at.first && n < at.second; });
    std::string broken = whole;
    broken[n] = static_cast<char>(broken[n] ^ 1 << bit % 8);
    std::string got;
    try {
      got = content_of(folder.write("k.tracez", broken));
    } catch (const input_error& e) {
      EXPECT_EQ(std::string::npos, std::string(e.what()).find('\n')) << e.what();
      ++f.refused;
      continue;
    }
    f.same += got == expected;
    f.other += got != expected;
    f.other_in_frames += got != expected && in_frame;
  }
  ::testing::Test::RecordProperty("refused", static_cast<int>(f.refused));
  ::testing::Test::RecordProperty("same", static_cast<int>(f.same));
  ::testing::Test::RecordProperty("other", static_cast<int>(f.other));
  return f;
}

TEST(tracez, no_flipped_bit_behind_the_head_gives_another_result_where_frames_have_checksums) {
  const flips f = after_flips({"", true}, 7);
  EXPECT_EQ(0u, f.other);
  EXPECT_GT(f.refused, 4 * f.same);
}

TEST(long_tracez, all_flipped_bits_behind_the_head) {
  EXPECT_EQ(0u, after_flips({"", true}, 1).other);
  const flips f = after_flips({"", false}, 1);
  EXPECT_EQ(f.other_in_frames, f.other);
}

// The tracer's frames have none: letters of an instruction, or of an address, may change.
TEST(tracez, flipped_bits_without_checksums_give_another_result_only_within_a_frame) {
  const flips f = after_flips({"", false}, 7);
  EXPECT_EQ(f.other_in_frames, f.other);
  EXPECT_GT(f.other, 0u) << "checksums are no longer needed";
  EXPECT_GT(f.refused, 4 * f.same);
}

// The decoder and its dictionary have some 100 KiB.
TEST(tracez, leaves_no_memory_behind_when_it_is_refused) {
  const trace_folder folder;
  std::string broken = tracez(hopper_head().text(), four_blocks(3), 2, dictionary_of(lines_of_warp(9, 500)));
  std::fill(broken.end() - 8, broken.end(), '\xff');  // the index's place
  const std::string file = folder.write("k.tracez", broken);
  const auto used = [] { return ::mallinfo2().uordblks + ::mallinfo2().hblkhd; };
  EXPECT_THROW(trace_reader{file}, input_error);
  const std::size_t before = used();
  constexpr std::size_t times = 50;
  for (std::size_t n = 0; n < times; ++n) EXPECT_THROW(trace_reader{file}, input_error);
  EXPECT_LT(used(), before + times * 1024);
}

TEST(long_tracez, survives_a_million_changes) {
  const trace_folder folder;
  const std::string dictionary = dictionary_of(lines_of_warp(9, 300));
  std::mt19937_64 random(24);
  const auto below = [&](std::size_t n) { return static_cast<std::size_t>(random() % n); };
  std::size_t refused = 0;
  std::string whole;
  for (unsigned n = 0; n < 1000000; ++n) {
    if (n % 100 == 0) {
      std::vector<packed_block> blocks = four_blocks(1 + static_cast<unsigned>(below(6)));
      for (unsigned k = 0; k < n / 100 % 4; ++k) {  // lines that are changed before they are packed
        std::string& line = blocks[below(4)].warps[below(2)][0];
        line[below(line.size())] = static_cast<char>(below(256));
      }
      whole = tracez(hopper_head().text(), blocks, 1 + below(5), below(2) == 0 ? dictionary : "");
    }
    std::string broken = whole;
    for (std::size_t k = below(4); k < 4; ++k) {
      const std::size_t at =
          below(2) == 0 ? below(broken.size()) : broken.size() - 1 - below(std::min<std::size_t>(broken.size(), 600));
      switch (below(4)) {
        case 0: broken[at] = static_cast<char>(below(256)); break;
        case 1: broken[at] = below(2) == 0 ? '\0' : '\xff'; break;
        case 2: broken.erase(at, below(9)); break;
        default: broken.insert(at, broken.substr(below(broken.size()), below(9))); break;
      }
      if (broken.empty()) broken = "-";
    }
    refused += harmless(folder.write("k.tracez", broken)) ? 0 : 1;
  }
  EXPECT_GT(refused, 500000u);
}

}  // namespace tracez_test
}  // namespace heddle::sass_trace
