// SPDX-License-Identifier: MIT
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "heddle/frontend/sass_trace/block/shape_store.h"

namespace heddle::sass_trace {

/// The addresses of many memory instructions, one address for each active lane. Each instruction is stored as base and
/// stride, as base and differences, as base and a shape shared with others, or as a list.
class address_list {
 public:
  /// Identifies the addresses of one instruction. 0: none.
  using handle = std::uint32_t;

  address_list() = default;
  /// Rebuilds a list from the result of words(), with the shape store of `shapes`.
  address_list(std::vector<std::uint64_t> words, const address_list& shapes)
      : words_(std::move(words)), store_(shapes.store_) {}
  [[nodiscard]] const std::vector<std::uint64_t>& words() const { return words_; }

  void clear() { words_.clear(); }
  /// Active lane number k has the address base + k * stride.
  handle add_strided(std::uint64_t base, std::int64_t stride);
  /// One address for each active lane, in the order of lanes; stored in the smallest form that holds them.
  handle add(const std::uint64_t* addresses, unsigned count);
  /// The addresses relative to the first one, which most lines of one instruction share.
  struct shape {
    std::uint32_t form = 0;  // 0: unknown
    std::vector<std::uint64_t> words;
    /// The offset from the first address by active lane; false if two words describe the addresses completely.
    bool offsets(unsigned lanes, shape_store::offset_list& to) const;
  };
  /// Returns the shape of the addresses added last, which have handle `h`.
  void shape_of(handle h, shape& to) const;
  /// Adds addresses of a known shape that start at `first`.
  handle add(std::uint64_t first, const shape& s);
  /// The same with a shape of a store. All calls must pass the same store, which this list keeps alive.
  handle add(std::uint64_t first, const std::shared_ptr<shape_store>& store, shape_store::number n);
  /// Adds addresses of another list, which were added with `mask`.
  handle add_from(const address_list& other, handle h, std::uint32_t mask);
  /// Two words and the form, which determine the addresses; false: more words are needed.
  bool origin(handle h, std::array<std::uint64_t, 3>& to) const;
  /// The number of words, for reserve() of another list.
  [[nodiscard]] std::size_t size() const { return words_.size(); }
  void reserve(std::size_t size) { words_.reserve(size); }
  /// Writes the addresses by lane. Lanes outside `mask` are not written; `mask` is the mask with which the addresses
  /// were added.
  void expand(handle h, std::uint32_t mask, std::uint64_t addresses[32]) const;
  [[nodiscard]] std::size_t bytes() const { return words_.size() * sizeof(std::uint64_t); }

 private:
  enum form : std::uint32_t { none = 0, strided = 1, differences = 2, list = 3, shared = 4 };
  [[nodiscard]] handle next(form f) const;

  std::vector<std::uint64_t> words_;
  std::shared_ptr<const shape_store> store_;
};

}  // namespace heddle::sass_trace
