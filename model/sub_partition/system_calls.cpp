// SPDX-License-Identifier: MIT
#include "heddle/sub_partition/system_calls.h"

#include "heddle/config/error.h"
#include "heddle/simt/warp/divergence.h"
#include "heddle/simt/warp/fault_text.h"
#include "heddle/sub_partition/device_runtime.h"

namespace heddle {

simt::lane_reader system_calls::memory_of(const warp_slot& w, unsigned lane) const {
  return lane_memory(w.state, *services_, [this, &w, lane](std::uint64_t offset, std::uint8_t* to) {
    return offset < w.launch->program->local_bytes && services_->inspect(memory_.local_address(w, offset, lane), to, 1);
  });
}

void system_calls::call(warp_slot& w, simt::lane_mask mask) {
  const decoded_instruction& d = *w.next;
  invariant(services_ != nullptr, "a program calls the device runtime, and there is none");
  unsigned bad_lane = 0;
  try {
    system_call(
        *services_, [this, &w](unsigned lane) { return memory_of(w, lane); }, *d.instruction, w.state, mask, bad_lane);
  } catch (const program_error& e) {
    return faults_.report(w, d, bad_lane, e.what());
  }
  simt::advance(w.state);
}

void system_calls::trap(warp_slot& w, simt::lane_mask mask) {
  const decoded_instruction& d = *w.next;
  if (mask != 0) {
    const unsigned lane = static_cast<unsigned>(__builtin_ctz(mask));
    faults_.report(w, d, lane, simt::trap_text(*d.instruction), details_of(w, *d.instruction, lane));
  }
  w.stream->advance(w);
}

fault_details system_calls::details_of(const warp_slot& w, const isa::instruction& i, unsigned lane) const {
  return services_ == nullptr ? fault_details() : assertion_details(memory_of(w, lane), i, w.state, lane);
}

}  // namespace heddle
