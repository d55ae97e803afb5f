// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <map>
#include <vector>

namespace heddle {

/// Memory of the host that another process alone maps: a call of the system moves its bytes. Several threads may use
/// it at the same time.
class distant_memory {
 public:
  /// Bytes of that memory, and where they are in this process.
  struct run {
    std::uint64_t address = 0;
    std::uint8_t* here = nullptr;
    std::size_t bytes = 0;
  };
  virtual ~distant_memory() = default;
  /// What cannot be read becomes zero.
  virtual void read(const std::vector<run>& runs) const = 0;
  /// What cannot be written is lost.
  virtual void write(const std::vector<run>& runs) const = 0;
};

/// Memory of the host that the GPU accesses in place, by its addresses on the GPU: what either writes the other one
/// reads. Timing is that of device memory. Regions may be added and removed between two cycles, while no kernel may
/// access them.
class host_regions {
 public:
  /// Regions in this process begin and end at multiples of it.
  static constexpr std::uint64_t unit = 65536;

  void add(std::uint64_t address, std::uint64_t bytes, std::uint8_t* here) {
    regions_[address] = {bytes, here};
    mapped_ = bounds_of(regions_);
  }
  /// The same of any bytes of another process. No other memory that the GPU may access lies in their units. `shared`:
  /// other processes may have mapped them, too.
  void add(std::uint64_t address, std::uint64_t bytes, const distant_memory& there, bool shared) {
    distant_[address] = {bytes, &there, shared};
    away_ = bounds_of(distant_);
  }
  void remove(std::uint64_t address) {
    regions_.erase(address);
    distant_.erase(address);
    mapped_ = bounds_of(regions_);
    away_ = bounds_of(distant_);
  }
  [[nodiscard]] bool empty() const { return regions_.empty() && distant_.empty(); }
  /// Where the byte is, with the others of its unit; null: in device memory, or in another process.
  [[nodiscard]] std::uint8_t* find(std::uint64_t address) const {
    return mapped_.hold(address) ? search(address, 1) : nullptr;
  }
  /// The same of as many bytes, which are in one region; null: they are not.
  [[nodiscard]] std::uint8_t* find_all(std::uint64_t address, std::uint64_t bytes) const {
    return mapped_.hold(address) ? search(address, bytes) : nullptr;
  }
  /// Some memory is in another process.
  [[nodiscard]] bool any_distant() const { return away_.span != 0; }
  /// The unit that contains the byte has memory of another process.
  [[nodiscard]] bool is_distant(std::uint64_t address) const {
    if (!away_.hold(address)) return false;
    const std::uint64_t begin = address / unit * unit;
    const auto after = distant_.lower_bound(begin + unit);
    return after != distant_.begin() && std::prev(after)->first + std::prev(after)->second.bytes > begin;
  }
  /// The same, and some of it is shared.
  [[nodiscard]] bool is_shared(std::uint64_t address) const {
    const std::uint64_t begin = address / unit * unit;
    for (auto d = distant_.lower_bound(begin + unit); d != distant_.begin();) {
      --d;
      if (d->first + d->second.bytes <= begin) break;
      if (d->second.shared) return true;
    }
    return false;
  }
  /// Some memory of other processes is shared.
  [[nodiscard]] bool any_shared() const {
    return std::any_of(distant_.begin(), distant_.end(), [](const auto& d) { return d.second.shared; });
  }
  /// Reads or writes memory of other processes. Bytes that none has are zero, or lost.
  void move(bool write, const std::vector<distant_memory::run>& runs) const {
    const distant_memory* there = nullptr;
    std::vector<distant_memory::run> parts;  // in its memory
    const auto move_parts = [&] {
      if (there != nullptr) write ? there->write(parts) : there->read(parts);
      parts.clear();
    };
    for (const distant_memory::run& r : runs) {
      if (!write) std::fill_n(r.here, r.bytes, std::uint8_t{0});
      const std::uint64_t end = r.address + r.bytes;
      auto d = distant_.upper_bound(r.address);
      if (d != distant_.begin()) --d;
      for (; d != distant_.end() && d->first < end; ++d) {
        const std::uint64_t from = std::max(r.address, d->first), to = std::min(end, d->first + d->second.bytes);
        if (from >= to) continue;
        if (d->second.there != there) move_parts();
        there = d->second.there;
        parts.push_back({from, r.here + (from - r.address), to - from});
      }
    }
    move_parts();
  }

 private:
  struct region {
    std::uint64_t bytes = 0;
    std::uint8_t* here = nullptr;
  };
  struct distant_region {
    std::uint64_t bytes = 0;
    const distant_memory* there = nullptr;
    bool shared = false;
  };
  struct bounds {
    std::uint64_t first = 0, span = 0;
    [[nodiscard]] bool hold(std::uint64_t address) const { return address - first < span; }
  };
  /// Of whole units.
  template <class Regions>
  static bounds bounds_of(const Regions& all) {
    if (all.empty()) return {};
    const std::uint64_t first = all.begin()->first / unit * unit;
    return {first, (all.rbegin()->first + all.rbegin()->second.bytes - first + unit - 1) / unit * unit};
  }
  [[nodiscard]] std::uint8_t* search(std::uint64_t address, std::uint64_t bytes) const {
    auto r = regions_.upper_bound(address);
    if (r == regions_.begin()) return nullptr;
    --r;
    const std::uint64_t at = address - r->first;
    return at < r->second.bytes && bytes <= r->second.bytes - at ? r->second.here + at : nullptr;
  }

  std::map<std::uint64_t, region> regions_;
  std::map<std::uint64_t, distant_region> distant_;
  bounds mapped_, away_;
};

}  // namespace heddle
