// SPDX-License-Identifier: MIT
// Models: a whole GPU: host interface, CWD, SMs, interconnect, L2 slices, memory channels.
// Sockets: host_socket (LT target); memory_socket[i] (AT initiators, one per channel, with memory.model = external);
//   clk, reset (optional inputs), irq (optional output).
// One cycle: none of its own; clock domains drive the units.
// Parameters: all.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <systemc>
#include <tlm>
#include <utility>
#include <vector>

#include "heddle/config/parameters.h"
#include "heddle/tlm/kernel/clock_domain.h"

namespace heddle {

class address_map;
class functional_observer;
class grid_distributor;
class host_interface;
class interconnect;
class l2_cache;
class memory_model;
class sampled_l2;
class sanitizer;
class sm;
class state_image;
namespace ptx {
class parsed_modules;
}
namespace isa {
struct program;
}
struct decoded_program;
struct gpu_blocks;
struct gpu_parts;

/// Whether a launch was summed up; `later`: something of it is still on the way.
enum class summing : std::uint8_t { done, later, never };
/// Numbers of SMs, ascending, and the energy of instructions in each, pJ.
using sm_energies = std::vector<std::pair<std::uint32_t, double>>;

class gpu : public sc_core::sc_module {
 public:
  /// Throws input_error if the configuration is invalid.
  gpu(sc_core::sc_module_name name, const gpu_config& config);
  /// Replaces some of the GPU's blocks by the caller's own (gpu/gpu_blocks.h).
  gpu(sc_core::sc_module_name name, const gpu_config& config, const gpu_blocks& own);
  ~gpu() override;

  tlm::tlm_target_socket<32, tlm::tlm_base_protocol_types, 1, sc_core::SC_ZERO_OR_MORE_BOUND> host_socket;
  sc_core::sc_vector<tlm::tlm_initiator_socket<32>> memory_socket;
  sc_core::sc_port<sc_core::sc_signal_in_if<bool>, 1, sc_core::SC_ZERO_OR_MORE_BOUND> clk;
  sc_core::sc_port<sc_core::sc_signal_inout_if<bool>, 1, sc_core::SC_ZERO_OR_MORE_BOUND> irq;
  /// A rising edge resets the GPU as the register of this name does; it stays in reset while the line is high.
  sc_core::sc_port<sc_core::sc_signal_in_if<bool>, 1, sc_core::SC_ZERO_OR_MORE_BOUND> reset;

  [[nodiscard]] const gpu_config& config() const;
  /// Core cycle of the present time.
  [[nodiscard]] cycle_t cycle() const;
  /// True if the simulated program has failed.
  [[nodiscard]] bool faulted() const;
  /// True if nothing is in flight.
  [[nodiscard]] bool idle() const;
  /// Throws internal_error if an invariant is violated; at the end of a run (idle) also for the conservation laws.
  void check_invariants() const;
  /// Call before the simulation starts. SMs are then simulated in time windows up to their lookahead, which cannot
  /// change a result (docs/decisions/0002-time-windows.md), but not to cycle `until`. SMs may then be observed only
  /// through a cycle_observer, after `until`, or when nothing runs. `preemptions`: the host may request some. Has no
  /// effect with external memory or if a socket of the memory path is monitored or delayed.
  void simulate_ahead(cycle_t until, bool preemptions);
  /// Call before the simulation starts. The SMs that are simulated ahead run on so many host threads, and so do
  /// launches that are executed functionally; it changes no result.
  void use_threads(unsigned threads);
  /// For observing all units between two runs of the simulation: returns a cycle, `at` or in the near future, in which
  /// all SMs are in step with SystemC's time. They stay in step until release_ahead(). It changes no result.
  cycle_t bring_into_step(cycle_t at = 0);
  /// Time windows are allowed again, as simulate_ahead() has set.
  void release_ahead();
  /// Announces that the host will launch or request something by cycle `cycle`; until then, waiting programs are not
  /// reported as deadlocked.
  void host_acts_until(cycle_t cycle);
  /// The PTX modules that are in use, which a driver in the same program may share.
  ptx::parsed_modules& parsed_modules();
  /// Launches that are executed functionally may be ended by `observer`, which outlives them.
  void observe(functional_observer& observer);
  /// Launches are checked by `sanitizer`, which outlives them; it changes no result. Call before the first launch.
  void sanitize(sanitizer& sanitizer);
  /// Adds the cycles of active warps up to now to the counters, for metrics during a run.
  void settle_accounts();

