// SPDX-License-Identifier: MIT
#include <gtest/gtest.h>
#include <lzma.h>
#include <zlib.h>
#include <zstd.h>

#include <cstdio>
#include <random>
#include <vector>

#include "heddle/frontend/sass_trace/read/trace_reader.h"
#include "heddle/isa/set_bits.h"
#include "sass_trace_files.h"
#include "sass_trace_texts.h"

namespace heddle::sass_trace {
namespace sass_trace_reader_test {

using namespace sass_trace_texts;

block_trace only_block(const std::string& file) {
  trace_reader r(file);
  block_trace b, none;
  EXPECT_TRUE(r.next_block(b));
  EXPECT_FALSE(r.next_block(none));
  return b;
}

void expect_the_three(const block_trace& b) {
  ASSERT_EQ(b.warps.size(), 1u);
  ASSERT_EQ(b.records.size(), 3u);
  EXPECT_EQ(b.records[0].mask, 0xffffffffu);
  EXPECT_EQ(b.records[1].mask, 0xfu);
  EXPECT_EQ(b.records[2].instruction, 2u);
  std::uint64_t a[32] = {};
  b.addresses.expand(b.records[1].addresses, b.records[1].mask, a);
  for (unsigned k = 0; k < 4; ++k) EXPECT_EQ(a[k], 0x7f4000000100u + 8 * k);
  EXPECT_EQ(a[4], 0u);
}

TEST(sass_trace_reader, every_version) {
  const trace_folder folder;
  for (const char* version : {"1.2", "2", "3", "4", "5", "5 hopper", "6"}) {
    SCOPED_TRACE(version);
    expect_the_three(only_block(folder.write("kernel-1.traceg", text_of_version(version))));
  }
}

TEST(sass_trace_reader, header) {
  const trace_folder folder;
  head h;
  h.grid = "(4,3,2)";
  h.block = "(16,5,1)";
  h.stream = 9;
  const trace_reader r(folder.write("k.traceg", h.text()));
  const kernel_header& k = r.header();
  EXPECT_EQ(k.name, "_Z4testPf");
  EXPECT_EQ(k.blocks(), 24u);
  EXPECT_EQ(k.threads(), 80u);
  EXPECT_EQ(k.warps(), 3u);
  EXPECT_EQ(k.shared_bytes, 1024u);
  EXPECT_EQ(k.registers, 32u);
  EXPECT_EQ(k.generation, generation::ampere);
  EXPECT_EQ(k.stream, 9u);
  EXPECT_EQ(k.shared_base, 0x7f5000000000u);
  EXPECT_EQ(k.local_base, 0x7f4e00000000u);
  EXPECT_EQ(k.version, 5u);
  EXPECT_EQ(k.format.immediates, 1u);
}

TEST(sass_trace_reader, the_first_immediate_is_a_duration_or_a_thread_count) {
  const trace_folder folder;
  const std::string lines =
      "0000 ffffffff 0 NANOSLEEP 0 0 40 3\n0010 ffffffff 0 DEPBAR.LE 0 0 0 1\n0020 ffffffff 0 DEPBAR.LE 0 0 1 0\n"
      "0030 ffffffff 0 EXIT 0 0 5 6\n";
  head h = head_of_version("5 hopper");
  trace_reader r(folder.write(
      "kernel-1.traceg",
      h.text() +
          thread_block("0,0,0", "cluster id = 0,0,0\ncluster cta = 0,0,0\ncluster rank = 0\n" + warp(0, 4, lines))));
  block_trace b;
  ASSERT_TRUE(r.next_block(b));
  const auto code = r.code()->ordered();
  ASSERT_EQ(4u, code.size());
  EXPECT_EQ(40u, code[0]->instruction.src[0].value) << "nanoseconds";
  EXPECT_EQ(isa::opcode::depbar, code[1]->instruction.op);
  EXPECT_EQ(0u, code[1]->instruction.sub) << "waits until no group of copies is incomplete";
  EXPECT_EQ(1u, code[2]->instruction.sub) << "one group may be incomplete";
}

// The tracer writes a line for each operand in memory. That of shared memory comes first.
TEST(sass_trace_reader, the_two_lines_of_a_copy_are_one_instruction) {
  const trace_folder folder;
  const std::string copy = " ffffffff 0 LDGSTS.E.BYPASS.128 2 R4 R2 16 1 ";
  const std::string lines = "0000" + copy + "0x100 16 0\n0000" + copy + "0x7f0000001000 16 0\n0010" + copy +
                            "0x500 16 0\n0010" + copy + "0x7f0000002000 16 0\n0020 ffffffff 0 EXIT 0 0 0\n";
  head h = head_of_version("5");
  h.block = "(64,1,1)";
  trace_reader r(
      folder.write("kernel-1.traceg", h.text() + thread_block("0,0,0", warp(0, 5, lines) + warp(1, 5, lines))));
  block_trace b;
  ASSERT_TRUE(r.next_block(b));
  ASSERT_EQ(b.warps.size(), 2u);
  for (const warp_trace& w : b.warps) {
    ASSERT_EQ(w.count, 3u);
    for (const std::size_t k : {0, 1}) {
      std::uint64_t addresses[32];
      b.addresses.expand(b.records[w.first + k].addresses, 0xffffffff, addresses);
      EXPECT_EQ(addresses[31], 0x7f0000001000u + 0x1000 * k + 31 * 16) << k;
    }
  }
}

// The text compressed in each tool's format, with its checksum.
std::string gzipped(const std::string& text) {
  z_stream z{};
  deflateInit2(&z, 9, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY);
  std::string out(deflateBound(&z, text.size()), '\0');
  std::string in = text;
  z.next_in = reinterpret_cast<Bytef*>(in.data());
  z.avail_in = static_cast<uInt>(in.size());
  z.next_out = reinterpret_cast<Bytef*>(out.data());
  z.avail_out = static_cast<uInt>(out.size());
  EXPECT_EQ(deflate(&z, Z_FINISH), Z_STREAM_END);
  out.resize(z.total_out);
  deflateEnd(&z);
  return out;
}

std::string xz_packed(const std::string& text) {
  std::string out(lzma_stream_buffer_bound(text.size()), '\0');
  std::size_t size = 0;
  EXPECT_EQ(lzma_easy_buffer_encode(6, LZMA_CHECK_CRC64, nullptr, reinterpret_cast<const std::uint8_t*>(text.data()),
                                    text.size(), reinterpret_cast<std::uint8_t*>(out.data()), &size, out.size()),
            LZMA_OK);
  out.resize(size);
  return out;
}

std::string zstd_packed(const std::string& text) {
  ZSTD_CCtx* c = ZSTD_createCCtx();
  ZSTD_CCtx_setParameter(c, ZSTD_c_checksumFlag, 1);
  std::string out(ZSTD_compressBound(text.size()), '\0');
  const std::size_t size = ZSTD_compress2(c, out.data(), out.size(), text.data(), text.size());
  EXPECT_EQ(ZSTD_isError(size), 0u);
  out.resize(size);
  ZSTD_freeCCtx(c);
  return out;
}

TEST(sass_trace_reader, compressed) {
  const trace_folder folder;
  const std::string text = text_of_version("5");
  const auto try_packer = [&](const char* name, std::string (*pack)(const std::string&)) {
    SCOPED_TRACE(name);
    const std::string packed = pack(text);
    expect_the_three(only_block(folder.write(name, packed)));
    // Concatenated members, as written by parallel tools; the first is empty.
    const std::size_t middle = text.size() / 2;
    expect_the_three(
        only_block(folder.write(name, pack("") + pack(text.substr(0, middle)) + pack(text.substr(middle)))));
    // Any truncation, down to the last byte of the checksum, and trailing bytes.
    for (std::size_t n = 0; n < packed.size(); ++n)
      EXPECT_NE(refusal([&] { only_block(folder.write(name, packed.substr(0, n))); }).find(name), std::string::npos)
          << n;
    EXPECT_NE(refusal([&] { only_block(folder.write(name, packed + "and more")); }).find(name), std::string::npos);
    // A wrong bit in the last eight bytes: checksums, lengths, terminators.
    for (std::size_t n = packed.size() - 8; n < packed.size(); ++n) {
      std::string damaged = packed;
      damaged[n] = static_cast<char>(damaged[n] ^ 0x10);
      EXPECT_NE(refusal([&] { only_block(folder.write(name, damaged)); }).find(name), std::string::npos) << n;
    }
    std::string broken = packed;
    for (std::size_t k = packed.size() / 3; k < packed.size(); ++k) broken[k] = static_cast<char>(k * 37);
    const std::string bad = folder.write(std::string("bad_") + name, broken);
    EXPECT_NE(refusal([&] { only_block(bad); }).find("bad_"), std::string::npos);
    const std::string plain = folder.write(std::string("plain_") + name, text);
    refusal([&] { only_block(plain); });
  };
  try_packer("kernel-1.traceg.gz", gzipped);
  try_packer("kernel-1.traceg.xz", xz_packed);
  try_packer("kernel-1.traceg.zst", zstd_packed);
}

TEST(sass_trace_reader, address_forms) {
  const trace_folder folder;
  const std::string lines =
      "0000 80000101 1 R4 LDG.E 1 R2 4 0 0x10 0x7fffffffffff 0x8 -3 \n"  // a list
      "0000 80000101 1 R4 LDG.E 1 R2 4 2 0x1000 -16 4096 0 \n"           // differences
      "0000 0000ff00 1 R4 LDG.E 1 R2 4 1 0x1000 -4 0 \n"                 // a run
      "0000 00000000 1 R4 LDG.E 1 R2 4 1 0x0 -1094795586 0 \n"           // no active lane: addresses are ignored
      "0000 00000000 1 R4 LDG.E 1 R2 4 2 0x0 0 \n"
      "0000 00000000 1 R4 LDG.E 1 R2 4 0 0 \n"
      "0000 00000400 1 R4 LDG.E 1 R2 4 2 0xabc 0 \n";  // a single lane has no difference
  const block_trace b = only_block(folder.write("k.traceg", head().text() + thread_block("0,0,0", warp(0, 7, lines))));
  ASSERT_EQ(b.records.size(), 7u);
  const auto lane = [&](unsigned step, unsigned l) {
    std::uint64_t a[32] = {};
    b.addresses.expand(b.records[step].addresses, b.records[step].mask, a);
    return a[l];
  };
  EXPECT_EQ(lane(0, 0), 0x10u);
  EXPECT_EQ(lane(0, 8), 0x7fffffffffffu);
  EXPECT_EQ(lane(0, 31), 0x8u);
  EXPECT_EQ(lane(1, 0), 0x1000u);
  EXPECT_EQ(lane(1, 8), 0xff0u);
  EXPECT_EQ(lane(1, 31), 0x1ff0u);
  EXPECT_EQ(lane(2, 8), 0x1000u);
  EXPECT_EQ(lane(2, 15), 0x1000u - 28);
  EXPECT_EQ(lane(6, 10), 0xabcu);
}

TEST(sass_trace_reader, address_list_returns_what_was_stored) {
  address_list pool;
  std::vector<std::vector<std::uint64_t>> lists;
  std::vector<address_list::handle> handles;
  std::uint64_t x = 12345;
  for (unsigned k = 0; k < 200; ++k) {
    std::vector<std::uint64_t> l(1 + k % 32);
    for (std::size_t n = 0; n < l.size(); ++n) {
      x = x * 6364136223846793005u + 1442695040888963407u;
      l[n] = k % 4 == 0 ? 0x1000 + n * 12 : k % 4 == 1 ? 0x7f0000000000u + (x >> 40) : k % 4 == 2 ? x : 0;
    }
    handles.push_back(pool.add(l.data(), static_cast<unsigned>(l.size())));
    lists.push_back(l);
  }
  for (unsigned k = 0; k < 200; ++k) {
    std::uint64_t a[32];
    const std::uint32_t mask = lists[k].size() == 32 ? ~0u : (1u << lists[k].size()) - 1;
    pool.expand(handles[k], mask, a);
    for (std::size_t n = 0; n < lists[k].size(); ++n) ASSERT_EQ(a[n], lists[k][n]) << k;
  }
}

TEST(sass_trace_reader, addresses_of_shared_shapes) {
  address_list pool;
  const auto store = std::make_shared<shape_store>();
  std::vector<shape_store::number> numbers;
  for (std::uint64_t k = 0; k < 5000; ++k) {
    shape_store::offset_list offsets{};
    for (std::uint64_t n = 1; n < 20; ++n) offsets[n] = n * n - k;
    numbers.push_back(store->find_or_add(offsets));
    ASSERT_EQ(store->find_or_add(offsets), numbers.back());
  }
  EXPECT_EQ(numbers.back(), shape_store::none);  // the store does not grow without bound
  const std::uint32_t mask = 0xfff0ff0u;         // 20 lanes
  const address_list::handle h = pool.add(0x7000, store, numbers[3]);
  std::uint64_t a[32] = {};
  pool.expand(h, mask, a);
  EXPECT_EQ(a[3], 0u);
  EXPECT_EQ(a[4], 0x7000u);
  EXPECT_EQ(a[5], 0x7000u + 1 - 3);
  EXPECT_EQ(a[16], 0x7000u + 64 - 3);
  EXPECT_EQ(a[28], 0u);
}

TEST(sass_trace_reader, blocks_and_warps_in_file_order) {
  const trace_folder folder;
  head h;
  h.grid = "(3,1,1)";
  h.block = "(70,1,1)";
  const std::string end = "0020 ffffffff 0 EXIT 0 0 0\n";
  trace_reader r(folder.write(
      "k.traceg", h.text() + thread_block("2,0,0", warp(2, 1, end) + warp(0, 0, "")) + thread_block("0,0,0", "")));
  block_trace b;
  ASSERT_TRUE(r.next_block(b));
  EXPECT_EQ(b.index[0], 2u);
  ASSERT_EQ(b.warps.size(), 2u);
  EXPECT_EQ(b.warps[0].warp, 2u);
  EXPECT_EQ(b.warps[1].count, 0u);
  ASSERT_TRUE(r.next_block(b));
  EXPECT_TRUE(b.warps.empty());
  EXPECT_FALSE(r.next_block(b));
  EXPECT_EQ(r.blocks(), 2u);
}

TEST(sass_trace_reader, places_of_blocks_have_several_digits) {
  const trace_folder folder;
  head h;
  h.grid = "(120,1,1)";
  trace_reader r(folder.write("k.traceg", h.text() + thread_block("109,0,0", warp(0, 1, "0000 f 0 EXIT 0 0 0\n"))));
  block_trace b;
  ASSERT_TRUE(r.next_block(b));
  EXPECT_EQ(b.index[0], 109u);
}

TEST(sass_trace_reader, line_numbers_and_blanks) {
  const trace_folder folder;
  head h;
  h.line_info = true;
  const std::string text =
      h.text() +
      "\r\n#BEGIN_TB\r\nthread block = 0,0,0\r\nwarp = 0\ninsts = 2\n\n17  0010\tffffffff 1  R4 MOV 0 0  3 \r\n\n18 0020 1 0 EXIT 0 0 0\n#END_TB";
  const block_trace b = only_block(folder.write("k.traceg", text));
  ASSERT_EQ(b.records.size(), 2u);
  EXPECT_EQ(b.records[1].mask, 1u);
}

// A small loop with a conditional part, as a tracer writes it, and the expected meaning of each line.
struct written_step {
  std::uint32_t pc;
  std::uint32_t mask;
  std::vector<std::uint64_t> addresses;  // for the active lanes
};

std::string write_line(std::mt19937& random, written_step& w) {
  const auto one_of = [&](unsigned n) { return static_cast<unsigned>(random() % n); };
  char text[96];
  std::snprintf(text, sizeof text, "%04x %08x ", w.pc, w.mask);
  std::string line = text;
  const char* end = one_of(20) == 0 ? " \r\n" : one_of(20) == 0 ? "\n\n" : "\n";  // line ends of other tools
  if (w.pc % 0x30 != 0)
    return line + (w.pc % 0x20 == 0 ? "1 R4 IADD3 2 R5 R255 0 " : "0 BRA 0 0 ") +
           std::to_string(one_of(30) == 0 ? 8 : 7) + end;
  line += "1 R8 LDG.E 1 R4 4 ";
  const unsigned lanes = static_cast<unsigned>(__builtin_popcount(w.mask));
  const unsigned form = one_of(10) == 0 ? 0 : w.mask == 0xf && one_of(2) == 0 ? 1 : 2;
  const std::uint64_t base = one_of(8) == 0 ? one_of(256) : 0x7f4000000000u + random() % (1u << 20);
  const bool twisted = one_of(6) == 0;
  for (unsigned k = 0; k < lanes; ++k) w.addresses.push_back(base + 4 * k + (twisted && k > 1 && form != 1 ? 64 : 0));
  line += std::to_string(form);
  if (form == 0 || lanes == 0) {
    if (form != 0) line += form == 1 ? " 0x10 4" : " 0x10";
    for (const std::uint64_t a : w.addresses)
      line += (std::snprintf(text, sizeof text, " %llx", static_cast<unsigned long long>(a)), text);
  } else {
    line +=
        (std::snprintf(text, sizeof text, one_of(8) == 0 ? " %llX" : " 0x%llx", static_cast<unsigned long long>(base)),
         text);
    if (form == 1) line += " 4";
    for (unsigned k = 1; k < lanes && form == 2; ++k) line += " " + std::to_string(w.addresses[k] - w.addresses[k - 1]);
  }
  return line + " 0" + end;
}

TEST(sass_trace_reader, lines_in_every_order_are_what_was_written) {
  const trace_folder folder;
  std::mt19937 random(7);
  for (unsigned round = 0; round < 60; ++round) {
    std::vector<written_step> written;
    std::string warps;
    for (unsigned w = 0; w < 24; ++w) {
      std::string lines;
      unsigned count = 0;
      for (unsigned turn = 0; turn <= random() % 12; ++turn) {
        for (unsigned k = 0; k < 7; ++k) {
          if (random() % 10 == 0) continue;  // skipped by a jump
          const std::uint32_t masks[] = {0xffffffffu, 0xfu, 0x80000101u, 0u};
          written.push_back({0x10 * k, masks[random() % 8 < 5 ? 0 : random() % 4], {}});
          lines += write_line(random, written.back());
          ++count;
        }
      }
      warps += warp(w, count, lines);
    }
    head h;
    h.block = "(768,1,1)";
    const std::string file = folder.write("k.traceg", h.text() + thread_block("0,0,0", warps));
    trace_reader first(file);
    block_trace b;
    ASSERT_TRUE(first.next_block(b));
    const auto code = first.code()->ordered();
    ASSERT_EQ(b.records.size(), written.size());
    for (std::size_t k = 0; k < written.size(); ++k) {
      ASSERT_EQ(code[b.records[k].instruction]->pc, written[k].pc) << "round " << round << " line " << k;
      ASSERT_EQ(b.records[k].mask, written[k].mask) << "round " << round << " line " << k;
      std::uint64_t a[32] = {};
      b.addresses.expand(b.records[k].addresses, written[k].mask, a);
      std::size_t n = 0;
      if (written[k].addresses.empty()) continue;
      for (const unsigned lane : set_bits(written[k].mask))
        ASSERT_EQ(a[lane], written[k].addresses[n++]) << "round " << round << " line " << k;
    }
  }
}

// A file of several megabytes: lines extend across read buffers.
TEST(sass_trace_reader, lines_across_what_is_read_at_once) {
  const trace_folder folder;
  std::string lines;
  constexpr unsigned turns = 30000;
  for (unsigned k = 0; k < turns; ++k) {
    char text[128];
    std::snprintf(text, sizeof text,
                  "0000 ffffffff 1 R4 IADD3 2 R5 R255 0 7 \n0010 0000000f 1 R8 LDG.E 1 R4 4 2 0x%x 4 4 8 7 \n", k * 16);
    lines += text;
  }
  const block_trace b =
      only_block(folder.write("k.traceg", head().text() + thread_block("0,0,0", warp(0, 2 * turns, lines))));
  ASSERT_EQ(b.records.size(), 2 * turns);
  for (unsigned k = 0; k < turns; ++k) {
    std::uint64_t a[32] = {};
    b.addresses.expand(b.records[2 * k + 1].addresses, 0xf, a);
    ASSERT_EQ(a[0], k * 16u);
    ASSERT_EQ(a[3], k * 16u + 16);
  }
}

}  // namespace sass_trace_reader_test
}  // namespace heddle::sass_trace
