// SPDX-License-Identifier: MIT
// Models: one streaming multiprocessor: resource manager, barrier unit, sub-partitions, instruction caches,
//   load/store unit, shared memory, L1.
// Sockets: cta_socket (the resource manager's, from the CWD); memory_socket (the L1's, AT base protocol, to the
//   interconnect); cluster_port.network_socket (to the network between SMs), where the chip has clusters.
// One cycle: none of its own; its units form one logical process of the core clock and run in the order L1, load/store
//   unit, resource manager, instruction port, context engine, cluster port, TMA, sub-partitions.
// Parameters: [sm] and the sections of its units. Source: docs/develop/architecture.md.
#pragma once

#include <cstdint>
#include <deque>
#include <memory>
#include <string>
#include <systemc>

#include "heddle/config/parameters.h"
#include "heddle/memory/common/address_ranges.h"
#include "heddle/memory/l1/constant_cache.h"
#include "heddle/memory/l1/l1_cache.h"
#include "heddle/sm/barrier_unit.h"
#include "heddle/sm/cluster/cluster_port.h"
#include "heddle/sm/context_engine.h"
#include "heddle/sm/instruction_port.h"
#include "heddle/sm/load_store_unit.h"
#include "heddle/sm/resource_manager.h"
#include "heddle/sm/shared_memory.h"
#include "heddle/sm/tma/tma.h"
#include "heddle/sm/waiting_block.h"
#include "heddle/sub_partition/account/launch_finder.h"
#include "heddle/sub_partition/fetch/instruction_cache.h"
#include "heddle/sub_partition/sub_partition.h"
#include "heddle/tlm/kernel/logical_process.h"
#include "heddle/tlm/kernel/state_image.h"
#include "heddle/tlm/port/module_part.h"

