// SPDX-License-Identifier: MIT
#include "heddle/memory/common/lost_locality.h"

#include <algorithm>

namespace heddle {

namespace {
constexpr std::uint64_t no_line = 1;
}

lost_locality::lost_locality(unsigned warps, unsigned tags_per_warp, lost_locality_observer& observer)
    : tags_per_warp_(std::max(1u, tags_per_warp)),
      observer_(observer),
      victims_(std::size_t{warps} * tags_per_warp_, no_line),
      next_(warps, 0) {}

void lost_locality::missed(unsigned index, std::uint64_t line, unsigned warp, cycle_t cycle) {
  const auto first = victims_.begin() + static_cast<std::ptrdiff_t>(std::size_t{warp} * tags_per_warp_);
  const auto found = std::find(first, first + tags_per_warp_, line);
  const bool lost = found != first + tags_per_warp_;
  if (lost) *found = no_line;
  replace(index, {line, warp});
  if (lost) observer_.locality_lost(warp, cycle);
}

void lost_locality::prefetched(unsigned index, std::uint64_t line) { replace(index, {line, ~0u}); }

void lost_locality::replace(unsigned index, const holder& by) {
  if (index >= places_.size()) places_.resize(index + 1);
  const holder old = places_[index];
  places_[index] = by;
  if (old.warp == ~0u || old.line == by.line) return;
  victims_[std::size_t{old.warp} * tags_per_warp_ + next_[old.warp]] = old.line;
  next_[old.warp] = next_[old.warp] + 1 < tags_per_warp_ ? next_[old.warp] + 1 : 0;
}

void lost_locality::exchange(state_image& image) {
  image(places_);
  image.each(victims_);
  image.each(next_);
}

}  // namespace heddle
