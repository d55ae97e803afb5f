// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstring>
#include <memory>
#include <unordered_map>
#include <vector>

#include "heddle/isa/set_bits.h"
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

/// The last accesses to 32 aligned bytes as long as each was of lanes of one warp that lie side by side in them, as
/// many bytes each. The marks have these lanes.
struct shadow_segment {
  static constexpr unsigned bytes = 32;
  access_mark write;
  access_mark read;
  std::vector<access_mark> more_reads;  // that are not ordered with `read`
  bool divided = false;                 // its words have cells of their own

  /// Lanes access less than a word each.
  [[nodiscard]] bool is_fine() const {
    const auto fine = [](const access_mark& m) { return __builtin_popcount(m.lanes) > 8; };
    return fine(write) || fine(read) || std::any_of(more_reads.begin(), more_reads.end(), fine);
  }
  /// The mark of one of its bytes.
  static access_mark part(access_mark m, unsigned offset) {
    if (m.number == 0) return m;
    const auto lanes = static_cast<unsigned>(__builtin_popcount(m.lanes));
    m.lanes = 1u << (static_cast<unsigned>(__builtin_ctz(m.lanes)) + offset / (bytes / lanes));
    return m;
  }
};

/// What was done to global memory, in pages that are made when they are first accessed.
class shadow_pages {
 public:
  static constexpr std::uint64_t page_bytes = 4096;

  shadow_segment& segment(std::uint64_t address) {
    return page_of(address).segments[address % page_bytes / shadow_segment::bytes];
  }
  /// The cells of the page; those of the address's segment are made now.
  shadow_cells& page(std::uint64_t address) {
    page_marks& p = page_of(address);
    shadow_segment& s = p.segments[address % page_bytes / shadow_segment::bytes];
    if (!s.divided) divide(p, s, address % page_bytes / shadow_segment::bytes * shadow_segment::bytes);
    return *p.cells;
  }
  /// Calls f(address, bytes, cell) for all cells that may have been accessed.
  template <class F>
  void each(F&& f) const {
    for (const auto& [number, p] : pages_)
      for (std::uint64_t at = 0; at < page_bytes;) {
        const shadow_segment& s = p->segments[at / shadow_segment::bytes];
        if (s.divided) {
          const unsigned step = p->cells->bytes_per_cell();
          f(number * page_bytes + at, step, p->cells->at(at));
          at += step;
          continue;
        }
        const auto offset = static_cast<unsigned>(at % shadow_segment::bytes);
        const unsigned step = s.is_fine() ? 1 : 4;
        f(number * page_bytes + at, step,
          shadow_cell{shadow_segment::part(s.write, offset), shadow_segment::part(s.read, offset), nullptr});
        at += step;
      }
  }
  void clear() {
    pages_.clear();
    last_number_ = ~std::uint64_t{0};
  }

 private:
  struct page_marks {
    std::array<shadow_segment, page_bytes / shadow_segment::bytes> segments;
    std::unique_ptr<shadow_cells> cells;  // of segments that are divided
  };
  page_marks& page_of(std::uint64_t address) {
    const std::uint64_t number = address / page_bytes;
    if (number == last_number_) return *last_;
    std::unique_ptr<page_marks>& p = pages_[number];
    if (!p) p = std::make_unique<page_marks>();
    last_number_ = number;
    last_ = p.get();
    return *last_;
  }
  static void divide(page_marks& p, shadow_segment& s, std::uint64_t begin) {
    if (!p.cells) p.cells = std::make_unique<shadow_cells>(page_bytes);
    s.divided = true;
    if (s.is_fine()) p.cells->divide();
    const unsigned step = p.cells->bytes_per_cell();
    for (unsigned k = 0; k < shadow_segment::bytes; k += step) {
      shadow_cell& cell = p.cells->at(begin + k);
      cell.write = shadow_segment::part(s.write, k);
      cell.read = shadow_segment::part(s.read, k);
      for (const access_mark& m : s.more_reads)
        p.cells->add_read(cell, shadow_segment::part(m, k), s.more_reads.size());
    }
    s.more_reads = {};
  }

  std::unordered_map<std::uint64_t, std::unique_ptr<page_marks>> pages_;
  std::uint64_t last_number_ = ~std::uint64_t{0};
  page_marks* last_ = nullptr;
};

/// Which bytes of a small memory have been written.
class written_bits {
 public:
  void reset(std::size_t bytes) {
    bits_.assign(bytes, 0);
    up_to_ = 0;
  }
  void write(std::size_t offset, unsigned bytes) {
    if (offset + bytes <= up_to_) return;
    std::memset(bits_.data() + offset, 1, bytes);
    if (offset > up_to_) return;
    const void* const end = std::memchr(bits_.data() + up_to_, 0, bits_.size() - up_to_);
    up_to_ =
        end == nullptr ? bits_.size() : static_cast<std::size_t>(static_cast<const std::uint8_t*>(end) - bits_.data());
  }
  [[nodiscard]] bool any(std::size_t offset, unsigned bytes) const {
    std::uint64_t words[2] = {0, 0};
    std::memcpy(words, bits_.data() + offset, bytes);
    return (words[0] | words[1]) != 0;
  }
  /// All bytes up to here have been written.
  [[nodiscard]] std::size_t written_up_to() const { return up_to_; }
  /// Whether each word of several places of as many bytes has been written; a place of less bytes, whether any has.
  [[nodiscard]] bool words_of_each(const std::uint64_t* offsets, std::uint32_t mask, unsigned bytes) const {
    bool all = true;
    if (bytes < 4) {
      for (const unsigned l : set_bits(mask)) all &= any(offsets[l], bytes);
      return all;
    }
    for (const unsigned l : set_bits(mask))
      for (unsigned k = 0; k < bytes; k += 4) {
        std::uint32_t word;
        std::memcpy(&word, bits_.data() + offsets[l] + k, sizeof word);
        all &= word != 0;
      }
    return all;
  }
  [[nodiscard]] bool all(std::size_t offset, std::size_t bytes) const {
    return std::memchr(bits_.data() + offset, 0, bytes) == nullptr;
  }

 private:
  std::vector<std::uint8_t> bits_;
  std::size_t up_to_ = 0;
};

}  // namespace heddle::sanitize
