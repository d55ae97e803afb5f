// SPDX-License-Identifier: MIT
// Part of run_metrics.h, which says what visit is.
#pragma once

#include <cstdint>

#include "heddle/sub_partition/account/warp_state.h"

namespace heddle {

/// Warp-cycles by the profiler's stall reasons, which warp_state.h lists with their meaning: each active warp is in
/// exactly one state in each cycle.
struct warp_cycle_counts {
  std::uint64_t active = 0;  // sum of all states
  counts_by<warp_cycle> states{};

  std::uint64_t operator[](warp_cycle s) const { return states[static_cast<std::size_t>(s)]; }
  void add(const counts_by<warp_cycle>& cycles) {
    for (std::size_t s = 0; s < states.size(); ++s) {
      states[s] += cycles[s];
      active += cycles[s];
    }
  }

  template <class Self, class V>
  static void visit_members(Self& self, V&& v) {
    v("active", self.active);
    for (std::size_t s = 0; s < self.states.size(); ++s) v(name_of(static_cast<warp_cycle>(s)), self.states[s]);
  }
  template <class V>
  void visit(V&& v) {
    visit_members(*this, v);
  }
  template <class V>
  void visit(V&& v) const {
    visit_members(*this, v);
  }
};

/// The same warp-cycles by the names of the newer profiler; again a partition of `active`.
struct warp_state_counts {
  counts_by<warp_stall> states{};

  void add(const counts_by<warp_stall>& stalls) {
    for (std::size_t s = 0; s < states.size(); ++s) states[s] += stalls[s];
  }

  template <class Self, class V>
  static void visit_members(Self& self, V&& v) {
    for (std::size_t s = 0; s < self.states.size(); ++s) v(name_of(static_cast<warp_stall>(s)), self.states[s]);
  }
  template <class V>
  void visit(V&& v) {
    visit_members(*this, v);
  }
  template <class V>
  void visit(V&& v) const {
    visit_members(*this, v);
  }
};

}  // namespace heddle
