// SPDX-License-Identifier: MIT
// Models: an SM's load/store unit: address stages, arbitration, coalescing, address checks, answers to the
//   sub-partitions.
// Sockets: partition_socket[k] (target, lsu_protocol); shared_socket, constant_socket (initiators, on_chip_protocol);
//   l1_socket (initiator, l1_protocol). It must be attached to the clock after the L1 and before the sub-partitions.
// One cycle: sends due answers; looks up one line of a global access; takes one instruction, round robin.
// Parameters: [ldst], [tlb], [sm] sub_partitions.
// Source: Huerta et al., MICRO 2025, table 1 (queue, address stage, shared stage).
#pragma once

#include <deque>
#include <systemc>
#include <tlm>
#include <vector>

#include "heddle/config/parameters.h"
#include "heddle/memory/common/address_ranges.h"
#include "heddle/memory/common/per_launch.h"
#include "heddle/memory/common/tlb.h"
#include "heddle/memory/l1/coalescer.h"
#include "heddle/memory/protocol/l1_port.h"
#include "heddle/tlm/kernel/ring.h"
#include "heddle/tlm/kernel/state_image.h"
#include "heddle/tlm/kernel/unit_clock.h"
#include "heddle/tlm/port/blocking_initiator.h"
#include "heddle/tlm/port/direct_sockets.h"
#include "heddle/tlm/port/phase_target.h"
#include "heddle/tlm/protocol/cluster_protocol.h"
#include "heddle/tlm/protocol/l1_protocol.h"
#include "heddle/tlm/protocol/lsu_protocol.h"
#include "heddle/tlm/protocol/object_pool.h"
#include "heddle/tlm/protocol/on_chip_protocol.h"

namespace heddle {

/// Warp instructions by kind: requests are instructions, transactions are 32-byte sectors moved.
struct lsu_counters {
  struct direction {
    std::uint64_t requests = 0;
    std::uint64_t transactions = 0;
    std::uint64_t requested_bytes = 0;  // requested by threads; per instruction at most the bytes moved
  };
  direction global_load;
  direction global_store;
  direction local_load;
  direction local_store;
  direction atomic;                // atomics and reductions on global memory
  std::uint64_t instructions = 0;  // taken from the queues; = responses + faults + in flight
  std::uint64_t responses = 0;
  std::uint64_t faults = 0;
};

/// Accesses of a warp to shared memory of other blocks of its cluster.
class cluster_reach {
 public:
  virtual ~cluster_reach() = default;
  /// Sends the accesses of the transaction's cluster_mask, one for each block. Returns their number: each is answered
  /// by load_store_unit::cluster_answered. Sets a fault of the transaction instead if a block does not exist.
  virtual unsigned reach(lsu_transaction& t, cycle_t cycle) = 0;
};

class load_store_unit : public sc_core::sc_module, public clocked, private phase_target<lsu_protocol_types> {
 public:
  load_store_unit(sc_core::sc_module_name name, unit_clock& clock, const gpu_config& config, unsigned sm_id,
                  const address_ranges& ranges);

  std::deque<direct_target_socket<lsu_protocol_types>> partition_socket;
  direct_initiator_socket<on_chip_protocol_types> shared_socket;
  direct_initiator_socket<on_chip_protocol_types> constant_socket;
  direct_initiator_socket<l1_protocol_types> l1_socket;
  per_launch<lsu_counters> counters;
  class tlb tlb;

  /// Accesses to other blocks of a cluster go to `reach` from now on.
  void use(cluster_reach& reach) { reach_ = &reach; }
  /// Lanes of a transaction that access another block's shared memory have been answered, in `cycle`.
  void cluster_answered(const cluster_access& a, cycle_t cycle);
  /// The banks of shared memory are taken by an access of another SM, from `cycle` on or when they are free. `t` has
  /// kind, lanes and addresses. Returns the cycle in which its data are ready.
  cycle_t serve(const lsu_transaction& t, cycle_t cycle);
  /// The first cycle in which the banks of shared memory can begin another access.
  [[nodiscard]] cycle_t banks_free() const { return hot_.shared_free; }
  /// True if no instruction is queued or in flight.
  [[nodiscard]] bool idle() const { return hot_.queued == 0 && hot_.pending == 0; }
  /// Instructions in flight: taken from a queue and not answered yet.
  [[nodiscard]] unsigned pending() const { return hot_.pending; }
  [[nodiscard]] bool throttled() const { return hot_.throttled; }
  /// Throws internal_error if counters or queues are inconsistent.
  void check_invariants() const;
  void on_cycle(cycle_t cycle) override;
  void prefetch_hint(cycle_t cycle, bool distant) const override;
  void trace(sc_core::sc_trace_file* file) const override;

  /// Names its accesses in flight. Before that: `clear_undefined`.
  void name_objects(state_image& image);
  void exchange(state_image& image);
  /// Gives what has no value yet in transactions that are queued or in flight a value that says nothing.
  void clear_undefined();
  /// For a reset, when idle: the first sub-partition is served first.
  void restart() { hot_.next_input = 0; }

