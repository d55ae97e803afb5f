// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "heddle/config/parameters.h"
#include "heddle/simt/warp/context_image.h"
#include "heddle/sub_partition/fetch/fetch.h"
#include "heddle/sub_partition/issue/warp_scheduler.h"
#include "heddle/sub_partition/stream/warp_control.h"
#include "heddle/sub_partition/warp/fault_reporter.h"
#include "heddle/sub_partition/warp/warp_supervisor.h"
#include "heddle/sub_partition/warp/warp_table.h"
#include "heddle/tlm/protocol/lsu_protocol.h"

namespace heddle {

struct copy_target;

/// A warp's context is aligned to its registers, each of which is one memory line.
constexpr unsigned context_line_words = 32;

/// Where a warp's instructions come from: the warp executes its program (executed_stream) or follows a trace
/// (recorded_stream). A stream determines the next instruction and its lanes, and what the instruction does to the
/// warp's registers and memory. One object serves all warps of a sub-partition; a warp's position is in its warp_slot.
class instruction_stream {
 public:
  /// The units of the sub-partition, which must outlive the stream.
  struct surroundings {
    const gpu_config& config;
    warp_table& warps;
    class fetch& fetch;
    warp_scheduler& scheduler;
    warp_supervisor& supervisor;
    warp_control& control;
    fault_reporter& faults;
  };

  virtual ~instruction_stream() = default;

  [[nodiscard]] virtual bool recorded() const = 0;
  /// Number of 32-lane registers of a warp of the launch that hold values.
  [[nodiscard]] virtual unsigned registers_kept(const resident_launch& launch) const = 0;
  /// A warp that was placed in its slot, or that is swapped in, begins with its first instruction.
  virtual void begin(warp_slot& w) const = 0;
  /// Prefetches the source registers of the warp's next instruction.
  virtual void prefetch_sources(const warp_slot& w) const = 0;

  // Issue. The instruction has been sent to its unit; `mask` has the lanes that pass its guard.
  /// Proceeds to the instruction after one that is not a branch, an EXIT or a BAR.
  virtual void advance(warp_slot& w) const = 0;
  /// Returns true if the instruction may execute on the lanes of `mask`. Otherwise these lanes wait for the other lanes
  /// that it names, and issue it again when all have arrived.
  [[nodiscard]] virtual bool lanes_present(unsigned slot, simt::lane_mask mask, cycle_t cycle) const = 0;
  /// `latency`: cycles until the target is known, as the branch unit answered.
  void issue_branch(unsigned slot, simt::lane_mask mask, cycle_t cycle, unsigned latency) const;
  virtual void issue_exit(unsigned slot, simt::lane_mask mask, cycle_t cycle, unsigned latency) const = 0;
  virtual void issue_barrier(unsigned slot, simt::lane_mask mask, cycle_t cycle) const = 0;
  /// The warp sleeps from `cycle` on. Returns true if other lanes of it run meanwhile.
  [[nodiscard]] virtual bool yields(unsigned slot, simt::lane_mask mask, cycle_t cycle) const = 0;

  /// Computes a product of the warp's warpgroup; returns false after a fault.
  [[nodiscard]] virtual bool multiply(unsigned slot, simt::lane_mask mask) const = 0;

  // Barriers
  /// The lanes of `mask`, independent and active, wait at barrier `number`.
  virtual void wait_at_barrier(unsigned slot, simt::lane_mask mask, unsigned number) const = 0;
  /// Barrier `number`, at which the warp or some of its lanes wait, has completed.
  virtual void leave_barrier(warp_slot& w, unsigned number) const = 0;
  /// Writes the result of a reducing barrier to its waiting lanes.
  virtual void write_reduction(warp_slot& w, unsigned number, std::uint32_t count, std::uint32_t threads) const = 0;
  /// Some lanes wait at mbarriers, and `any`: for one of them the phase is complete. Writes the result to all lanes
  /// that wait at the same mbarrier; they may continue. Otherwise (the time is over) to all lanes that wait at
  /// mbarriers. Returns true if lanes may continue.
  virtual bool end_mbarrier_waits(warp_slot& w, bool any) const = 0;
  /// All lanes of the warp wait, those at an mbarrier for a limited time.
  [[nodiscard]] virtual bool all_wait(const warp_slot& w) const = 0;
  /// Gives the bulk copies of the lanes of `mask` to the TMA.
  virtual void issue_bulk(unsigned slot, simt::lane_mask mask, cycle_t cycle) const = 0;
  /// The warp resumes after a barrier. Returns the next pc in program order after the barrier.
  virtual std::uint32_t resume(warp_slot& w) const = 0;
  /// Some lanes wait at a barrier (warp_slot::barrier_lanes). Returns true if the next instruction involves only
  /// others.
  [[nodiscard]] virtual bool lanes_go_on(const warp_slot& w) const = 0;

