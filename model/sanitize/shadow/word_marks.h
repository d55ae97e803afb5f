// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <vector>

#include "heddle/sanitize/shadow/access_mark.h"
#include "heddle/sanitize/shadow/zeroed_memory.h"

namespace heddle::sanitize {

/// The last access to a word, or to a byte, by a lane, and, as a list, those before it that still count: reads that are
/// not ordered with each other, and the last write as the oldest. Of a read, what follows it is no write.
struct word_mark {
  std::uint32_t warp = 0;  // number of the warp in the grid
  sequence number = 0;     // 0: no access
  std::uint32_t what = 0;  // as of an access_mark, with the lane
  std::uint32_t list = 0;  // the earlier accesses: the first one's place, their count, and whether one is a write

  static constexpr unsigned lane_shift = 21, count_shift = 25;
  static constexpr std::uint32_t lane_bits = 31u << lane_shift, most_instructions = 1u << lane_shift,
                                 counts = 63u << count_shift, has_write = 1u << 31, places = (1u << count_shift) - 1;
  static word_mark of(const access_mark& m, unsigned lane) {
    return {m.warp, m.number, m.what | std::uint32_t{lane} << lane_shift, 0};
  }
  [[nodiscard]] access_mark mark() const { return {warp, number, 1u << lane(), what & ~lane_bits}; }
  [[nodiscard]] unsigned lane() const { return (what & lane_bits) >> lane_shift; }
  [[nodiscard]] bool is(std::uint32_t flag) const { return (what & flag) != 0; }
  [[nodiscard]] static constexpr bool is_whole() { return true; }
  [[nodiscard]] unsigned count() const { return (list & counts) >> count_shift; }
  [[nodiscard]] std::uint32_t earlier() const { return list & places; }
};

/// The earlier accesses of all words.
class word_lists {
 public:
  explicit word_lists(zeroed_memory& memory) : memory_(memory) {}
  static constexpr unsigned most_earlier = 63;

  [[nodiscard]] word_mark& at(std::uint32_t place) { return blocks_[place / block_size][place % block_size]; }
  [[nodiscard]] const word_mark& at(std::uint32_t place) const {
    return blocks_[place / block_size][place % block_size];
  }
  /// No more accesses can be listed.
  [[nodiscard]] bool is_full() const { return free_ == 0 && used_ > word_mark::places; }
  /// `last` becomes the last access to the word; the one before is listed. The list is not full.
  void push(word_mark& word, word_mark last) {
    const std::uint32_t place = take();
    at(place) = word;
    last.list = place | ((word.list & word_mark::counts) + (1u << word_mark::count_shift)) |
                (word.list & word_mark::has_write) | (word.is(access_mark::writes) ? word_mark::has_write : 0);
    word = last;
  }
  /// Calls f(mark) for the earlier accesses, the newest first, until it returns false. Returns whether none did.
  template <class F>
  bool each_earlier(const word_mark& word, F&& f) const {
    std::uint32_t place = word.earlier();
    for (unsigned k = word.count(); k != 0; --k) {
      const word_mark& m = at(place);
      if (!f(m)) return false;
      place = m.earlier();
    }
    return true;
  }
  /// The oldest access of the word's list, which is not empty.
  [[nodiscard]] const word_mark& oldest(const word_mark& word) const {
    const word_mark* m = &word;
    for (unsigned k = word.count(); k != 0; --k) m = &at(m->earlier());
    return *m;
  }
  /// Drops the accesses of which f(mark) is true, the last one too.
  template <class F>
  void drop_if(word_mark& word, F&& f) {
    word_mark kept[most_earlier + 1];
    unsigned count = 0;
    const auto keep = [&](const word_mark& m) {
      if (!f(m)) kept[count++] = m;
      return true;
    };
    keep(word);
    each_earlier(word, keep);
    drop(word);
    word = {};
    while (count != 0) {
      kept[--count].list = 0;
      if (word.number == 0) word = kept[count];
      else push(word, kept[count]);
    }
  }
  /// Empties the list of a word.
  void drop(word_mark& word) {
    std::uint32_t place = word.earlier();
    for (unsigned k = word.count(); k != 0; --k) {
      word_mark& m = at(place);
      const std::uint32_t next = m.earlier();
      m.list = free_;
      free_ = place;
      place = next;
    }
    word.list = 0;
  }
  void clear() {
    blocks_.clear();
    used_ = 1;
    free_ = 0;
  }

 private:
  static constexpr std::uint32_t block_size = 1u << 14;
  std::uint32_t take() {
    if (free_ != 0) {
      const std::uint32_t place = free_;
      free_ = at(place).list;
      return place;
    }
    if (used_ / block_size >= blocks_.size()) blocks_.push_back(memory_.take_array<word_mark>(block_size));
    return used_++;
  }
  zeroed_memory& memory_;
  std::vector<word_mark*> blocks_;
  std::uint32_t used_ = 1;  // place 0: none
  std::uint32_t free_ = 0;
};

}  // namespace heddle::sanitize
