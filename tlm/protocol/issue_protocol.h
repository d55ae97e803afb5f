// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <tlm>

namespace heddle {

namespace isa {
struct instruction;
}
namespace simt {
struct warp_state;
}

/// One warp instruction sent from the dispatch port of a sub-partition to an execution unit. The unit executes it
/// (blocking transport; the delay stays zero) and may change the two intervals, which the sub-partition reads back. The
/// latency of an instruction whose result comes from the memory system is not read. Control codes with stall counts
/// allow no longer latency than the one that they were made for.
struct issue_transaction {
  const isa::instruction* instruction = nullptr;
  void (*execute)(const isa::instruction&, simt::warp_state&, std::uint32_t mask) = nullptr;
  simt::warp_state* warp = nullptr;
  std::uint32_t mask = 0;   // lanes that execute
  std::uint64_t cycle = 0;  // issue cycle
  // In: as the parameters say. Out: as the unit annotates.
  unsigned initiation_cycles = 1;  // cycles for which the unit's input is occupied
  unsigned latency_cycles = 1;     // issue to earliest dependent issue
};

struct issue_protocol_types {
  using tlm_payload_type = issue_transaction;
  using tlm_phase_type = tlm::tlm_phase;
};

}  // namespace heddle
