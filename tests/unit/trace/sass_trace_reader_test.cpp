// SPDX-License-Identifier: MIT
#include <gtest/gtest.h>
#include <lzma.h>
#include <zlib.h>
#include <zstd.h>

#include <cstdio>
#include <random>
#include <sstream>
#include <vector>

#include "heddle/frontend/sass_trace/read/kernels_list.h"
#include "heddle/frontend/sass_trace/read/trace_reader.h"
#include "sass_trace_files.h"

namespace heddle::sass_trace {
namespace sass_trace_reader_test {

using namespace sass_trace_test;

// Three instructions in each version's format: an addition, a load of lanes 0 to 3, the end.
std::string lines_of(const std::string& version) {
  const std::string front = version == "1.2" || version == "2" ? "0 0 0 0 " : "";
  const std::string back = version == "5" ? "7 " : version == "5 hopper" ? "7 0 " : version == "6" ? "7 -1 NoVal " : "";
  const std::string loaded = version == "6" ? "0 0 Val 1 3f800000 2 0 -1 " : back;
  return front + "0000 ffffffff 1 R4 IADD3 2 R5 R255 0 " + back + "\n" + front +
         "0010 0000000f 1 R8 LDG.E.64 1 R4 8 1 0x7f4000000100 8 " + loaded + "\n" + front +
         "0020 ffffffff 0 EXIT 0 0 " + back + "\n";
}

block_trace only_block(const std::string& file) {
  trace_reader r(file);
  block_trace b, none;
  EXPECT_TRUE(r.next_block(b));
  EXPECT_FALSE(r.next_block(none));
  return b;
}

std::string text_of_version(const std::string& version) {
  const std::string extra = version == "5 hopper" ? "cluster id = 0,0,0\ncluster cta = 0,0,0\ncluster rank = 0\n" : "";
  return head_of_version(version).text() + thread_block("0,0,0", extra + warp(0, 3, lines_of(version)));
}

void expect_the_three(const block_trace& b) {
  ASSERT_EQ(b.warps.size(), 1u);
  ASSERT_EQ(b.steps.size(), 3u);
  EXPECT_EQ(b.steps[0].mask, 0xffffffffu);
  EXPECT_EQ(b.steps[1].mask, 0xfu);
  EXPECT_EQ(b.steps[2].instruction, 2u);
  std::uint64_t a[32] = {};
  b.addresses.expand(b.steps[1].addresses, b.steps[1].mask, a);
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
  ASSERT_EQ(b.steps.size(), 7u);
  const auto lane = [&](unsigned step, unsigned l) {
    std::uint64_t a[32] = {};
    b.addresses.expand(b.steps[step].addresses, b.steps[step].mask, a);
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

TEST(sass_trace_reader, address_list_keeps_what_it_is_given) {
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
  ASSERT_EQ(b.steps.size(), 2u);
  EXPECT_EQ(b.steps[1].mask, 1u);
}

struct bad_text {
  const char* what;
  std::string text;
  const char* message;  // part of the message
};

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
    ASSERT_EQ(b.steps.size(), written.size());
    for (std::size_t k = 0; k < written.size(); ++k) {
      ASSERT_EQ(code[b.steps[k].instruction]->pc, written[k].pc) << "round " << round << " line " << k;
      ASSERT_EQ(b.steps[k].mask, written[k].mask) << "round " << round << " line " << k;
      std::uint64_t a[32] = {};
      b.addresses.expand(b.steps[k].addresses, written[k].mask, a);
      std::size_t n = 0;
      for (std::uint32_t m = written[k].mask; m != 0 && !written[k].addresses.empty(); m &= m - 1)
        ASSERT_EQ(a[__builtin_ctz(m)], written[k].addresses[n++]) << "round " << round << " line " << k;
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
  ASSERT_EQ(b.steps.size(), 2 * turns);
  for (unsigned k = 0; k < turns; ++k) {
    std::uint64_t a[32] = {};
    b.addresses.expand(b.steps[2 * k + 1].addresses, 0xf, a);
    ASSERT_EQ(a[0], k * 16u);
    ASSERT_EQ(a[3], k * 16u + 16);
  }
}

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
      {"future", edited("tracer version = 5", "tracer version = 7"), "tracer version '7' is not known"},
      {"version word", edited("tracer version = 5", "tracer version = five"), "'five' is not known"},
      {"version against format", edited("tracer version = 5", "tracer version = 4"),
       "does not write lines of this format"},
      {"chip", edited("binary version = 80", "binary version = 20"), "binary version 20 is not known"},
      {"grid", edited("(1,1,1)", "(0,1,1)"), "expected (X,Y,Z)"},
      {"format", edited("#traces format", "#trace format"), "expected '#traces format = ...'"},
      {"block", edited("(32,1,1)", "(32,64,1)"), "more than 1024 threads"},
      {"version 4.5", edited("tracer version = 5", "tracer version = 4.5"), "tracer version '4.5' is not known"},
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

// Blocks of a three-dimensional grid are identified in any order; the last one is a duplicate.
TEST(sass_trace_reader, a_block_comes_once) {
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
  EXPECT_EQ(commands[2].line, 6u);
}

TEST(sass_trace_reader, kernels_list_refusals) {
  const trace_folder folder;
  folder.write("kernel-1.trace", "");
  folder.write("kernel-1.tracez", "");
  for (const auto& [text, message] :
       std::vector<std::pair<std::string, std::string>>{{"", ":1:1: the list names no kernel"},
                                                        {"MemcpyHtoD,0x10,4\n", "the list names no kernel"},
                                                        {"\nkernel-9.traceg\n", ":2:1: the trace '"},
                                                        {"kernel-1.trace\n", "is no trace that is read"},
                                                        {"kernel-1.tracez\n", "is no trace that is read"},
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

}  // namespace sass_trace_reader_test
}  // namespace heddle::sass_trace
