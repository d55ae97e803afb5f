// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <deque>
#include <memory>
#include <vector>

#include "heddle/config/parameters.h"
#include "heddle/gpu/cwd/sm_account.h"

namespace heddle {

class context_switcher;

/// Which SMs launches may use.
class sm_shares {
 public:
  /// The SM is of the grid's partition, and the grid's client may have blocks there.
  [[nodiscard]] virtual bool may_use(unsigned sm, const grid_record& g) const = 0;

 protected:
  ~sm_shares() = default;
};

/// Makes room by preemption: less urgent blocks for a launch of higher priority, and streams for each other after a
/// time slice.
class room_maker {
 public:
  /// All outlive it.
  room_maker(const gpu_config& config, const cwd_records& records, context_switcher& switcher, const sm_shares& shares)
      : config_(config),
        accounts_(records.sms),
        blocks_(records.blocks),
        grids_(records.grids),
        contexts_(records.contexts),
        switcher_(switcher),
        shares_(shares) {}

  /// The blocks of `waiting`, launches with the most urgent one first, fit nowhere.
  void make_room(const std::vector<std::uint32_t>& waiting, cycle_t cycle);

 private:
  /// The blocks on an SM, as far as these decisions need them.
  struct residents {
    bool any = false;
    std::int32_t most_urgent = 0;
    std::vector<std::uint64_t> streams;  // keys
  };
  void make_by_priority(const grid_record& g, const std::vector<residents>& on, cycle_t cycle);
  void make_by_slice(const grid_record& g, const std::vector<residents>& on, cycle_t cycle);
  [[nodiscard]] std::vector<residents> all_residents() const;

  const gpu_config& config_;
  const std::vector<sm_account>& accounts_;
  const block_pool& blocks_;
  const std::deque<grid_record>& grids_;
  const std::deque<std::unique_ptr<context_in_flight>>& contexts_;
  context_switcher& switcher_;
  const sm_shares& shares_;
};

}  // namespace heddle
