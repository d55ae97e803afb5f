// SPDX-License-Identifier: MIT
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "heddle/frontend/sass_trace/block/shape_store.h"

namespace heddle::sass_trace {

/// The addresses of many memory instructions, each kept as base and stride, as base and differences, as base and a
/// shape that many of them share, or as a list; one address for each active lane.
class address_list {
 public:
  /// Stands for one instruction's addresses. 0: none.
  using handle = std::uint32_t;

  address_list() = default;
  /// Of what words() gave, with the shapes that `shapes` has.
  address_list(std::vector<std::uint64_t> words, const address_list& shapes)
      : words_(std::move(words)), store_(shapes.store_) {}
  const std::vector<std::uint64_t>& words() const { return words_; }

  void clear() { words_.clear(); }
  /// The k-th active lane has base + k * stride.
  handle add_strided(std::uint64_t base, std::int64_t stride);
  /// One address for each active lane, in the order of lanes; kept in the least form that holds them.
  handle add(const std::uint64_t* addresses, unsigned count);
  /// How the addresses go on from the first one: what lines of one instruction mostly share.
  struct shape {
    std::uint32_t form = 0;  // 0: not known
    std::vector<std::uint64_t> words;
    /// What is added to the first address, by active lane; false where two words say it all.
    bool offsets(unsigned lanes, shape_store::offset_list& to) const;
  };
  /// Keeps the shape of the addresses that were added last, under `h`.
  void shape_of(handle h, shape& to) const;
  /// Addresses of a known shape from `first` on.
  handle add(std::uint64_t first, const shape& s);
  /// The same with a shape of a store, which is the same for all calls and is kept alive.
  handle add(std::uint64_t first, const std::shared_ptr<shape_store>& store, shape_store::number n);
  /// Another list's addresses, which were added with `mask`.
  handle add_from(const address_list& other, handle h, std::uint32_t mask);
  /// Two words and the form, from which the addresses follow; false: more are needed.
  bool origin(handle h, std::array<std::uint64_t, 3>& to) const;
  /// How much there is, to make room for as much elsewhere.
  std::size_t size() const { return words_.size(); }
  void reserve(std::size_t size) { words_.reserve(size); }
  /// The addresses by lane. Lanes that are not in `mask` are left alone; `mask` is that with which they were added.
  void expand(handle h, std::uint32_t mask, std::uint64_t addresses[32]) const;
  std::size_t bytes() const { return words_.size() * sizeof(std::uint64_t); }

 private:
  enum form : std::uint32_t { none = 0, strided = 1, differences = 2, list = 3, shared = 4 };
  handle next(form f) const;

  std::vector<std::uint64_t> words_;
  std::shared_ptr<const shape_store> store_;
};

}  // namespace heddle::sass_trace
