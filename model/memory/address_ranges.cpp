// SPDX-License-Identifier: MIT
#include "memory/address_ranges.h"

#include <algorithm>

#include "config/error.h"

namespace heddle {

void address_ranges::add(std::uint64_t base, std::uint64_t size) {
  invariant(size != 0 && base + size > base, "an address range must be neither empty nor wrap around");
  const auto at = std::lower_bound(ranges_.begin(), ranges_.end(), base,
                                   [](const range& r, std::uint64_t b) { return r.begin < b; });
  invariant(at == ranges_.end() || base + size <= at->begin, "address ranges overlap");
  invariant(at == ranges_.begin() || std::prev(at)->end <= base, "address ranges overlap");
  ranges_.insert(at, {base, base + size});
  ++version_;
}

void address_ranges::remove(std::uint64_t base) {
  const auto at = std::lower_bound(ranges_.begin(), ranges_.end(), base,
                                   [](const range& r, std::uint64_t b) { return r.begin < b; });
  invariant(at != ranges_.end() && at->begin == base, "no address range begins there");
  ranges_.erase(at);
  ++version_;
}

bool address_ranges::find(std::uint64_t address, std::uint64_t bytes, hint& h) const {
  refresh(h);
  const std::uint64_t last = address + bytes - 1;
  if (bytes == 0 || last < address) return false;
  if (h.holds(address, last)) return true;
  auto at = std::upper_bound(ranges_.begin(), ranges_.end(), address,
                             [](std::uint64_t a, const range& r) { return a < r.begin; });
  if (at == ranges_.begin()) return false;
  --at;
  if (last >= at->end) return false;
  h = {at->begin, at->end, version_};
  return true;
}

}  // namespace heddle
