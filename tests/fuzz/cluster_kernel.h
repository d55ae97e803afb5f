// SPDX-License-Identifier: MIT
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

namespace heddle::differential {

constexpr unsigned most_ranks = 8;

/// A random kernel of clusters, which exchanges words through distributed shared memory, asynchronous stores, bulk and
/// tensor copies, in phases between barriers of all kinds; and what it must write, computed phase by phase and thread
/// by thread. It is free of races. The same for a seed on every machine.
struct cluster_kernel {
  std::uint32_t ranks = 1, threads = 32, clusters = 1;
  bool deadlocks = false;           // an arrival is missing
  std::string text;                 // the module; its entry is "k"
  std::vector<std::uint32_t> out;   // `out_words` a block
  std::vector<std::uint32_t> sums;  // `sum_words`, of all blocks
  [[nodiscard]] std::uint32_t blocks() const { return ranks * clusters; }
};

/// The entry's parameters, in their order: input of `input_words` words, out, sums, and tensor maps: one of the input,
/// of `input_width` words a row, in boxes of 8 x 8 words, the same with a swizzle of 32 bytes, and one of the tiles in
/// `out`, in such boxes.
constexpr unsigned input_words = 2048, input_width = 32, sum_words = 64;
/// Of a block in `out`: two registers of 128 threads, two buffers in shared memory, what was copied from there, and a
/// tile of 8 rows of 32 words.
constexpr unsigned buffer_words = 256, most_threads = 128, tile_words = 8 * 32;
constexpr unsigned out_words = 2 * most_threads + 2 * buffer_words + buffer_words + tile_words;
constexpr unsigned tile_offset = out_words - tile_words;

cluster_kernel generate_clusters(std::uint64_t seed, const std::vector<std::uint32_t>& input);

}  // namespace heddle::differential
