// SPDX-License-Identifier: MIT
#include "heddle/memory/common/address_ranges.h"

#include <algorithm>

#include "heddle/config/error.h"

namespace heddle {

std::vector<address_ranges::range>::const_iterator address_ranges::at_or_after(std::uint64_t base) const {
  return std::lower_bound(ranges_.begin(), ranges_.end(), base,
                          [](const range& r, std::uint64_t b) { return r.begin < b; });
}

bool address_ranges::takes(std::uint64_t base, std::uint64_t size) const {
  if (size == 0 || base + size <= base) return false;
  const auto at = at_or_after(base);
  return (at == ranges_.end() || base + size <= at->begin) && (at == ranges_.begin() || std::prev(at)->end <= base);
}

bool address_ranges::begins(std::uint64_t base) const {
  const auto at = at_or_after(base);
  return at != ranges_.end() && at->begin == base;
}

void address_ranges::add(std::uint64_t base, std::uint64_t size) {
  invariant(takes(base, size), "an address range must be neither empty nor wrap around nor overlap another");
  ranges_.insert(at_or_after(base), {base, base + size});
  ++version_;
}

void address_ranges::remove(std::uint64_t base) {
  invariant(begins(base), "no address range begins there");
  ranges_.erase(at_or_after(base));
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
