// SPDX-License-Identifier: MIT
#include "heddle/simt/warp/print_format.h"

#include <gtest/gtest.h>

#include <cstring>

#include "heddle/config/error.h"
#include "heddle/gpu/host/runtime/device_heap.h"

namespace heddle {
namespace print_format_test {

/// Memory from address 4096 on, for formats, strings and arguments.
class memory {
 public:
  std::uint64_t put(const void* data, std::size_t bytes, std::size_t align) {
    bytes_.resize((bytes_.size() + align - 1) / align * align);
    const std::size_t at = bytes_.size();
    bytes_.resize(at + bytes);
    std::memcpy(bytes_.data() + at, data, bytes);
    return 4096 + at;
  }
  std::uint64_t put(const std::string& s) { return put(s.c_str(), s.size() + 1, 1); }
  [[nodiscard]] simt::lane_reader reader() const {
    return [this](std::uint64_t address, void* data, unsigned bytes) {
      if (address < 4096 || address - 4096 + bytes > bytes_.size()) throw program_error("outside");
      std::memcpy(data, bytes_.data() + (address - 4096), bytes);
    };
  }

 private:
  std::vector<std::uint8_t> bytes_;
};

template <class... T>
simt::printed_text print(const std::string& format, T... arguments) {
  memory m;
  const std::uint64_t f = m.put(format);
  std::vector<std::uint64_t> ready;
  [[maybe_unused]] const auto prepare = [&](auto a) {
    if constexpr (std::is_same_v<decltype(a), const char*>) ready.push_back(m.put(a));
    else ready.push_back(0);
  };
  (prepare(arguments), ...);
  std::uint64_t base = 16;
  m.put(&base, 8, 16);  // arguments start aligned
  std::uint64_t first = 0;
  std::size_t k = 0;
  [[maybe_unused]] const auto add = [&](auto a) {
    std::uint64_t at;
    if constexpr (std::is_same_v<decltype(a), const char*>) at = m.put(&ready[k], 8, 8);
    else at = m.put(&a, sizeof a, sizeof a);
    if (first == 0) first = at / 8 * 8;
    ++k;
  };
  (add(arguments), ...);
  return simt::format_print(m.reader(), f, first);
}

TEST(format_print, converts_as_c_does) {
  EXPECT_EQ(print("%d %i %u", -5, 7, 3000000000u).text, "-5 7 3000000000");
  EXPECT_EQ(print("%x|%X|%#o|%08x|%-6d|%+d", 255, 255, 8, 0xabc, 42, 3).text, "ff|FF|010|00000abc|42    |+3");
  EXPECT_EQ(print("%lld %lu %llx", std::int64_t{-1}, std::uint64_t{1} << 40, ~std::uint64_t{0}).text,
            "-1 1099511627776 ffffffffffffffff");
  EXPECT_EQ(print("%hd %hhu", 65537, 257).text, "1 1");
  EXPECT_EQ(print("%f %.3e %g %G %a", 1.5, 12345.678, 0.0001, 1e20, 1.0).text,
            "1.500000 1.235e+04 0.0001 1E+20 0x1p+0");
  EXPECT_EQ(print("%c%c%%", 97, 98).text, "ab%");
  EXPECT_EQ(print("[%6s][%-6s][%.2s]", "abc", "abc", "abc").text, "[   abc][abc   ][ab]");
  EXPECT_EQ(print("%*d|%-*d|%.*f", 5, 42, 4, 7, 2, 3.14159).text, "   42|7   |3.14");
  EXPECT_EQ(print("%p %p", std::uint64_t{0x1000}, std::uint64_t{0}).text, "0x1000 (nil)");
  EXPECT_EQ(print("%d %f %d", 1, 2.5, 3).text, "1 2.500000 3");
}

TEST(format_print, counts_arguments) {
  EXPECT_EQ(print("none\n").arguments, 0);
  EXPECT_EQ(print("%d%s%f", 1, "x", 1.0).arguments, 3);
  EXPECT_EQ(simt::format_print(memory().reader(), 0, 0).arguments, -1);
}

TEST(format_print, leaves_what_it_does_not_know) {
  EXPECT_EQ(print("100%").text, "100%");
  EXPECT_EQ(print("%y %5k").text, "%y %5k");
}

TEST(format_print, refuses_what_would_not_end) {
  EXPECT_THROW(print("%99999999999d", 1), program_error);
  EXPECT_THROW(print("%*d", 100000, 1), program_error);
  EXPECT_THROW(print("%d %d %d %d %d %d", 1), program_error);
  memory m;
  const std::string endless(70000, 'x');
  const auto f = m.put(endless.data(), endless.size(), 1);
  EXPECT_THROW(simt::format_print(m.reader(), f, 0), program_error);
}

TEST(heap_blocks, join_what_is_freed) {
  device_heap h;
  EXPECT_EQ(h.allocate(16), 0u);
  h.place(0x1000, 64);
  const auto a = h.allocate(1), b = h.allocate(17), c = h.allocate(16);
  EXPECT_EQ(a, 0x1000u);
  EXPECT_EQ(b, 0x1010u);
  EXPECT_EQ(c, 0x1030u);
  EXPECT_EQ(h.allocate(1), 0u);
  EXPECT_FALSE(h.free(0x1018));
  EXPECT_TRUE(h.free(a));
  EXPECT_FALSE(h.free(a));
  EXPECT_TRUE(h.free(c));
  EXPECT_EQ(h.allocate(32), 0u);
  EXPECT_TRUE(h.free(b));
  EXPECT_EQ(h.allocate(64), 0x1000u);
  EXPECT_EQ(h.allocate(0), 0u);
  EXPECT_EQ(h.allocate(~std::uint64_t{0}), 0u);
}

}  // namespace print_format_test
}  // namespace heddle
