// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace heddle::differential {

/// A part of a kernel: text, or a structure with bodies between its lines (glue has one line more than there are
/// bodies).
struct node {
  std::vector<std::string> glue;
  std::vector<std::vector<node>> bodies;
};

/// A random kernel, valid and free of races, that ends; the same for a seed on every machine.
struct random_kernel {
  std::uint64_t seed = 0;
  std::uint32_t block = 32, grid = 1;
  std::vector<node> body;

  /// The whole module; its entry is "k"(in: 4096 bytes of data, out: `out_stride` bytes a thread, sums: 64 bytes).
  [[nodiscard]] std::string text() const;
};

constexpr std::uint32_t out_stride = 256, in_bytes = 4096, sums_bytes = 64;

random_kernel generate(std::uint64_t seed);

}  // namespace heddle::differential
