// SPDX-License-Identifier: MIT
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <map>

namespace cosim {

/// The bytes of a large, sparsely used memory; bytes that were never written are zero.
class sparse_bytes {
 public:
  void write(std::uint64_t address, const std::uint8_t* data, std::size_t bytes) {
    for (std::size_t i = 0; i < bytes; ++i) pages_[(address + i) / page_bytes][(address + i) % page_bytes] = data[i];
  }

  void read(std::uint64_t address, std::uint8_t* data, std::size_t bytes) const {
    for (std::size_t i = 0; i < bytes; ++i) {
      const auto page = pages_.find((address + i) / page_bytes);
      data[i] = page == pages_.end() ? 0 : page->second[(address + i) % page_bytes];
    }
  }

 private:
  static constexpr std::uint64_t page_bytes = 4096;
  std::map<std::uint64_t, std::array<std::uint8_t, page_bytes>> pages_;
};

}  // namespace cosim
