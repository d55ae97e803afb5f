// SPDX-License-Identifier: MIT
#pragma once

#include <array>
#include <cstdint>
#include <cstdlib>
#include <map>
#include <memory>
#include <set>
#include <string>

namespace heddle::sanitize {

/// A piece of device memory that was allocated at once.
struct allocation {
  std::uint64_t bytes = 0;
  std::string name;              // "buffer 'x'"; empty: none
  bool written_at_start = true;  // its bytes have values without being written
  // Otherwise: which bytes have been written. The host gives zeroed memory when it is touched: allocations may be
  // larger than the host's memory.
  struct release {
    void operator()(std::uint8_t* p) const { std::free(p); }
  };
  std::unique_ptr<std::uint8_t[], release> bits;
  std::set<std::uint64_t> cuts;  // words in which a write of the host begins or ends
  std::uint64_t written_to = 0;  // all bytes up to here have been written; perhaps more
};

/// The allocations of device memory by address.
class allocations {
 public:
  void add(std::uint64_t address, allocation a);
  void remove(std::uint64_t address);
  /// The allocation that begins at an address, or the one that contains it; null: none.
  [[nodiscard]] const allocation* starting_at(std::uint64_t address) const;
  /// Whether some allocation begins in a range.
  [[nodiscard]] bool begins_in(std::uint64_t begin, std::uint64_t end) const;
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
  /// "4 bytes behind buffer 'x' (400 bytes at 0x10000000)"; "" if there is no allocation.
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
