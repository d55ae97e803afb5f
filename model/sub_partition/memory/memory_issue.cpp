// SPDX-License-Identifier: MIT
#include "heddle/sub_partition/memory/memory_issue.h"

#include <algorithm>
#include <cstring>

#include "heddle/config/error.h"
#include "heddle/isa/set_bits.h"
#include "heddle/simt/warp/fault_text.h"

namespace heddle {

namespace {

bool is_write(lsu_kind k) { return k == lsu_kind::store || k == lsu_kind::reduction; }

// A barrier orders it before what other warps do to global memory, or to other blocks' shared memory, afterwards.
bool is_ordered(const lsu_transaction& t) {
  if (t.texture) return false;
  return t.cluster_mask != 0 || (t.local ? t.global_mask & ~t.operation->local_mask : t.global_mask) != 0;
}

bool arrives(const isa::instruction& i) {
  return isa::is_atomic(i.op) && static_cast<isa::atomic_op>(i.sub) == isa::atomic_op::arrive;
}

// Accesses to the block's own shared memory and to constants alone do not leave the SM.
producer waited_for_as(simt::lane_mask away) { return away == 0 ? producer::short_latency : producer::long_latency; }

}  // namespace

memory_issue::memory_issue(const surroundings& s)
    : config_(s.stream.config),
      warps_(s.stream.warps),
      scheduler_(s.stream.scheduler),
      supervisor_(s.stream.supervisor),
      control_(s.stream.control),
      faults_(s.stream.faults),
      dependence_(s.dependence),
      account_(s.account),
      ports_(s.ports),
      clock_(s.clock),
      sm_id_(s.sm_id),
      index_(s.index),
      credits_(config_.ldst.queue_entries),
      texture_entries_(config_.texture.queue_entries),
      replays_(config_.ldst.replay == choice::replay::issue),
      departed_(s.departed),
      banks_(config_.shared_memory.banks, config_.shared_memory.bank_bytes) {}

std::uint64_t memory_issue::local_address(const warp_slot& w, std::uint64_t offset, unsigned lane) const {
  return w.launch->local_address(std::uint64_t{sm_id_} * config_.sm.max_warps + w.state.slot, offset, lane);
}

// Translates the lanes' addresses into shared-memory offsets and global addresses. Returns false after a fault, if an
// address is in no memory.
bool memory_issue::resolve(unsigned slot, lsu_transaction& t, simt::lane_mask mask) {
  warp_slot& w = warps_[slot];
  const decoded_instruction& d = *t.decoded;
  const isa::instruction& i = *d.instruction;
  t.shared_mask = t.global_mask = t.cluster_mask = 0;
  t.local = false;
  if (t.kind == lsu_kind::constant_load) {
    t.constant_mask = mask;
    return true;
  }
  switch (i.mem_space) {
    case isa::space::shared:
      t.shared_mask = mask;
      if (__builtin_expect(w.launch->reaches_cluster, 0)) find_other_blocks(*w.state.block, t);
      return true;
    case isa::space::global: t.global_mask = mask; return true;
    case isa::space::constant: return true;
    default: break;
  }
  const std::uint64_t local_bytes = w.launch->program->local_bytes;
  simt::lane_mask local = i.mem_space == isa::space::local ? mask : 0;
  for (const unsigned lane : set_bits(mask & ~local)) {
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
  for (const unsigned lane : set_bits(local)) {
    std::uint64_t& a = t.own_addresses[lane];
    if (a + t.bytes_per_lane > local_bytes || a % t.bytes_per_lane != 0) {
      faults_.report(w, d, lane, simt::local_fault(a, t.bytes_per_lane));
      return false;
    }
    a = local_address(w, a, lane);
  }
  if (__builtin_expect(w.launch->reaches_cluster, 0)) find_other_blocks(*w.state.block, t);
  t.local = local != 0;
  t.operation->local_mask = local;
  t.global_mask |= local;
  return true;
}

// Lanes whose address names the block itself by its rank access it as all others do.
void memory_issue::find_other_blocks(const simt::block_context& own, lsu_transaction& t) {
  for (const unsigned lane : set_bits(t.shared_mask)) {
    std::uint64_t& a = t.own_addresses[lane];
    const std::uint64_t place = a >> isa::cluster_offset_bits;
    if (place == 0) continue;
    if (place == own.cluster_rank + 1) a &= isa::cluster_offset_mask;
    else t.cluster_mask |= 1u << lane;
  }
  t.shared_mask &= ~t.cluster_mask;
}

void memory_issue::issue(unsigned slot, simt::lane_mask mask, cycle_t cycle) {
  warp_slot& w = warps_[slot];
  const decoded_instruction& d = *w.next;
  const isa::instruction& i = *d.instruction;
  if (d.unit == isa::unit::texture) return issue_texture(slot, mask, cycle);
  if (mask == 0) {
    dependence_.set_ready(slot, *w.program, d, cycle + 1);
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
  t.partition = static_cast<std::uint16_t>(index_);
  t.warp = static_cast<std::uint16_t>(w.state.slot);
  t.bytes_per_lane = d.access_bytes;
  t.read_only = d.read_only;
  t.bypass_l1 = d.bypass_l1;
  t.data = true;
  t.texture = false;
  t.word = 0;
  t.issue_cycle = cycle;
  t.traffic = w.traffic_of(*w.next);
  t.differing_bits = lsu_transaction::not_known;
  t.shared_addresses = nullptr;
  if (isa::is_atomic(i.op)) t.counts = i.counts;
  if (__builtin_expect(i.has_policy(), 0)) t.policy = 0;
  if (!w.stream->addresses(slot, mask, t)) return operations_.give_back(o);
  if (i.op == isa::opcode::ldgsts) return issue_copy(slot, o, mask, cycle);
  if (t.kind == lsu_kind::constant_load) d.execute(i, w.state, mask);
  if (!resolve(slot, t, mask)) return operations_.give_back(o);
  if (t.shared_mask != 0 && !w.stream->access_shared(slot, t)) return operations_.give_back(o);
  if (t.shared_mask != 0 && arrives(i)) supervisor_.mbarrier_arrived(w.state.slot, cycle);
  if (replays_) count_replays(w, t);
  const simt::lane_mask away = t.global_mask | t.cluster_mask;  // lanes whose data come later
  if (away != 0 && t.kind != lsu_kind::load) w.stream->store_data(w, t);
  const producer kind = waited_for_as(away);
  dependence_.set_read(slot, *w.program, d, cycle + d.source_read_cycles, kind);
  dependence_.set_pending(slot, *w.program, d, kind);
  ++(is_write(t.kind) ? w.stores : w.loads);
  t.sole = !t.local || t.bytes_per_lane <= 4;
  if (observer_ != nullptr) observer_->memory_issued(slot, w.state.pc, o);
  if (t.sole) send(t);
  else split(t);
  update_gate(cycle + 1);
}

// One transaction per word of the lanes' data.
void memory_issue::split(lsu_transaction& first) {
  const unsigned words = first.bytes_per_lane / 4;
  memory_operation& o = *first.operation;
  o.global_mask = first.global_mask | first.cluster_mask;
  o.remaining = words;
  o.consists_of = memory_operation::parts::words;
  if (o.words == nullptr) o.words = std::make_unique<memory_operation::word_rows>();
  first.bytes_per_lane = 4;
  lsu_transaction* parts[4] = {&first, nullptr, nullptr, nullptr};
  for (unsigned k = 1; k < words; ++k) {
    lsu_transaction& t = operations_.further(o);
    t = first;
    t.word = static_cast<std::uint8_t>(k);
    t.shared_mask = 0;
    // The next word of local memory is one row of lanes further on; elsewhere it is four bytes further on.
    for (const unsigned lane : set_bits(o.global_mask)) {
      t.own_addresses[lane] += std::uint64_t{k} * (o.local_mask >> lane & 1 ? 4 * isa::warp_size : 4);
    }
    std::memcpy(t.words[0], first.words[k], sizeof t.words[0]);
    parts[k] = &t;
  }
  for (unsigned k = 0; k < words; ++k) send(*parts[k]);
}

void memory_issue::send(lsu_transaction& t) {
  if (is_write(t.kind) && !t.texture) ++warps_[t.slot].queued;
  if (is_ordered(t)) ++warps_[t.slot].not_taken;
  if (credits_ == 0 || !backlog_.empty()) {
    backlog_.push_back(&t);
    return;
  }
  request(t);
}

void memory_issue::request(lsu_transaction& t) {
  --credits_;
  lsu_phase phase = lsu_phase::request;
  sc_core::sc_time delay;
  lsu_->nb_transport_fw(t, phase, delay);
}

void memory_issue::set_texture_full(bool full, cycle_t cycle) {
  scheduler_.gate(isa::unit::texture).set_blocked(full, cycle);
  account_.set_texture_full(full, cycle, clock_.cycle());
}

tlm::tlm_sync_enum memory_issue::nb_transport_bw(lsu_transaction& t, lsu_phase& phase, sc_core::sc_time&) {
  const cycle_t cycle = clock_.cycle();
  switch (phase) {
    case lsu_phase::credit: credit(t, cycle); break;
    case lsu_phase::response: complete(t, cycle); break;
    case lsu_phase::fault: fail(t); break;
    case lsu_phase::throttle_on: scheduler_.gate(isa::unit::ldst).set_throttled(true, cycle); break;
    case lsu_phase::throttle_off: scheduler_.gate(isa::unit::ldst).set_throttled(false, cycle); break;
    case lsu_phase::request: throw internal_error("a request came back to the sub-partition that made it");
  }
  return tlm::TLM_ACCEPTED;
}

// The load/store unit has taken a request from its queue.
void memory_issue::credit(const lsu_transaction& t, cycle_t cycle) {
  if (observer_ != nullptr) observer_->memory_taken(*t.operation, t);
  ++credits_;
  if (!backlog_.empty()) {
    lsu_transaction* next = backlog_.front();
    backlog_.pop_front();
    request(*next);
  }
  update_gate(cycle);
  if (scheduler_.ready() != 0) clock_.wake_at(cycle);
  if (is_ordered(t) && --warps_[t.slot].not_taken == 0) barrier_may_issue(t.slot, cycle);
  if (is_write(t.kind) && !t.texture) {
    warp_slot& w = warps_[t.slot];  // the warp keeps its slot until all its stores are taken
    if (--w.queued == 0 && w.phase == warp_phase::exited && w.loads == 0 && w.timer == never)
      control_.finish(t.slot, cycle);
  }
}

// The load/store unit performs accesses in the order in which it takes them. So those that the slot's warp issued
// before a barrier come before those that other warps issue after it, once all are taken: the warp may arrive at the
// barrier.
void memory_issue::barrier_may_issue(unsigned slot, cycle_t cycle) {
  warp_slot& w = warps_[slot];
  if (w.phase != warp_phase::waiting || w.timer != never || w.next->kind != issue_kind::barrier) return;
  account_.settle(w, cycle);
  control_.reconsider(slot, cycle);
  if (w.phase == warp_phase::ready) clock_.wake_at(cycle);
  else if (w.timer != never) clock_.wake_at(w.timer);
}

// An access has an illegal address. The warp may have left its slot meanwhile, if it was a store.
void memory_issue::fail(lsu_transaction& t) {
  failed_.push_back(&t);
  const warp_slot& w = warps_[t.slot];
  if (t.residency == w.residency && w.phase != warp_phase::empty)
    return faults_.report(w, *t.decoded, t.fault_lane, t.fault);
  const departed_warp& gone = departed_.at(t.slot, t.residency);
  faults_.report_of(*gone.launch, gone.index, gone.warp_in_block * isa::warp_size + t.fault_lane, *t.decoded, t.fault);
}

void memory_issue::end_failed(cycle_t cycle) {
  for (lsu_transaction* t : failed_) complete(*t, cycle);
  failed_.clear();
}

// A store of a finished warp is acknowledged.
void memory_issue::store_acknowledged(unsigned slot, std::uint16_t residency, cycle_t cycle) {
  std::uint64_t block = 0;
  if (departed_.store_acknowledged(slot, residency, block)) supervisor_.stores_settled(block, cycle);
}

void memory_issue::complete(lsu_transaction& t, cycle_t cycle) {
  memory_operation& o = *t.operation;
  const unsigned slot = t.slot;
  warp_slot& w = warps_[slot];
  const std::uint16_t residency = t.residency;
  const bool gone = residency != w.residency || w.phase == warp_phase::empty;
  const cycle_t first_data = std::min<cycle_t>(t.first_cycle, cycle);
  const bool returns = t.kind == lsu_kind::load || t.kind == lsu_kind::atomic;
  const lsu_kind kind = t.kind;
  const decoded_instruction& d = *t.decoded;
  simt::lane_mask global_mask = t.global_mask | t.cluster_mask;
  const std::uint32_t(*words)[isa::warp_size] = t.words;
  bool texture = false;
  if (!t.sole) {
    if (o.consists_of == memory_operation::parts::copy) return copy_answered(t, cycle);
    texture = o.consists_of == memory_operation::parts::texels;
    global_mask = o.global_mask;
    if (texture) texels_arrived(t);
    if (!texture && returns) std::memcpy((*o.words)[t.word], t.words[0], sizeof t.words[0]);
    if (!texture) words = o.words->data();
    operations_.give_back(t);
    if (--o.remaining != 0) return;
  }
  if (returns && global_mask != 0 && !texture) w.stream->write_back(d, w, global_mask, words);
  if (gone) {
    if (observer_ != nullptr) observer_->memory_done(o, cycle);
    operations_.give_back(o);
    return store_acknowledged(slot, residency, cycle);
  }
  --(is_write(kind) && !texture ? w.stores : w.loads);
  if (is_write(kind)) {
    if (observer_ != nullptr) observer_->memory_done(o, cycle);
  } else {
    cycle_t written = texture ? cycle + config_.texture.filter_latency_cycles : cycle + d.index_cycles;
    if ((ports_.limited() || d.return_interval != 0) && d.instruction->dst != isa::rz)
      written = ports_.write(d.instruction->dst, d.instruction->dst_count, written, cycle, d.return_words,
                             d.return_interval, first_data);
    dependence_.release(slot, *w.program, d, written, waited_for_as(global_mask));
    if (observer_ != nullptr) observer_->memory_done(o, written);
  }
  operations_.give_back(o);
  if (texture) {
    update_gate(cycle);
    if (scheduler_.ready() != 0) clock_.wake_at(cycle);
  }
  answered(slot, cycle);
}

// A memory instruction of the slot's warp is complete: the warp may continue.
void memory_issue::answered(unsigned slot, cycle_t cycle) {
  warp_slot& w = warps_[slot];
  switch (w.phase) {
    case warp_phase::waiting:
      if (w.timer == never) {
        account_.settle(w, cycle);
        control_.reconsider(slot, cycle);
      }
      break;
    case warp_phase::at_fence:
      if (!w.holds_fence()) control_.set_timer(slot, std::max(cycle + 1, w.fence_until));
      break;
    case warp_phase::stopped:
      if (!w.outstanding()) supervisor_.warp_quiet(w.state.slot);
      return;
    case warp_phase::exited:
      if (w.loads + w.queued == 0 && w.timer == never) control_.finish(slot, cycle);
      return;
    default: return;
  }
  if (w.phase == warp_phase::ready) clock_.wake_at(cycle);
  else if (w.timer != never) clock_.wake_at(w.timer);
}

void memory_issue::exchange(state_image& image) {
  operations_.exchange_contents(image);
  image(credits_, textures_, pending_replays_, backlog_, failed_, products_);
}

void memory_issue::check_invariants() const {
  invariant(credits_ <= config_.ldst.queue_entries, "the load/store unit returned a credit twice");
}

}  // namespace heddle
