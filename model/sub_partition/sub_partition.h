// SPDX-License-Identifier: MIT
// Models: one sub-partition of an SM: fetch, warp scheduler, scoreboard, register file and execution units.
// Sockets: dispatch_socket[u] (initiator) to each execution unit; lsu_socket (initiator) to the SM's load/store unit.
// One cycle: warps whose wait has ended become ready; the scheduler selects one eligible warp, which issues one
//   instruction or two consecutive ones; the warp's next instruction is then fetched and its wait is computed.
// Parameters: [sub_partition] and the sections of the units. Source: docs/model/pipeline.md.
#pragma once

#include <array>
#include <cstdint>
#include <deque>
#include <memory>
#include <string>
#include <systemc>
#include <tlm>

#include "heddle/config/parameters.h"
#include "heddle/sub_partition/account/launch_finder.h"
#include "heddle/sub_partition/account/stall_account.h"
#include "heddle/sub_partition/context_switch.h"
#include "heddle/sub_partition/dependence/dependence.h"
#include "heddle/sub_partition/dependence/shared_lanes.h"
#include "heddle/sub_partition/fetch/fetch.h"
#include "heddle/sub_partition/fetch/immediate_constants.h"
#include "heddle/sub_partition/issue/execution_unit.h"
#include "heddle/sub_partition/issue/register_file.h"
#include "heddle/sub_partition/issue/warp_scheduler.h"
#include "heddle/sub_partition/issue/write_ports.h"
#include "heddle/sub_partition/issue_stage.h"
#include "heddle/sub_partition/memory/memory_issue.h"
#include "heddle/sub_partition/partition_signals.h"
#include "heddle/sub_partition/program_services.h"
#include "heddle/sub_partition/stream/executed_stream.h"
#include "heddle/sub_partition/stream/followed_stream.h"
#include "heddle/sub_partition/stream/recorded_stream.h"
#include "heddle/sub_partition/stream/recording_stream.h"
#include "heddle/sub_partition/system_calls.h"
#include "heddle/sub_partition/warp/departed_warps.h"
#include "heddle/sub_partition/warp/fault_reporter.h"
#include "heddle/sub_partition/warp/warp_supervisor.h"
#include "heddle/sub_partition/warp/warp_table.h"
#include "heddle/sub_partition/warp_residence.h"
#include "heddle/sub_partition/warp_waits.h"
#include "heddle/tlm/kernel/state_image.h"
#include "heddle/tlm/kernel/trace_observer.h"
#include "heddle/tlm/kernel/unit_clock.h"
#include "heddle/tlm/port/blocking_initiator.h"
#include "heddle/tlm/port/direct_sockets.h"
#include "heddle/tlm/port/module_part.h"
#include "heddle/tlm/protocol/lsu_protocol.h"

namespace heddle {

class sub_partition final : public sc_core::sc_module, public clocked, public part_owner, private trace_observer {
  /// What every cycle touches.
  struct alignas(64) hot_state {
    warp_table warps;
    clock_port clock;
    fault_reporter faults;
  };
  static_assert(sizeof(hot_state) == 64, "one cache line");
  hot_state hot_;  // the units refer to it
  blocking_initiator<issue_protocol_types> unit_answers_;

 public:
  static constexpr std::size_t unit_count = static_cast<std::size_t>(isa::unit::count);
  /// Slot s of sub-partition `index` holds the warp with warp id s * sm.sub_partitions + index of the SM.
  sub_partition(sc_core::sc_module_name name, unit_clock& clock, const gpu_config& config, unsigned sm_id,
                unsigned index, instruction_cache& cache, warp_supervisor& supervisor);
  ~sub_partition() override;

  direct_initiator_socket<lsu_protocol_types> lsu_socket;
  /// A program may bind an execution unit of its own before elaboration ends; otherwise units[u] is bound.
  std::array<direct_initiator_socket<issue_protocol_types>, unit_count> dispatch_socket;
  std::deque<direct_initiator_socket<issue_protocol_types>> shared_dispatch_socket;  // as shared_unit

