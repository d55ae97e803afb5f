// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <string>
#include <tlm>

#include "heddle/tlm/kernel/state_image.h"
#include "heddle/tlm/protocol/instruction_traffic.h"
#include "heddle/tlm/protocol/lsu_protocol.h"

namespace heddle {

struct bulk_command;

/// Protocol between an SM's cluster port and the network between SMs. Forward (SM to network): arrive (all threads of a
/// block have arrived at the barrier of its cluster), leave (they have exited, and count as arrived from now on).
/// Backward: release (a barrier at which the block has arrived is complete). In both directions: request (lanes of a
/// warp access the shared memory of another block) and the response to it. Each phase is a transaction of its own,
/// complete with the call.
enum class cluster_phase : std::uint8_t { arrive, leave, release, request, response };

/// An access of lanes of one warp to the shared memory of one other block. Owned by the cluster port of the SM that
/// makes it, and handed over with the request. The SM that answers may write the marked fields, and hands it back with
/// the response.
struct cluster_access {
  lsu_transaction* transaction = nullptr;  // for use by the SM that makes the access; null: it is of a bulk copy
  bulk_command* bulk = nullptr;            // for use by the SM that makes the access
  traffic_counts traffic;                  // likewise
  const isa::instruction* instruction = nullptr;
  const simt::launch_context* launch = nullptr;
  std::uint64_t block = 0;    // that is accessed: its linear index in the grid
  unsigned from = 0, to = 0;  // SMs
  std::uint32_t lanes = 0;    // mask
  lsu_kind kind = lsu_kind::load;
  std::uint8_t bytes_per_lane = 4;
  std::uint64_t addresses[32];  // by lane: offsets in the shared memory of that block
  /// By lane: operands; set by the answering SM: loaded bytes, or values before an atomic.
  std::uint32_t words[lsu_transaction::most_rows][32];
  unsigned passes = 0;      // set by the answering SM: of its shared memory
  unsigned fault_lane = 0;  // set by the answering SM, with `fault`
  std::string fault;        // set by the answering SM: why the access failed; empty: it did not

  void exchange(state_image& image);
};

/// A message of a block to its cluster, or of the cluster to a block; or an access.
struct cluster_transaction {
  std::uint32_t launch = 0;          // launch_context::launch_id
  std::uint64_t cluster = 0;         // number of the cluster in the grid, x fastest
  std::uint32_t blocks = 0;          // of the cluster
  std::uint32_t rank = 0;            // of the block
  unsigned sm = 0;                   // of the block
  std::uint64_t sequence = 0;        // number of the block among all that came to its SM
  cluster_access* access = nullptr;  // of request and response, which use no other field

  void exchange(state_image& image) { image(launch, cluster, blocks, rank, sm, sequence, access); }
};

/// TLM traits of the connection SM <-> network between SMs.
struct cluster_protocol_types {
  using tlm_payload_type = cluster_transaction;
  using tlm_phase_type = cluster_phase;
};

}  // namespace heddle
