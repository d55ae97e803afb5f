// SPDX-License-Identifier: MIT
// Models: the resource manager of an SM: CTA slots, warp slots, registers, shared memory and barriers of resident
//   blocks. It assigns a block's warps to the sub-partitions and frees the block's resources when the warps have
//   exited.
// Sockets: cta_socket (target) from the CWD.
// One cycle: places the blocks whose dispatch arrives in this cycle.
// Parameters: [sm], cwd.dispatch_latency_cycles. Source: docs/develop/architecture.md, "The path of a block".
#pragma once

#include <cstdint>
#include <deque>
#include <limits>
#include <memory>
#include <set>
#include <string>
#include <systemc>
#include <tlm>
#include <vector>

#include "heddle/config/parameters.h"
#include "heddle/memory/common/per_launch.h"
#include "heddle/occupancy/sm_resources.h"
#include "heddle/simt/warp/warp_state.h"
#include "heddle/sm/block_observer.h"
#include "heddle/sm/occupancy_account.h"
#include "heddle/sub_partition/dependence/decoded_program.h"
#include "heddle/tlm/kernel/state_image.h"
#include "heddle/tlm/kernel/unit_clock.h"
#include "heddle/tlm/port/direct_sockets.h"
#include "heddle/tlm/port/phase_target.h"
#include "heddle/tlm/protocol/cta_protocol.h"

namespace heddle {

/// The resources that one block of a launch needs on an SM.
block_demand demand_of(const simt::launch_context& launch);

/// A block resident on the SM.
struct resident_block {
  cta_transaction* transaction = nullptr;  // null: the CTA slot is free
  const resident_launch* launch = nullptr;
  simt::block_context context;
  std::vector<std::uint8_t> shared;  // contents of its shared memory
  block_allocation allocation;
  std::vector<std::uint8_t> warps;  // warp id on the SM, by warp of the block
  unsigned warps_left = 0;
  std::uint64_t live = 0;              // warps of the block that have not exited, bit per warp
  unsigned most_blocks = 0;            // blocks of the launch that fit on an SM
  std::uint64_t sequence = 0;          // number of the block among all that came to the SM
  unsigned unsettled = 0;              // exited warps whose stores are not all acknowledged
  std::uint64_t executed = 0;          // warp instructions of its warps that have left
  bool released = false;               // it lets the next launch of its stream begin
  std::uint64_t waits_for_launch = 0;  // warps of which lanes wait for the end of the launch before, bit per warp

  /// Of a block that is on the SM or swapped out. Its transaction has been read.
  void exchange(state_image& image);
  /// The context of a new block on SM `sm`, but for its counts.
  void set_context(unsigned sm);
};

/// How long an SM held warps of one launch (or of any launch), and how many blocks completed.
struct residency {
  std::uint64_t active_cycles = 0;  // cycles with at least one warp
  std::uint64_t blocks = 0;         // blocks completed
  unsigned warps = 0;               // present number
  cycle_t since = 0;
  void enter(cycle_t cycle) {
    if (warps++ == 0) since = cycle;
  }
  void leave(cycle_t cycle) {
    if (--warps == 0) active_cycles += cycle - since;
  }
  /// Active cycles up to `cycle`, including an interval that has not ended.
  [[nodiscard]] std::uint64_t until(cycle_t cycle) const {
    return active_cycles + (warps != 0 && cycle > since ? cycle - since : 0);
  }
  void exchange(state_image& image) {
    image(active_cycles, blocks, warps);
    if (warps != 0) image(since);
  }
};

/// The services of the SM that the resource manager uses.
class block_supervisor {
 public:
  virtual ~block_supervisor() = default;
  /// A block has its resources: its warps are to be created, active from `cycle` on.
  virtual void start_block(unsigned cta_slot, cycle_t cycle) = 0;
  /// Blocks are to leave the SM (preempt), to return to it (restore), or the other SMs of a switch that happens
  /// together are ready, too (proceed).
  virtual void switch_blocks(context_transaction& t, cta_phase phase, cycle_t cycle) = 0;
  /// The first block of a launch has arrived at this SM, or the launch before it has ended after that.
  virtual void start_launch(const resident_launch& launch) = 0;
  /// The launch before that of the block in the CTA slot has ended: warps that wait for that continue.
  virtual void prerequisite_met(unsigned cta_slot, cycle_t cycle) = 0;
};

class resource_manager : public sc_core::sc_module, public clocked, public phase_target<cta_protocol_types> {
 public:
  resource_manager(sc_core::sc_module_name name, unit_clock& clock, const gpu_config& config, unsigned sm_id,
                   block_supervisor& supervisor);

