// SPDX-License-Identifier: MIT
// Bulk copies of tensors' boxes against the CPU: tensor_copy.cu.
#include <gtest/gtest.h>

#include <array>
#include <cstdint>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <random>
#include <string>
#include <vector>

#include "tests/system/common/json_text.h"
#include "tests/system/common/program_run.h"
#include "tests/system/common/text_file.h"

namespace tensor_copy_test {

namespace fs = std::filesystem;
using bytes = std::vector<std::uint8_t>;
using json = nlohmann::json;
using place = std::array<int, 5>;

/// A tensor and its boxes, as in a job file.
struct tensor {
  unsigned element = 4;
  std::string type = "u32";
  std::vector<unsigned> size, box, steps;
  std::vector<std::uint64_t> strides;
  unsigned swizzle = 0;  // bytes
  bool nan = false;

  [[nodiscard]] unsigned count(unsigned d) const {  // elements of a box
    return d == 0 || steps.empty() ? box[d] : (box[d] + steps[d] - 1) / steps[d];
  }
  [[nodiscard]] unsigned box_bytes() const {
    unsigned n = element;
    for (unsigned d = 0; d < box.size(); ++d) n *= count(d);
    return n;
  }
  [[nodiscard]] json map() const {
    json m = {{"buffer", "tensor"}, {"type", type}, {"size", size}, {"box", box}, {"strides", strides}};
    if (!steps.empty()) m["element_strides"] = steps;
    if (swizzle != 0) m["swizzle"] = std::to_string(swizzle) + "B";
    if (nan) m["fill"] = "nan";
    return m;
  }
  /// Calls f(byte of the box in shared memory, byte of the tensor or -1) for each byte of the box at `at`.
  template <class F>
  void each_byte(const place& at, F&& f) const {
    const unsigned mask = swizzle == 128 ? 7 : swizzle == 64 ? 3 : swizzle == 32 ? 1 : 0;
    for (unsigned k = 0; k < box_bytes(); ++k) {
      unsigned index = k / element;
      std::int64_t from = 0;
      bool inside = true;
      for (unsigned d = 0; d < box.size(); ++d) {
        const std::int64_t x = at[d] + std::int64_t{index % count(d)} * (d == 0 || steps.empty() ? 1 : steps[d]);
        index /= count(d);
        inside = inside && x >= 0 && x < size[d];
        from += x * static_cast<std::int64_t>(d == 0 ? element : strides[d - 1]);
      }
      f(k ^ (k >> 7 & mask) << 4, inside ? from + k % element : -1);
    }
  }
};

class tensor_copy : public ::testing::Test {
 protected:
  void SetUp() override {
    const auto& test = *::testing::UnitTest::GetInstance()->current_test_info();
    place_ = fs::path(HEDDLE_SCRATCH "/tensor_copy") / test.name();
    fs::create_directories(place_);
    for (unsigned k = 0; k < 1u << 16; ++k) content_.push_back(static_cast<std::uint8_t>(k * 167 + k / 251));
    write("tensor.bin", content_);
  }
  void write(const char* file, const bytes& b) const {
    std::ofstream(place_ / file, std::ios::binary)
        .write(reinterpret_cast<const char*>(b.data()), static_cast<std::streamsize>(b.size()));
  }
  [[nodiscard]] bytes read(const char* file) const {
    const std::string text = heddle::test::content(place_ / file);
    return {text.begin(), text.end()};
  }

  /// Runs a kernel on boxes at `at`. `in`: what stores write, or empty. `more`: arguments after the usual ones.
  heddle::test::outcome run(const std::string& kernel, const tensor& t, const std::vector<place>& at, const bytes& in,
                            const json& map = {}, const json& more = json::array(),
                            const std::string& module = HEDDLE_SOURCE "/tests/system/memory/tensor_copy.ptx") const {
    bytes places(at.size() * sizeof(place));
    std::memcpy(places.data(), at.data(), places.size());
    write("at.bin", places);
    const std::size_t moved = at.size() * t.box_bytes();
    write("in.bin", in.empty() ? bytes(moved) : in);
    const json first = map.is_null() ? json{{"tensor_map", t.map()}} : map;
    json arguments = {first, {{"buffer", "at"}}, {{"u32", t.box_bytes()}}, {{"buffer", "box"}}};
    arguments.insert(arguments.end(), more.begin(), more.end());
    const json job = {
        {"module", module},
        {"buffers",
         {{"tensor", {{"file", "tensor.bin"}}}, {"at", {{"file", "at.bin"}}}, {"box", {{"file", "in.bin"}}}}},
        {"launches",
         {{{"kernel", kernel},
           {"grid", {at.size()}},
           {"block", {64}},
           {"shared_bytes", t.box_bytes()},
           {"args", arguments}}}},
        {"outputs", {{{"buffer", "box"}, {"file", "box.bin"}}, {{"buffer", "tensor"}, {"file", "tensor.out.bin"}}}}};
    std::ofstream(place_ / "job.json") << job;
    return heddle::test::run_program({HEDDLE_PROGRAM, "run", "job.json", "--gpu", "h100", "--quiet"}, {place_});
  }

