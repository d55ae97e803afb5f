// SPDX-License-Identifier: MIT
// Texture and surface instructions of a sub-partition: each texel of a filter is one access of the warp through the
// load/store unit.
#include <cstring>

#include "heddle/config/error.h"
#include "heddle/isa/set_bits.h"
#include "heddle/isa/texture.h"
#include "heddle/sub_partition/memory/memory_issue.h"

namespace heddle {

void memory_issue::issue_texture(unsigned slot, simt::lane_mask mask, cycle_t cycle) {
  warp_slot& w = warps_[slot];
  const decoded_instruction& d = *w.next;
  const isa::instruction& i = *d.instruction;
  if (mask == 0) {
    dependence_.set_ready(slot, *w.program, d, cycle + 1);
    return;
  }
  memory_operation& o = operations_.operation();
  if (!o.texture) o.texture = std::make_unique<simt::texture_access>();
  simt::texture_access& a = *o.texture;
  unsigned bad_lane = 0;
  try {
    simt::plan_texture(i, w.state, mask, a, bad_lane);
  } catch (const program_error& e) {
    operations_.give_back(o);
    faults_.report(w, d, bad_lane, e.what());
    return;
  }
  o.first.decoded = &d;
  o.global_mask = mask;
  o.consists_of = memory_operation::parts::texels;
  o.remaining = 0;
  for (unsigned k = 0; k < a.count; ++k) o.remaining += a.mask[k] != 0;
  if (o.remaining == 0) {  // all texels are outside
    if (i.op != isa::opcode::sust) simt::finish_texture(i, w.state, a);
    dependence_.set_ready(slot, *w.program, d,
                          cycle + config_.l1.latency_cycles + config_.texture.filter_latency_cycles);
    operations_.give_back(o);
    return;
  }
  dependence_.set_read(slot, *w.program, d, cycle + d.source_read_cycles, producer::long_latency);
  if (observer_ != nullptr) observer_->memory_issued(slot, w.state.pc, o);
  dependence_.set_pending(slot, *w.program, d, producer::long_latency);
  ++w.loads;  // surface stores are counted here, too: the warp stays until the texture path has finished them
  ++textures_;
  for (unsigned k = 0; k < a.count; ++k)
    if (a.mask[k] != 0) send(texel_access(w, o, k, cycle));
  update_gate(cycle + 1);
}

/// Builds the transaction for access k of a texture instruction.
lsu_transaction& memory_issue::texel_access(const warp_slot& w, memory_operation& o, unsigned k, cycle_t cycle) {
  const isa::instruction& i = *w.next->instruction;
  const simt::texture_access& a = *o.texture;
  lsu_transaction& t = operations_.further(o);
  t.decoded = w.next;
  t.slot = static_cast<std::uint16_t>(warps_.slot_of(w));
  t.residency = w.residency;
  t.sole = false;
  t.instruction = &i;
  t.launch = w.launch;
  t.kind = i.op == isa::opcode::sust ? lsu_kind::store : lsu_kind::load;
  t.partition = static_cast<std::uint16_t>(index_);
  t.warp = static_cast<std::uint16_t>(w.state.slot);
  t.bytes_per_lane = static_cast<std::uint8_t>(a.bytes);
  t.issue_cycle = cycle;
  t.traffic = w.traffic_of(*w.next);
  t.word = static_cast<std::uint8_t>(k);
  t.shared_mask = t.constant_mask = t.cluster_mask = 0;
  t.global_mask = a.mask[k];
  t.local = false;
  t.texture = true;
  t.data = true;
  t.read_only = isa::samples_texture(i.op);
  t.bypass_l1 = !t.read_only;  // other SMs' stores to a surface must be visible
  t.differing_bits = lsu_transaction::not_known;
  t.shared_addresses = nullptr;
  std::memcpy(t.own_addresses, a.addresses[k], sizeof t.own_addresses);
  if (t.kind == lsu_kind::store) std::memcpy(t.words, a.words[0], sizeof a.words[0]);
  return t;
}

// The texels of access t have arrived. The last access completes the instruction.
void memory_issue::texels_arrived(const lsu_transaction& t) {
  memory_operation& o = *t.operation;
  if (t.kind == lsu_kind::load) {
    // Only the access's own lanes are copied: the other lanes hold data of an earlier transaction.
    simt::texture_access& a = *o.texture;
    for (unsigned k = 0; k < (a.bytes + 3) / 4; ++k)
      for (const unsigned lane : set_bits(a.mask[t.word])) {
        a.words[t.word][k][lane] = t.words[k][lane];
      }
  }
  if (o.remaining != 1) return;
  if (t.kind == lsu_kind::load) simt::finish_texture(*t.instruction, warps_[t.slot].state, *o.texture);
  --textures_;
}

}  // namespace heddle
