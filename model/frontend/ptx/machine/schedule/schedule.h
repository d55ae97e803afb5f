// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "heddle/frontend/ptx/machine/liveness.h"
#include "heddle/frontend/ptx/machine/machine_ir.h"

namespace heddle::ptx {

struct register_rules;

/// An order of the instructions, and what it would take of one warp that is alone, loops ten trips.
struct schedule_plan {
  int words = 0;  // of registers that it was made for; 0: the instructions stand as written
  double cycles = 0;
  std::vector<std::uint32_t> order;  // places of all blocks' instructions as written, in their new order
};

/// What an order may do.
struct schedule_freedom {
  std::size_t reach = 1000;  // by how many places an instruction may move up
  bool needed_first = true;  // a load waits some cycles for another's address, if the other's result is needed earlier
};

/// Plans orders of the instructions of each block so that loads start early and long latencies overlap, as far as
/// registers that cost no occupancy allow. Barriers, fences, guarded exits and slow paths stay where they are; memory
/// accesses that may meet keep their order. Refers to the function; the dependences of a small one are found once.
class schedule_planner {
 public:
  schedule_planner(const machine_function& f, const register_rules& rules);
  ~schedule_planner();
  schedule_planner(schedule_planner&&) = delete;
  schedule_planner& operator=(schedule_planner&&) = delete;

  /// `words`: of registers that may be live, about; 0: as many as that is worth.
  [[nodiscard]] schedule_plan plan(int words = 0, const schedule_freedom& freedom = {});

 private:
  struct parts;
  const std::unique_ptr<parts> parts_;
};

/// The function with its instructions in that order.
machine_function in_order(const machine_function& written, const schedule_plan& plan);

}  // namespace heddle::ptx
