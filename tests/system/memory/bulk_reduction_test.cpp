// SPDX-License-Identifier: MIT
// Bulk reductions into the shared memory of other blocks of a cluster, and stores of boxes of tensors in im2col mode:
// bulk_reduction.cu, against references on the host.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>
#include <vector>

#include "heddle/isa/tensor_map.h"
#include "tests/system/common/json_text.h"
#include "tests/system/common/ptx_run.h"

namespace bulk_reduction_test {

using json = nlohmann::ordered_json;
using ptx_runs::outcome;
using words = std::vector<std::uint32_t>;

std::string bytes_of(const words& w) {
  return {reinterpret_cast<const char*>(w.data()), w.size() * sizeof(std::uint32_t)};
}

json job_of(json launch) {
  json job;
  job["module"] = HEDDLE_SOURCE "/tests/system/memory/bulk_reduction.ptx";
  job["launches"].push_back(std::move(launch));
  return job;
}

using operation = std::uint32_t (*)(std::uint32_t, std::uint32_t);
struct reduction {
  const char* name;
  operation combine;  // null: add.u64
};
constexpr reduction reductions[] = {
    {"add.u32", [](std::uint32_t a, std::uint32_t b) { return a + b; }},
    {"min.s32", [](std::uint32_t a,
                   std::uint32_t b) { return static_cast<std::int32_t>(a) < static_cast<std::int32_t>(b) ? a : b; }},
    {"max.u32", [](std::uint32_t a, std::uint32_t b) { return std::max(a, b); }},
    {"and.b32", [](std::uint32_t a, std::uint32_t b) { return a & b; }},
    {"or.b32", [](std::uint32_t a, std::uint32_t b) { return a | b; }},
    {"xor.b32", [](std::uint32_t a, std::uint32_t b) { return a ^ b; }},
    {"add.u64", nullptr},
    {"inc.u32", [](std::uint32_t a, std::uint32_t b) { return a >= b ? 0 : a + 1; }},
    {"dec.u32", [](std::uint32_t a, std::uint32_t b) { return a == 0 || a > b ? b : a - 1; }},
    {"min.u32", [](std::uint32_t a, std::uint32_t b) { return std::min(a, b); }},
    {"add.s32", [](std::uint32_t a, std::uint32_t b) { return a + b; }},
};
constexpr unsigned operations = sizeof reductions / sizeof reductions[0], ranks = 4, blocks = 8;

std::uint64_t pair_at(const words& w, std::size_t k) { return w[k] | std::uint64_t{w[k + 1]} << 32; }

words reference(const words& in, unsigned per_block, unsigned which) {
  const std::size_t all = std::size_t{blocks} * per_block;
  words out(in.begin() + static_cast<std::ptrdiff_t>(all), in.end());
  for (unsigned b = 0; b < blocks; ++b)
    for (unsigned from = b / ranks * ranks; from < b / ranks * ranks + ranks; ++from)
      for (unsigned k = 0; k < per_block; ++k) {
        std::uint32_t& word = out[b * per_block + k];
        if (reductions[which].combine != nullptr) {
          word = reductions[which].combine(word, in[from * per_block + k]);
        } else if (k % 2 == 0) {
          const std::uint64_t sum = pair_at(out, b * per_block + k) + pair_at(in, from * per_block + k);
          word = static_cast<std::uint32_t>(sum);
          out[b * per_block + k + 1] = static_cast<std::uint32_t>(sum >> 32);
        }
      }
  return out;
}

outcome reduce(const words& in, unsigned per_block, unsigned which, const std::string& options) {
  json job = job_of({{"kernel", "reduce_all"},
                     {"grid", {blocks}},
                     {"block", {128}},
                     {"shared_bytes", 8 * per_block},
                     {"args", {{{"buffer", "in"}}, {{"u32", per_block}}, {{"u32", which}}, {{"buffer", "out"}}}}});
  job["buffers"] = {{"in", {{"file", "in.bin"}}}, {"out", {{"bytes", 4 * blocks * per_block}}}};
  job["outputs"] = {{{"buffer", "out"}, {"file", "o.bin"}}};
  return ptx_runs::run_job({{"in.bin", bytes_of(in)}, {"job.json", job.dump()}}, "--gpu h100 " + options);
}

// All blocks of a cluster reduce into all of them at the same time, with all operations and types.
TEST(bulk_reduction, into_shared_memory_of_a_cluster) {
  for (unsigned which = 0; which < operations; ++which) {
    const unsigned per_block = which % 2 == 0 ? 4 : 516;
    words in(2 * blocks * per_block);
    for (std::size_t k = 0; k < in.size(); ++k) in[k] = static_cast<std::uint32_t>(k * 2654435761u + 12345);
    // The result of inc and dec depends on the order, unless all give the same.
    for (std::size_t k = 0; which >= 7 && which <= 8 && k < in.size() / 2; ++k) in[k] = in[k % per_block];
    for (const char* options : {"", "--threads 3"}) {
      const outcome o = reduce(in, per_block, which, options);
      ASSERT_EQ(o.code, 0) << reductions[which].name << "\n" << o.err;
      EXPECT_TRUE(o.words == reference(in, per_block, which)) << reductions[which].name;
    }
  }
}

TEST(bulk_reduction, is_no_race) {
  const words in(2 * blocks * 16, 3);
  const outcome o = reduce(in, 16, 0, "--sanitize");
  EXPECT_EQ(o.code, 0) << o.err;
  EXPECT_TRUE(o.words == reference(in, 16, 0));
}

// A picture of 3 x 5 x 7 pixels of 16 channels, and boxes of 12 pixels of 8 channels, between corners that move the
// first and the last pixel of each row.
constexpr unsigned channels = 16, width = 7, height = 5, pictures = 3, box_channels = 8, box_pixels = 12, boxes = 6;
constexpr int places[boxes][4] = {{0, 0, 0, 0}, {8, 3, 1, 0}, {0, 6, 4, 0}, {8, 1, 4, 2}, {0, 2, 3, 1}, {12, 5, 2, 2}};

heddle::isa::tensor_map map_of(int lower, int upper) {
  heddle::isa::tensor_map m;
  m.type = heddle::isa::tensor_type::u32;
  m.rank = 4;
  m.strides = {4 * channels, 4 * channels * width, 4 * channels * width * height, 0};
  m.last = {channels - 1, width - 1, height - 1, pictures - 1, 0};
  m.is_im2col = 1;
  m.lower = {static_cast<std::int16_t>(lower), static_cast<std::int16_t>(lower), 0};
  m.upper = {static_cast<std::int16_t>(upper), static_cast<std::int16_t>(upper), 0};
  m.channels = box_channels;
  m.pixels = box_pixels;
  return m;
}

words stored(words picture, const words& in, int lower, int upper, bool adds) {
  for (unsigned b = 0; b < boxes; ++b) {
    int w = places[b][1], h = places[b][2], n = places[b][3];
    for (unsigned p = 0; p < box_pixels; ++p) {
      for (unsigned c = 0; c < box_channels; ++c) {
        const int channel = places[b][0] + static_cast<int>(c);
        const bool inside = channel < static_cast<int>(channels) && w >= 0 && w < static_cast<int>(width) && h >= 0 &&
                            h < static_cast<int>(height) && n < static_cast<int>(pictures);
        if (!inside) continue;
        std::uint32_t& to = picture[static_cast<std::size_t>(
            ((n * static_cast<int>(height) + h) * static_cast<int>(width) + w) * static_cast<int>(channels) + channel)];
        const std::uint32_t word = in[(b * box_pixels + p) * box_channels + c];
        to = adds ? to + word : word;
      }
      if (++w < static_cast<int>(width) + upper) continue;
      w = lower;
      if (++h < static_cast<int>(height) + upper) continue;
      h = lower;
      ++n;
    }
  }
  return picture;
}

void expect_stored(int lower, int upper, bool adds) {
  words picture(channels * width * height * pictures), in(boxes * box_pixels * box_channels), at;
  for (std::size_t k = 0; k < picture.size(); ++k) picture[k] = static_cast<std::uint32_t>(k * 40503u);
  for (std::size_t k = 0; k < in.size(); ++k) in[k] = static_cast<std::uint32_t>(k * 2654435761u + 1);
  for (const auto& place : places)
    for (const int x : place) at.push_back(static_cast<std::uint32_t>(x));
  const heddle::isa::tensor_map map = map_of(lower, upper);
  const unsigned per_box = box_pixels * box_channels;
  // One box after another, since they overlap.
  json job;
  for (unsigned b = 0; b < boxes; ++b) {
    json launch = {{"kernel", "store_pixels"},
                   {"grid", {1}},
                   {"block", {64}},
                   {"shared_bytes", 4 * per_box},
                   {"args",
                    {{{"buffer", "map"}},
                     {{"buffer", "at"}, {"offset", 16 * b}},
                     {{"u32", per_box}},
                     {{"u32", adds ? 1 : 0}},
                     {{"buffer", "in"}, {"offset", 4 * per_box * b}}}}};
    if (b == 0) job = job_of(launch);
    else job["launches"].push_back(launch);
  }
  job["buffers"]["picture"] = {{"file", "picture.bin"}};
  job["buffers"]["map"] = {{"file", "map.bin"},
                           {"pointers", {{{"at", offsetof(heddle::isa::tensor_map, address)}, {"to", "picture"}}}}};
  job["buffers"]["at"] = {{"file", "at.bin"}};
  job["buffers"]["in"] = {{"file", "in.bin"}};
  job["outputs"] = {{{"buffer", "picture"}, {"file", "o.bin"}}};
  const outcome o = ptx_runs::run_job({{"picture.bin", bytes_of(picture)},
                                       {"at.bin", bytes_of(at)},
                                       {"in.bin", bytes_of(in)},
                                       {"map.bin", {reinterpret_cast<const char*>(&map), sizeof map}},
                                       {"job.json", job.dump()}},
                                      "--gpu h100");
  ASSERT_EQ(o.code, 0) << o.err;
  EXPECT_TRUE(o.words == stored(picture, in, lower, upper, adds)) << lower << " " << upper << " " << adds;
}

TEST(bulk_reduction, stores_boxes_in_im2col_mode) {
  for (const bool adds : {false, true}) {
    expect_stored(0, 0, adds);
    expect_stored(-1, -1, adds);
    expect_stored(0, -2, adds);
  }
}

}  // namespace bulk_reduction_test
