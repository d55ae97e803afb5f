// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <cstdint>
#include <tlm>

namespace heddle {

/// A read or write by its bytes, for a target of blocking transport: byte i of the data is at address + i modulo the
/// streaming width, and byte enable i modulo their number says whether it is transferred (IEEE 1666-2011, clauses 14.11
/// to 14.13).
class byte_transfer {
 public:
  explicit byte_transfer(const tlm::tlm_generic_payload& p)
      : data_(p.get_data_ptr()),
        enables_(p.get_byte_enable_ptr()),
        address_(p.get_address()),
        length_(p.get_data_length()),
        width_(std::min(p.get_streaming_width(), length_)),
        period_(p.get_byte_enable_length()) {}
  /// All bytes of the data, one after another.
  byte_transfer(std::uint64_t address, std::uint8_t* data, unsigned length)
      : data_(data), address_(address), length_(length), width_(length) {}

  /// TLM_OK_RESPONSE, or the response status for attributes that make no transfer.
  [[nodiscard]] tlm::tlm_response_status check() const {
    if (length_ == 0 || width_ == 0) return tlm::TLM_BURST_ERROR_RESPONSE;
    if (data_ == nullptr) return tlm::TLM_GENERIC_ERROR_RESPONSE;
    const auto known = [](std::uint8_t e) { return e == TLM_BYTE_ENABLED || e == TLM_BYTE_DISABLED; };
    if (enables_ != nullptr && (period_ == 0 || !std::all_of(enables_, enables_ + period_, known)))
      return tlm::TLM_BYTE_ENABLE_ERROR_RESPONSE;
    return tlm::TLM_OK_RESPONSE;
  }

  /// Calls `move(address, data, bytes)` for each run of enabled bytes at consecutive addresses, in the order of the
  /// data, until one returns false. False if one did.
  template <class Move>
  bool each_run(Move&& move) const {
    for (unsigned i = 0; i < length_;) {
      if (!enabled(i)) {
        ++i;
        continue;
      }
      const unsigned most = std::min(width_ - i % width_, length_ - i);
      unsigned n = enables_ == nullptr ? most : 1;
      while (n < most && enabled(i + n)) ++n;
      if (!move(address_ + i % width_, data_ + i, n)) return false;
      i += n;
    }
    return true;
  }

  /// A part of a 64-bit register: `count` lanes of a byte from lane `first` on, whose data follow each other.
  struct word {
    std::uint64_t address = 0;  // of the register
    unsigned first = 0;
    unsigned count = 0;
    unsigned lanes = 0;   // bit per lane that is transferred
    bool begins = false;  // the first byte that is transferred, or that a streaming width repeats, is in it
    std::uint8_t* data = nullptr;
  };
  /// Calls `move(word)` for each part with a lane that is transferred, as each_run.
  template <class Move>
  bool each_word(Move&& move) const {
    bool begun = false;
    for (unsigned i = 0; i < length_;) {
      const std::uint64_t address = address_ + i % width_;
      const auto first = static_cast<unsigned>(address % 8);
      word w{address - first, first, std::min({8 - first, width_ - i % width_, length_ - i}), 0, false, data_ + i};
      for (unsigned k = 0; k < w.count; ++k) w.lanes |= unsigned{enabled(i + k)} << (first + k);
      w.begins = w.lanes != 0 && (!begun || i % width_ == 0);
      begun = (begun && i % width_ != 0) || w.lanes != 0;
      if (w.lanes != 0 && !move(w)) return false;
      i += w.count;
    }
    return true;
  }

 private:
  [[nodiscard]] bool enabled(unsigned i) const {
    return enables_ == nullptr || enables_[i % period_] == TLM_BYTE_ENABLED;
  }

  std::uint8_t* data_;
  const std::uint8_t* enables_ = nullptr;
  std::uint64_t address_;
  unsigned length_;
  unsigned width_;       // streaming width, at most the length
  unsigned period_ = 0;  // number of byte enables
};

}  // namespace heddle
