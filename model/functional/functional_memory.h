// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <vector>

namespace heddle {

/// Device memory for launches that are executed functionally: pages are fetched at the first access and written back
/// before a timed launch starts. While a page is held here it is newer than the memory, so all other untimed accesses
/// must use exchange().
class functional_memory {
 public:
  static constexpr std::uint64_t page_bytes = 65536;

  struct page {
    bool dirty = false;
    alignas(64) std::uint8_t bytes[page_bytes];
  };
  /// The memory below: reads or writes, and returns the number of bytes transferred.
  using backing = std::function<unsigned(bool write, std::uint64_t address, std::uint8_t* data, unsigned bytes)>;

  explicit functional_memory(backing below) : below_(std::move(below)) {}

  /// The page that contains the address. Throws internal_error if the memory below does not have the whole page.
  page& at(std::uint64_t address) {
    if (__builtin_expect(address / region_bytes == last_number_, 1))
      if (page* p = last_[address % region_bytes / page_bytes].get()) return *p;
    return load_page(address);
  }
  std::uint8_t* readable(std::uint64_t address) { return at(address).bytes + address % page_bytes; }
  std::uint8_t* writable(std::uint64_t address) {
    page& p = at(address);
    p.dirty = true;
    return p.bytes + address % page_bytes;
  }

  /// True if pages are held.
  [[nodiscard]] bool open() const { return pages_ != 0; }
  [[nodiscard]] std::uint64_t pages() const { return pages_; }
  /// An access from outside: to pages that are held here, otherwise to the memory below. Returns the number of bytes
  /// transferred.
  unsigned exchange(bool write, std::uint64_t address, std::uint8_t* data, unsigned bytes);
  /// Writes back all dirty pages and drops all pages.
  void close();

 private:
  static constexpr std::uint64_t region_bytes = std::uint64_t{1} << 30;
  using region = std::vector<std::unique_ptr<page>>;
  page& load_page(std::uint64_t address);
  page* find(std::uint64_t address);

  backing below_;
  std::map<std::uint64_t, region> regions_;  // by number
  std::uint64_t last_number_ = ~std::uint64_t{0};
  std::unique_ptr<page>* last_ = nullptr;
  std::uint64_t pages_ = 0;
};

}  // namespace heddle
