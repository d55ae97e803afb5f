// SPDX-License-Identifier: MIT
#include <numeric>

#include "testbench/workloads/reference.h"

namespace heddle::workloads {

namespace {

constexpr std::size_t threads = 256;

// The sum in the order of a block's tree in shared memory.
float tree(std::vector<float> sums) {
  for (std::size_t distance = threads / 2; distance > 0; distance /= 2) {
    for (std::size_t t = 0; t < distance; ++t) sums[t] += sums[t + distance];
  }
  return sums[0];
}

std::vector<float> block_sums(const std::vector<float>& in, std::size_t blocks) {
  std::vector<float> result(blocks);
  for (std::size_t block = 0; block < blocks; ++block) {
    std::vector<float> sums(threads, 0.0f);
    for (std::size_t t = 0; t < threads; ++t) {
      for (std::size_t i = block * threads + t; i < in.size(); i += blocks * threads) sums[t] += in[i];
    }
    result[block] = tree(sums);
  }
  return result;
}

}  // namespace

void make_reduction(const folder& out) {
  const std::vector<std::uint32_t> words = random_words(6, 100000);  // the job's "random:6"
  out.write("total.ref.bin", std::vector<std::uint32_t>{std::accumulate(words.begin(), words.end(), std::uint32_t{0})});

  const std::vector<float> floats = random_floats(7, 50000, 0, 1);
  out.write("floats.bin", floats);
  out.write("sum.ref.bin", block_sums(block_sums(floats, 40), 1));
}

}  // namespace heddle::workloads
