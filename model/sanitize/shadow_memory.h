// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <cstring>
#include <memory>
#include <unordered_map>
#include <vector>

#include "heddle/sanitize/clocks.h"

namespace heddle::sanitize {

/// The last accesses to a word, or to a byte where words are accessed in parts.
struct shadow_cell {
  access_mark write;
  access_mark read;
  std::vector<access_mark>* more_reads = nullptr;  // that are not ordered with `read`
};

/// The cells of a range of memory.
class shadow_cells {
 public:
  explicit shadow_cells(std::size_t bytes) : cells_((bytes + 3) / 4) {}
  /// From now on each byte has a cell.
  void divide() {
    if (fine_) return;
    fine_ = true;
    std::vector<shadow_cell> bytes(cells_.size() * 4);
    for (std::size_t k = 0; k < bytes.size(); ++k) {
      bytes[k] = cells_[k / 4];
      if (k % 4 != 0 && bytes[k].more_reads != nullptr) bytes[k].more_reads = keep(*bytes[k].more_reads);
    }
    cells_.swap(bytes);
  }
  [[nodiscard]] bool fine() const { return fine_; }
  [[nodiscard]] unsigned bytes_per_cell() const { return fine_ ? 1 : 4; }
  shadow_cell& at(std::size_t offset) { return cells_[fine_ ? offset : offset / 4]; }
  [[nodiscard]] const shadow_cell& at(std::size_t offset) const { return cells_[fine_ ? offset : offset / 4]; }
  /// Adds a read that is not ordered with the others, if less than `most` are kept.
  void add_read(shadow_cell& c, const access_mark& m, std::size_t most) {
    if (c.more_reads == nullptr) c.more_reads = keep({});
    if (c.more_reads->size() < most) c.more_reads->push_back(m);
  }

 private:
  std::vector<access_mark>* keep(std::vector<access_mark> marks) {
    lists_.push_back(std::make_unique<std::vector<access_mark>>(std::move(marks)));
    return lists_.back().get();
  }
  bool fine_ = false;
  std::vector<shadow_cell> cells_;
  std::vector<std::unique_ptr<std::vector<access_mark>>> lists_;
};

/// Cells of global memory, in pages that are made when they are first accessed.
class shadow_pages {
 public:
  static constexpr std::uint64_t page_bytes = 4096;
  shadow_cells& page(std::uint64_t address) {
    const std::uint64_t number = address / page_bytes;
    if (number == last_number_) return *last_;
    std::unique_ptr<shadow_cells>& p = pages_[number];
    if (!p) p = std::make_unique<shadow_cells>(page_bytes);
    last_number_ = number;
    last_ = p.get();
    return *last_;
  }
  /// Calls f(address, bytes, cell) for all cells that may have been accessed.
  template <class F>
  void each(F&& f) const {
    for (const auto& [number, cells] : pages_)
      for (std::uint64_t at = 0; at < page_bytes; at += cells->bytes_per_cell())
        f(number * page_bytes + at, cells->bytes_per_cell(), cells->at(at));
  }
  void clear() {
    pages_.clear();
    last_number_ = ~std::uint64_t{0};
  }

 private:
  std::unordered_map<std::uint64_t, std::unique_ptr<shadow_cells>> pages_;
  std::uint64_t last_number_ = ~std::uint64_t{0};
  shadow_cells* last_ = nullptr;
};

/// Which bytes of a small memory have been written.
class written_bits {
 public:
  void reset(std::size_t bytes) { bits_.assign(bytes, 0); }
  void write(std::size_t offset, unsigned bytes) { std::memset(bits_.data() + offset, 1, bytes); }
  [[nodiscard]] bool any(std::size_t offset, unsigned bytes) const {
    std::uint64_t words[2] = {0, 0};
    std::memcpy(words, bits_.data() + offset, bytes);
    return (words[0] | words[1]) != 0;
  }
  [[nodiscard]] bool all(std::size_t offset, std::size_t bytes) const {
    return std::memchr(bits_.data() + offset, 0, bytes) == nullptr;
  }

 private:
  std::vector<std::uint8_t> bits_;
};

}  // namespace heddle::sanitize
