// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>

#include "heddle/tlm/kernel/clock_domain.h"

namespace heddle {

struct memory_operation;
struct lsu_transaction;

/// Hears of a sub-partition's memory instructions, whose time nobody knows when they issue.
class instruction_observer {
 public:
  virtual ~instruction_observer() = default;
  /// Instruction `pc` of the warp in slot `slot` issues in this cycle; `operation` stands for it until memory_done().
  virtual void memory_issued(unsigned slot, std::uint32_t pc, const memory_operation& operation) = 0;
  /// The load/store unit has taken `transaction` of it from its queue.
  virtual void memory_taken(const memory_operation& operation, const lsu_transaction& transaction) = 0;
  /// All of it is answered; `written`: from when on its result may be used (what has none: now).
  virtual void memory_done(const memory_operation& operation, cycle_t written) = 0;
};

}  // namespace heddle
