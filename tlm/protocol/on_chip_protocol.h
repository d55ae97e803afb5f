// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <tlm>

namespace heddle {

struct lsu_transaction;

/// One warp's access to storage whose timing is known in advance: shared memory, constant cache. Blocking transport
/// with zero delay; the target returns ready_cycle and free_cycle.
struct on_chip_access {
  const lsu_transaction* transaction = nullptr;
  std::uint64_t cycle = 0;        // of the first pass
  unsigned passes = 0;            // set by the target: number of accesses to the storage
  std::uint64_t first_cycle = 0;  // may be set by the target: when the data of the first pass arrive
  std::uint64_t ready_cycle = 0;  // set by the target: when a dependent instruction may issue
  std::uint64_t free_cycle = 0;   // set by the target: when the next access may begin
};

struct on_chip_protocol_types {
  using tlm_payload_type = on_chip_access;
  using tlm_phase_type = tlm::tlm_phase;
};

}  // namespace heddle
