// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstring>
#include <deque>
#include <memory>
#include <vector>

#include "heddle/isa/set_bits.h"
#include "heddle/sanitize/shadow/access_mark.h"

namespace heddle::sanitize {

/// Reads of a word that are not ordered with each other: the read clock of FastTrack, by warp.
class later_reads {
 public:
  using iterator = access_mark*;
  struct range {
    iterator first, last;
    [[nodiscard]] iterator begin() const { return first; }
    [[nodiscard]] iterator end() const { return last; }
  };
  [[nodiscard]] bool empty() const { return size() == 0; }
  [[nodiscard]] std::size_t size() const { return many_.empty() ? count_ : many_.size(); }
  [[nodiscard]] iterator begin() { return many_.empty() ? few_.data() : many_.data(); }
  [[nodiscard]] iterator end() { return begin() + size(); }
  [[nodiscard]] const access_mark* begin() const { return many_.empty() ? few_.data() : many_.data(); }
  [[nodiscard]] const access_mark* end() const { return begin() + size(); }
  /// Those of one warp.
  [[nodiscard]] range of(std::uint32_t warp) {
    const auto first =
        std::lower_bound(begin(), end(), warp, [](const access_mark& m, std::uint32_t w) { return m.warp < w; });
    auto last = first;
    while (last != end() && last->warp == warp) ++last;
    return {first, last};
  }
  void add(const access_mark& m) {
    const std::ptrdiff_t at = of(m.warp).last - begin();
    if (many_.empty() && count_ < few_.size()) {
      std::copy_backward(begin() + at, end(), end() + 1);
      few_[static_cast<std::size_t>(at)] = m;
      ++count_;
      return;
    }
    if (many_.empty()) many_.assign(begin(), end());
    count_ = 0;
    many_.insert(many_.begin() + at, m);
  }
  /// Drops those of which f(mark) is true.
  template <class F>
  void drop_if(F&& f) {
    const auto left = static_cast<std::size_t>(std::remove_if(begin(), end(), f) - begin());
    if (many_.empty()) count_ = left;
    else many_.resize(left);
  }
  /// Another read replaces one of them.
  void replace(iterator one, const access_mark& m) {
    const access_mark* const gone = one;
    std::size_t k = static_cast<std::size_t>(gone - begin());
    drop_if([&](const access_mark&) { return k-- == 0; });
    add(m);
  }
  void clear() {
    many_.clear();
    count_ = 0;
  }
  /// Whether some of all the segment are of different blocks. Then a write of any block conflicts with one, if barriers
  /// of blocks alone order what the launch does.
  [[nodiscard]] bool of_two_blocks(std::uint32_t warps_per_block) const {
    const auto whole = [](const access_mark& m) { return m.is_whole(); };
    const access_mark *low = std::find_if(begin(), end(), whole), *high = end();
    if (low == end()) return false;
    while (!(--high)->is_whole()) continue;
    const std::uint32_t first = low->warp, last = high->warp;
    return last - first >= warps_per_block || first / warps_per_block != last / warps_per_block;
  }
  /// The same of those that are not strong: with these alone a strong write conflicts.
  [[nodiscard]] bool weak_of_two_blocks(std::uint32_t warps_per_block) const {
    const access_mark* first = nullptr;
    return std::any_of(begin(), end(), [&](const access_mark& m) {
      if (m.is(access_mark::strong) || !m.is_whole()) return false;
      if (first == nullptr) first = &m;
      return m.warp / warps_per_block != first->warp / warps_per_block;
    });
  }

 private:
  std::array<access_mark, 3> few_;  // all of them, by warp: the first `count_`
  std::size_t count_ = 0;
  std::vector<access_mark> many_;  // or, if there are more
};

/// The last accesses to a word, or to a byte where words are accessed in parts.
struct shadow_cell {
  access_mark write;
  access_mark read;
  later_reads* more_reads = nullptr;  // that are not ordered with `read`
  [[nodiscard]] bool has_more() const { return more_reads != nullptr && !more_reads->empty(); }
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
  /// Adds a read that is not ordered with the others.
  void add_read(shadow_cell& c, const access_mark& m) {
    if (c.more_reads == nullptr) c.more_reads = keep(later_reads());
    c.more_reads->add(m);
  }

