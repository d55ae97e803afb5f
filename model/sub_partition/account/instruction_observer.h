// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>

#include "heddle/tlm/kernel/unit_clock.h"

namespace heddle {

struct memory_operation;
struct lsu_transaction;

/// Observes a sub-partition's memory instructions, whose latency is not known when they issue.
class instruction_observer {
 public:
  virtual ~instruction_observer() = default;
  /// Instruction `pc` of the warp in `slot` issues in this cycle; `operation` identifies it until memory_done().
  virtual void memory_issued(unsigned slot, std::uint32_t pc, const memory_operation& operation) = 0;
  /// The load/store unit has taken `transaction` of the operation from its queue.
  virtual void memory_taken(const memory_operation& operation, const lsu_transaction& transaction) = 0;
  /// All transactions are answered. `written`: cycle from which the result may be used; the current cycle if it has
  /// none.
  virtual void memory_done(const memory_operation& operation, cycle_t written) = 0;
};

}  // namespace heddle
