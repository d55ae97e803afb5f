// SPDX-License-Identifier: MIT
// Reports instructions to the watcher of an execution (execution_watcher.h).
#include "heddle/functional/functional_block.h"
#include "heddle/functional/functional_executor.h"
#include "heddle/functional/lanes_by_space.h"
#include "heddle/simt/execute.h"
#include "heddle/simt/warp/divergence.h"

namespace heddle {

// Returns the lanes that execute the instruction.
simt::lane_mask functional_executor::watched(block& b, warp& x, functional_step& s, simt::lane_mask mask) {
  const simt::warp_state& w = x.state;
  const decoded_instruction& d = *s.decoded;
  const watched_step step{b, w, *d.instruction, mask};
  if (s.synchronises)
    watcher_->lanes_meet(step, mask | simt::named_lanes(*simt::member_operand(*d.instruction), w, mask));
  switch (d.kind) {
    case issue_kind::memory:
      if (d.unit == isa::unit::texture || d.access == lsu_kind::constant_load) return mask;
      return watched_access_of(b, x, s, mask);
    case issue_kind::fence: watcher_->fences(step); break;
    case issue_kind::copy_commit: watcher_->closes_copies(step); break;
    case issue_kind::copy_wait: watcher_->awaits_copies(step); break;
    case issue_kind::system_call: watcher_->calls_runtime(step); break;
    case issue_kind::barrier: {
      if (d.instruction->op == isa::opcode::syncs) return watched_access_of(b, x, s, mask);
      const isa::operand& number = d.instruction->src[0];
      const bool of_block = d.instruction->op == isa::opcode::bar;
      const auto first = static_cast<unsigned>(__builtin_ctz(mask));
      if (of_block || d.instruction->op == isa::opcode::ucgabar_arv)
        watcher_->arrives(
            step, of_block ? static_cast<std::uint32_t>(simt::lane_value(number, w, first)) : simt::cluster_barrier);
      break;
    }
    default: break;
  }
  return mask;
}

simt::lane_mask functional_executor::watched_access_of(block& b, warp& x, functional_step& s, simt::lane_mask mask) {
  simt::warp_state& w = x.state;
  const isa::instruction& i = *s.decoded->instruction;
  alignas(64) std::uint64_t addresses[isa::warp_size];
  watched_access a{{b, w, i, mask}};
  a.addresses = addresses;
  a.bytes = i.op == isa::opcode::syncs ? 8 : s.bytes;
  if (i.op == isa::opcode::ldgsts) {
    a.global = simt::copying_lanes(i, w, mask);
    simt::lane_addresses(i, w, a.global, addresses);
    simt::lane_mask good = a.global == 0 ? mask : mask & (~a.global | watcher_->accesses(a));
    simt::copy_targets(i, w, good, addresses, bad_lane_);
    a.mask = a.shared = good;
    a.global = 0;
    a.copies_in = true;
    return good == 0 ? good : watcher_->accesses(a);
  }
  simt::lane_addresses(i, w, mask, addresses);
  const simt::lane_mask executing = i.op == isa::opcode::ldsm ? simt::matrix_rows(i) : mask;
  const lanes_by_space lanes = divide_by_space(i.mem_space, executing, addresses);
  a.mask = executing;
  a.shared = lanes.shared;
  a.local = lanes.local;
  a.global = lanes.global;
  const simt::lane_mask good = watcher_->accesses(a);
  if (i.op == isa::opcode::ldsm) return good == executing ? mask : 0;
  if (good != mask && i.dst != isa::rz)
    for (const unsigned lane : set_bits(mask & ~good))
      for (unsigned k = 0; k < i.dst_count; ++k) w.regs[(std::size_t{i.dst} + k) * isa::warp_size + lane] = 0;
  return good;
}

}  // namespace heddle