namespace heddle {

class sm : public sc_core::sc_module,
           public part_owner,
           public warp_supervisor,
           public block_supervisor,
           public context_supervisor,
           private code_observer,
           private cluster_supervisor,
           private cluster_reach,
           private bulk_supervisor,
           private lost_locality_observer,
           private fence_observer {
 public:
  /// `ranges`: the mapped device memory; only read.
  sm(sc_core::sc_module_name name, clock_domain& core_clock, const gpu_config& config, unsigned id,
     const address_ranges& ranges);

  const gpu_config config_;  // for all units
  logical_process clock;     // of the SM's units

  l1_cache l1;
  class shared_memory shared_memory;
  class constant_cache constant_cache;
  class load_store_unit load_store_unit;
  class resource_manager resource_manager;
  class barrier_unit barrier_unit;
  class instruction_port instruction_port;
  class instruction_cache second_instruction_cache;        // without effect if second_level_bytes is 0
  std::deque<class instruction_cache> instruction_caches;  // first level: one, or one for each sub-partition
  class context_engine context_engine;
  std::unique_ptr<class cluster_port> cluster_port;  // null: the chip has no thread block clusters
  std::unique_ptr<class tma> tma;                    // null: the chip has no unit for bulk copies
  sc_core::sc_vector<sub_partition> partitions;
  per_launch<launch_profile> profiles;  // of the launches' instructions, over all sub-partitions

  /// Sets the services outside the SM that the device runtime's routines use.
  void use(program_services& services);
  [[nodiscard]] bool idle() const;
  /// Throws internal_error if an invariant is violated (docs/develop/architecture.md, "Invariants").
  void check_invariants() const;
  /// Adds the cycles of active warps up to `cycle` (exclusive) to the counters.
  void settle_accounts(cycle_t cycle);
  /// Every waiting warp and where it waits, one per line, for the report of a program that cannot continue.
  [[nodiscard]] std::string waiting_warps() const;
  /// Where each group of the warp's lanes is in the program and what it waits for, for messages.
  [[nodiscard]] std::vector<std::string> lane_places(unsigned warp) const;
  /// True if the departure time of the L1's queued requests cannot affect this SM in the next cycle.
  [[nodiscard]] bool departures_unobserved() const {
    return l1.departures_unobserved() && !partitions[0].scheduler.holds_memory();
  }
  /// Appends the blocks that have warps waiting at barriers.
  void waiting_blocks(std::vector<waiting_block>& to) const;
  /// Empties the L1, the constant cache and the instruction caches of an idle SM.
  void empty_caches();
  /// The state of `clock` is the core clock's.
  void exchange(state_image& image, const launch_finder& launches);
  /// For a reset: no warp issues anything more, and no fault is known. The CWD takes the blocks off the SM.
  void abandon(cycle_t cycle);
  /// The reported deadlock at a barrier; empty: none.
  [[nodiscard]] const std::string& deadlock() const { return deadlock_; }
  [[nodiscard]] unsigned id() const { return id_; }

  // warp_supervisor
  void issued_alone(unsigned partition, cycle_t cycle) override;
  void shared_unit_taken(isa::unit unit, unsigned partition, cycle_t cycle, cycle_t until) override;
  std::uint64_t warp_finished(unsigned warp, bool stores_left, std::uint64_t executed, cycle_t cycle) override;
  void stores_settled(std::uint64_t block, cycle_t cycle) override;
  void lanes_exited(unsigned warp, simt::lane_mask lanes, cycle_t cycle) override;
  bool barrier_arrive(unsigned warp, const isa::instruction& bar, simt::lane_mask mask, cycle_t cycle) override;
  void warp_quiet(unsigned warp) override;
  void program_fault(const std::string& text) override { program_fault_with(text, {}); }  // also context_supervisor's
  void program_fault_with(const std::string& text, const fault_details& details) override;
  bool begin_system_fence(unsigned warp, std::uint32_t launch, cycle_t cycle) override;
  void fence_passed(unsigned scope) override;
  [[nodiscard]] bool memory_saturated() const override { return l1.saturated(); }
  // block_supervisor
  void start_block(unsigned cta_slot, cycle_t cycle) override;
  void start_launch(const resident_launch& launch) override;
  void switch_blocks(context_transaction& t, cta_phase phase, cycle_t cycle) override;
  void dropped(const resident_block& b, cycle_t cycle) override;

  void trace(sc_core::sc_trace_file* file) const override;

 private:
  [[nodiscard]] std::vector<const module_part*> parts() const override;
  void release(unsigned cta_slot, const barrier_unit::outcome& o, cycle_t cycle);
  bool wait_for_launch(unsigned warp, simt::lane_mask mask);
  void prerequisite_met(unsigned cta_slot, cycle_t cycle) override;
  void divide_cache() override;
  // Barriers of clusters (sm_clusters.cpp)
  void cluster_arrive(unsigned warp, simt::lane_mask mask, cycle_t cycle);
  bool cluster_wait(unsigned warp, simt::lane_mask mask, cycle_t cycle);
  void cluster_exited(unsigned cta_slot, unsigned warp_in_block, simt::lane_mask lanes, cycle_t cycle);
  void cluster_progress(unsigned cta_slot, cycle_t cycle);
  void send_to_cluster(const resident_block& b, cluster_phase phase, cycle_t cycle);
  void cluster_release(unsigned cta_slot, cycle_t cycle);
  void cluster_released(std::uint64_t sequence, cycle_t cycle) override;
  // Shared memory of other blocks of a cluster (sm_distributed.cpp)
  unsigned reach(lsu_transaction& t, cycle_t cycle) override;
  cycle_t cluster_requested(cluster_access& a, cycle_t cycle) override;
  [[nodiscard]] unsigned block_warps_beside(unsigned warp) const override;
  cycle_t matrix_operands_read(std::uint32_t launch, unsigned bytes, cycle_t cycle) override {
    return shared_memory.read_operands(launch, bytes, cycle);
  }
  void cluster_answered(const cluster_access& a, cycle_t cycle) override;
  // mbarriers at which warps wait (sm_mbarrier.cpp)
  bool mbarrier_wait(unsigned warp, const isa::instruction& i, simt::lane_mask mask, cycle_t cycle);
  void mbarrier_changed(unsigned cta_slot, cycle_t cycle);
  // Bulk copies (sm_bulk.cpp)
  void bulk_copies(unsigned warp, const isa::instruction& i, simt::lane_mask mask, cycle_t cycle) override;
  void mbarrier_arrived(unsigned warp, cycle_t cycle) override {
    mbarrier_changed(resource_manager.cta_slot_of(warp), cycle);
  }
  cycle_t bulk_write(bulk_command& c, const simt::bulk_segment& p, const std::uint8_t* bytes, lsu_transaction& t,
                     cycle_t cycle) override;
  cycle_t bulk_read(bulk_command& c, const simt::bulk_segment& p, std::uint8_t* bytes, lsu_transaction& t,
                    cycle_t cycle) override;
  void bulk_has_read(const bulk_command& c, cycle_t cycle) override;
  void bulk_complete(bulk_command& c, cycle_t cycle) override;
  void bulk_ended(const bulk_command& c, cycle_t cycle) override { stores_settled(c.sequence, cycle); }
  void bulk_failed(const bulk_command& c, const std::string& what) override;
  [[nodiscard]] resident_block* block_of(const bulk_command& c);
  cluster_access& message_of(bulk_command& c, unsigned rank);
  void complete_bytes(bulk_command& c, cycle_t cycle);
  /// The SM continues after the report: its other blocks run until they wait, too.
  void report_deadlock(unsigned cta_slot);
  [[nodiscard]] waiting_block waiting_in(unsigned cta_slot) const;
  void instructions_arrived(std::uint64_t address, unsigned bytes, cycle_t cycle) override;
  void locality_lost(unsigned warp, cycle_t cycle) override {
    partition_of(warp).scheduler.policy().lost_locality(slot_of(warp), cycle);
  }
  void fence_performed(unsigned warp, cycle_t cycle) override {
    partition_of(warp).waits.system_fence_performed(slot_of(warp), cycle);
  }
  sub_partition& partition_of(unsigned warp) { return partitions[warp % config_.sm.sub_partitions]; }
  [[nodiscard]] unsigned slot_of(unsigned warp) const { return warp / config_.sm.sub_partitions; }

  shared_lanes shared_fp32_;
  const bool independent_;  // each lane has its own program counter
  unsigned id_;
  std::string deadlock_;
  lsu_transaction served_;  // an access of another SM, for the banks of shared memory
  unsigned l1_bytes_ = 0;   // of a unified cache, at the last repartitioning
};

/// Nothing that counts for an instruction of the launch, which has ended, is on the way.
[[nodiscard]] bool settled(const sm& s, std::uint32_t launch);
/// Frees the counts by instruction of a launch that is settled, which have been summed up, and what else it needs no
/// more. Throws as sm::check_invariants(), which does not see them any more.
void drop_profile(sm& s, std::uint32_t launch);
/// Its state can be described now: no fault is known.
bool has_image(const sm& s);
/// Before sm::exchange() of any SM: names the SM's objects in flight.
void name_objects(sm& s, state_image& image, const launch_finder& launches);
/// Names instructions of bulk copies that all SMs share.
void name_bulk_instructions(state_image& image);

}  // namespace heddle
