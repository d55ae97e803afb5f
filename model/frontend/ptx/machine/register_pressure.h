// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "heddle/frontend/ptx/machine/liveness.h"
#include "heddle/frontend/ptx/machine/machine_passes.h"

namespace heddle::ptx {

/// How many words and predicates are live, while instructions are taken one after the other.
class register_pressure {
 public:
  register_pressure(const machine_function& f, const unit_map& units)
      : f_(f),
        units_(units),
        left_(units.count(), 0),
        live_(units.count(), 0),
        stays_(units.count(), 0),
        predicate_(units.count(), 0) {
    for (std::uint32_t r = 0; r < f.registers.size(); ++r)
      if (f.registers[r].words == 0) predicate_[units.of(r)] = 1;
  }

  void enter(std::uint32_t unit) {
    if (live_[unit]) return;
    live_[unit] = 1;
    ++count(unit);
  }
  void leave_all(const std::vector<std::uint32_t>& touched) {
    for (std::uint32_t u : touched) left_[u] = live_[u] = stays_[u] = 0;
    words_ = predicates_ = 0;
  }
  void begin_region() { uses_.clear(), definitions_.clear(), ends_.assign(1, {0, 0}); }
  void expect_use(std::uint32_t unit) { ++left_[unit], uses_.push_back({unit, 1}); }
  void expect_definition(std::uint32_t unit) { definitions_.push_back(unit); }
  /// The region's next instruction has the uses and definitions that were expected since the last.
  void end_instruction() {
    const auto begin = uses_.begin() + static_cast<std::ptrdiff_t>(ends_.back().first);
    auto to = begin;
    std::sort(begin, uses_.end());
    for (auto from = begin; from != uses_.end(); ++from)
      if (to != begin && to[-1].first == from->first) ++to[-1].second;
      else *to++ = *from;
    uses_.erase(to, uses_.end());
    ends_.push_back({uses_.size(), definitions_.size()});
  }
  void stays_live(std::uint32_t unit) { stays_[unit] = 1; }

  /// Change in words and predicates if the region's instruction `k` came next.
  void change(std::size_t k, int& words, int& predicates) const {
    words = predicates = 0;
    for (auto at = ends_[k].first; at < ends_[k + 1].first; ++at) {
      const auto [u, times] = uses_[at];
      if (left_[u] == times && !stays_[u] && live_[u]) --(predicate_[u] ? predicates : words);
    }
    for (auto at = ends_[k].second; at < ends_[k + 1].second; ++at) {
      const std::uint32_t u = definitions_[at];
      if (!live_[u] && (left_[u] > 0 || stays_[u])) ++(predicate_[u] ? predicates : words);
    }
  }

  void take(const machine_instruction& i) {
    for_each_use(i, f_.registers, units_, [&](std::uint32_t u) {
      if (left_[u] > 0) --left_[u];
      if (left_[u] == 0 && !stays_[u] && live_[u]) {
        live_[u] = 0;
        --count(u);
      }
    });
    for_each_definition(i, units_, [&](std::uint32_t u) {
      if (!live_[u] && (left_[u] > 0 || stays_[u])) enter(u);
    });
    most_ = std::max(most_, words_);
  }

  [[nodiscard]] int words() const { return words_; }
  [[nodiscard]] int predicates() const { return predicates_; }
  [[nodiscard]] int most() const { return most_; }

 private:
  int& count(std::uint32_t unit) { return predicate_[unit] ? predicates_ : words_; }

  const machine_function& f_;
  const unit_map& units_;
  std::vector<std::uint32_t> left_;
  std::vector<char> live_, stays_, predicate_;
  std::vector<std::pair<std::uint32_t, std::uint32_t>> uses_;  // by instruction: units, and how often
  std::vector<std::uint32_t> definitions_;
  std::vector<std::pair<std::size_t, std::size_t>> ends_;  // of an instruction's uses and definitions
  int words_ = 0, predicates_ = 0, most_ = 0;
};

}  // namespace heddle::ptx
