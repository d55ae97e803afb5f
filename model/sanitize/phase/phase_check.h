// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <vector>

#include "heddle/isa/set_bits.h"
#include "heddle/sanitize/phase/access_pattern.h"
#include "heddle/sanitize/phase/own_threads.h"
#include "heddle/sanitize/shadow/access_mark.h"

namespace heddle::sanitize {

/// A quick check of the accesses to shared memory by a block between two barriers of all its threads, a phase. As long
/// as each word is read alone, or accessed by one thread alone, no access of the phase races, whatever else orders
/// them; and the barriers order them with those of other phases. Nor do accesses of one warp alone race of which those
/// before its lanes have met are in the past of those after. Neither do strong accesses race (atomics, volatile ones)
/// to words of which there are no others. So it keeps of each word who writes and who reads it, or that its accesses
/// are strong, and a list of the accesses, from which the marks of all words can be made when that does not hold any
/// more.
class phase_check {
 public:
  struct access {
    access_mark mark;    // without lanes
    unsigned warp;       // in the block
    sequence release;    // others may know the warp's accesses up to here
    sequence sync;       // all lanes' accesses of the warp up to here come before it
    sequence tile_sync;  // the same of the lanes of each tile, if the warp's meet by themselves
    unsigned tile;       // lanes of one; 0: they do not
    simt::lane_mask lanes;
    unsigned bytes;
    const std::uint64_t* addresses;
    access_shape shape;
  };

  struct listed {
    access_mark mark;
    sequence release, sync;
    simt::lane_mask lanes;
    std::uint32_t first;  // offset, of a pattern the first lane's, or the place in offsets_
    std::uint8_t bytes;
    access_shape::kind how;
    std::uint32_t era;  // of the warp
    const access_pattern* pattern;
  };

  void open(std::size_t shared_bytes);
  /// A phase begins.
  void begin();
  [[nodiscard]] bool is_open() const { return open_; }
  /// False: the access may race, or more accesses are listed than should be. It is not listed.
  bool passes(const access& a);
  /// The words' accesses are strong. False: some were not.
  bool excludes(const std::uint64_t* addresses, simt::lane_mask lanes, unsigned bytes, const access_shape& shape);
  /// Copies write the words, and may be in flight beyond the phase: other accesses of them do not pass. False: there
  /// were some.
  bool copies_to(std::uint64_t address, unsigned bytes);
  /// Whether strong accesses are listed; if not, they are checked elsewhere.
  [[nodiscard]] bool lists_strong() const { return lists_strong_; }
  void list_plain_alone() { lists_strong_ = false; }
  /// Calls f(access, lane, offset) for each lane of the accesses of the phase in their order; of one that a
  /// warp has made again and again, for the last.
  template <class F>
  void each(F&& f) {
    std::stable_sort(list_.begin(), list_.end(),
                     [](const listed& a, const listed& b) { return a.mark.number < b.mark.number; });
    for (const listed& k : list_) {
      const std::uint32_t step = k.how == access_shape::kind::row ? k.bytes : 0;
      for (const unsigned lane : set_bits(k.lanes)) {
        const std::uint32_t at = k.pattern != nullptr ? k.first + static_cast<std::uint32_t>(k.pattern->relative[lane])
                                 : k.how == access_shape::kind::other ? offsets_[k.first + lane]
                                                                      : k.first + lane * step;
        f(k, lane, at);
      }
    }
  }
  /// Some warp's lanes have met between accesses of one word: the last ones stand for those before.
  [[nodiscard]] bool has_past() const { return has_past_; }
  /// The accesses have been taken from the list.
  void clear_list();
  [[nodiscard]] bool is_full() const { return list_.size() >= most_listed; }
  /// The phase is no longer checked here.
  void close() { open_ = false; }

 private:
  using thread = accessor::code;
  static constexpr thread none = accessor::none, several = accessor::several, excluded = accessor::excluded;
  static constexpr std::size_t most_listed = 1u << 14, most_known = 1u << 11, most_ranges = 4;
  struct words {
    std::uint32_t begin = 0, end = 0;
  };
  /// Of the plain accesses of a warp.
  struct warp_state {
    sequence last = 0;
    std::uint32_t era = 0;                 // begins when the earlier ones become its past
    std::array<words, most_ranges> own{};  // contain those of this era
    unsigned tile = 0;                     // lanes of the tiles whose past it has; 0: none
    words tiled;                           // contain those of earlier eras of tiles
  };
  [[nodiscard]] bool passes_plain(const access& a, bool met, bool tiles_met);
  [[nodiscard]] bool accesses_words(const access& a, const warp_state& w);
  // `Own`: own_threads or tile_threads.
  template <class Own>
  [[nodiscard]] bool accesses_words(const access& a, const Own& own);
  template <class Own>
  [[nodiscard]] bool reads_runs(const access& a, const Own& own);
  template <class Own>
  [[nodiscard]] bool writes_runs(const access& a, const Own& own);
  template <class Own>
  [[nodiscard]] bool reads(const access& a, const Own& own);
  template <class Own>
  [[nodiscard]] bool reads_vectors(const access& a, const Own& own);
  template <class Own>
  [[nodiscard]] bool writes(const access& a, const Own& own);
  template <class Own>
  [[nodiscard]] bool reads_word(std::size_t word, thread t, const Own& own);
  template <class Own>
  [[nodiscard]] bool writes_word(std::size_t word, thread t, const Own& own);
  [[nodiscard]] bool exclude(const std::uint64_t* addresses, simt::lane_mask lanes, unsigned bytes);
  static void add_words(warp_state& w, const access_shape& shape);
  void begin_era(warp_state& w, unsigned warp, unsigned tile);
  [[nodiscard]] listed* find_known(const access& a, std::uint32_t& slot);
  void list(const access& a, std::uint32_t slot);

  bool open_ = false, lists_strong_ = true, has_past_ = false;
  std::vector<thread> writers_, readers_;                // by word
  std::size_t begin_ = 0, end_ = 0;                      // words that have been accessed
  std::uint64_t excluded_begin_ = 0, excluded_end_ = 0;  // bytes of words that are all excluded
  std::array<warp_state, accessor::most_warps> warps_{};
  unsigned warps_used_ = 0;
  std::vector<listed> list_;
  std::vector<std::uint32_t> offsets_;
  std::array<std::uint32_t, most_known> known_{};  // by hash: the position in the list
};

}  // namespace heddle::sanitize
