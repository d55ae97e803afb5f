// SPDX-License-Identifier: MIT
#pragma once

#include <array>
#include <bitset>
#include <cstdint>
#include <memory>
#include <unordered_map>

#include "heddle/isa/set_bits.h"
#include "heddle/sanitize/shadow/shadow_memory.h"
#include "heddle/sanitize/shadow/word_marks.h"

namespace heddle::sanitize {

/// What was done to global memory, in pages that are made when they are first accessed. Each segment of 32 bytes is in
/// one of three forms: one mark for all of it; a mark for each word, or each byte (scattered), which lanes access one
/// by one; or cells (divided), which can have all that a word may need.
class shadow_pages {
 public:
  static constexpr std::uint64_t page_bytes = 4096;

  /// The segment of the address; null: its words have marks or cells of their own.
  shadow_segment* segment(std::uint64_t address) {
    page_marks& p = page_of(address);
    const std::uint64_t number = address % page_bytes / shadow_segment::bytes;
    if (p.divided[number] || p.words_scattered[number] || p.bytes_scattered[number]) return nullptr;
    if (p.of_segments == nullptr) p.of_segments = memory_.take_array<shadow_segment>(segments_per_page);
    return &p.of_segments[number];
  }
  /// An empty list for a segment.
  later_reads* take_reads();
  /// Marks of words, or bytes, from the address to the end of its segment.
  struct marks {
    word_mark* first = nullptr;  // null: there are none, they have cells
    unsigned bytes = 4;          // of each
  };
  /// The marks for an access of so many bytes. They are made now if the segment's own ones can be divided so.
  marks words(std::uint64_t address, unsigned bytes) {
    page_marks& p = page_of(address);
    const std::uint64_t at = address % page_bytes, number = at / shadow_segment::bytes;
    if (p.words_scattered[number] && bytes >= 4) return {p.words + at / 4, 4};
    if (p.bytes_scattered[number]) return {p.bytes + at, 1};
    if (p.divided[number] || p.words_scattered[number] || !scatter(p, number, bytes)) return {};
    return bytes < 4 ? marks{p.bytes + at, 1} : marks{p.words + at / 4, 4};
  }
  /// Those of words, or of bytes for less than a word, if the segment has them, for a lane of the last uncrowded().
  [[nodiscard]] marks words_of(unsigned lane, std::uint64_t address, unsigned bytes) const {
    const page_marks& p = *of_lanes_[lane];
    const std::uint64_t at = address % page_bytes, number = at / shadow_segment::bytes;
    if (bytes < 4) return p.bytes_scattered[number] ? marks{p.bytes + at, 1} : marks{};
    return p.words_scattered[number] ? marks{p.words + at / 4, 4} : marks{};
  }
  /// The host's processor loads the earlier accesses to what the lanes access, if they have marks.
  void load_lists(const std::uint64_t* addresses, simt::lane_mask lanes, unsigned bytes) {
    for (const unsigned lane : set_bits(lanes))
      if (const marks m = words_of(lane, addresses[lane], bytes); m.first != nullptr && m.first->count() != 0)
        __builtin_prefetch(&lists_.at(m.first->earlier()), 1);
  }
  [[nodiscard]] word_lists& lists() { return lists_; }
  /// The threads that access memory from now on have learned at `learned` of accesses of others: words that were
  /// crowded before are not crowded for them, and what they read then counts.
  void begin_phase(sequence learned, sequence now) {
    learned_ = learned;
    now_ = now;
  }
  /// Of lanes that read (or write), those whose words are not crowded. The host's processor loads their marks
  /// meanwhile.
  simt::lane_mask uncrowded(const std::uint64_t* addresses, simt::lane_mask lanes, unsigned bytes, bool reads,
                            bool strong = false) {
    page_marks* p = nullptr;
    std::uint64_t last = ~std::uint64_t{0};
    simt::lane_mask left = lanes;
    for (const unsigned lane : set_bits(lanes)) {
      const std::uint64_t at = addresses[lane], number = at / page_bytes, in = at % page_bytes;
      if (number != last) p = &in_phase(at);
      last = number;
      of_lanes_[lane] = p;
      bool skips = bytes == 1 && p->crowded_bytes ? (*p->crowded_bytes)[in]
                                                  : p->crowded[in / 4] && (bytes <= 4 || crowded(at, bytes));
      if (strong && bytes <= 4) skips = skips || p->crowded_for_strong[in / 4];
      if (reads && skips) left &= ~(1u << lane);
      else if (p->words != nullptr) __builtin_prefetch(p->words + in / 4, 1);
      else if (p->bytes != nullptr) __builtin_prefetch(p->bytes + in, 1);
    }
    return left;
  }
  /// The cells of the page; those of the address's segment are made now. `writes`: reads of the word are kept again.
  shadow_cells& page(std::uint64_t address, bool writes = false) {
    page_marks& p = page_of(address);
    if (writes) p.uncrowd(address % page_bytes / 4);
    const std::uint64_t number = address % page_bytes / shadow_segment::bytes;
    if (!p.divided[number]) divide(p, number);
    return *p.cells;
  }
  /// Whether so many reads of the words are kept that no more need be, and none has been written.
  [[nodiscard]] bool crowded(std::uint64_t address, unsigned bytes) {
    const page_marks& p = in_phase(address);
    const std::uint64_t first = address % page_bytes / 4, last = (address + bytes - 1) % page_bytes / 4;
    bool all = first <= last;
    for (std::uint64_t k = first; k <= last && all; ++k) all = p.crowded[k];
    return all;
  }
  void set_crowded(std::uint64_t address, bool now) {
    page_marks& p = page_of(address);
    if (!now) return p.uncrowd(address % page_bytes / 4);
    p.crowded.set(address % page_bytes / 4);
    p.crowds = true;
  }
  /// From now on the bytes are as if nothing had accessed them. They have cells.
  void forget(std::uint64_t address, std::uint64_t bytes);
  /// No more strong reads of the word need be kept.
  void set_crowded_for_strong(std::uint64_t address) {
    page_marks& p = page_of(address);
    p.crowded_for_strong.set(address % page_bytes / 4);
    p.crowds = true;
  }
  void set_crowded_byte(std::uint64_t address) {
    page_marks& p = page_of(address);
    if (!p.crowded_bytes) p.crowded_bytes = std::make_unique<std::bitset<page_bytes>>();
    p.crowded_bytes->set(address % page_bytes);
    p.crowds = true;
  }
  /// Whether something in the page of the address may have been accessed.
  [[nodiscard]] bool has_page(std::uint64_t address) const {
    const std::uint64_t number = address / page_bytes, in = number / region_pages;
    const recent_region& r = recent_[in % recent_.size()];
    if (r.number == in) return (*r.pages)[number % region_pages] != nullptr;
    const auto found = regions_.find(in);
    return found != regions_.end() && (*found->second)[number % region_pages] != nullptr;
  }
  /// Calls f(address, bytes, cell) for all cells that may have been accessed.
  template <class F>
  void each(F&& f) const {
    for (const auto& [region, pages] : regions_)
      for (std::uint64_t k = 0; k < region_pages; ++k)
        if ((*pages)[k]) each_of(*(*pages)[k], (region * region_pages + k) * page_bytes, f);
  }
  ~shadow_pages() { drop_reads(); }
  shadow_pages() = default;
  shadow_pages(const shadow_pages&) = delete;
  shadow_pages& operator=(const shadow_pages&) = delete;
  void clear() {
    regions_.clear();
    recent_.fill({});
    lists_.clear();
    drop_reads();
    memory_.clear();
    learned_ = now_ = 0;
  }

