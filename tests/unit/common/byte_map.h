// SPDX-License-Identifier: MIT
#pragma once

#include <array>
#include <bitset>
#include <cstddef>
#include <cstdint>
#include <map>
#include <stdexcept>

namespace heddle::test {

/// The bytes of a test's memory by their addresses: zero until written, and it is known which were ever accessed. Like
/// a std::map, but by pages: a byte costs no search, which tests without optimisation would notice.
class byte_map {
 public:
  std::uint8_t& operator[](std::uint64_t address) {
    if (newest_ == nullptr || address / page_bytes != newest_number_) {
      newest_number_ = address / page_bytes;
      newest_ = &pages_[newest_number_];
    }
    newest_->accessed[address % page_bytes] = true;
    return newest_->bytes[address % page_bytes];
  }
  [[nodiscard]] std::size_t count(std::uint64_t address) const {
    const auto found = pages_.find(address / page_bytes);
    return found != pages_.end() && found->second.accessed[address % page_bytes] ? 1 : 0;
  }
  /// The byte at an address that was accessed before.
  [[nodiscard]] std::uint8_t at(std::uint64_t address) const {
    if (count(address) == 0) throw std::out_of_range("a byte that was never accessed");
    return pages_.at(address / page_bytes).bytes[address % page_bytes];
  }
  /// The highest address that was accessed.
  [[nodiscard]] std::uint64_t last() const {
    const auto& [number, newest] = *pages_.rbegin();
    std::uint64_t k = page_bytes - 1;
    while (!newest.accessed[k]) --k;
    return number * page_bytes + k;
  }

 private:
  static constexpr std::uint64_t page_bytes = 4096;
  struct page {
    std::array<std::uint8_t, page_bytes> bytes{};
    std::bitset<page_bytes> accessed;
  };
  std::map<std::uint64_t, page> pages_;
  std::uint64_t newest_number_ = 0;
  page* newest_ = nullptr;
};

}  // namespace heddle::test
