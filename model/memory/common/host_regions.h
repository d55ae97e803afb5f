// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <map>

namespace heddle {

/// Memory of the host that the GPU accesses in place, by its addresses on the GPU: what either writes the other one
/// reads. Timing is that of device memory. Regions may be added and removed between two cycles, while no kernel may
/// access them.
class host_regions {
 public:
  /// Regions begin and end at multiples of it.
  static constexpr std::uint64_t unit = 65536;

  void add(std::uint64_t address, std::uint64_t bytes, std::uint8_t* here) {
    regions_[address] = {bytes, here};
    note_bounds();
  }
  void remove(std::uint64_t address) {
    regions_.erase(address);
    note_bounds();
  }
  [[nodiscard]] bool empty() const { return regions_.empty(); }
  /// Where the byte is, with the others of its unit; null: in device memory.
  [[nodiscard]] std::uint8_t* find(std::uint64_t address) const {
    return address - first_ < span_ ? search(address, 1) : nullptr;
  }
  /// The same of as many bytes, which are in one region; null: they are not.
  [[nodiscard]] std::uint8_t* find_all(std::uint64_t address, std::uint64_t bytes) const {
    return address - first_ < span_ ? search(address, bytes) : nullptr;
  }

 private:
  struct region {
    std::uint64_t bytes = 0;
    std::uint8_t* here = nullptr;
  };
  [[nodiscard]] std::uint8_t* search(std::uint64_t address, std::uint64_t bytes) const {
    auto r = regions_.upper_bound(address);
    if (r == regions_.begin()) return nullptr;
    --r;
    const std::uint64_t at = address - r->first;
    return at < r->second.bytes && bytes <= r->second.bytes - at ? r->second.here + at : nullptr;
  }
  void note_bounds() {
    first_ = span_ = 0;
    if (regions_.empty()) return;
    first_ = regions_.begin()->first;
    span_ = regions_.rbegin()->first + regions_.rbegin()->second.bytes - first_;
  }

  std::map<std::uint64_t, region> regions_;
  std::uint64_t first_ = 0, span_ = 0;
};

}  // namespace heddle
