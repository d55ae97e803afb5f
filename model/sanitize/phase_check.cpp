// SPDX-License-Identifier: MIT
#include "heddle/sanitize/phase_check.h"

#include <algorithm>
#include <cstring>

#include "heddle/isa/set_bits.h"

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

}  // namespace

access_pattern::access_pattern(const std::uint64_t* addresses, simt::lane_mask of, unsigned size)
    : mask(of), bytes(size), how(access_shape::of(addresses, of, size).how) {
  const std::uint64_t first = addresses[__builtin_ctz(mask)];
  for (const unsigned l : set_bits(mask)) {
    relative[l] = static_cast<std::int64_t>(addresses[l] - first);
    low = std::min(low, relative[l]);
    high = std::max(high, relative[l]);
    ored |= static_cast<std::uint64_t>(relative[l]);
  }
  constexpr std::int64_t far = 1 << 20;  // more than shared memory
  if (bytes >= 4 && (ored & 3) == 0 && low > -far && high < far) find_runs();
}

void access_pattern::find_runs() {
  struct word {
    std::int32_t at;
    std::uint16_t lane;
  };
  std::vector<word> words;
  for (const unsigned l : set_bits(mask))
    for (unsigned k = 0; k < bytes / 4; ++k)
      words.push_back({static_cast<std::int32_t>(relative[l] / 4 + k), static_cast<std::uint16_t>(l)});
  std::stable_sort(words.begin(), words.end(), [](const word& x, const word& y) { return x.at < y.at; });
  for (std::size_t k = 0; k < words.size();) {
    std::size_t next = k + 1;
    while (next < words.size() && words[next].at == words[k].at) ++next;
    const bool several = next > k + 1;
    if (runs.empty() || runs.back().several != several || runs.back().word + runs.back().count != words[k].at)
      runs.push_back({words[k].at, 0, static_cast<std::uint16_t>(owners.size()), several});
    ++runs.back().count;
    owners.push_back(words[k].lane);
    k = next;
  }
  if (runs.size() > most_runs) runs.clear();
}

bool access_pattern::is(const std::uint64_t* addresses, simt::lane_mask of, unsigned size) const {
  if (of != mask || size != bytes) return false;
  const std::uint64_t first = addresses[__builtin_ctz(mask)];
  const unsigned last = isa::warp_size - 1 - static_cast<unsigned>(__builtin_clz(mask));
  std::uint64_t differ = (addresses[last] - first) ^ static_cast<std::uint64_t>(relative[last]);
  if (differ != 0) return false;
  if (mask == simt::all_lanes)
    for (unsigned l = 0; l < isa::warp_size; ++l)
      differ |= (addresses[l] - first) ^ static_cast<std::uint64_t>(relative[l]);
  else
    for (const unsigned l : set_bits(mask)) differ |= (addresses[l] - first) ^ static_cast<std::uint64_t>(relative[l]);
  return differ == 0;
}

const access_pattern* access_patterns::find(std::uint32_t instruction, const std::uint64_t* addresses,
                                            simt::lane_mask mask, unsigned bytes) {
  slot& s = slots_[(instruction * 0x9e3779b1u ^ mask * 0x85ebca6bu) >> 22];
  access_pattern* p = s.pattern;
  if (p != nullptr) do {
      if (p->is(addresses, mask, bytes)) {
        s.misses = 0;
        return s.pattern = p;
      }
      p = p->next;
    } while (p != s.pattern);
  if (s.patterns >= most_patterns) {
    if (++s.misses >= most_misses) s.pattern = nullptr;
    return nullptr;
  }
  ++s.patterns;
  access_pattern& made = all_.emplace_back(addresses, mask, bytes);
  made.next = &made;
  if (s.pattern != nullptr) {
    made.next = s.pattern->next;
    s.pattern->next = &made;
  }
  return s.pattern = &made;
}

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
}

void phase_check::clear_list() {
  list_.clear();
  offsets_.clear();
}