  // The units, for metrics and observers.
  [[nodiscard]] const grid_distributor& cwd() const;
  [[nodiscard]] const host_interface& host() const;
  [[nodiscard]] unsigned sm_count() const;
  [[nodiscard]] const sm& sm_at(unsigned i) const;
  /// For changes before the first launch, such as another scheduling policy.
  sm& sm_at(unsigned i);
  [[nodiscard]] unsigned slice_count() const;
  [[nodiscard]] const l2_cache& slice_at(unsigned i) const;
  /// None with external memory.
  [[nodiscard]] unsigned channel_count() const;
  [[nodiscard]] const memory_model& channel_at(unsigned i) const;
  [[nodiscard]] const interconnect& crossbar() const;
  clock_domain& core_clock();
  clock_domain& l2_clock();
  clock_domain& dram_clock();

  void trace(sc_core::sc_trace_file* file) const override;

  /// What it consists of (gpu_parts.h), for functions of its room.
  gpu_parts& parts() { return *parts_; }
  [[nodiscard]] const gpu_parts& parts() const { return *parts_; }

 private:
  void end_of_elaboration() override;
  void build_memory(const gpu_blocks& own);
  void connect_memory();
  void halt_memory();
  void end_listening();
  void follow_reset();

  std::unique_ptr<gpu_parts> parts_;
};

/// Call before the first launch. Blocks of launches are left out from the simulation, and executed functionally, once
/// the others tell the launch's cycles with a relative error below `error`.
void sample_blocks(gpu& chip, double error);
/// Brings into the L2 what launches access that are not simulated. For use while nothing is in flight.
sampled_l2& untimed_l2(gpu& chip);
/// A recorded program as its launches will find it: with the place of its code.
const decoded_program& placed(gpu& chip, const std::shared_ptr<const isa::program>& recorded);
/// Sums up the counts by instruction of a launch that has ended, and keeps the sum alone (grid_record::ended): counts
/// of all SMs take a hundred times as much. Not if its blocks were preempted, form clusters or were ended by the host.
/// `pj_of`: energy of its instructions in each SM; may be empty.
summing sum_up(gpu& chip, std::uint32_t launch, const std::function<sm_energies(std::uint32_t)>& pj_of);
/// Makes the parts of SMs and of their sub-partitions (module_part) objects of SystemC, which sc_find_object finds.
/// Call once, before elaboration ends.
void make_part_objects(gpu& chip);
/// Describes the warps of all blocks that are deadlocked at barriers; "": no deadlock is known. It is reported as the
/// program's failure `deadlock_latency_cycles` later.
[[nodiscard]] std::string barrier_deadlock(const gpu& chip);
/// gpu::simulate_ahead() had an effect: the configuration permits it.
[[nodiscard]] bool simulates_ahead(const gpu& chip);
/// The state can be described now: all SMs are in step, and nothing is in flight that has no description (a flush of
/// the L2, a fault, a reset, requests that a protocol monitor or a random delay holds).
bool has_image(const gpu& chip);
/// The GPU's state before a core cycle of which nothing has happened. It is read into a GPU of the same configuration
/// for which the same modules were loaded and the same launches submitted, at the same simulated time. Throws
/// state_error if the image is not one of this GPU.
void exchange(gpu& chip, state_image& image);

}  // namespace heddle
