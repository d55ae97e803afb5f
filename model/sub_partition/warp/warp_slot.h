// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>

#include "heddle/config/error.h"
#include "heddle/isa/recording.h"
#include "heddle/simt/warp/warp_state.h"
#include "heddle/sub_partition/dependence/decoded_program.h"
#include "heddle/sub_partition/warp/copy_groups.h"
#include "heddle/tlm/kernel/clock_timing.h"
#include "heddle/tlm/kernel/state_image.h"
#include "heddle/tlm/protocol/cta_protocol.h"

namespace heddle {

struct issue_counters;
class launch_profile;
struct profile_line;
class instruction_stream;
struct warp_steps;

/// State of a warp slot: whether it holds a warp, and what that warp waits for.
enum class warp_phase : std::uint8_t {
  empty,
  waiting,
  ready,
  at_barrier,
  at_fence,
  sleeping,
  exited,
  held,
  stopped,
  replaying
};

/// A slot of a sub-partition and the warp that it holds. Nearly every instruction touches only three cache lines: the
/// first one of `state`, and these two.
struct alignas(64) warp_slot {
  const decoded_instruction* next = nullptr;  // instruction at state.pc
  const decoded_program* program = nullptr;
  issue_counters* counters = nullptr;
  launch_profile* profile = nullptr;  // of the launch on this SM
  cycle_t mark = 0;                   // warp-cycles before this one are accounted
  cycle_t fetch_at = 0;               // the next instruction is in the buffer from this cycle on
  cycle_t constant_at = 0;            // its constant operand is available from this cycle on
  cycle_t timer = never;              // cycle in which on_timer is called
  const resident_launch* launch = nullptr;
  const instruction_stream* stream = nullptr;          // where its instructions come from
  const isa::execution_record* record = nullptr;       // recorded stream: the trace record at state.pc
  const isa::execution_record* last_record = nullptr;  // recorded stream: end of its segment
  unsigned loads = 0;                                  // outstanding loads, atomics
  unsigned stores = 0;                                 // outstanding stores, reductions
  std::uint32_t sequence = 0;  // phases at_fence, sleeping, replaying: pc of the instruction after the one that waits
  std::uint32_t executed = 0;  // instructions since it came to the slot
  warp_phase phase = warp_phase::empty;
  producer waits_for = producer::fixed;       // phase waiting: slowest producer of the operands
  warp_phase stopped_in = warp_phase::empty;  // phase stopped: the phase before
  bool redirected = false;                    // the fetch in progress follows a taken branch
  bool jumps = false;                         // may continue out of sequence after any instruction
  bool counted = false;                       // its block counts by instruction what it executes
  std::uint16_t not_taken = 0;   // transactions of global memory that the load/store unit has still to take
  profile_line* line = nullptr;  // profile line of the next instruction
  simt::warp_state state;
  cycle_t rest = never;  // phase stopped: remaining cycles of its wait, if known
  cycle_t placed_at = 0;
  simt::lane_mask barrier_lanes = 0;  // recorded stream: lanes that wait at the barrier while others may continue
  unsigned queued = 0;                // store transactions whose data the load/store unit has not taken
  std::uint16_t residency = 0;        // counts the warps that the slot has held
  unsigned fence_scope = 0;           // phase at_fence: MEMBAR's scope
  bool fence_begun = false;           // phase at_fence: the supervisor performs the system-scope fence
  cycle_t fence_until = 0;            // phase at_fence: the fence takes until then at least
  unsigned copying = 0;  // copies to shared memory and products in flight; each counts in loads or stores, too
  copy_groups copies;
  copy_groups products;            // of its warpgroup; each product in flight counts in loads and `copying`, too
  std::uint32_t registers = 0;     // of a thread, which SETMAXREG changes
  bulk_groups bulk;                // of bulk copies from shared memory
  block_counts* counts = nullptr;  // of its block; null: not `counted`
  warp_steps* steps = nullptr;     // what it executes is recorded here; null: not recorded
  std::shared_ptr<const isa::recorded_segment> segment;  // recorded stream: the segment that holds `record`

  /// Where an instruction of its program counts what it moves.
  [[nodiscard]] traffic_counts traffic_of(const decoded_instruction& d) const;
  [[nodiscard]] bool outstanding() const { return loads + stores != 0; }
  /// What a slot has without a warp, too. What is left of the last one may go into the context of a later one, or wake
  /// the sub-partition.
  void exchange(state_image& image) {
    image(phase, timer, sequence, residency, copies, products, bulk, state.clock_low, state.cycle, state.time_ns);
  }
  /// The warp of a slot that holds one; not what follows from its launch, nor its place in a trace.
  void exchange_warp(state_image& image) {
    image(launch, next, mark, fetch_at, constant_at, loads, stores, executed, waits_for, stopped_in, redirected, jumps,
          counted, not_taken, state, rest, placed_at, barrier_lanes, queued);
    image(fence_scope, fence_begun, fence_until, copying, registers, counts);
  }
  /// What a fence waits for: not for copies to shared memory.
  [[nodiscard]] bool holds_fence() const { return loads + stores != copying; }
  /// After issue, the warp does not continue at `sequence`, the next instruction in program order.
  [[nodiscard]] bool leaves(std::uint32_t sequence) const { return jumps && state.pc != sequence; }
};

static_assert(offsetof(warp_slot, state) == 128, "what every instruction touches fills two cache lines");
static_assert(offsetof(simt::warp_state, frame) == 64, "what every instruction needs of the state fills one");
/// The leading bytes of a slot that nearly every instruction touches.
constexpr std::size_t warp_slot_hot_bytes = offsetof(warp_slot, state) + offsetof(simt::warp_state, frame);

}  // namespace heddle
