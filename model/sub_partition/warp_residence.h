// SPDX-License-Identifier: MIT
#pragma once

#include "heddle/config/parameters.h"
#include "heddle/sub_partition/account/stall_account.h"
#include "heddle/sub_partition/dependence/dependence.h"
#include "heddle/sub_partition/fetch/fetch.h"
#include "heddle/sub_partition/issue/register_file.h"
#include "heddle/sub_partition/issue/warp_scheduler.h"
#include "heddle/sub_partition/stream/instruction_stream.h"
#include "heddle/sub_partition/warp/departed_warps.h"
#include "heddle/sub_partition/warp/warp_supervisor.h"
#include "heddle/sub_partition/warp/warp_table.h"

namespace heddle {

/// Which warps are in the slots of a sub-partition: gives a slot and registers to a warp, and takes them back.
class warp_residence {
 public:
  /// The parts of the sub-partition, which must outlive this one.
  struct surroundings {
    const gpu_config& config;
    warp_table& warps;
    class fetch& fetch;
    class dependence& dependence;
    class register_file& register_file;
    warp_scheduler& scheduler;
    stall_account& account;
    warp_supervisor& supervisor;
    departed_warps& departed;
    const instruction_stream& executed;
    const instruction_stream& recorded;
    const instruction_stream& followed;
    unsigned index;  // of the sub-partition
  };
  explicit warp_residence(const surroundings& s);
  /// Warps that execute a program do so by this stream.
  void execute_by(const instruction_stream& stream) { executed_ = &stream; }

  /// Gives the free slot to a warp of `block`, which is active from `cycle` on. The warp's state is still to be set.
  void occupy(unsigned slot, const resident_launch& launch, const simt::block_context& block, unsigned warp_in_block,
              unsigned allocated_registers, cycle_t cycle);
  /// The same for a warp that begins with its first instruction.
  void occupy_new(unsigned slot, const resident_launch& launch, const simt::block_context& block,
                  unsigned warp_in_block, unsigned allocated_registers, cycle_t cycle);
  /// Frees the slot and its registers. The warp was active until `cycle`. Returns the instructions that it has executed
  /// since it came to the slot.
  std::uint64_t vacate(unsigned slot, cycle_t cycle);
  /// The warp has exited, none of its loads is outstanding, and its stores are taken: vacates the slot and reports it.
  void finish(unsigned slot, cycle_t cycle);

 private:
  const surroundings s_;
  const instruction_stream* executed_;
  const bool independent_;  // each lane has its own program counter
};

}  // namespace heddle