bool phase_check::passes(const access& a) {
  std::uint32_t slot = 0;
  if (is_known(a, slot)) return true;
  if (is_full()) return false;
  begin_ = std::min<std::size_t>(begin_, a.shape.begin / 4);
  end_ = std::max<std::size_t>(end_, (a.shape.end + 3) / 4);
  const auto first = static_cast<thread>(a.warp * isa::warp_size + 1);
  const bool runs = a.shape.pattern != nullptr && !a.shape.pattern->runs.empty();
  if (a.mark.is(access_mark::strong)) {
    if (!excludes(a.addresses, a.lanes, a.bytes, a.shape)) return false;
  } else if (!(a.mark.is(access_mark::writes) ? runs ? writes_runs(a, first) : writes(a, first)
               : runs ? reads_runs(a, first)
                                              : reads(a, first)))
    return false;
  list(a, slot);
  return true;
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

// The warp has made the same access in this phase, and nothing has happened since that others could have seen; of
// strong ones, the last stands for all.
bool phase_check::is_known(const access& a, std::uint32_t& slot) {
  const std::uint64_t key = (a.addresses[__builtin_ctz(a.lanes)] * 64 + a.warp) * 0x9e3779b97f4a7c15u ^ a.mark.what;
  slot = static_cast<std::uint32_t>((key * 0xff51afd7ed558ccdu) >> 32) % most_known;
  const std::uint32_t at = known_[slot];
  if (at >= list_.size()) return false;
  listed& k = list_[at];
  const bool strong = a.mark.is(access_mark::strong);
  if (k.mark.what != a.mark.what || k.mark.warp != a.mark.warp || (k.release != a.release && !strong) ||
      k.lanes != a.lanes || k.how != a.shape.how || k.pattern != a.shape.pattern)
    return false;
  if (k.pattern != nullptr) {
    if (k.first != a.addresses[__builtin_ctz(a.lanes)]) return false;
    if (strong) {
      k.mark.number = a.mark.number;
      k.release = a.release;
      k.sync = a.sync;
    }
    return true;
  }
  if (k.how != access_shape::kind::other) return k.first == a.shape.begin;
  const std::uint32_t* const offsets = &offsets_[k.first];
  std::uint64_t differ = 0;
  for (const unsigned l : set_bits(a.lanes)) differ |= offsets[l] ^ a.addresses[l];
  return differ == 0;
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
           a.shape.pattern};
  if (k.pattern != nullptr) {
    k.first = static_cast<std::uint32_t>(a.addresses[__builtin_ctz(a.lanes)]);
  } else if (k.how == access_shape::kind::other) {
    k.first = static_cast<std::uint32_t>(offsets_.size());
    offsets_.insert(offsets_.end(), a.addresses, a.addresses + isa::warp_size);
  }
  list_.push_back(k);
}

inline bool phase_check::reads_word(std::size_t word, thread t) {
  if (writers_[word] != none && writers_[word] != t) return false;
  thread& r = readers_[word];
  if (r != several && r != t) r = r == none ? t : several;
  return true;
}

inline bool phase_check::writes_word(std::size_t word, thread t) {
  if ((writers_[word] != none && writers_[word] != t) || (readers_[word] != none && readers_[word] != t)) return false;
  writers_[word] = t;
  return true;
}

bool phase_check::reads_runs(const access& a, thread first) {
  const access_pattern& p = *a.shape.pattern;
  const auto begin = static_cast<std::int64_t>(a.addresses[__builtin_ctz(a.lanes)] / 4);
  thread bad = 0;
  for (const access_pattern::run& run : p.runs) {
    const thread* const w = &writers_[static_cast<std::size_t>(begin + run.word)];
    thread* const r = &readers_[static_cast<std::size_t>(begin + run.word)];
    if (run.several) {
      for (unsigned k = 0; k < run.count; ++k) {
        bad |= w[k];
        r[k] = several;
      }
      continue;
    }
    const std::uint16_t* const owner = &p.owners[run.first];
    for (unsigned k = 0; k < run.count; ++k) {
      const auto t = static_cast<thread>(first + owner[k]);
      bad = static_cast<thread>(bad | ((w[k] != none) & (w[k] != t)));
      r[k] = (r[k] == none) | (r[k] == t) ? t : several;
    }
  }
  return bad == 0;
}

