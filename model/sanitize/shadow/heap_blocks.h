// SPDX-License-Identifier: MIT
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <memory>
#include <unordered_map>

#include "heddle/sanitize/shadow/zeroed_memory.h"
#include "heddle/simt/warp/warp_state.h"

namespace heddle::sanitize {

/// The blocks of malloc in kernels. Each byte of them has a byte of state, so that one look-up tells whether an access
/// is legal and whether what it reads was written, however many blocks there are.
class heap_blocks {
 public:
  heap_blocks() { clear(); }
  void clear();
  /// `written`: its bytes have values from the start.
  void add(std::uint64_t address, std::uint64_t bytes, bool written);
  void remove(std::uint64_t address);
  /// Of the block that begins there; 0: there is none.
  [[nodiscard]] std::uint64_t bytes_at(std::uint64_t address) const;
  /// Some bytes may have been unwritten so far.
  [[nodiscard]] bool tracks() const { return tracks_; }
  /// All of these lanes' bytes, aligned and at most 16 each, lie in blocks, and `reads`: have been written. `writes`:
  /// they are written now, as far as they lie in blocks.
  bool passes(const std::uint64_t* addresses, simt::lane_mask lanes, unsigned bytes, bool reads, bool writes);
  [[nodiscard]] bool all_allocated(std::uint64_t address, std::uint64_t bytes);
  [[nodiscard]] bool all_written(std::uint64_t address, std::uint64_t bytes);
  [[nodiscard]] bool any_written(std::uint64_t address, std::uint64_t bytes);
  void write(std::uint64_t address, std::uint64_t bytes);
  /// Bytes of blocks, and of those that were freed, by address.
  [[nodiscard]] const std::map<std::uint64_t, std::uint64_t>& live() const { return live_; }
  [[nodiscard]] const std::map<std::uint64_t, std::uint64_t>& freed() const { return freed_; }

 private:
  static constexpr std::uint64_t page_bytes = 4096, region_pages = 4096;
  static constexpr std::uint8_t outside = 0, allocated = 1, written = 3;  // `written` has the bit of `allocated`
  /// The states of pages. Those of a page whose bytes are all alike are shared.
  using region = std::array<const std::uint8_t*, region_pages>;
  struct recent_region {
    std::uint64_t number = ~std::uint64_t{0};
    region* pages = nullptr;
  };
  const std::uint8_t*& page(std::uint64_t address) {
    const std::uint64_t number = address / page_bytes, in = number / region_pages;
    recent_region& r = recent_[in % recent_.size()];
    if (r.number != in) find(in, r);
    return (*r.pages)[number % region_pages];
  }
  void find(std::uint64_t number, recent_region& r);
  template <class Word>
  bool passes(const std::uint64_t* addresses, simt::lane_mask lanes, bool reads, bool writes);
  void set(std::uint64_t address, std::uint64_t bytes, std::uint8_t state);
  template <class F>
  bool each_part(std::uint64_t address, std::uint64_t bytes, F&& f);
  std::uint8_t* own(const std::uint8_t*& states);

  std::unordered_map<std::uint64_t, std::unique_ptr<region>> regions_;
  std::array<recent_region, 16> recent_;
  zeroed_memory memory_;
  std::map<std::uint64_t, std::uint64_t> live_, freed_;  // bytes by address
  bool tracks_ = false;
};

}  // namespace heddle::sanitize