 private:
  static constexpr std::uint64_t segments_per_page = page_bytes / shadow_segment::bytes, region_pages = 4096;
  static constexpr unsigned words_per_segment = shadow_segment::bytes / 4;
  using segment_bits = std::bitset<segments_per_page>;
  struct page_marks {
    segment_bits words_scattered, bytes_scattered;  // that have marks in `words`, in `bytes`
    segment_bits divided;                           // whose words have cells of their own
    word_mark* words = nullptr;
    word_mark* bytes = nullptr;
    shadow_segment* of_segments = nullptr;
    std::unique_ptr<shadow_cells> cells;
    std::bitset<page_bytes / 4> crowded;                     // by word
    std::bitset<page_bytes / 4> crowded_for_strong;          // the same; other reads may have to be kept
    std::unique_ptr<std::bitset<page_bytes>> crowded_bytes;  // of those in `bytes`
    bool crowds = false;                                     // some of these bits may be set
    sequence phase = 0;                                      // crowded since then
    void uncrowd(std::uint64_t word) {
      if (!crowds) return;
      crowded.reset(word);
      crowded_for_strong.reset(word);
      for (std::uint64_t k = 0; crowded_bytes && k < 4; ++k) crowded_bytes->reset(4 * word + k);
    }
  };
  using region = std::array<std::unique_ptr<page_marks>, region_pages>;
  page_marks& page_of(std::uint64_t address) {
    const std::uint64_t number = address / page_bytes, in = number / region_pages;
    recent_region& r = recent_[in % recent_.size()];
    if (r.number != in) find(in, r);
    std::unique_ptr<page_marks>& p = (*r.pages)[number % region_pages];
    if (!p) p = std::make_unique<page_marks>();
    return *p;
  }
  page_marks& in_phase(std::uint64_t address) {
    page_marks& p = page_of(address);
    if (p.phase < learned_) {
      p.crowded.reset();
      p.crowded_for_strong.reset();
      if (p.crowded_bytes) p.crowded_bytes->reset();
      p.crowds = false;
      p.phase = now_;
    }
    return p;
  }
  template <class F>
  void each_of(const page_marks& p, std::uint64_t begin, F&& f) const {
    for (std::uint64_t at = 0; at < page_bytes;) {
      const std::uint64_t number = at / shadow_segment::bytes;
      unsigned step = 4;
      if (p.words_scattered[number] || p.bytes_scattered[number]) {
        if (p.bytes_scattered[number]) step = 1;
        f(begin + at, step, cell_of(step == 1 ? p.bytes[at] : p.words[at / 4]));
      } else if (p.divided[number]) {
        step = p.cells->bytes_per_cell();
        f(begin + at, step, p.cells->at(at));
      } else if (p.of_segments != nullptr) {
        const shadow_segment& s = p.of_segments[number];
        const auto offset = static_cast<unsigned>(at % shadow_segment::bytes);
        if (s.is_fine()) step = 1;
        f(begin + at, step,
          shadow_cell{shadow_segment::at(s.write, offset), shadow_segment::at(s.read, offset), nullptr});
      }
      at += step;
    }
  }
  struct recent_region {
    std::uint64_t number = ~std::uint64_t{0};
    region* pages = nullptr;
  };
  void find(std::uint64_t number, recent_region& r);
  void give_back(shadow_segment& s);
  void drop_reads();
  void forget(page_marks& p, std::uint64_t first, std::uint64_t bytes);
  bool scatter(page_marks& p, std::uint64_t number, unsigned bytes);
  void scatter_marks(page_marks& p, std::uint64_t number);
  void divide(page_marks& p, std::uint64_t number);
  void divide_marks(page_marks& p, std::uint64_t number);
  [[nodiscard]] shadow_cell cell_of(const word_mark& word) const;

  std::unordered_map<std::uint64_t, std::unique_ptr<region>> regions_;
  std::array<recent_region, 16> recent_;  // by the region's number
  std::array<page_marks*, isa::warp_size> of_lanes_{};
  sequence learned_ = 0, now_ = 0;
  zeroed_memory memory_;
  word_lists lists_{memory_};
  static constexpr std::size_t reads_at_once = 512;
  std::vector<later_reads*> reads_;  // of segments, so many in each place
  std::size_t reads_used_ = 0;
  std::vector<later_reads*> free_reads_;  // of these
};

}  // namespace heddle::sanitize
