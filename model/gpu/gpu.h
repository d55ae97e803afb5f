// SPDX-License-Identifier: MIT
// Models: a whole GPU: host interface, CWD, SMs, interconnect, L2 slices, memory channels.
// Sockets: host_socket (LT target); memory_socket[i] (AT initiators, one per channel, with memory.model = external);
//   clk (optional input), irq (optional output).
// One cycle: none of its own; clock domains drive the units.
// Parameters: all.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <systemc>
#include <tlm>

#include "heddle/config/parameters.h"
#include "heddle/tlm/kernel/clock_domain.h"

namespace heddle {

class address_map;
class grid_distributor;
class host_interface;
class interconnect;
class l2_cache;
class memory_model;
class sm;
struct gpu_blocks;

class gpu : public sc_core::sc_module {
 public:
  /// Throws input_error when the configuration makes no GPU.
  gpu(sc_core::sc_module_name name, const gpu_config& config);
  /// With blocks of one's own (gpu/gpu_blocks.h) in place of some of the GPU's.
  gpu(sc_core::sc_module_name name, const gpu_config& config, const gpu_blocks& own);
  ~gpu() override;

  tlm::tlm_target_socket<32, tlm::tlm_base_protocol_types, 1, sc_core::SC_ZERO_OR_MORE_BOUND> host_socket;
  sc_core::sc_vector<tlm::tlm_initiator_socket<32>> memory_socket;
  sc_core::sc_port<sc_core::sc_signal_in_if<bool>, 1, sc_core::SC_ZERO_OR_MORE_BOUND> clk;
  sc_core::sc_port<sc_core::sc_signal_inout_if<bool>, 1, sc_core::SC_ZERO_OR_MORE_BOUND> irq;

  const gpu_config& config() const;
  /// Core cycle of the present time.
  cycle_t cycle() const;
  /// The simulated program's failure, "" while there is none.
  bool faulted() const;
  /// Which warps wait for ever at barriers, of all blocks; "": no block is known to. It becomes the failure
  /// `deadlock_latency_cycles` later.
  std::string barrier_deadlock() const;
  /// Nothing is in flight anywhere.
  bool idle() const;
  /// Throws internal_error when an invariant is broken; at the end of a run (idle) also the conservation laws.
  void check_invariants() const;
  /// To be called before the simulation starts: lets SMs be simulated ahead of the GPU's time, by as much as cannot
  /// change a result (docs/decisions/0002-ahead.md), but not to cycle `until`. For whoever looks into SMs only through
  /// a cycle_observer, after `until`, or when nothing runs. `preemptions`: the host may ask for some. Of no effect
  /// where memory lies outside or an arrow of the memory path is watched or delayed.
  void simulate_ahead(cycle_t until, bool preemptions);
  /// For whoever wants to look at all units between two runs of the simulation: the cycle, not far off, in which all
  /// SMs are in step with the GPU's time. They stay so until release_ahead(). It changes no result.
  cycle_t bring_into_step();
  /// SMs may be simulated ahead again as simulate_ahead() has said.
  void release_ahead();
  /// The host will launch or ask for something by itself in cycle `cycle` at the latest: until then programs that wait
  /// are not taken for deadlocked.
  void host_acts_until(cycle_t cycle);
  /// Asked now and then while the host has a launch executed functionally; when it answers true the launch is given up.
  void stop_functional_when(std::function<bool()> asked);
  /// Adds what active warps have spent up to now to the counters, for metrics in the middle of a run.
  void settle_accounts();

  // The parts, for metrics and observers.
  const grid_distributor& cwd() const;
  const host_interface& host() const;
  unsigned sm_count() const;
  const sm& sm_at(unsigned i) const;
  /// For exchanging what can be exchanged before the first launch: a scheduling policy.
  sm& sm_at(unsigned i);
  unsigned channel_count() const;
  const l2_cache& slice_at(unsigned i) const;
  /// Null with external memory.
  const memory_model* channel_at(unsigned i) const;
  const interconnect& crossbar() const;
  clock_domain& core_clock();
  clock_domain& l2_clock();
  clock_domain& dram_clock();

  void trace(sc_core::sc_trace_file* file) const override;

 private:
  void end_of_elaboration() override;
  void build_memory(const gpu_blocks& own);
  void connect_memory();
  void halt_memory();
  void flush(std::function<void()> done);
  bool stuck() const;
  bool explain_stuck(std::string& why) const;

  struct parts;
  std::unique_ptr<parts> parts_;
};

}  // namespace heddle