  direct_target_socket<cta_protocol_types> cta_socket;

  resident_block& block(unsigned cta_slot) { return blocks_[cta_slot]; }
  [[nodiscard]] const resident_block& block(unsigned cta_slot) const { return blocks_[cta_slot]; }
  [[nodiscard]] unsigned resident_blocks() const { return resident_blocks_; }
  /// The L1's size beside the SM's present carve-out.
  [[nodiscard]] unsigned l1_bytes() const { return resources_.l1_bytes(); }
  [[nodiscard]] unsigned cta_slots() const { return static_cast<unsigned>(blocks_.size()); }
  /// Allocates a free warp slot of a sub-partition. Returns the warp id on the SM.
  unsigned take_warp(unsigned cta_slot, unsigned warp_in_block, unsigned partition, cycle_t cycle);
  /// Blocks that begin from now on, of launches of a lower priority than `below`, count by instruction what they
  /// execute, from which the energy follows that a flush repeats; otherwise each instruction of a flushed block costs
  /// its launch's mean. The default is all blocks where a more urgent launch flushes, and none elsewhere.
  void count_executions(std::int64_t below) { counted_below_ = below; }
  [[nodiscard]] bool counts_executions(const resident_launch& of) const { return of.priority < counted_below_; }
  /// Restarts a dropped block whose resources are reserved again. Returns its CTA slot.
  unsigned run_anew(resident_block dropped, cycle_t cycle);
  /// CTA slot of a warp id, and the warp's number within its block.
  [[nodiscard]] unsigned cta_slot_of(unsigned warp) const { return owner_[warp].cta_slot; }
  [[nodiscard]] unsigned warp_in_block(unsigned warp) const { return owner_[warp].warp; }
  /// Frees the slot and registers of an exited warp; the last warp of a block completes the block. With `stores_left`,
  /// stores of the warp are outstanding, and stores_settled is called when all are acknowledged. `executed`: the warp's
  /// instructions since it came to the slot. Returns the block's sequence number.
  std::uint64_t release_warp(unsigned warp, bool stores_left, std::uint64_t executed, cycle_t cycle);
  /// All outstanding stores of one exited warp of the block are acknowledged. With the last such warp of a complete
  /// block, the CWD is informed.
  void stores_settled(std::uint64_t sequence, cycle_t cycle);
  /// Frees all resources of the block in the CTA slot, which has been saved or dropped. Returns what is needed to
  /// restore it.
  resident_block swap_out(unsigned cta_slot, cycle_t cycle);
  /// Reserves the resources of a block that will be restored. The CWD has checked that they are free.
  void reserve(resident_block& b, cycle_t cycle);
  /// True if the warp ids of the block are free too.
  [[nodiscard]] bool warp_ids_free(const resident_block& b) const;
  /// Makes the block resident again under the same warp ids; the caller restores its shared memory. Returns its CTA
  /// slot.
  unsigned swap_in(resident_block b, cycle_t cycle);
  /// The block in the CTA slot lets the next launch of its stream begin.
  void release_dependents(unsigned cta_slot, cycle_t cycle);
  /// The block in the CTA slot runs, after a context switch or a message that the launch before its own has ended.
  void check_prerequisite(unsigned cta_slot, cycle_t cycle);
  /// Reports the progress of a context switch to the CWD.
  void report(context_transaction& t, cta_phase phase, cycle_t cycle);
  /// Reports to the CWD, `latency` cycles from now, that the simulated program failed.
  void report_fault(const std::string& text, cycle_t latency, const fault_details& details = {});

  /// For a reset, without resident blocks: all resources are free, also in the CWD's account, and no fault is known.
  void restart();

