// SPDX-License-Identifier: MIT
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <type_traits>
#include <vector>

#include "heddle/simt/warp/warp_state.h"

namespace heddle::simt {

/// The words of a context that is written to memory or read back. One description of a state serves both directions, so
/// that exactly what is written is read back: `image(member)` appends the member's value, or replaces it by the value
/// in the image.
class context_image {
 public:
  /// Starts writing an empty image.
  void write() {
    words_.clear();
    at_ = 0;
    reading_ = false;
  }
  /// Starts reading from `words`.
  void read(std::vector<std::uint32_t> words) {
    words_ = std::move(words);
    at_ = 0;
    reading_ = true;
  }
  [[nodiscard]] bool reading() const { return reading_; }
  [[nodiscard]] const std::vector<std::uint32_t>& words() const { return words_; }
  std::vector<std::uint32_t>& words() { return words_; }

  /// Throws program_error if the image that is read ends too soon, because memory does not hold what was written.
  template <class T>
  void operator()(T& v) {
    static_assert(std::is_integral_v<T> || std::is_enum_v<T>, "structs are described member by member");
    std::uint64_t bits = reading_ ? 0 : static_cast<std::uint64_t>(v);
    for (unsigned shift = 0; shift < 8 * sizeof(T); shift += 32) {
      std::uint32_t word = static_cast<std::uint32_t>(bits >> shift);
      exchange(&word, 1);
      if (reading_) bits |= std::uint64_t{word} << shift;
    }
    if (reading_) v = static_cast<T>(bits);
  }
  template <class T, std::size_t n>
  void operator()(std::array<T, n>& items) {
    for (T& item : items) (*this)(item);
  }
  template <class T>
  void operator()(std::vector<T>& items) {
    std::uint32_t count = static_cast<std::uint32_t>(items.size());
    (*this)(count);
    if (reading_) resize(items, count);
    for (T& item : items) (*this)(item);
  }
  void operator()(stack_entry& e);
  void operator()(lane_path& p);
  void operator()(convergence_frame& f);
  void operator()(warp_state& w);

  /// Copies `count` words unchanged.
  void exchange(std::uint32_t* data, std::size_t count);
  /// Reserves `count` words without content: written as zeros, skipped when read.
  void blank(std::size_t count);
  /// Copies `count` bytes unchanged, padded to whole words.
  void exchange_bytes(std::uint8_t* data, std::size_t count);
  /// The image itself, in a state_image.
  template <class Image>
  void exchange(Image& image) {
    image(words_, at_, reading_);
  }
  /// Continues at the next multiple of `count` words.
  void align(std::size_t count);

 private:
  template <class T>
  void resize(std::vector<T>& items, std::uint32_t count) {
    need(count);
    items.assign(count, T{});
  }
  void need(std::size_t words) const;

  std::vector<std::uint32_t> words_;
  std::size_t at_ = 0;
  bool reading_ = false;
};

/// True if a warp can run with this state: its instructions, lanes and frames exist.
bool plausible(const warp_state& w, std::size_t instructions);

}  // namespace heddle::simt
