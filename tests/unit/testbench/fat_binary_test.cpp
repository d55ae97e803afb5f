// SPDX-License-Identifier: MIT
// Fat binaries: extracted contents, and messages for invalid ones.
#include "testbench/exec/fat_binary.h"

#include <gtest/gtest.h>
#include <lz4.h>
#include <zstd.h>

#include <cstring>
#include <random>

#include "heddle/config/error.h"

namespace heddle::testbench::fat_binary_test {

enum class packing { none, lz4, zstd };

template <class T>
void put(std::string& to, std::size_t at, T value) {
  std::memcpy(to.data() + at, &value, sizeof value);
}

// One entry in nvcc's layout (docs/use/cuda_programs.md).
std::string entry(bool ptx, unsigned architecture, const std::string& text, packing how = packing::none) {
  std::string payload = text;
  if (how == packing::lz4) {
    payload.resize(static_cast<std::size_t>(LZ4_compressBound(static_cast<int>(text.size()))));
    payload.resize(static_cast<std::size_t>(LZ4_compress_default(
        text.data(), payload.data(), static_cast<int>(text.size()), static_cast<int>(payload.size()))));
  } else if (how == packing::zstd) {
    payload.resize(ZSTD_compressBound(text.size()));
    payload.resize(ZSTD_compress(payload.data(), payload.size(), text.data(), text.size(), 3));
  }
  const auto packed = payload.size();
  payload.resize((packed + 7) / 8 * 8);
  std::string head(64, '\0');
  put<std::uint16_t>(head, 0, ptx ? 1 : 2);
  put<std::uint16_t>(head, 2, 0x101);
  put<std::uint32_t>(head, 4, 64);
  put<std::uint64_t>(head, 8, payload.size());
  put<std::uint32_t>(head, 16, how == packing::none ? 0 : static_cast<std::uint32_t>(packed));
  put<std::uint32_t>(head, 28, architecture);
  put<std::uint64_t>(head, 40, 0x11 | (how == packing::lz4 ? 0x2000 : how == packing::zstd ? 0x8000 : 0));
  put<std::uint64_t>(head, 56, how == packing::none ? 0 : text.size());
  return head + payload;
}

std::string fat_binary(const std::string& entries) {
  std::string head(16, '\0');
  put<std::uint32_t>(head, 0, 0xba55ed50);
  put<std::uint16_t>(head, 4, 1);
  put<std::uint16_t>(head, 6, 16);
  put<std::uint64_t>(head, 8, entries.size());
  return head + entries;
}

std::vector<fat_binary_entry> read(const std::string& bytes) {
  return read_fat_binary(reinterpret_cast<const std::uint8_t*>(bytes.data()), bytes.size());
}

std::string refusal(const std::string& bytes) {
  try {
    read(bytes);
    return "";
  } catch (const input_error& e) {
    return e.what();
  }
}

const std::string ptx =
    ".version 8.0\n.target sm_75\n.address_size 64\n// " + std::string(500, 'x') + "\n.visible .entry k() { ret; }\n";

TEST(fat_binary, gives_its_ptx_however_it_is_packed) {
  for (const packing how : {packing::none, packing::lz4, packing::zstd}) {
    const auto all = read(fat_binary(entry(false, 80, std::string(100, '\1')) + entry(true, 75, ptx, how)));
    ASSERT_EQ(2u, all.size());
    EXPECT_FALSE(all[0].is_ptx);
    EXPECT_TRUE(all[1].is_ptx);
    EXPECT_EQ(75u, all[1].architecture);
    EXPECT_EQ(ptx, all[1].text);
  }
}

TEST(fat_binary, gives_a_chip_the_newest_ptx_that_it_runs) {
  const auto all = read(fat_binary(entry(true, 75, "a") + entry(true, 90, "c") + entry(true, 80, "b")));
  EXPECT_EQ("b", choose_ptx(all, 86).text);
  EXPECT_EQ("c", choose_ptx(all, 100).text);
  EXPECT_EQ("c", choose_ptx(all, 61).text);  // no suitable one
}

TEST(fat_binary, gives_a_chip_no_ptx_of_another_chip_alone) {
  const std::string hopper = ".version 9.0\n.target sm_90a\n", family = ".version 9.0\n.target sm_100f, debug\n";
  const auto all = read(
      fat_binary(entry(true, 80, "b") + entry(true, 90, hopper) + entry(true, 90, "c") + entry(true, 100, family)));
  EXPECT_EQ(hopper, choose_ptx(all, 90).text);
  EXPECT_EQ(family, choose_ptx(all, 100).text);
  EXPECT_EQ(family, choose_ptx(all, 103).text);
  EXPECT_EQ("b", choose_ptx(all, 89).text);
  EXPECT_EQ("c", choose_ptx(all, 120).text);
  EXPECT_EQ("90a", ptx_target(all[1]));
  EXPECT_EQ("100f", ptx_target(all[3]));
  EXPECT_EQ("80", ptx_target(all[0]));
  EXPECT_FALSE(runs_ptx(all[1], 100));
}

TEST(fat_binary, without_ptx_names_the_option_that_keeps_it) {
  const auto all = read(fat_binary(entry(false, 86, "machine code")));
  try {
    choose_ptx(all, 86);
    FAIL();
  } catch (const input_error& e) {
    EXPECT_NE(std::string::npos, std::string(e.what()).find("nvcc -gencode arch=compute_86,code=compute_86"))
        << e.what();
  }
}

TEST(fat_binary, that_is_bad_is_refused_with_what_is_wrong) {
  const std::string good = fat_binary(entry(true, 75, ptx, packing::zstd));
  EXPECT_EQ("the fat binary does not begin as one", refusal("nothing of the kind"));
  EXPECT_NE(std::string::npos, refusal(good.substr(0, good.size() - 8)).find("is cut after"));
  std::string bad = good;
  put<std::uint64_t>(bad, 16 + 8, 1u << 20);
  EXPECT_NE(std::string::npos, refusal(bad).find("ends before that"));
  bad = good;
  put<std::uint64_t>(bad, 16 + 56, 7);
  EXPECT_NE(std::string::npos, refusal(bad).find("zstd cannot unpack"));
  bad = good;
  put<std::uint64_t>(bad, 16 + 56, std::uint64_t{1} << 50);
  EXPECT_NE(std::string::npos, refusal(bad).find("expected at most"));
  put<std::uint64_t>(bad, 16 + 56, std::uint64_t{1} << 27);
  EXPECT_NE(std::string::npos, refusal(bad).find("has PTX of 134217728 bytes in "));
  bad = good;
  put<std::uint32_t>(bad, 16 + 4, 8);
  EXPECT_NE(std::string::npos, refusal(bad).find("a head of 8 bytes"));
}

TEST(fat_binary, of_any_bytes_is_read_or_refused) {
  std::mt19937 random(1);
  const std::string good[] = {fat_binary(entry(true, 75, ptx, packing::zstd) + entry(true, 80, ptx, packing::lz4)),
                              fat_binary(entry(true, 75, ptx))};
  unsigned refused = 0;
  for (unsigned k = 0; k < 20000; ++k) {
    std::string bytes = good[k % 2];
    for (unsigned n = random() % 4; n-- > 0;)
      bytes[random() % std::min<std::size_t>(bytes.size(), k % 3 == 0 ? 96 : bytes.size())] =
          static_cast<char>(random());
    if (random() % 4 == 0) bytes.resize(random() % bytes.size());
    refused += !refusal(bytes).empty();
  }
  EXPECT_GT(refused, 5000u);
}

}  // namespace heddle::testbench::fat_binary_test