  /// Sets the fp32 lanes that this sub-partition shares with others; they execute the second instruction of a pair.
  /// Called only if fp32.shared_lanes is not 0.
  void share_fp32(shared_lanes& lanes) { issue.dispatch().share_fp32(lanes); }
  /// Sets the environment of SYSCALL outside the SM. Programs that call the device runtime need it.
  void use(program_services* services) { calls_.use(services); }
  /// `recorder`, which outlives them, records what warps execute. Call before the first launch.
  void record(step_recorder& recorder);
  /// Places a warp of `block` in a free slot. The warp is active from `cycle` on.
  void place_warp(unsigned slot, const resident_launch& launch, const simt::block_context& block,
                  unsigned warp_in_block, unsigned allocated_registers, cycle_t cycle);
  simt::warp_state& warp(unsigned slot) { return hot_.warps[slot].state; }
  [[nodiscard]] const warp_slot& at(unsigned slot) const { return hot_.warps[slot]; }
  [[nodiscard]] unsigned slots() const { return hot_.warps.size(); }
  [[nodiscard]] unsigned index() const { return index_; }
  /// Reports that the slot's instruction failed, with kernel, PTX line, block and the thread of `lane`.
  void fault(unsigned slot, unsigned lane, const std::string& what) {
    hot_.faults.report(hot_.warps[slot], *hot_.warps[slot].next, lane, what);
  }
  /// The `bytes` bytes of code at `address`, which its instruction cache waited for, came from memory in `cycle`.
  void instructions_arrived(std::uint64_t address, unsigned bytes, cycle_t cycle);
  /// Stops issuing, until abandon(): the simulated program failed.
  void halt() { hot_.faults.halt(); }
  [[nodiscard]] bool halted() const { return hot_.faults.halted(); }
  /// For a reset: all warps are stopped, and those that have exited leave when their loads have come.
  void abandon(cycle_t cycle);
  /// Signals of each cycle in [first, last], for waveforms and pipeline views; owned by the sub-partition.
  [[nodiscard]] const partition_signals& watch(cycle_t first, cycle_t last) const;
  /// Adds the active warps' cycles before `cycle` to the counters.
  void settle_accounts(cycle_t cycle);
  /// Names the objects of instructions in flight.
  void name_objects(state_image& image) { memory.name_objects(image); }
  /// Before a fault. The SM describes the instruction caches and the profiles that it shares.
  void exchange(state_image& image, const launch_finder& launches);

  void on_cycle(cycle_t cycle) override;
  void prefetch_hint(cycle_t cycle, bool distant) const override;
  void trace(sc_core::sc_trace_file* file) const override;
  [[nodiscard]] std::vector<const module_part*> parts() const override;

  [[nodiscard]] bool idle() const { return hot_.warps.active() == 0 && memory.idle(); }
  void check_invariants() const;

  warp_scheduler scheduler;
  class fetch fetch;
  class dependence dependence;
  class register_file register_file;
  class immediate_constants immediate_constants;
  stall_account account;
  warp_waits waits;
  memory_issue memory;
  issue_stage issue;
  context_switch contexts;
  std::array<execution_unit, unit_count> units;
  std::deque<execution_unit> shared_unit;  // the fp32 lanes shared by sub-partitions: one element, or none

 private:
  void exchange_warp(state_image& image, unsigned slot);
  void before_end_of_elaboration() override;
  void start_of_simulation() override;
  void traced(const sc_core::sc_trace_file* file) const override;

  const gpu_config& config_;  // outlives the sub-partition
  warp_supervisor* const supervisor_;
  const unsigned index_;
  const executed_stream executed_;
  const recorded_stream recorded_;
  const followed_stream followed_;
  std::unique_ptr<const recording_stream> recording_;
  departed_warps departed_;
  warp_residence residence_;
  system_calls calls_;
  class write_ports write_ports_;
  mutable std::unique_ptr<partition_signals> signals_;  // allocated when first observed
};

}  // namespace heddle
