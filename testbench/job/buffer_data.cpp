// SPDX-License-Identifier: MIT
#include "testbench/job/buffer_data.h"

#include <cstring>

#include "heddle/hash/splitmix64.h"

namespace heddle::testbench {

namespace {

std::uint32_t word_at(const buffer& b, std::uint64_t index) {
  switch (b.content) {
    case buffer::fill::iota32: return static_cast<std::uint32_t>(index);
    case buffer::fill::iotaf: {
      const auto value = static_cast<float>(index);
      std::uint32_t bits = 0;
      std::memcpy(&bits, &value, sizeof bits);
      return bits;
    }
    case buffer::fill::random: return static_cast<std::uint32_t>(splitmix64::at(b.seed, index / 2) >> (index % 2 * 32));
    default: return 0;
  }
}

}  // namespace

std::vector<std::uint8_t> fill_bytes(const buffer& b, std::uint64_t offset, std::uint64_t bytes) {
  std::vector<std::uint8_t> data(bytes);
  for (std::uint64_t i = 0; i < bytes; i += 4) {
    const std::uint32_t word = word_at(b, (offset + i) / 4);
    for (std::uint64_t k = 0; k < 4 && i + k < bytes; ++k) data[i + k] = static_cast<std::uint8_t>(word >> (8 * k));
  }
  return data;
}

}  // namespace heddle::testbench
