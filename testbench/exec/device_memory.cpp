// SPDX-License-Identifier: MIT
#include "testbench/exec/device_memory.h"

#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <iterator>

#include "heddle/memory/common/host_regions.h"
#include "testbench/exec/copy_window.h"
#include "testbench/exec/wire.h"
#include "testbench/files/descriptor.h"

namespace heddle::testbench {

namespace {
// Size classes are multiples of this; freed memory is reused within its class, with its old content.
constexpr std::uint64_t allocation_unit = 4096;  // a page
constexpr std::uint64_t most_margin = 65536;
static_assert(wire::shared_unit == host_regions::unit, "the program's library maps what the GPU accesses in place");

std::uint64_t whole_units(std::uint64_t bytes, std::uint64_t unit = allocation_unit) {
  return (bytes + unit - 1) / unit * unit;
}
// Of the host's memory.
std::uint64_t host_bytes() {
  return static_cast<std::uint64_t>(::sysconf(_SC_PHYS_PAGES)) * static_cast<std::uint64_t>(::sysconf(_SC_PAGESIZE));
}
std::uint64_t unit_of(bool in_place) { return in_place ? host_regions::unit : allocation_unit; }
}  // namespace

// Small for small allocations, of which there may be hundreds of thousands.
std::uint64_t device_memory::margin(std::uint64_t size) const {
  return exact_bounds_ ? 0 : std::clamp(whole_units(size / 16), allocation_unit, most_margin);
}

std::uint64_t device_memory::allocate(std::uint64_t bytes, use by) {
  const bool in_place = by != use::device;
  const std::uint64_t wanted = std::max(bytes, std::uint64_t{1}), unit = unit_of(in_place);
  const std::uint64_t most = by == use::host ? host_bytes() : capacity_ - std::min(taken_, capacity_);
  if (wanted > most) return 0;
  const std::uint64_t size = whole_units(wanted, unit), around = margin(size);
  const std::uint64_t accessible = exact_bounds_ ? wanted : size + 2 * around;
  std::uint64_t address = 0;
  const auto found = free_.find({size, in_place});
  if (found != free_.end()) {
    address = found->second;
    free_.erase(found);
  } else {
    // Whole pages, because memory shared with the host is mapped there at the same address.
    const std::uint64_t place = driver_.allocate(size + 2 * around + unit);
    driver_.unmap(place);
    address = whole_units(place + around, unit);
  }
  driver_.map(address - around, accessible);
  live_[address] = {wanted, by};
  if (by != use::host) taken_ += wanted;
  if (checks_ != nullptr) checks_->allocated(address, wanted, "", in_place);
  return address;
}

bool device_memory::release(std::uint64_t address) {
  const auto found = live_.find(address);
  if (found == live_.end()) return false;
  const live_allocation was = found->second;
  const std::uint64_t size = whole_units(was.bytes, unit_of(was.in_place()));
  driver_.unmap(address - margin(size));
  if (checks_ != nullptr) checks_->freed(address);
  free_.emplace(std::make_pair(size, was.in_place()), address);
  if (was.by != use::host) taken_ -= was.bytes;
  live_.erase(found);
  return true;
}

std::uint64_t device_memory::reserve(std::uint64_t bytes, std::uint64_t alignment) {
  constexpr std::uint64_t most = std::uint64_t{1} << 44;  // of the addresses that a GPU of today has
  if (bytes > most || alignment > most) return 0;
  const extent wanted{bytes, alignment};
  std::uint64_t address = 0;
  if (const auto found = forgotten_.find(wanted); found != forgotten_.end()) {
    address = found->second;
    forgotten_.erase(found);
  } else {
    const std::uint64_t place = driver_.allocate(bytes + alignment);
    driver_.unmap(place);
    address = (place + alignment - 1) / alignment * alignment;
  }
  reserved_[address] = wanted;
  return address;
}

void device_memory::forget(std::uint64_t address) {
  const auto found = reserved_.find(address);
  if (found == reserved_.end()) return;
  forgotten_.emplace(found->second, address);
  reserved_.erase(found);
}

bool device_memory::share(std::uint64_t address, std::uint64_t bytes) {
  const auto after = shared_.lower_bound(address);
  if (after != shared_.end() && after->first - address < bytes) return false;
  if (after != shared_.begin())
    if (const auto before = std::prev(after); address - before->first < before->second) return false;
  shared_[address] = bytes;
  return true;
}

bool device_memory::take(std::uint64_t bytes) {
  if (bytes > capacity_ || taken_ > capacity_ - bytes) return false;
  taken_ += bytes;
  return true;
}

void device_memory::open(std::uint64_t address, std::uint64_t bytes, bool written) {
  driver_.map(address, bytes);
  if (checks_ != nullptr) checks_->allocated(address, bytes, "", written);
}

void device_memory::restart() {
  live_.clear();
  free_.clear();
  reserved_.clear();
  forgotten_.clear();
  shared_.clear();
  taken_ = 0;
}

void device_memory::close(std::uint64_t address) {
  driver_.unmap(address);
  if (checks_ != nullptr) checks_->freed(address);
}

}  // namespace heddle::testbench
