// SPDX-License-Identifier: MIT
#pragma once

#include <array>
#include <cstdint>
#include <cstdlib>
#include <iterator>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <utility>

#include "heddle/sanitize/findings.h"

namespace heddle::sanitize {

/// An allocation of device memory.
struct allocation {
  std::uint64_t bytes = 0;
  std::string name;              // "buffer 'x'"; empty: none
  bool written_at_start = true;  // its bytes have values without being written
  std::uint32_t client = 0;      // the only one whose launches may access it; 0: all may
  // Otherwise: which bytes have been written. The host gives zeroed memory when it is touched: allocations may be
  // larger than the host's memory.
  struct release {
    void operator()(std::uint8_t* p) const { std::free(p); }
  };
  std::unique_ptr<std::uint8_t[], release> bits;
  std::set<std::uint64_t> cuts;  // words in which a write of the host begins or ends
  std::uint64_t written_to = 0;  // all bytes up to here have been written; perhaps more
};

/// "4 bytes behind buffer 'x' (400 bytes at 0x10000000)"; "" if there is no block. `live`, `freed`: blocks by address.
/// `bytes_and_name`: of a live one; the name may be empty.
template <class Map, class F>
std::string nearest_text(std::uint64_t address, const Map& live, const std::map<std::uint64_t, std::uint64_t>& freed,
                         F&& bytes_and_name) {
  const auto old = freed.upper_bound(address);
  if (old != freed.begin() && address - std::prev(old)->first < std::prev(old)->second)
    return "in memory that was freed (" + std::to_string(std::prev(old)->second) + " bytes at " +
           hexadecimal(std::prev(old)->first) + ")";
  const auto text = [&](std::uint64_t distance, const char* side, const auto& block) {
    const auto [bytes, name] = bytes_and_name(block);
    return std::to_string(distance) + " byte" + (distance == 1 ? " " : "s ") + side + " " +
           (name.empty() ? "an allocation" : name) + " (" + std::to_string(bytes) + " bytes at " +
           hexadecimal(block.first) + ")";
  };
  const auto after = live.upper_bound(address);
  std::string near;
  std::uint64_t least = ~std::uint64_t{0};
  if (after != live.begin()) {
    const auto before = std::prev(after);
    const std::uint64_t bytes = bytes_and_name(*before).first;
    if (address - before->first < bytes) return text(address - before->first, "into", *before);
    least = address - before->first - bytes;
    near = text(least, "behind", *before);
  }
  if (after != live.end() && after->first - address < least) near = text(after->first - address, "before", *after);
  return near;
}

/// The allocations of device memory by address.
class allocations {
 public:
  void add(std::uint64_t address, allocation a);
  void remove(std::uint64_t address);
  /// Whether some allocation begins in a range.
  [[nodiscard]] bool begins_in(std::uint64_t begin, std::uint64_t end) const;
  /// The allocation that contains an address; null: none.
  [[nodiscard]] allocation* containing(std::uint64_t address, std::uint64_t& begin);
  /// Some bytes may have been unwritten so far.
  [[nodiscard]] bool tracks() const { return tracked_ != 0; }
  void written(std::uint64_t address, std::uint64_t bytes, bool by_host = false);
  /// Whether bytes of a load lack a value: all of them; or some, of a word that the host has written in part. Other
  /// loads of which some bytes lack one are taken for structures with gaps. Bytes outside allocations have a value.
  enum class lack : std::uint8_t { nothing, some, all };
  [[nodiscard]] lack lacks(std::uint64_t address, unsigned bytes);
  /// All bytes of a range within one allocation have a value.
  [[nodiscard]] bool all_written(std::uint64_t address, std::uint64_t bytes);
  /// The same, found at once; false: it may be so.
  [[nodiscard]] bool known_written(std::uint64_t address, std::uint64_t bytes);
  /// As nearest_text().
  [[nodiscard]] std::string nearest(std::uint64_t address) const;

 private:
  std::map<std::uint64_t, allocation> live_;
  std::map<std::uint64_t, std::uint64_t> freed_;  // bytes by address
  std::size_t tracked_ = 0;
  /// Allocations that were found, by address, until one comes or goes.
  struct place {
    std::uint64_t begin = 0;
    allocation* found = nullptr;
    std::uint64_t changes = 0;
  };
  place last_;
  std::array<place, 256> recent_;
  std::uint64_t changes_ = 1;
};

}  // namespace heddle::sanitize
