// SPDX-License-Identifier: MIT
#include "heddle/sanitize/phase/phase_check.h"

#include <algorithm>
#include <cstring>

#include "heddle/isa/set_bits.h"
#include "heddle/sanitize/phase/own_threads.h"

namespace heddle::sanitize {

namespace {

constexpr std::size_t spare_words = 4;  // vectors of words are read at once

unsigned words_of(unsigned bytes) { return bytes < 4 ? 1 : bytes / 4; }

std::uint64_t four(const std::uint16_t* from) {
  std::uint64_t all;
  std::memcpy(&all, from, sizeof all);
  return all;
}

constexpr std::uint64_t each_of_four = 0x0001000100010001u;

constexpr std::array<std::uint16_t, isa::warp_size> all_lanes = {0,  1,  2,  3,  4,  5,  6,  7,  8,  9,  10,
                                                                 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21,
                                                                 22, 23, 24, 25, 26, 27, 28, 29, 30, 31};

}  // namespace

void phase_check::open(std::size_t shared_bytes) {
  const std::size_t words = (shared_bytes + 3) / 4 + spare_words;
  if (writers_.size() != words) {
    writers_.assign(words, none);
    readers_.assign(words, none);
    begin_ = end_ = 0;
  }
  begin();
}

void phase_check::begin() {
  if (end_ > begin_) {
    std::memset(&writers_[begin_], 0, (end_ - begin_) * sizeof(thread));
    std::memset(&readers_[begin_], 0, (end_ - begin_) * sizeof(thread));
  }
  begin_ = writers_.size();
  end_ = 0;
  excluded_begin_ = excluded_end_ = 0;
  clear_list();
  open_ = lists_strong_ = true;
  has_past_ = false;
  std::fill_n(warps_.begin(), warps_used_, warp_state());
  warps_used_ = 0;
}

void phase_check::clear_list() {
  list_.clear();
  offsets_.clear();
}

// The words of a warp's accesses, as a few ranges.
void phase_check::add_words(warp_state& w, const access_shape& shape) {
  constexpr std::uint32_t near = 32;
  const auto begin = static_cast<std::uint32_t>(shape.begin / 4), end = static_cast<std::uint32_t>((shape.end + 3) / 4);
  for (words& r : w.own) {
    if (r.end != 0 && (begin > r.end + near || end + near < r.begin) && &r != &w.own.back()) continue;
    r = r.end == 0 ? words{begin, end} : words{std::min(r.begin, begin), std::max(r.end, end)};
    return;
  }
}

// All lanes of the warp have met: what they have done is before all that they do next. Or its tiles of so many lanes
// have, each by itself.
void phase_check::begin_era(warp_state& w, unsigned warp, unsigned tile) {
  const auto each = [&](const words& r, auto&& pass) {
    pass(&writers_[r.begin], r.end - r.begin);
    pass(&readers_[r.begin], r.end - r.begin);
  };
  if (tile != 0) {
    const tile_threads own(warp, tile);
    for (const words& r : w.own) {
      if (r.end == 0) continue;
      each(r, [&](thread* t, std::size_t count) { own.pass_tiles(t, count); });
      w.tiled = w.tiled.end == 0 ? r : words{std::min(r.begin, w.tiled.begin), std::max(r.end, w.tiled.end)};
    }
  } else if (w.tile != 0) {
    const tile_threads own(warp, w.tile);
    for (const words& r : w.own) each(r, [&](thread* t, std::size_t count) { own.pass(t, count); });
    each(w.tiled, [&](thread* t, std::size_t count) { own.pass(t, count); });
    w.tiled = {};
  } else {
    const own_threads own(warp);
    for (const words& r : w.own) each(r, [&](thread* t, std::size_t count) { own.pass(t, count); });
  }
  w.own.fill({});
  w.tile = tile;
  ++w.era;
  has_past_ = true;
}

// A plain access.
bool phase_check::passes_plain(const access& a, bool met, bool tiles_met) {
  warp_state& w = warps_[a.warp];
  const bool goes_on = w.tile == a.tile;
  const bool again = w.era != 0 && (met || (tiles_met && goes_on));  // it will be so again
  if (again) begin_era(w, a.warp, met ? 0 : a.tile);
  if (accesses_words(a, w)) return true;
  if (again || !(met || (tiles_met && (goes_on || w.tile == 0)))) return false;
  begin_era(w, a.warp, met ? 0 : a.tile);
  return accesses_words(a, w);
}

bool phase_check::passes(const access& a) {
  std::uint32_t slot = 0;
  listed* const known = find_known(a, slot);
  const bool strong = a.mark.is(access_mark::strong);
  warp_state& w = warps_[a.warp];
  if (known == nullptr && is_full()) return false;
  const bool met = !strong && w.last <= a.sync && w.last != 0;
  const bool tiles_met = !strong && !met && a.tile != 0 && w.last <= a.tile_sync && w.last != 0;
  if (!strong) w.last = a.mark.number;
  if (known == nullptr || (!strong && known->era != w.era) || ((met || tiles_met) && w.era != 0)) {
    begin_ = std::min<std::size_t>(begin_, a.shape.begin / 4);
    end_ = std::max<std::size_t>(end_, (a.shape.end + 3) / 4);
    if (strong) {
      if (!excludes(a.addresses, a.lanes, a.bytes, a.shape)) return false;
    } else {
      if (!passes_plain(a, met, tiles_met)) return false;
      add_words(w, a.shape);
      warps_used_ = std::max(warps_used_, a.warp + 1);
    }
  }
  if (known == nullptr) {
    list(a, slot);
  } else if (strong || known->era != w.era || known->release != a.release) {
    known->mark.number = a.mark.number;
    known->release = a.release;
    known->sync = a.sync;
    known->era = w.era;
  }
  return true;
}

bool phase_check::accesses_words(const access& a, const warp_state& w) {
  return w.tile == 0 ? accesses_words(a, own_threads(a.warp)) : accesses_words(a, tile_threads(a.warp, w.tile));
}

template <class Own>
inline bool phase_check::accesses_words(const access& a, const Own& own) {
  const bool runs = a.shape.pattern != nullptr && !a.shape.pattern->runs.empty();
  if (a.mark.is(access_mark::writes)) return runs ? writes_runs(a, own) : writes(a, own);
  return runs ? reads_runs(a, own) : reads(a, own);
}

bool phase_check::excludes(const std::uint64_t* addresses, simt::lane_mask lanes, unsigned bytes,
                           const access_shape& shape) {
  if (shape.begin >= excluded_begin_ && shape.end <= excluded_end_) return true;
  const bool all = exclude(addresses, lanes, bytes);
  if (shape.how == access_shape::kind::other) return all;
  if (shape.begin <= excluded_end_ && shape.end >= excluded_begin_ && excluded_end_ != 0) {
    excluded_begin_ = std::min(excluded_begin_, shape.begin);
    excluded_end_ = std::max(excluded_end_, shape.end);
  } else {
    excluded_begin_ = shape.begin;
    excluded_end_ = shape.end;
  }
  return all;
}

bool phase_check::copies_to(std::uint64_t address, unsigned bytes) {
  const std::size_t first = address / 4, last = first + words_of(bytes);
  begin_ = std::min(begin_, first);
  end_ = std::max(end_, last);
  thread earlier = none;
  for (std::size_t w = first; w < last; ++w) {
    earlier = static_cast<thread>(earlier | writers_[w] | readers_[w]);
    writers_[w] = several;
  }
  return earlier == none;
}

bool phase_check::exclude(const std::uint64_t* addresses, simt::lane_mask lanes, unsigned bytes) {
  bool all = true;
  if (bytes == 4) {
    std::size_t first = begin_, last = end_;
    unsigned bad = 0;
    for (const unsigned lane : set_bits(lanes)) {
      const std::size_t w = addresses[lane] / 4;
      first = std::min(first, w);
      last = std::max(last, w + 1);
      bad |=
          static_cast<unsigned>(writers_[w] != excluded) & static_cast<unsigned>((writers_[w] | readers_[w]) != none);
      writers_[w] = excluded;
    }
    begin_ = first;
    end_ = last;
    return bad == 0;
  }
  for (const unsigned lane : set_bits(lanes))
    for (std::size_t w = addresses[lane] / 4, last = w + words_of(bytes); w < last; ++w) {
      begin_ = std::min(begin_, w);
      end_ = std::max(end_, w + 1);
      all = all && (writers_[w] == excluded || (writers_[w] == none && readers_[w] == none));
      writers_[w] = excluded;
    }
  return all;
}

// The warp has made the same access in this phase: the last one stands for all.
phase_check::listed* phase_check::find_known(const access& a, std::uint32_t& slot) {
  const std::uint64_t key = (a.addresses[__builtin_ctz(a.lanes)] * 64 + a.warp) * 0x9e3779b97f4a7c15u ^ a.mark.what;
  slot = static_cast<std::uint32_t>((key * 0xff51afd7ed558ccdu) >> 32) % most_known;
  const std::uint32_t at = known_[slot];
  if (at >= list_.size()) return nullptr;
  listed& k = list_[at];
  if (k.mark.what != a.mark.what || k.mark.warp != a.mark.warp || k.lanes != a.lanes || k.how != a.shape.how ||
      k.pattern != a.shape.pattern)
    return nullptr;
  if (k.pattern != nullptr) return k.first == a.addresses[__builtin_ctz(a.lanes)] ? &k : nullptr;
  if (k.how != access_shape::kind::other) return k.first == a.shape.begin ? &k : nullptr;
  const std::uint32_t* const offsets = &offsets_[k.first];
  std::uint64_t differ = 0;
  for (const unsigned l : set_bits(a.lanes)) differ |= offsets[l] ^ a.addresses[l];
  return differ == 0 ? &k : nullptr;
}

void phase_check::list(const access& a, std::uint32_t slot) {
  known_[slot] = static_cast<std::uint32_t>(list_.size());
  listed k{a.mark,
           a.release,
           a.sync,
           a.lanes,
           static_cast<std::uint32_t>(a.shape.begin),
           static_cast<std::uint8_t>(a.bytes),
           a.shape.how,
           warps_[a.warp].era,
           a.shape.pattern};
  if (k.pattern != nullptr) {
    k.first = static_cast<std::uint32_t>(a.addresses[__builtin_ctz(a.lanes)]);
  } else if (k.how == access_shape::kind::other) {
    k.first = static_cast<std::uint32_t>(offsets_.size());
    offsets_.insert(offsets_.end(), a.addresses, a.addresses + isa::warp_size);
  }
  list_.push_back(k);
}

template <class Own>
inline bool phase_check::reads_word(std::size_t word, thread t, const Own& own) {
  if (!own.lets(writers_[word], t)) return false;
  thread& r = readers_[word];
  if (r != several && r != t) r = own.with(r, t);
  return true;
}

template <class Own>
inline bool phase_check::writes_word(std::size_t word, thread t, const Own& own) {
  if (!own.lets(writers_[word], t) || !own.lets(readers_[word], t)) return false;
  writers_[word] = t;
  return true;
}

template <class Own>
bool phase_check::reads_runs(const access& a, const Own& own) {
  const access_pattern& p = *a.shape.pattern;
  const auto begin = static_cast<std::int64_t>(a.addresses[__builtin_ctz(a.lanes)] / 4);
  thread bad = 0;
  for (const access_pattern::run& run : p.runs) {
    const auto at = static_cast<std::size_t>(begin + run.word);
    const std::uint16_t* const owners = &p.owners[run.first];
    const thread of_run = run.several ? own.read_several(&writers_[at], &readers_[at], owners, run.together, run.count)
                                      : own.read(&writers_[at], &readers_[at], owners, run.count);
    bad = static_cast<thread>(bad | of_run);
  }
  return bad == 0;
}

template <class Own>
bool phase_check::writes_runs(const access& a, const Own& own) {
  const access_pattern& p = *a.shape.pattern;
  const auto begin = static_cast<std::int64_t>(a.addresses[__builtin_ctz(a.lanes)] / 4);
  thread bad = 0;
  for (const access_pattern::run& run : p.runs) {
    if (run.several) return false;
    const auto at = static_cast<std::size_t>(begin + run.word);
    bad = static_cast<thread>(bad | own.write(&writers_[at], &readers_[at], &p.owners[run.first], run.count));
  }
  return bad == 0;
}

// Vectors of four words.
template <class Own>
bool phase_check::reads_vectors(const access& a, const Own& own) {
  for (const unsigned lane : set_bits(a.lanes)) {
    const std::size_t at = a.addresses[lane] / 4;
    const auto t = static_cast<thread>(own.first + lane);
    const std::uint64_t mine = t * each_of_four, writers = four(&writers_[at]), readers = four(&readers_[at]);
    if (writers != 0 && writers != mine)
      for (unsigned k = 0; k < 4; ++k)
        if (!reads_word(at + k, t, own)) return false;
    if (readers == ~std::uint64_t{0} || readers == mine || readers == own.lanes * each_of_four) continue;
    if (readers == 0) {
      std::memcpy(&readers_[at], &mine, sizeof mine);
      continue;
    }
    for (unsigned k = 0; k < 4; ++k)
      if (!reads_word(at + k, t, own)) return false;
  }
  return true;
}

template <class Own>
bool phase_check::reads(const access& a, const Own& own) {
  const unsigned count = words_of(a.bytes);
  if (a.shape.how == access_shape::kind::same && (a.lanes & (a.lanes - 1)) != 0) {
    const std::size_t begin = a.shape.begin / 4;
    return own.read_together(&writers_[begin], &readers_[begin], count) == 0;
  }
  if (count == 4) return reads_vectors(a, own);
  if (a.shape.how == access_shape::kind::row && a.bytes == 4)
    return own.read(&writers_[a.shape.begin / 4], &readers_[a.shape.begin / 4], all_lanes.data(), all_lanes.size()) ==
           0;
  for (const unsigned lane : set_bits(a.lanes)) {
    const std::size_t at = a.addresses[lane] / 4;
    for (unsigned k = 0; k < count; ++k)
      if (!reads_word(at + k, static_cast<thread>(own.first + lane), own)) return false;
  }
  return true;
}

template <class Own>
bool phase_check::writes(const access& a, const Own& own) {
  const unsigned count = words_of(a.bytes);
  if (a.shape.how == access_shape::kind::row && a.bytes == 4)
    return own.write(&writers_[a.shape.begin / 4], &readers_[a.shape.begin / 4], all_lanes.data(), all_lanes.size()) ==
           0;
  for (const unsigned lane : set_bits(a.lanes)) {
    const std::size_t at = a.addresses[lane] / 4;
    for (unsigned k = 0; k < count; ++k)
      if (!writes_word(at + k, static_cast<thread>(own.first + lane), own)) return false;
  }
  return true;
}

}  // namespace heddle::sanitize