 private:
  // The paths that an instruction needs.
  static constexpr std::uint8_t needs_constants = 1, needs_shared = 2, needs_l1 = 4;
  // The input of one sub-partition.
  struct input {
    ring<lsu_transaction*> queue;
    cycle_t next_pick = 0;   // first cycle in which the address stage is free again
    cycle_t addressed = 0;   // cycle in which the oldest instruction has left the address stage
    std::uint8_t needs = 0;  // paths that the oldest instruction needs
    unsigned queued = 0;     // = queue.size(), for tracing
    void exchange(state_image& image) { image(queue, next_pick, addressed, needs, queued); }
  };
  struct due_response {
    cycle_t cycle = 0;
    lsu_transaction* transaction = nullptr;
    void exchange(state_image& image) { image(cycle, transaction); }
  };

  void end_of_elaboration() override;
  // An access that waits for its address translation.
  struct untranslated {
    lsu_transaction* transaction = nullptr;
    cycle_t ready = 0;
    void exchange(state_image& image) { image(transaction, ready); }
  };

  tlm::tlm_sync_enum nb_transport_fw(lsu_transaction& t, lsu_phase& phase, sc_core::sc_time& delay) override;
  friend class l1_port<load_store_unit>;
  void l1_responds(l1_access& access);
  void l1_retries();

  [[nodiscard]] cycle_t ready_to_pick(const input& in) const {
    return std::max({in.addressed, in.next_pick, hot_.next_accept});
  }
  void examine_oldest(input& in) const;
  [[nodiscard]] bool pipes_free(const input& in, cycle_t cycle) const;
  void pick(cycle_t cycle);
  void start(lsu_transaction& t, cycle_t cycle);
  cycle_t translated(const lsu_transaction& t, cycle_t cycle);
  void wait_for_translation(lsu_transaction& t, cycle_t ready);
  void resume(cycle_t cycle);
  void coalesce_lanes(const lsu_transaction& t);
  void stream(lsu_transaction& t, cycle_t cycle);
  bool legal(lsu_transaction& t);
  void set_fault(lsu_transaction& t, unsigned lane, bool misaligned);
  void count(const lsu_transaction& t);
  void on_chip(lsu_transaction& t, cycle_t cycle);
  void send_line(cycle_t cycle);
  void execute_again(cycle_t cycle);
  [[nodiscard]] bool passes_deferred(const lsu_transaction& t) const;
  void finish(lsu_transaction& t, cycle_t cycle);
  void deliver(lsu_transaction& t);
  void send_back(lsu_transaction& t, lsu_phase phase);
  void set_throttled(bool now);
  void sleep(cycle_t cycle);

  clock_port clock_;
  const address_ranges& ranges_;
  address_ranges::hint hint_;
  blocking_initiator<on_chip_protocol_types> on_chip_backward_;
  /// What every instruction touches.
  struct alignas(64) hot_state {
    hot_state(load_store_unit& unit, const gpu_config& config);

    unsigned queue_entries;
    unsigned pending_limit;
    unsigned address_stage_cycles;  // from issue to pick
    unsigned pick_interval;         // between two picks from one input
    unsigned accept_interval;       // between two picks from any inputs
    unsigned deferred_entries;
    cycle_t next_accept = 0;
    std::vector<input> inputs;
    unsigned next_input = 0;    // round-robin pointer: the input that is tried first
    std::uint32_t waiting = 0;  // inputs with a queued instruction, bit per input
    cycle_t pick_at = 0;        // no instruction can be taken before; on_cycle is scheduled for it; 0: not known
    unsigned queued = 0;
    unsigned pending = 0;
    cycle_t shared_free = 0;
    cycle_t constant_free = 0;
    cycle_t l1_free = 0;
    lsu_transaction* streaming = nullptr;  // instruction whose lines go to the L1, one per cycle
    coalesced_access lines;
    unsigned next_line = 0;
    bool half_warps;
    bool nacked = false;           // the L1 has no room for the next line
    bool deferred_nacked = false;  // nor for the first of the deferred loads
    bool starved = false;          // only pending_limit prevents that an instruction is taken
    bool throttled = false;
    ring<untranslated> awaiting_translation;  // sorted by the cycle of their translation
    // Re-execution queue: loads that the L1 nacked. Later loads, which may hit, overtake them; stores and atomics wait
    // for them. It holds deferred_entries.
    ring<l1_access*> deferred;
    object_pool<l1_access> accesses;
    ring<due_response> due;  // sorted by cycle
    // The bound interfaces, looked up once: access through port and export costs the host cache misses for each
    // instruction.
    std::vector<tlm::tlm_bw_transport_if<lsu_protocol_types>*> partitions;
    l1_port<load_store_unit> l1;
  };
  static_assert(sizeof(hot_state) == 896, "fourteen cache lines");
  hot_state hot_;
  cluster_reach* reach_ = nullptr;
  lsu_transaction nothing_;  // payload of throttle_on and throttle_off
};

}  // namespace heddle
