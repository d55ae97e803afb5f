// SPDX-License-Identifier: MIT
#include "testbench/exec/device_memory.h"

#include <algorithm>

namespace heddle::testbench {

namespace {
// Size classes are multiples of this; freed memory is reused within its class, with its old content.
constexpr std::uint64_t allocation_unit = 4096;  // a page
constexpr std::uint64_t most_margin = 65536;

std::uint64_t whole_units(std::uint64_t bytes) {
  return (bytes + allocation_unit - 1) / allocation_unit * allocation_unit;
}
}  // namespace

// Small for small allocations, of which there may be hundreds of thousands.
std::uint64_t device_memory::margin(std::uint64_t size) const {
  return exact_bounds_ ? 0 : std::clamp(whole_units(size / 16), allocation_unit, most_margin);
}

std::uint64_t device_memory::allocate(std::uint64_t bytes, bool written) {
  const std::uint64_t wanted = std::max(bytes, std::uint64_t{1});
  if (wanted > capacity_ || taken_ > capacity_ - wanted) return 0;
  const std::uint64_t size = whole_units(wanted), around = margin(size);
  const std::uint64_t accessible = exact_bounds_ ? wanted : size + 2 * around;
  std::uint64_t address = 0;
  const auto found = free_.find(size);
  if (found != free_.end()) {
    address = found->second;
    free_.erase(found);
  } else {
    // Whole pages, because memory shared with the host is mapped there at the same address.
    const std::uint64_t place = driver_.allocate(size + 2 * around + allocation_unit);
    driver_.unmap(place);
    address = whole_units(place) + around;
  }
  driver_.map(address - around, accessible);
  live_[address] = wanted;
  taken_ += wanted;
  if (checks_ != nullptr) checks_->allocated(address, wanted, "", written);
  return address;
}

bool device_memory::release(std::uint64_t address) {
  const auto found = live_.find(address);
  if (found == live_.end()) return false;
  const std::uint64_t size = whole_units(found->second);
  driver_.unmap(address - margin(size));
  if (checks_ != nullptr) checks_->freed(address);
  free_.emplace(size, address);
  taken_ -= found->second;
  live_.erase(found);
  return true;
}

}  // namespace heddle::testbench
