// SPDX-License-Identifier: MIT
#pragma once

#include "heddle/simt/warp/print_format.h"
#include "heddle/sub_partition/memory/memory_issue.h"
#include "heddle/sub_partition/program_services.h"
#include "heddle/sub_partition/warp/fault_reporter.h"
#include "heddle/sub_partition/warp/warp_slot.h"

namespace heddle {

/// SYSCALL and TRAP in a sub-partition. Lowering puts a MEMBAR before SYSCALL, so that the warp's stores are visible in
/// device memory.
class system_calls {
 public:
  system_calls(const memory_issue& memory, fault_reporter& faults) : memory_(memory), faults_(faults) {}

  /// Sets the environment of SYSCALL outside the SM. Programs that call the device runtime need it.
  void use(program_services* services) { services_ = services; }
  /// Executes the warp's next instruction, SYSCALL, on the lanes of `mask`, and proceeds unless it fails.
  void call(warp_slot& w, simt::lane_mask mask);
  /// Executes the warp's next instruction, TRAP: the program has failed if `mask` has a lane.
  void trap(warp_slot& w, simt::lane_mask mask);

 private:
  [[nodiscard]] simt::lane_reader memory_of(const warp_slot& w, unsigned lane) const;
  [[nodiscard]] fault_details details_of(const warp_slot& w, const isa::instruction& i, unsigned lane) const;

  const memory_issue& memory_;
  fault_reporter& faults_;
  program_services* services_ = nullptr;
};

}  // namespace heddle