  void check_loads(const std::string& kernel, const tensor& t, const std::vector<place>& at, const json& map = {},
                   const json& more = json::array(),
                   const std::string& module = HEDDLE_SOURCE "/tests/system/memory/tensor_copy.ptx") {
    bytes expected(at.size() * t.box_bytes());
    const std::uint32_t nan = t.element == 2 ? 0x7fff7fff : 0x7fffffff;
    for (std::size_t b = 0; b < at.size(); ++b)
      t.each_byte(at[b], [&](unsigned to, std::int64_t from) {
        const std::uint8_t outside = t.nan ? static_cast<std::uint8_t>(nan >> to % 4 * 8) : 0;
        expected[b * t.box_bytes() + to] = from < 0 ? outside : content_[static_cast<std::size_t>(from)];
      });
    const auto o = run(kernel, t, at, {}, map, more, module);
    ASSERT_EQ(o.code, 0) << o.err << t.map();
    EXPECT_EQ(read("box.bin"), expected) << t.map();
  }

  fs::path place_;
  bytes content_;
};

TEST_F(tensor_copy, loads_boxes_of_one_to_five_dimensions) {
  check_loads("load_1", {4, "u32", {1000}, {64}, {}, {}}, {{0}, {17}, {-5}, {990}, {2000}});
  check_loads("load_2", {4, "f32", {40, 30}, {16, 8}, {}, {160}}, {{0, 0}, {3, 5}, {-4, -2}, {35, 28}, {0, 100}});
  check_loads("load_3", {2, "f16", {24, 10, 9}, {8, 4, 3}, {}, {48, 640}}, {{0, 0, 0}, {5, 7, 8}, {-3, -1, 2}});
  check_loads("load_4", {1, "u8", {32, 6, 5, 4}, {16, 3, 2, 2}, {}, {32, 192, 960}}, {{0, 0, 0, 0}, {20, 4, -1, 3}});
  check_loads("load_5", {8, "u64", {4, 3, 3, 3, 3}, {2, 2, 2, 2, 2}, {}, {32, 96, 288, 864}},
              {{0, 0, 0, 0, 0}, {3, 2, 1, 2, 2}, {-1, -1, -1, -1, -1}});
}

TEST_F(tensor_copy, swizzles_fills_and_steps) {
  for (const unsigned span : {32u, 64u, 128u})
    check_loads("load_2", {2, "bf16", {64, 100}, {span / 2, 32}, {}, {128}, span}, {{0, 0}, {8, 16}, {48, 90}});
  check_loads("load_2", {2, "f16", {64, 20}, {32, 8}, {}, {128}, 0, true}, {{40, 15}, {-3, -3}});
  check_loads("load_2", {4, "f32", {30, 20}, {8, 8}, {}, {128}, 0, true}, {{25, 15}, {-3, -3}});
  check_loads("load_3", {4, "s32", {16, 12, 12}, {8, 7, 5}, {1, 2, 3}, {64, 768}}, {{0, 0, 0}, {5, 4, 6}});
}

// Each block changes another tensor's map.
TEST_F(tensor_copy, uses_maps_that_the_kernel_has_changed) {
  const tensor other{2, "f16", {64, 20, 3}, {8, 8, 1}, {}, {128, 2560}};
  check_loads("replaced", {4, "f32", {40, 30}, {16, 8}, {1, 1}, {160}, 64, true}, {{0, 0}, {30, 25}, {-3, -3}, {17, 4}},
              {{"tensor_map", other.map()}}, {{{"buffer", "tensor"}}});
}

// As Triton's descriptors: all fields of cleared bytes are set. Below PTX 8.5 a stride is in units of 16 bytes.
TEST_F(tensor_copy, uses_maps_that_the_kernel_has_made) {
  const tensor made{4, "f32", {40, 30}, {16, 8}, {1, 1}, {160}, 64, true};
  const std::vector<place> at{{0, 0}, {30, 25}, {-3, -3}, {17, 4}};
  const json cleared = {{"bytes_hex", std::string(256, '0')}}, more = {{{"buffer", "tensor"}}};
  check_loads("replaced", made, at, cleared, more);
  std::string text = heddle::test::content(HEDDLE_SOURCE "/tests/system/memory/tensor_copy.ptx");
  const auto replace = [&](const std::string& from, const std::string& to) {
    ASSERT_NE(text.find(from), std::string::npos) << from;
    text.replace(text.find(from), from.size(), to);
  };
  replace(".version 9.0", ".version 8.4");
  replace(", 160;", ", 10;");
  std::ofstream(place_ / "older.ptx") << text;
  check_loads("replaced", made, at, cleared, more, "older.ptx");
}

TEST_F(tensor_copy, random_boxes_are_those_of_the_cpu) {
  std::mt19937_64 random(11);
  const auto any = [&](unsigned least, unsigned most) {
    return least + static_cast<unsigned>(random() % (most - least + 1));
  };
  for (unsigned trial = 0; trial < 24; ++trial) {
    const unsigned rank = any(1, 5);
    constexpr const char* names[] = {"u8", "u16", "f32", "s64"};
    const unsigned kind = any(0, 3);
    tensor t;
    t.element = 1u << kind;
    t.type = names[kind];
    std::uint64_t stride = 0;
    for (unsigned d = 0; d < rank; ++d) {
      t.size.push_back(d == 0 ? any(1, 200 / t.element) : any(1, rank > 3 ? 4 : 12));
      t.box.push_back(d == 0 ? 16 / t.element * any(1, 4) : any(1, rank > 3 ? 3 : 9));
      t.steps.push_back(d == 0 ? 1 : any(1, 3));
      if (d > 0) t.strides.push_back(stride);
      stride = (d == 0 ? (t.size[0] * t.element + 15) / 16 * 16 : stride * t.size[d]) + 16 * any(0, 1);
    }
    constexpr unsigned spans[] = {0, 32, 64, 128};
    t.swizzle = spans[any(0, 3)];
    // Chunks move within 128 bytes.
    if (t.box[0] * t.element > t.swizzle || t.box_bytes() % 128 != 0) t.swizzle = 0;
    std::vector<place> at(4);
    for (place& p : at)
      for (unsigned d = 0; d < rank; ++d) p[d] = static_cast<int>(any(0, t.size[d] + 4)) - 3;
    check_loads("load_" + std::to_string(rank), t, at);
  }
}

TEST_F(tensor_copy, stores_and_adds_what_is_inside) {
  const tensor t{4, "u32", {20, 30}, {8, 16}, {}, {80}, 32};
  const tensor deep{2, "u16", {20, 10, 8}, {16, 4, 2}, {}, {48, 512}};
  for (const auto& [kernel, to] : {std::pair<const char*, tensor>{"store_2", t}, {"add_2", t}, {"store_3", deep}}) {
    // No two boxes meet: which block stores first is not known.
    const int beside = to.size.size() == 2 ? 14 : -3;
    const std::vector<place> at{{0, -3, 0}, {15, 22, 5}, {-2, beside, 7}};
    bytes in(at.size() * to.box_bytes());
    for (std::size_t k = 0; k < in.size(); ++k) in[k] = static_cast<std::uint8_t>(k * 91 + 3);
    bytes expected = content_;
    for (std::size_t b = 0; b < at.size(); ++b)
      for (unsigned byte = 0; byte < to.element; ++byte)
        to.each_byte(at[b], [&](unsigned from, std::int64_t where) {
          if (where < 0 || static_cast<unsigned>(where) % to.element != byte) return;
          if (kernel != std::string("add_2")) {
            expected[static_cast<std::size_t>(where)] = in[b * to.box_bytes() + from];
          } else if (byte == 0) {
            std::uint32_t sum = 0, more = 0;
            std::memcpy(&sum, &expected[static_cast<std::size_t>(where)], 4);
            std::memcpy(&more, &in[b * to.box_bytes() + from], 4);
            sum += more;
            std::memcpy(&expected[static_cast<std::size_t>(where)], &sum, 4);
          }
        });
    const auto o = run(kernel, to, at, in);
    ASSERT_EQ(o.code, 0) << o.err;
    EXPECT_EQ(read("tensor.out.bin"), expected) << kernel;
  }
}

TEST_F(tensor_copy, with_a_wrong_map_or_box_is_refused_or_a_fault) {
  const tensor t{4, "u32", {20, 30}, {8, 16}, {}, {80}};
  const auto wrong_dimensions = run("load_1", t, {{0, 0}}, {});
  EXPECT_EQ(wrong_dimensions.code, 1);
  EXPECT_NE(wrong_dimensions.err.find("has 2 dimensions, the instruction 1"), std::string::npos)
      << wrong_dimensions.err;
  const auto no_map = run("load_2", t, {{0, 0}}, {}, {{"bytes_hex", std::string(256, '0')}});
  EXPECT_EQ(no_map.code, 1);
  EXPECT_NE(no_map.err.find("no tensor map"), std::string::npos) << no_map.err;
  const auto refused = [&](tensor bad, const char* expected) {
    const auto o = run("load_2", bad, {{0, 0}}, {});
    EXPECT_EQ(o.code, 2);
    EXPECT_NE(o.err.find(expected), std::string::npos) << o.err;
  };
  refused({4, "u32", {20, 30}, {8, 16}, {}, {84}}, "expected a multiple of 16");
  refused({4, "u32", {20, 30}, {3, 16}, {}, {80}}, "rows of 12 bytes, expected a multiple of 16");
  refused({4, "u32", {20, 30}, {16, 16}, {}, {80}, 32}, "expected at most the 32 of its swizzle mode");
  refused({4, "u32", {20, 3000}, {8, 16}, {}, {80}}, "buffer 'tensor' has 65536");
}

}  // namespace tensor_copy_test
