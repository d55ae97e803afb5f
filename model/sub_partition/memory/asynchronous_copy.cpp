// SPDX-License-Identifier: MIT
// Copies from global to shared memory that a warp does not wait for (LDGSTS): a load, and when its data have arrived a
// store to shared memory. Source: PTX ISA, "Data Movement and Conversion Instructions: Asynchronous copy".
#include <cstring>

#include "heddle/isa/set_bits.h"
#include "heddle/sub_partition/memory/memory_issue.h"

namespace heddle {

// The transaction of `o` has the addresses in global memory.
void memory_issue::issue_copy(unsigned slot, memory_operation& o, simt::lane_mask mask, cycle_t cycle) {
  warp_slot& w = warps_[slot];
  lsu_transaction& t = o.first;
  if (o.target == nullptr) o.target = std::make_unique<copy_target>();
  o.target->lanes = mask;
  o.consists_of = memory_operation::parts::copy;
  t.shared_mask = t.cluster_mask = 0;
  t.local = false;
  t.sole = false;
  if (!w.stream->copy_target_of(slot, t, *o.target)) return operations_.give_back(o);
  o.target->group = w.copies.add();
  dependence_.set_read(slot, *w.program, *t.decoded, cycle + t.decoded->source_read_cycles, producer::long_latency);
  ++w.loads;
  ++w.copying;
  if (observer_ != nullptr) observer_->memory_issued(slot, w.state.pc, o);
  if (t.global_mask != 0) send(t);
  else write_copy(t);
  update_gate(cycle + 1);
}

// The bytes of a copy have arrived: it becomes a store to shared memory, whose addresses are known since its issue.
void memory_issue::write_copy(lsu_transaction& t) {
  const copy_target& to = *t.operation->target;
  warp_slot& w = warps_[t.slot];
  const simt::lane_mask zeros = to.lanes & ~t.global_mask;
  for (unsigned k = 0; zeros != 0 && k < t.bytes_per_lane / 4u; ++k)
    for (const unsigned lane : set_bits(zeros)) t.words[k][lane] = 0;
  std::memcpy(t.own_addresses, to.offsets, sizeof to.offsets);
  t.shared_addresses = nullptr;
  t.kind = lsu_kind::store;
  t.global_mask = 0;
  t.shared_mask = to.lanes;
  --w.loads;
  ++w.stores;
  w.stream->write_copy(w, t);
  send(t);
}

// A copy's load or store is complete. A copy with an illegal address ends after its load.
void memory_issue::copy_answered(lsu_transaction& t, cycle_t cycle) {
  const unsigned slot = t.slot;
  warp_slot& w = warps_[slot];
  if (t.kind == lsu_kind::load && !t.faulted) {
    write_copy(t);
    return update_gate(cycle);
  }
  memory_operation& o = *t.operation;
  if (observer_ != nullptr) observer_->memory_done(o, cycle);
  const std::uint16_t residency = t.residency;
  const std::uint32_t group = o.target->group;
  const bool loaded = t.kind == lsu_kind::store;
  operations_.give_back(o);
  if (residency != w.residency || w.phase == warp_phase::empty) return store_acknowledged(slot, residency, cycle);
  --(loaded ? w.stores : w.loads);
  --w.copying;
  w.copies.completed(group);
  if (w.phase != warp_phase::at_fence) answered(slot, cycle);
}

}  // namespace heddle
