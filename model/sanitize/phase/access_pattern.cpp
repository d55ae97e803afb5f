// SPDX-License-Identifier: MIT
#include "heddle/sanitize/phase/access_pattern.h"

namespace heddle::sanitize {

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
      runs.push_back({words[k].at, 0, static_cast<std::uint16_t>(owners.size()), several, 1});
    for (std::size_t n = k + 1; n < next; ++n)
      while ((words[n].lane ^ words[k].lane) >= runs.back().together)
        runs.back().together = static_cast<std::uint8_t>(2 * runs.back().together);
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
  instruction_counts& all_masks = instructions_[instruction % most_instructions];
  if (all_masks.is_irregular()) return nullptr;
  slot& s = slots_[(instruction * 0x9e3779b1u ^ mask * 0x85ebca6bu) >> 22];
  access_pattern* p = s.pattern;
  if (p != nullptr) do {
      if (p->is(addresses, mask, bytes)) {
        s.misses = 0;
        ++all_masks.found;
        return s.pattern = p;
      }
      ++all_masks.missed;
      p = p->next;
    } while (p != s.pattern);
  else ++all_masks.missed;
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

}  // namespace heddle::sanitize