  // Memory
  /// Sets the addresses of the access, and its cache policy if the instruction has one: that of the first lane.
  /// Recordings have none. Returns false after a fault.
  virtual bool addresses(unsigned slot, simt::lane_mask mask, lsu_transaction& t) const = 0;
  /// Performs the accesses to shared memory; returns false after a fault.
  virtual bool access_shared(unsigned slot, lsu_transaction& t) const = 0;
  /// Of a copy from global to shared memory on the lanes of `to`: sets its place there, and which of these lanes read
  /// global memory; the others write zeros. Returns false after a fault.
  virtual bool copy_target_of(unsigned slot, lsu_transaction& t, copy_target& to) const = 0;
  /// Writes the data of a copy to shared memory.
  virtual void write_copy(const warp_slot& w, lsu_transaction& t) const = 0;
  /// Sets the data of a store or the operands of an atomic.
  virtual void store_data(const warp_slot& w, lsu_transaction& t) const = 0;
  /// Writes loaded words to the lanes of `mask`.
  virtual void write_back(const decoded_instruction& d, warp_slot& w, simt::lane_mask mask,
                          const std::uint32_t (*words)[isa::warp_size]) const = 0;

  // Context switch and messages
  /// Writes a stopped warp to a context image, or restores it from one. Throws program_error if the image is not a
  /// valid warp of this program.
  virtual void exchange(warp_slot& w, simt::context_image& image) const = 0;
  /// The warp's place in its trace, if it follows one. Its block has its recording.
  virtual void exchange_place(warp_slot& w, state_image& image) const {
    static_cast<void>(w), static_cast<void>(image);
  }
  /// Source position of an instruction of the warp, for messages: "file.ptx:12:5".
  [[nodiscard]] virtual std::string place_of(const warp_slot& w, const isa::instruction& i) const = 0;
  /// For each group of the warp's lanes, where it is and what it waits for: "lanes 0x0000ffff, waits at barrier 1,
  /// file.ptx:12:5". `barrier`: the barrier at which the whole warp waits, if it does.
  [[nodiscard]] virtual std::vector<std::string> lane_places(const warp_slot& w, unsigned barrier) const = 0;

  /// Cycle in which the instruction at the warp's pc is in the buffer. `sequence`: the next pc in program order.
  static cycle_t fetched(class fetch& fetch, unsigned slot, const warp_slot& w, std::uint32_t sequence, cycle_t cycle) {
    return w.leaves(sequence) ? fetch.redirect(slot, w.program->code_address, w.state.pc, cycle)
                              : fetch.next(slot, w.program->code_address, w.state.pc, cycle);
  }

 protected:
  explicit instruction_stream(const surroundings& s) : s_(s) {}

  /// Takes the branch on the lanes of `mask`. Returns true if the warp diverged.
  virtual bool branch(warp_slot& w, simt::lane_mask mask) const = 0;
  [[nodiscard]] cycle_t fetched(unsigned slot, std::uint32_t sequence, cycle_t cycle) const {
    return fetched(s_.fetch, slot, s_.warps[slot], sequence, cycle);
  }
  /// The warp's last lanes, `mask`, have exited.
  void exited(unsigned slot, simt::lane_mask mask, cycle_t cycle) const;
  /// The part of a context that all streams have.
  static void exchange_state(warp_slot& w, simt::context_image& image);
  /// The restored warp's wait is one that a stopped warp can have.
  static bool known_wait(const warp_slot& w);
  /// The context was restored: accepts it only if the warp can run with it.
  static void restored(warp_slot& w, bool plausible);

  const surroundings s_;
};

/// Source position of the warp's next instruction, for messages.
std::string position_of(const warp_slot& w);
/// Block and kernel of the warp, for messages: "block (0,0,0) of kernel 'k'".
std::string owner_of(const warp_slot& w);

}  // namespace heddle
