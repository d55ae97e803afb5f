// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <vector>

#include "heddle/functional/functional_memory.h"
#include "heddle/simt/warp/execute_function.h"
#include "heddle/simt/warp/warp_state.h"
#include "heddle/sub_partition/dependence/decoded_program.h"

namespace heddle {

struct functional_block;

/// An instruction that a warp is about to execute functionally, on the lanes of `mask`.
struct watched_step {
  const functional_block& block;
  const simt::warp_state& warp;
  const isa::instruction& instruction;
  simt::lane_mask mask = 0;
};

/// Whether an instruction only writes memory: a store, or a write to a surface.

/// Whether it calls the device runtime to free memory.
inline bool frees_memory(const isa::instruction& i) {
  return i.op == isa::opcode::syscall && static_cast<isa::system_function>(i.sub) == isa::system_function::free;
}

/// A load, store, atomic, reduction or copy. Each lane accesses `bytes` bytes of one space, at an offset in shared or
/// local memory or at a global address. A copy to shared memory (LDGSTS) has two: the bytes read, then those written.
struct watched_access : watched_step {
  simt::lane_mask shared = 0;
  simt::lane_mask local = 0;
  simt::lane_mask global = 0;
  const std::uint64_t* addresses = nullptr;  // by lane
  unsigned bytes = 0;
  bool copies_in = false;                    // what a copy writes to shared memory
  const functional_block* holder = nullptr;  // whose shared memory; null: the block's own
};

/// Lanes that meet: those of each group with each other.
struct lane_meeting {
  struct group {
    simt::lane_mask named, naming;  // the lanes that are named, and lanes of the step that name them
  };
  std::vector<group> groups;
  unsigned tile = 0;  // not 0: all lanes of the warp, in tiles of so many side by side
};

/// What a transfer reads or writes: bytes of shared memory of `holder`, or of global memory.
struct watched_segment {
  const functional_block* holder = nullptr;  // null: global memory
  std::uint64_t address = 0;
  unsigned bytes = 0;
  bool writes = false;
  bool atomic = false;
};

/// Interface to an observer of the memory accesses and of the synchronisation of launches that are executed
/// functionally. It is called before the instruction executes.
class execution_watcher {
 public:
  /// `independent`: lanes diverge independently; otherwise warps run in lock step.
  virtual void launch_begins(const resident_launch& launch, functional_memory::view& memory, bool independent) = 0;
  virtual void block_begins(const functional_block& block) = 0;
  /// The lanes that may execute the access; those left out skip it, and load zero.
  virtual simt::lane_mask accesses(const watched_access& access) = 0;
  /// A transfer begins: a bulk copy of one lane, or the reads of a product of a warpgroup. The instruction does not
  /// wait for it. It moves segments; at its end it may signal an mbarrier.
  virtual void transfer_begins(const watched_step& step) = 0;
  /// False: the segment is left out.
  virtual bool transfer_moves(const watched_step& step, const watched_segment& segment) = 0;
  virtual void transfer_signals(const watched_step& step, const functional_block& holder, std::uint32_t offset) = 0;
  /// The instruction accesses registers that products write.
  virtual void touches_products(const watched_step& step) = 0;
  virtual void fences(const watched_step& step) = 0;
  /// Lanes synchronise with each other: bar.warp.sync, shuffles, votes.
  virtual void lanes_meet(const watched_step& step, const lane_meeting& meeting) = 0;
  /// Closes a group of copies or products, or waits until at most so many of the newest groups are incomplete.
  virtual void closes_copies(const watched_step& step) = 0;
  virtual void awaits_copies(const watched_step& step) = 0;
  /// Calls the device runtime, which then is called for one lane after another.
  virtual void calls_runtime(const watched_step& step) = 0;
  virtual void arrives(const watched_step& step, std::uint32_t barrier) = 0;
  /// Waits at the barrier of the cluster for the phase in which it arrived.
  virtual void awaits_cluster(const watched_step& step) = 0;
  /// `released`: the warps that waited at the barrier, by bit.
  virtual void barrier_completes(const functional_block& block, std::uint32_t barrier, std::uint64_t released) = 0;
  virtual void lanes_exit(const watched_step& step) = 0;
  virtual void block_ends(const functional_block& block) = 0;
  /// Lanes of an access name shared memory of a block of the cluster that has ended; they are left out.
  virtual void reaches_ended(const watched_access& access) = 0;
  /// While follows(): any instruction is about to execute, also on no lane. `execute`: by this function, if it is one
  /// of registers alone; otherwise null. The other calls come after it.
  virtual void executes(const watched_step& step, simt::execute_function execute) = 0;
  [[nodiscard]] bool follows() const { return following_; }
  /// From now on all warps seem to wait, until something changes.
  void waits_begin() { polls_global_ = false; }
  /// Whether global memory has been accessed since: what they wait for may lie outside the launch.
  [[nodiscard]] bool polls_global() const { return polls_global_; }

 protected:
  bool following_ = false;
  bool polls_global_ = false;
  ~execution_watcher() = default;
};

}  // namespace heddle