 private:
  later_reads* keep(later_reads reads) { return &lists_.emplace_back(std::move(reads)); }
  bool fine_ = false;
  std::vector<shadow_cell> cells_;
  std::deque<later_reads> lists_;
};

/// The last accesses to 32 aligned bytes as long as each was of lanes of one warp that lie side by side in them, as
/// many bytes each. The marks have these lanes. They fill the segment, but reads may be of its begin or end alone, as
/// where each thread reads its neighbour's word: the mark then has this part (part_mask).
struct shadow_segment {
  static constexpr unsigned bytes = 32;
  access_mark write;
  access_mark read;
  later_reads* more_reads = nullptr;  // that are not ordered with `read`; of shadow_pages

  /// The part at the begin, or at the end, by lanes with so many bytes each, a power of two up to 16.
  static std::uint32_t part_of(bool at_end, unsigned bytes_of_lane) {
    return (2 * static_cast<std::uint32_t>(__builtin_ctz(bytes_of_lane)) + (at_end ? 2 : 1)) << access_mark::part_shift;
  }
  /// What `a` has accessed contains what `b` has. Both have the same place for each lane that both have.
  static bool covers(const access_mark& a, const access_mark& b) {
    if (b.number == 0 || a.is_whole()) return true;
    return ((a.what ^ b.what) & access_mark::part_mask) == 0 &&
           __builtin_popcount(a.lanes) >= __builtin_popcount(b.lanes);
  }
  /// Lanes access less than a word each.
  [[nodiscard]] bool is_fine() const {
    const auto fine = [](const access_mark& m) { return m.number != 0 && bytes_of_lane(m) < 4; };
    return fine(write) || fine(read) || (more_reads && std::any_of(more_reads->begin(), more_reads->end(), fine));
  }
  /// The mark of one of its bytes; no access: that is in no part of it.
  static access_mark at(access_mark m, unsigned offset) {
    if (m.number == 0) return m;
    const unsigned of_lane = bytes_of_lane(m), size = of_lane * static_cast<unsigned>(__builtin_popcount(m.lanes));
    const bool at_end = !m.is_whole() && part(m) % 2 == 0;
    const unsigned first = at_end ? bytes - size : 0;
    if (offset < first || offset >= first + size) return {};
    m.lanes = 1u << (static_cast<unsigned>(__builtin_ctz(m.lanes)) + (offset - first) / of_lane);
    m.what &= ~access_mark::part_mask;
    return m;
  }

 private:
  static unsigned part(const access_mark& m) { return (m.what & access_mark::part_mask) >> access_mark::part_shift; }
  static unsigned bytes_of_lane(const access_mark& m) {
    return m.is_whole() ? bytes / static_cast<unsigned>(__builtin_popcount(m.lanes)) : 1u << (part(m) - 1) / 2;
  }
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
  /// The bits of a word, or of its first few bytes, that have not been written.
  [[nodiscard]] std::uint32_t lacking(std::size_t offset, unsigned bytes) const {
    std::uint32_t written = 0;
    std::memcpy(&written, bits_.data() + offset, bytes);
    return ~(written * 0xffu) & (~0u >> (32 - 8 * bytes));
  }
  /// All bytes up to here have been written.
  [[nodiscard]] std::size_t written_up_to() const { return up_to_; }
  /// Whether all of several places of as many bytes have been written.
  [[nodiscard]] bool all_of_each(const std::uint64_t* offsets, std::uint32_t mask, unsigned bytes) const {
    bool all = true;
    if (bytes < 4) {
      for (const unsigned l : set_bits(mask))
        for (unsigned k = 0; k < bytes; ++k) all &= bits_[offsets[l] + k] != 0;
      return all;
    }
    for (const unsigned l : set_bits(mask))
      for (unsigned k = 0; k < bytes; k += 4) {
        std::uint32_t word;
        std::memcpy(&word, bits_.data() + offsets[l] + k, sizeof word);
        all &= word == 0x01010101u;
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
