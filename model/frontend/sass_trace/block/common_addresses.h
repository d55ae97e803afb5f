// SPDX-License-Identifier: MIT
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <unordered_map>
#include <vector>

#include "heddle/hash/splitmix64.h"
#include "heddle/isa/recording.h"

namespace heddle::sass_trace {

/// Address lists by lane that records of many warps and blocks share, as is common for shared memory: each list is
/// computed once.
class common_addresses {
 public:
  using number = std::uint32_t;
  static constexpr number none = ~number{0};
  /// All values that determine the addresses.
  struct origin {
    std::uint32_t instruction = 0;
    std::uint32_t mask = 0;
    std::array<std::uint64_t, 3> words{};  // of an address_list
    bool operator==(const origin& o) const {
      return instruction == o.instruction && mask == o.mask && words == o.words;
    }
  };

  common_addresses() { lists_.reserve(most); }
  /// The index of the list determined by `o`; `make` computes the list at its first use. `none` when the table is
  /// full: so many different lists are not worth sharing. `place`: index of the record in its block. The previous
  /// block mostly had the same list at the same place.
  template <class F>
  number find_or_add(std::size_t place, const origin& o, F&& make) {
    if (place >= places_.size() && place < most_places) places_.resize(place + 1);
    if (place >= places_.size()) return look_up(o, make);
    remembered& r = places_[place];
    if (r.n == none || !(r.o == o)) r = {o, look_up(o, make)};
    return r.n;
  }
  /// The reference stays valid during the lifetime of this object.
  [[nodiscard]] const isa::lane_addresses& at(number n) const { return *lists_[n]; }

 private:
  template <class F>
  number look_up(const origin& o, F&& make) {
    const auto known = numbers_.find(o);
    if (known != numbers_.end()) return known->second;
    if (lists_.size() == most) return none;
    auto list = std::make_unique<isa::lane_addresses>();
    make(*list);
    lists_.push_back(std::move(list));
    return numbers_.emplace(o, static_cast<number>(lists_.size() - 1)).first->second;
  }

  static constexpr std::size_t most = 16384;         // 4 MiB
  static constexpr std::size_t most_places = 16384;  // 1 MiB
  struct remembered {
    origin o;
    number n = none;
  };
  struct hash {
    std::size_t operator()(const origin& o) const {
      std::uint64_t h = std::uint64_t{o.instruction} << 32 | o.mask;
      for (const std::uint64_t w : o.words) h = golden_hash(h ^ w);
      return static_cast<std::size_t>(h ^ h >> 29);
    }
  };
  std::vector<std::unique_ptr<const isa::lane_addresses>> lists_;
  std::unordered_map<origin, number, hash> numbers_;
  std::vector<remembered> places_;
};

}  // namespace heddle::sass_trace
