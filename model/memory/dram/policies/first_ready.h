// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <vector>

#include "heddle/memory/dram/policies/dram_scheduler.h"

namespace heddle {

/// First ready, first come, first served (Rixner et al., ISCA 2000): column commands before activates before
/// precharges, and the oldest of a kind first. A bank is opened or closed for its oldest request without a row hit, and
/// closed only when no ready request hits its row. While the oldest request starves, its bank is reserved for it, and
/// so is the direction of the data bus once its row is open.
class first_ready : public dram_scheduler {
 public:
  explicit first_ready(const dram_parameters& parameters) : wanted_(parameters.banks) {}

  dram_choice select(const dram_queue& queue, cycle_t now) override;

 private:
  enum class kind : std::uint8_t { column, activate, precharge, none };
  struct candidate {
    kind what = kind::none;
    std::size_t index = 0;
    cycle_t next = never;
  };

  static void consider(candidate& best, kind what, std::size_t index, cycle_t earliest, cycle_t now);
  static void consider_next(candidate& best, const dram_queue& queue, std::size_t index, cycle_t now);
  void consider_columns(candidate& best, const dram_queue& queue, const bool (&barred)[2], cycle_t now) const;
  void consider_rows(candidate& best, const dram_queue& queue, cycle_t now);

  std::vector<std::uint8_t> wanted_;  // by bank, during a choice: claimed, or reserved for a starving request
};

}  // namespace heddle
