// SPDX-License-Identifier: MIT
// SYSCALL and TRAP in a sub-partition. Lowering puts a MEMBAR before SYSCALL, so that the warp's stores are visible in
// device memory.
#include "heddle/config/error.h"
#include "heddle/simt/warp/fault_text.h"
#include "heddle/sub_partition/device_runtime.h"
#include "heddle/sub_partition/sub_partition.h"

namespace heddle {

simt::lane_reader sub_partition::memory_of(const warp_slot& w, unsigned lane) const {
  return lane_memory(w.state, *services_, [this, &w, lane](std::uint64_t offset, std::uint8_t* to) {
    return offset < w.launch->program->local_bytes && services_->inspect(memory.local_address(w, offset, lane), to, 1);
  });
}

void sub_partition::issue_system(unsigned slot, simt::lane_mask mask, cycle_t cycle) {
  warp_slot& w = hot_.warps[slot];
  const decoded_instruction& d = *w.next;
  invariant(services_ != nullptr, "a program calls the device runtime, and there is none");
  set_ready(slot, d, cycle + dispatch(slot, d, 0, cycle));
  unsigned bad_lane = 0;
  try {
    system_call(
        *services_, [this, &w](unsigned lane) { return memory_of(w, lane); }, *d.instruction, w.state, mask, bad_lane);
  } catch (const program_error& e) {
    return fault(slot, d, bad_lane, e.what());
  }
  simt::advance(w.state);
}

void sub_partition::issue_trap(unsigned slot, simt::lane_mask mask) {
  warp_slot& w = hot_.warps[slot];
  const decoded_instruction& d = *w.next;
  if (mask != 0) {
    const unsigned lane = static_cast<unsigned>(__builtin_ctz(mask));
    fault_with(slot, d, lane, simt::trap_text(*d.instruction), details_of(w, *d.instruction, lane));
  }
  w.stream->advance(w);
}

fault_details sub_partition::details_of(const warp_slot& w, const isa::instruction& i, unsigned lane) const {
  return services_ == nullptr ? fault_details() : assertion_details(memory_of(w, lane), i, w.state, lane);
}

}  // namespace heddle
