// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "heddle/frontend/ptx/machine/liveness.h"
#include "heddle/frontend/ptx/machine/schedule/dependence_graph.h"

namespace heddle::ptx {

/// How many words and predicates are live, while the instructions of a region are taken one after the other.
class register_pressure {
 public:
  register_pressure(const std::vector<virtual_register>& registers, const unit_map& units) : units_(units.count()) {
    for (std::uint32_t r = 0; r < registers.size(); ++r)
      if (registers[r].words == 0) units_[units.of(r)].predicate = true;
  }

  void begin(const dependence_graph& region) {
    region_ = &region;
    for (const auto& u : region.uses) units_[u.unit].left += u.times;
    for (const std::uint32_t u : region.live_before) enter(u);
    for (const std::uint32_t u : region.live_after) units_[u].stays = true;
  }
  void end() {
    for (const auto& u : region_->uses) clear(u.unit);
    for (const std::uint32_t u : region_->definitions) clear(u);
    words_ = predicates_ = 0;
  }

  /// Change in words and predicates if the region's instruction `k` came next.
  void change(std::size_t k, int& words, int& predicates) const {
    words = predicates = 0;
    for (const auto& u : region_->uses_of(k)) {
      const unit& now = units_[u.unit];
      if (now.left == u.times && !now.stays && now.live) --(now.predicate ? predicates : words);
    }
    for (const std::uint32_t u : region_->definitions_of(k)) {
      const unit& now = units_[u];
      if (!now.live && (now.left > 0 || now.stays)) ++(now.predicate ? predicates : words);
    }
  }

  void take(std::size_t k) {
    for (const auto& u : region_->uses_of(k)) {
      unit& now = units_[u.unit];
      now.left -= u.times;
      if (now.left == 0 && !now.stays && now.live) {
        now.live = false;
        --count(now);
      }
    }
    for (const std::uint32_t u : region_->definitions_of(k))
      if (units_[u].left > 0 || units_[u].stays) enter(u);
  }

  [[nodiscard]] int words() const { return words_; }
  [[nodiscard]] int predicates() const { return predicates_; }

 private:
  struct unit {
    std::uint32_t left = 0;  // uses that are still to come
    bool live = false, stays = false, predicate = false;
  };

  int& count(const unit& u) { return u.predicate ? predicates_ : words_; }
  void enter(std::uint32_t u) {
    if (units_[u].live) return;
    units_[u].live = true;
    ++count(units_[u]);
  }
  void clear(std::uint32_t u) { units_[u].left = 0, units_[u].live = units_[u].stays = false; }

  const dependence_graph* region_ = nullptr;
  std::vector<unit> units_;
  int words_ = 0, predicates_ = 0;
};

}  // namespace heddle::ptx
