// SPDX-License-Identifier: MIT
// Memory instructions of a sub-partition: address resolution, requests to the load/store unit and responses from it.
#include <algorithm>
#include <cstring>

#include "heddle/config/error.h"
#include "heddle/simt/warp/fault_text.h"
#include "heddle/sub_partition/sub_partition.h"

namespace heddle {

namespace {

bool is_write(lsu_kind k) { return k == lsu_kind::store || k == lsu_kind::reduction; }

// Accesses to shared memory and constants alone do not reach the L1.
producer waited_for_as(simt::lane_mask global_mask) {
  return global_mask == 0 ? producer::short_latency : producer::long_latency;
}

}  // namespace

// Local memory is interleaved by 32-bit words over the lanes, so that a warp's accesses to one variable coalesce.
std::uint64_t sub_partition::local_address(const warp_slot& w, std::uint64_t offset, unsigned lane) const {
  const std::uint64_t per_thread = (w.launch->program->local_bytes + 3) / 4 * 4;
  const std::uint64_t warp = std::uint64_t{sm_id_} * config_.sm.max_warps + w.state.slot;
  return w.launch->local_base + warp * per_thread * isa::warp_size + offset / 4 * (4 * isa::warp_size) + lane * 4 +
         offset % 4;
}

// Translates the lanes' addresses into shared-memory offsets and global addresses. Returns false after a fault, if an
// address is in no memory.
bool sub_partition::resolve(unsigned slot, lsu_transaction& t, simt::lane_mask mask) {
  warp_slot& w = slots_[slot];
  const decoded_instruction& d = *t.decoded;
  const isa::instruction& i = *d.instruction;
  t.shared_mask = t.global_mask = 0;
  t.local = false;
  if (t.kind == lsu_kind::constant_load) {
    t.constant_mask = mask;
    return true;
  }
  switch (i.mem_space) {
    case isa::space::shared: t.shared_mask = mask; return true;
    case isa::space::global: t.global_mask = mask; return true;
    case isa::space::constant: return true;
    default: break;
  }
  const std::uint64_t local_bytes = w.launch->program->local_bytes;
  simt::lane_mask local = i.mem_space == isa::space::local ? mask : 0;
  for (simt::lane_mask m = mask & ~local; m; m &= m - 1) {
    const unsigned lane = static_cast<unsigned>(__builtin_ctz(m));
    const simt::lane_mask bit = 1u << lane;
    std::uint64_t& a = t.own_addresses[lane];
    if (a >= isa::shared_window_base && a < isa::shared_window_base + isa::window_bytes) {
      a -= isa::shared_window_base;
      t.shared_mask |= bit;
    } else if (a >= isa::local_window_base && a < isa::local_window_base + isa::window_bytes) {
      a -= isa::local_window_base;
      local |= bit;
    } else {
      t.global_mask |= bit;
    }
  }
  for (simt::lane_mask m = local; m; m &= m - 1) {
    const unsigned lane = static_cast<unsigned>(__builtin_ctz(m));
    std::uint64_t& a = t.own_addresses[lane];
    if (a + t.bytes_per_lane > local_bytes || a % t.bytes_per_lane != 0) {
      fault(slot, d, lane, simt::local_fault(a, t.bytes_per_lane));
      return false;
    }
    a = local_address(w, a, lane);
  }
  t.local = local != 0;
  t.operation->local_mask = local;
  t.global_mask |= local;
  return true;
}

// True if all lanes read within their constant bank; otherwise reports the first lane that does not.
bool sub_partition::constants_exist(unsigned slot, const lsu_transaction& t, simt::lane_mask mask) {
  const decoded_instruction& d = *slots_[slot].next;
  const std::uint64_t bytes = t.launch->banks[d.instruction->sub].size();
  const unsigned lane = simt::outside_bank(t.addresses(), mask, t.bytes_per_lane, bytes);
  if (lane == isa::warp_size) return true;
  fault(slot, d, lane, simt::constant_fault(t.addresses()[lane], t.bytes_per_lane, bytes));
  return false;
}

void sub_partition::issue_memory(unsigned slot, simt::lane_mask mask, cycle_t cycle) {
  warp_slot& w = slots_[slot];
  const decoded_instruction& d = *w.next;
  const isa::instruction& i = *d.instruction;
  if (d.unit == isa::unit::texture) return issue_texture(slot, mask, cycle);
  dispatch(slot, d, 0, cycle);
  if (mask == 0) {
    set_ready(slot, d, cycle + 1);
    return;
  }
  memory_operation& o = operations_.operation();
  lsu_transaction& t = o.first;
  t.decoded = &d;
  t.slot = static_cast<std::uint16_t>(slot);
  t.residency = w.residency;
  t.instruction = &i;
  t.launch = w.launch;
  t.kind = d.access;
  t.partition = index_;
  t.warp = w.state.slot;
  t.bytes_per_lane = d.access_bytes;
  t.read_only = d.read_only;
  t.bypass_l1 = d.bypass_l1;
  t.data = w.step == nullptr;
  t.texture = false;
  t.word = 0;
  t.issue_cycle = cycle;
  t.differing_bits = lsu_transaction::not_known;
  t.shared_addresses = nullptr;
  if (w.step != nullptr) recorded_addresses(w, t);
  else simt::lane_addresses(i, w.state, mask, t.own_addresses);
  if (t.kind == lsu_kind::constant_load) {
    if (w.step == nullptr && !constants_exist(slot, t, mask)) return;
    d.execute(i, w.state, mask);
  }
  if (!resolve(slot, t, mask)) return;
  if (t.shared_mask != 0 && w.step == nullptr) {
    unsigned bad_lane = 0;
    t.differing_bits = differing_bits(t.own_addresses, t.shared_mask);  // the addresses are in the host's cache now
    try {
      simt::shared_access(i, w.state, t.shared_mask, t.own_addresses, bad_lane);
    } catch (const program_error& e) {
      fault(slot, d, bad_lane, e.what());
      return;
    }
    if (i.op == isa::opcode::ldsm) t.shared_mask = simt::matrix_rows(i);  // these accesses take time
  }
  if (replays_) count_replays(w, t);
  if (t.global_mask != 0 && t.kind != lsu_kind::load) {
    if (w.step != nullptr)
      std::memset(t.words, 0, sizeof t.words[0] * std::max(1, t.bytes_per_lane / 4));  // traces hold no data
    else simt::lane_store_data(i, w.state, t.words);
  }
  const producer kind = waited_for_as(t.global_mask);
  if (w.program->control_codes) dependence.counters.set_read(slot, d, cycle + d.source_read_cycles, kind);
  set_pending(slot, d, kind);
  ++(is_write(t.kind) ? w.stores : w.loads);
  t.sole = !t.local || t.bytes_per_lane <= 4;
  if (observer_ != nullptr) observer_->memory_issued(slot, w.state.pc, o);
  if (t.sole) send(t);
  else split(t);
  update_gate(cycle + 1);
}

// One transaction per word of the lanes' data.
void sub_partition::split(lsu_transaction& first) {
  const unsigned words = first.bytes_per_lane / 4;
  memory_operation& o = *first.operation;
  o.global_mask = first.global_mask;
  o.remaining = words;
  o.split = true;
  o.is_texture = false;
  if (o.words == nullptr) o.words = std::make_unique<memory_operation::word_rows>();
  first.bytes_per_lane = 4;
  lsu_transaction* parts[4] = {&first, nullptr, nullptr, nullptr};
  for (unsigned k = 1; k < words; ++k) {
    lsu_transaction& t = operations_.further(o);
    t = first;
    t.word = k;
    t.shared_mask = 0;
    // The next word of local memory is one row of lanes further on; elsewhere it is four bytes further on.
    for (simt::lane_mask m = first.global_mask; m; m &= m - 1) {
      const unsigned lane = static_cast<unsigned>(__builtin_ctz(m));
      t.own_addresses[lane] += std::uint64_t{k} * (o.local_mask >> lane & 1 ? 4 * isa::warp_size : 4);
    }
    std::memcpy(t.words[0], first.words[k], sizeof t.words[0]);
    parts[k] = &t;
  }
  for (unsigned k = 0; k < words; ++k) send(*parts[k]);
}

void sub_partition::send(lsu_transaction& t) {
  if (is_write(t.kind) && !t.texture) ++slots_[t.slot].queued;
  if (credits_ == 0 || !backlog_.empty()) {
    backlog_.push_back(&t);
    return;
  }
  --credits_;
  lsu_phase phase = lsu_phase::request;
  sc_core::sc_time delay;
  lsu_->nb_transport_fw(t, phase, delay);
}

// Closes the LDST unit's input while the load/store unit's queue has no room for another instruction.
void sub_partition::update_gate(cycle_t cycle) {
  scheduler.gate(isa::unit::ldst).set_blocked(credits_ == 0 || !backlog_.empty(), cycle);
  const bool full = textures_ >= config_.texture.queue_entries;
  if (full == texture_full_) return;
  scheduler.gate(isa::unit::texture).set_blocked(full, cycle);
  set_texture_full(full, cycle);
}

tlm::tlm_sync_enum sub_partition::nb_transport_bw(lsu_transaction& t, lsu_phase& phase, sc_core::sc_time&) {
  const cycle_t cycle = clock_.cycle();
  switch (phase) {
    case lsu_phase::credit:
      if (observer_ != nullptr) observer_->memory_taken(*t.operation, t);
      ++credits_;
      if (!backlog_.empty()) {
        lsu_transaction* next = backlog_.front();
        backlog_.pop_front();
        --credits_;
        lsu_phase request = lsu_phase::request;
        sc_core::sc_time delay;
        lsu_->nb_transport_fw(*next, request, delay);
      }
      update_gate(cycle);
      if (scheduler.ready() != 0) clock_.wake_at(cycle);
      if (is_write(t.kind) && !t.texture) {
        warp_slot& w = slots_[t.slot];  // the warp keeps its slot until all its stores are taken
        if (--w.queued == 0 && w.phase == warp_phase::exited && w.loads == 0 && w.timer == never) finish(t.slot, cycle);
      }
      break;
    case lsu_phase::response: complete(t, cycle); break;
    case lsu_phase::fault: {
      if (t.residency == slots_[t.slot].residency && slots_[t.slot].phase != warp_phase::empty) {
        fault(t.slot, *t.decoded, t.fault_lane, t.fault);
      } else {
        const auto gone = departed(t.slot, t.residency);
        invariant(gone != departed_.end(), "a store of no warp failed");
        fault_of(*gone->launch, gone->index, gone->warp_in_block * isa::warp_size + t.fault_lane, *t.decoded, t.fault,
                 {});
      }
      break;
    }
    case lsu_phase::throttle_on: scheduler.gate(isa::unit::ldst).set_throttled(true, cycle); break;
    case lsu_phase::throttle_off: scheduler.gate(isa::unit::ldst).set_throttled(false, cycle); break;
    case lsu_phase::request: throw internal_error(std::string(name()) + ": a request came back");
  }
  return tlm::TLM_ACCEPTED;
}

// A store of a finished warp is acknowledged.
void sub_partition::settle_store(unsigned slot, std::uint16_t residency, cycle_t cycle) {
  const auto gone = departed(slot, residency);
  invariant(gone != departed_.end(), "a store of no warp was acknowledged");
  if (--gone->stores != 0) return;
  const std::uint64_t block = gone->block;
  departed_.erase(gone);
  supervisor_.stores_settled(block, cycle);
}

void sub_partition::complete(lsu_transaction& t, cycle_t cycle) {
  memory_operation& o = *t.operation;
  const unsigned slot = t.slot;
  warp_slot& w = slots_[slot];
  const std::uint16_t residency = t.residency;
  const bool gone = residency != w.residency || w.phase == warp_phase::empty;
  const cycle_t first_data = std::min<cycle_t>(t.first_cycle, cycle);
  const bool returns = t.kind == lsu_kind::load || t.kind == lsu_kind::atomic;
  const lsu_kind kind = t.kind;
  const decoded_instruction& d = *t.decoded;
  simt::lane_mask global_mask = t.global_mask;
  const std::uint32_t(*words)[isa::warp_size] = t.words;
  bool texture = false;
  if (!t.sole) {
    texture = o.is_texture;
    global_mask = o.global_mask;
    if (texture) texels_arrived(t);
    if (o.split && returns) std::memcpy((*o.words)[t.word], t.words[0], sizeof t.words[0]);
    if (o.split) words = o.words->data();
    operations_.give_back(t);
    if (--o.remaining != 0) return;
  }
  if (returns && global_mask != 0 && w.step == nullptr && !texture)
    simt::lane_write_back(*d.instruction, w.state, global_mask, words);
  if (gone) {
    if (observer_ != nullptr) observer_->memory_done(o, cycle);
    operations_.give_back(o);
    return settle_store(slot, residency, cycle);
  }
  operations_.give_back(o);
  --(is_write(kind) && !texture ? w.stores : w.loads);
  if (is_write(kind)) {
    if (observer_ != nullptr) observer_->memory_done(o, cycle);
  } else {
    cycle_t written = texture ? cycle + config_.texture.filter_latency_cycles : cycle + d.index_cycles;
    if ((write_ports_.limited() || d.return_interval != 0) && d.instruction->dst != isa::rz)
      written = write_ports_.write(d.instruction->dst, d.instruction->dst_count, written, cycle, d.return_words,
                                   d.return_interval, first_data);
    dependence.release(slot, *w.program, d, written, waited_for_as(global_mask));
    if (observer_ != nullptr) observer_->memory_done(o, written);
  }
  if (texture) {
    update_gate(cycle);
    if (scheduler.ready() != 0) clock_.wake_at(cycle);
  }
  switch (w.phase) {
    case warp_phase::waiting:
      if (w.timer == never) {
        account(slot, cycle);
        reconsider(slot, cycle);
      }
      break;
    case warp_phase::at_fence:
      if (w.loads + w.stores == 0) set_timer(slot, cycle + 1);
      break;
    case warp_phase::stopped:
      if (w.loads + w.stores == 0) supervisor_.warp_quiet(w.state.slot);
      return;
    case warp_phase::exited:
      if (w.loads + w.queued == 0 && w.timer == never) finish(slot, cycle);
      return;
    default: return;
  }
  if (w.phase == warp_phase::ready) clock_.wake_at(cycle);
  else if (w.timer != never) clock_.wake_at(w.timer);
}

}  // namespace heddle
