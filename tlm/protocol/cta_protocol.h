// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <tlm>
#include <vector>

#include "heddle/tlm/protocol/fault_details.h"
#include "heddle/tlm/protocol/instruction_traffic.h"
#include "heddle/tlm/protocol/preemption_mode.h"

namespace heddle {

namespace isa {
class recorded_block;
}
namespace simt {
struct launch_context;
}

/// Protocol between the CWD and an SM's resource manager. Forward (CWD to SM): dispatch, preempt, restore, and for a
/// block that was dispatched early: met (the launch before its own has ended). Backward: complete, settled (after a
/// complete with outstanding stores: all stores of the block are acknowledged), fault, saved (the SM is free of the
/// blocks that it names), resumed (they run again), released (the block lets the next launch of its stream begin; only
/// if asked for). A dispatch is never refused: the CWD knows what fits. After preempt or restore the CWD sends nothing
/// but met to that SM before saved or resumed. If the blocks of several SMs leave or return together, each SM sends
/// ready when its own are quiet, or restored, and goes on when the CWD sends proceed.
enum class cta_phase : std::uint8_t {
  dispatch,
  preempt,
  restore,
  complete,
  settled,
  fault,
  saved,
  resumed,
  released,
  met,
  ready,
  proceed
};

/// Cycles until the CWD learns of a program's failure and stops all SMs. The value is a choice: it exceeds the time by
/// which any SM is simulated ahead, so that SMs that continue meanwhile are all stopped in the same cycle.
constexpr unsigned fault_latency_cycles = 256;
/// A barrier deadlock is reported later: by then the other blocks have reached the points where they wait, and all can
/// be named.
constexpr unsigned deadlock_latency_cycles = 10000;

/// A thread block sent to an SM. Owned by the CWD, which keeps it until the block is complete and settled; an SM may
/// read it and write the marked fields.
struct cta_transaction {
  const simt::launch_context* launch = nullptr;
  std::uint64_t block = 0;                               // linear block index in the grid, x fastest
  std::shared_ptr<const isa::recorded_block> recording;  // of a recorded launch: the block's instructions
  unsigned sm = 0;
  std::shared_ptr<const std::vector<std::uint16_t>> cluster_sms;  // SM of each block of its cluster, by rank; or null
  bool early = false;                  // the launch before its own has not ended; the SM clears it on the phase met
  bool wants_released = false;         // the CWD takes the phase released
  unsigned cta_slot = 0;               // set by the SM: the allocated CTA slot
  std::vector<std::uint8_t> warp_ids;  // set by the SM: warp ids on the SM, by warp of the block
  bool stores_left = false;            // set by the SM with phase complete: stores are outstanding, settled will follow
  std::uint64_t executed = 0;          // set by the SM with phase complete: warp instructions
  std::string fault;                   // set by the SM with phase fault: what went wrong, where
  fault_details details;               // set by the SM with phase fault: further parts of the text
};

/// A block that was resident when its SM was preempted.
struct switched_block {
  cta_transaction* transaction = nullptr;  // owned by the CWD; invalid once the block is complete
  std::uint32_t launch = 0;                // launch_context::launch_id
  std::uint64_t block = 0;
  std::vector<std::uint8_t> warp_ids;  // of the warps that had not exited
  std::vector<std::uint8_t> restored_warp_ids;
  std::uint64_t bytes_saved = 0;
  std::uint64_t bytes_restored = 0;
  std::uint64_t executed = 0;  // warp instructions so far
};

/// What blocks of a launch have executed together.
struct executed_instructions {
  std::uint32_t launch = 0;
  block_counts counts;
};

/// The payload of preempt, restore, saved and resumed: the blocks of one SM that leave it and return. Owned by the CWD.
/// A cycle is 0 until it is reached.
struct context_transaction : cta_transaction {
  preemption_mode mode = preemption_mode::context_switch;
  std::vector<const cta_transaction*> leaving;  // blocks that leave; empty: all. Completed ones are ignored
  bool drops = false;                           // with mode flush: the blocks do not return
  bool together = false;                        // with blocks of other SMs: phases ready, proceed
  std::uint64_t request_cycle = 0;
  std::uint64_t quiesced_cycle = 0;    // set by the SM: no operation of the blocks is outstanding
  std::uint64_t saved_cycle = 0;       // set by the SM: the last byte has arrived in memory
  std::uint64_t restore_cycle = 0;     // set by the SM: reading begins
  std::uint64_t resumed_cycle = 0;     // set by the SM: the warps may issue again
  std::vector<switched_block> blocks;  // set by the SM
  /// Set by the SM in a flush if it counts this: of each launch, by the blocks that leave.
  std::vector<executed_instructions> executed;
};

/// TLM traits of the connection CWD <-> resource manager.
struct cta_protocol_types {
  using tlm_payload_type = cta_transaction;
  using tlm_phase_type = cta_phase;
};

}  // namespace heddle
