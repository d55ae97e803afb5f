// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <deque>
#include <memory>
#include <vector>

#include "heddle/gpu/cwd/grid_distributor.h"
#include "heddle/gpu/cwd/sm_room.h"
#include "heddle/tlm/protocol/cta_protocol.h"
#include "heddle/tlm/protocol/object_pool.h"

namespace heddle {

/// A block from its dispatch to its end.
struct block_in_flight : cta_transaction {
  block_allocation allocation;
  cycle_t since = 0;        // cycle of the dispatch, moved later by the time spent switched out
  bool resident = false;    // on its SM, or being sent to or from it
  bool released = false;    // it lets the next launch of its stream begin
  bool sent_early = false;  // before the end of the launch before, and not complete or told of that end
  /// Returns whether it has a recording, which is not described.
  bool exchange(state_image& image);
};

/// The SMs' part of a block is poisoned while it is not in use. The CWD's own part says whether the block is resident.
using block_pool = object_pool<block_in_flight, cta_transaction>;

/// What the CWD knows of an SM.
struct sm_account {
  sm_room room;
  std::uint64_t blocks = 0;                     // according to the CWD's account
  std::deque<context_in_flight*> requests;      // preemptions that have not begun
  std::vector<context_in_flight*> swapped_out;  // preemptions whose blocks are saved, oldest first
  context_in_flight* draining = nullptr;        // a preemption whose blocks run to their end
  context_in_flight* drains_next = nullptr;     // the same, while the request's other blocks leave in another mode
  cycle_t slice_start = 0;                      // arrival of the first resident block
  bool switching = false;                       // the SM has been told to save or restore and has not answered
  explicit sm_account(const gpu_config& config) : room(config) {}
  void exchange(state_image& image) {
    image(room, blocks, requests, swapped_out, draining, drains_next, slice_start, switching);
  }
};

/// The records that the parts of a CWD share.
struct cwd_records {
  std::vector<sm_account>& sms;
  block_pool& blocks;
  const std::deque<grid_record>& grids;                            // by launch number
  std::deque<std::unique_ptr<context_in_flight>>& contexts;        // preemptions of SMs, in the order of their requests
  std::vector<std::unique_ptr<context_in_flight>>& last_requests;  // to the SMs, that no block returns from
  preempt_counts& counts;
};

}  // namespace heddle