bool phase_check::writes_runs(const access& a, thread first) {
  const access_pattern& p = *a.shape.pattern;
  const auto begin = static_cast<std::int64_t>(a.addresses[__builtin_ctz(a.lanes)] / 4);
  thread bad = 0;
  for (const access_pattern::run& run : p.runs) {
    if (run.several) return false;
    thread* const w = &writers_[static_cast<std::size_t>(begin + run.word)];
    const thread* const r = &readers_[static_cast<std::size_t>(begin + run.word)];
    const std::uint16_t* const owner = &p.owners[run.first];
    for (unsigned k = 0; k < run.count; ++k) {
      const auto t = static_cast<thread>(first + owner[k]);
      bad = static_cast<thread>(bad | ((w[k] != none) & (w[k] != t)) | ((r[k] != none) & (r[k] != t)));
      w[k] = t;
    }
  }
  return bad == 0;
}

bool phase_check::reads(const access& a, thread first) {
  const unsigned words = words_of(a.bytes);
  if (a.shape.how == access_shape::kind::same && (a.lanes & (a.lanes - 1)) != 0) {
    const std::size_t begin = a.shape.begin / 4;
    bool good = true;
    for (std::size_t w = begin; w < begin + words; ++w) {
      good = good && writers_[w] == none;
      readers_[w] = several;
    }
    return good;
  }
  if (words == 4) {
    for (const unsigned lane : set_bits(a.lanes)) {
      const std::size_t at = a.addresses[lane] / 4;
      const auto t = static_cast<thread>(first + lane);
      const std::uint64_t own = t * each_of_four, writers = four(&writers_[at]), readers = four(&readers_[at]);
      if (writers != 0 && writers != own)
        for (unsigned k = 0; k < words; ++k)
          if (!reads_word(at + k, t)) return false;
      if (readers == ~std::uint64_t{0} || readers == own) continue;
      if (readers == 0) {
        std::memcpy(&readers_[at], &own, sizeof own);
        continue;
      }
      for (unsigned k = 0; k < words; ++k)
        if (!reads_word(at + k, t)) return false;
    }
    return true;
  }
  if (a.shape.how == access_shape::kind::row && a.bytes == 4) {
    const thread* const w = &writers_[a.shape.begin / 4];
    thread* const r = &readers_[a.shape.begin / 4];
    unsigned bad = 0;
    for (unsigned l = 0; l < isa::warp_size; ++l) {
      const auto t = static_cast<thread>(first + l);
      bad |= (w[l] != none) & (w[l] != t);
      r[l] = r[l] == none || r[l] == t ? t : several;
    }
    return bad == 0;
  }
  if (a.bytes == 4 && a.lanes == simt::all_lanes) {
    std::uint32_t written = 0;
    for (unsigned l = 0; l < isa::warp_size; ++l) written |= writers_[a.addresses[l] / 4];
    if (written == none) {
      for (unsigned l = 0; l < isa::warp_size; ++l) {
        thread& r = readers_[a.addresses[l] / 4];
        const auto t = static_cast<thread>(first + l);
        if (r != several && r != t) r = r == none ? t : several;
      }
      return true;
    }
  }
  for (const unsigned lane : set_bits(a.lanes)) {
    const std::size_t at = a.addresses[lane] / 4;
    for (unsigned k = 0; k < words; ++k)
      if (!reads_word(at + k, static_cast<thread>(first + lane))) return false;
  }
  return true;
}

bool phase_check::writes(const access& a, thread first) {
  const unsigned words = words_of(a.bytes);
  if (a.shape.how == access_shape::kind::row && a.bytes == 4) {
    thread* const w = &writers_[a.shape.begin / 4];
    const thread* const r = &readers_[a.shape.begin / 4];
    unsigned bad = 0;
    for (unsigned l = 0; l < isa::warp_size; ++l) {
      const auto t = static_cast<thread>(first + l);
      bad |= ((w[l] != none) & (w[l] != t)) | ((r[l] != none) & (r[l] != t));
      w[l] = t;
    }
    return bad == 0;
  }
  for (const unsigned lane : set_bits(a.lanes)) {
    const std::size_t at = a.addresses[lane] / 4;
    for (unsigned k = 0; k < words; ++k)
      if (!writes_word(at + k, static_cast<thread>(first + lane))) return false;
  }
  return true;
}

}  // namespace heddle::sanitize