  /// Reports all blocks and warps from now on to `observer`; null switches this off.
  void observe(block_observer* observer) { observer_ = observer; }
  [[nodiscard]] bool idle() const { return resident_blocks_ == 0 && arrivals_.empty(); }
  /// A fault has been reported.
  [[nodiscard]] bool failed() const { return failed_; }
  /// Before a fault. Names the contexts of the CTA slots.
  void exchange(state_image& image);
  void check_invariants() const;
  per_launch<residency> launch_residency;
  residency sm_residency;
  occupancy_account occupancy;

  void on_cycle(cycle_t cycle) override;
  tlm::tlm_sync_enum nb_transport_fw(cta_transaction& t, cta_phase& phase, sc_core::sc_time& delay) override;
  void trace(sc_core::sc_trace_file* file) const override;

 private:
  struct arrival {
    cycle_t cycle;
    cta_transaction* transaction;
    cta_phase phase;

    void exchange(state_image& image) { image(cycle, transaction, phase); }
  };
  struct returned {
    cycle_t known;  // the CWD counts it as free in dispatches sent from this cycle on
    block_allocation allocation;

    void exchange(state_image& image) { image(known, allocation); }
  };
  struct owner {
    unsigned cta_slot = 0;
    unsigned warp = 0;

    void exchange(state_image& image) { image(cta_slot, warp); }
  };
  void place(cta_transaction& t, cycle_t cycle);
  void meet(cta_transaction& t, cycle_t cycle);
  void begin(cta_transaction& t, const block_footprint& footprint, block_allocation allocation, cycle_t cycle);
  void take_returned(cycle_t cycle);
  void see(const cta_transaction& t, const resident_launch& launch);
  void update_signals() const;
  /// To be called when a traced signal may have changed.
  void changed() const {
    if (signals_) update_signals();
  }
  void notify_cwd(cta_transaction& t, cta_phase phase, cycle_t cycle);
  struct message {
    cta_transaction* transaction;
    cta_phase phase;
    sc_core::sc_time delay;
  };
  void deliver(const message& m);

  const gpu_config config_;
  unsigned sm_id_;
  block_supervisor& supervisor_;
  block_observer* observer_ = nullptr;
  clock_port clock_;
  std::vector<resident_block> blocks_;
  std::vector<owner> owner_;               // by warp id
  std::vector<std::uint64_t> free_warps_;  // by sub-partition: mask of free warp slots
  sm_resources resources_;                 // kept equal to the CWD's account
  std::deque<arrival> arrivals_;
  std::deque<returned> returned_;
  struct unsettled_block {
    std::uint64_t sequence = 0;
    cta_transaction* transaction = nullptr;
    unsigned warps = 0;              // whose stores are not all acknowledged
    block_counts* counts = nullptr;  // null: it does not count apart

    void exchange(state_image& image) { image(sequence, transaction, warps, counts); }
  };
  std::vector<unsettled_block> unsettled_;  // completed blocks with outstanding stores
  deferred_effects<resource_manager, message, &resource_manager::deliver> messages_{*this};  // to the CWD
  std::uint64_t blocks_begun_ = 0;
  unsigned resident_blocks_ = 0;
  unsigned resident_warps_ = 0;
  cta_transaction fault_;  // not a block's transaction, which may end before the message arrives
  bool failed_ = false;
  std::int64_t counted_below_ = std::numeric_limits<std::int64_t>::min();
  std::vector<bool> launch_seen_;
  std::set<std::uint32_t> early_;  // launches of which blocks came before the launch before them had ended
  // Traced signals, updated only while they are traced.
  struct slot_signals {
    std::uint32_t launch = 0;
    std::uint64_t block = 0;
    unsigned warps = 0;  // that have not exited; 0: the slot is free
  };
  struct signals {
    std::vector<slot_signals> slots;
    unsigned free_cta_slots = 0;
    unsigned free_registers = 0;  // 32-bit, not allocated
    unsigned free_shared_bytes = 0;
    unsigned free_barriers = 0;
  };
  mutable std::unique_ptr<signals> signals_;
};

}  // namespace heddle
