// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <vector>

namespace heddle {

/// Device memory as launches that are executed functionally see it: pages that are fetched when they are first touched
/// and written back when somebody else may look. While pages are here they are newer than the memory, so that all
/// others' untimed accesses go by exchange().
class functional_memory {
 public:
  static constexpr std::uint64_t page_bytes = 65536;

  struct page {
    bool dirty = false;
    alignas(64) std::uint8_t bytes[page_bytes];
  };
  /// The memory below: reads or writes, and says how many bytes it has.
  using backing = std::function<unsigned(bool write, std::uint64_t address, std::uint8_t* data, unsigned bytes)>;

  explicit functional_memory(backing below) : below_(std::move(below)) {}

  /// The page that holds the address. Throws internal_error where the memory below has not all of it.
  page& at(std::uint64_t address) {
    if (__builtin_expect(address / region_bytes == last_number_, 1))
      if (page* p = last_[address % region_bytes / page_bytes].get()) return *p;
    return bring(address);
  }
  std::uint8_t* readable(std::uint64_t address) { return at(address).bytes + address % page_bytes; }
  std::uint8_t* writable(std::uint64_t address) {
    page& p = at(address);
    p.dirty = true;
    return p.bytes + address % page_bytes;
  }

  /// Pages are here.
  bool open() const { return pages_ != 0; }
  std::uint64_t pages() const { return pages_; }
  /// Somebody else's access: to the pages that are here, to the memory below elsewhere. Returns how many bytes it has
  /// moved.
  unsigned exchange(bool write, std::uint64_t address, std::uint8_t* data, unsigned bytes);
  /// Writes back what has been written and forgets all pages.
  void close();

 private:
  static constexpr std::uint64_t region_bytes = std::uint64_t{1} << 30;
  using region = std::vector<std::unique_ptr<page>>;
  page& bring(std::uint64_t address);
  page* find(std::uint64_t address);

  backing below_;
  std::map<std::uint64_t, region> regions_;  // by number
  std::uint64_t last_number_ = ~std::uint64_t{0};
  std::unique_ptr<page>* last_ = nullptr;
  std::uint64_t pages_ = 0;
};

}  // namespace heddle
