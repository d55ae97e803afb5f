// SPDX-License-Identifier: MIT
#include "heddle/sm/load_store_unit.h"

#include <algorithm>
#include <cmath>

#include "heddle/config/error.h"
#include "heddle/memory/common/lookup_latency.h"
#include "heddle/simt/warp/warp_state.h"
#include "heddle/tlm/kernel/prefetch.h"

namespace heddle {

namespace {
unsigned interval_of(double lanes) {
  if (!(lanes > 0)) throw input_error("ldst.lanes: a number above zero was expected");
  return static_cast<unsigned>(std::max(1.0, std::ceil(simt::warp_size / std::max(lanes, 1.0 / 64))));
}

// Merges the times of some of the instruction's data: the first data arrive in `first`, the last in `last`.
void data_come(lsu_transaction& t, std::uint64_t first, std::uint64_t last) {
  t.first_cycle = std::min(t.first_cycle, first);
  t.ready_cycle = std::max(t.ready_cycle, last);
}
}  // namespace

load_store_unit::load_store_unit(sc_core::sc_module_name name, unit_clock& clock, const gpu_config& config, unsigned,
                                 const address_ranges& ranges)
    : sc_module(name),
      partition_socket("partition_socket", config.sm.sub_partitions),
      shared_socket("shared_socket"),
      constant_socket("constant_socket"),
      l1_socket("l1_socket"),
      tlb(config),
      clock_(clock, *this),
      ranges_(ranges),
      queue_entries_(std::max(1u, config.ldst.queue_entries)),
      pending_limit_(std::max(1u, config.ldst.pending_instructions)),
      address_cycles_(address_cycles(config)),
      pick_interval_(interval_of(config.ldst.lanes)),
      accept_interval_(config.ldst.accept_interval_cycles),
      half_warps_(config.ldst.coalescing == choice::coalescing::half_warp),
      inputs_(config.sm.sub_partitions),
      deferred_entries_(config.ldst.reexecution_entries) {
  for (auto& socket : partition_socket) socket.bind(static_cast<lsu_fw_if&>(*this));
  shared_socket.bind(on_chip_backward_);
  constant_socket.bind(on_chip_backward_);
  l1_socket.bind(static_cast<l1_bw_if&>(*this));
}

void load_store_unit::start_of_simulation() {
  for (auto& socket : partition_socket) partitions_.push_back(socket.operator->());
  l1_ = l1_socket.operator->();
}

tlm::tlm_sync_enum load_store_unit::nb_transport_fw(lsu_transaction& t, lsu_phase& phase, sc_core::sc_time&) {
  invariant(phase == lsu_phase::request && t.partition < inputs_.size(),
            "load/store unit: not a request of a sub-partition");
  input& in = inputs_[t.partition];
  invariant(in.queue.size() < queue_entries_, "load/store unit: a request without a credit");
  in.queue.push(&t);
  waiting_ |= 1u << t.partition;
  ++in.queued;
  ++queued_;
  if (in.queue.size() != 1) return tlm::TLM_ACCEPTED;
  examine_oldest(in);
  pick_at_ = std::min(pick_at_, ready_to_pick(in));
  clock_.wake_at(ready_to_pick(in));
  return tlm::TLM_ACCEPTED;
}

void load_store_unit::b_transport(lsu_transaction&, sc_core::sc_time&) {
  throw internal_error("load/store unit: there is no blocking access");
}

void load_store_unit::examine_oldest(input& in) const {
  const lsu_transaction& t = *in.queue.front();
  in.addressed = t.issue_cycle + address_cycles_;
  in.needs =
      t.kind == lsu_kind::constant_load
          ? needs_constants
          : static_cast<std::uint8_t>((t.shared_mask != 0 ? needs_shared : 0) | (t.global_mask != 0 ? needs_l1 : 0));
}

void load_store_unit::on_cycle(cycle_t cycle) {
  while (!due_.empty() && due_.front().cycle <= cycle) {
    lsu_transaction& t = *due_.front().transaction;
    due_.pop();
    deliver(t);
  }
  if (!deferred_.empty() && !deferred_refused_ && cycle >= l1_free_) execute_again(cycle);
  if (streaming_ != nullptr && !refused_ && cycle >= l1_free_) send_line(cycle);
  if (!untranslated_.empty()) resume(cycle);
  if (queued_ != 0 && cycle >= pick_at_) pick(cycle);
  const bool throttled = refused_ || (starved_ && queued_ != 0);
  if (throttled != throttled_) set_throttled(throttled);
  sleep(cycle);
}

void load_store_unit::prefetch_hint(cycle_t, bool distant) const {
  if (distant) {
    host_prefetch(&queue_entries_,
                  reinterpret_cast<const char*>(&nothing_) - reinterpret_cast<const char*>(&queue_entries_));
    host_prefetch(inputs_.data(), inputs_.size() * sizeof(input));
    return;
  }
  if (!due_.empty()) {
    host_prefetch(due_.front().transaction, 128);
  }
  for (std::uint32_t rest = waiting_; rest != 0; rest &= rest - 1)
    host_prefetch(inputs_[static_cast<unsigned>(__builtin_ctz(rest))].queue.front(), 384);
}

bool load_store_unit::pipes_free(const input& in, cycle_t cycle) const {
  if ((in.needs & needs_constants) != 0 && cycle < constant_free_) return false;
  if ((in.needs & needs_shared) != 0 && cycle < shared_free_) return false;
  if ((in.needs & needs_l1) == 0) return true;
  // An access that has its translation goes first, so that accesses to one address stay in order.
  const bool waiting = !untranslated_.empty() && untranslated_.front().ready <= cycle;
  return streaming_ == nullptr && cycle >= l1_free_ && !waiting;
}

// Takes one instruction from the inputs, if one is ready and its path is free.
void load_store_unit::pick(cycle_t cycle) {
  starved_ = false;
  const std::uint32_t before = (1u << next_input_) - 1;  // inputs below the round-robin pointer come last
  for (std::uint64_t turn = (waiting_ & ~before) | std::uint64_t{waiting_ & before} << 32; turn != 0;
       turn &= turn - 1) {
    const unsigned index = static_cast<unsigned>(__builtin_ctzll(turn)) % 32;
    input& in = inputs_[index];
    if (ready_to_pick(in) > cycle || !pipes_free(in, cycle)) continue;
    if (!deferred_.empty() && !passes_deferred(*in.queue.front())) continue;
    if (pending_ >= pending_limit_) {
      starved_ = true;
      return;
    }
    lsu_transaction& t = *in.queue.front();
    in.queue.pop();
    if (in.queue.empty()) waiting_ &= ~(1u << index);
    else examine_oldest(in);
    --in.queued;
    --queued_;
    in.next_pick = cycle + pick_interval_;
    next_accept_ = cycle + accept_interval_;
    next_input_ = index + 1 < inputs_.size() ? index + 1 : 0;
    ++pending_;
    send_back(t, lsu_phase::credit);
    start(t, cycle);
    return;
  }
}

void load_store_unit::start(lsu_transaction& t, cycle_t cycle) {
  ++counters[t.launch->launch_id].instructions;
  t.outstanding = 0;
  t.ready_cycle = cycle;
  t.first_cycle = never;
  t.all_sent = true;
  t.faulted = false;
  if (t.kind == lsu_kind::constant_load) {
    on_chip(t, cycle);
  } else {
    if (t.global_mask != 0 && !legal(t)) {
      deliver(t);
      return;
    }
    if (t.shared_mask != 0) on_chip(t, cycle);
    if (t.global_mask != 0) {
      coalesce_lanes(t);
      count(t);
      t.all_sent = false;
      const cycle_t ready = tlb.enabled() ? translated(t, cycle) : cycle;
      if (ready > cycle) wait_for_translation(t, ready);
      else stream(t, cycle);
      return;
    }
  }
  finish(t, cycle);
}

void load_store_unit::coalesce_lanes(const lsu_transaction& t) {
  if (half_warps_) coalesce_half_warps(t.addresses(), t.global_mask, t.bytes_per_lane, lines_);
  else coalesce(t.addresses(), t.global_mask, lines_);
}

// Sends the lines in lines_ to the L1, starting in this cycle.
void load_store_unit::stream(lsu_transaction& t, cycle_t cycle) {
  streaming_ = &t;
  next_line_ = 0;
  send_line(cycle);
}

// The first cycle in which all lines in lines_ and all older accesses of the same warp have their translation: a warp's
// accesses stay in order.
cycle_t load_store_unit::translated(const lsu_transaction& t, cycle_t cycle) {
  cycle_t ready = cycle;
  for (std::size_t k = 0; k < untranslated_.size(); ++k) {
    const lsu_transaction& older = *untranslated_[k].transaction;
    if (older.partition == t.partition && older.warp == t.warp) ready = std::max(ready, untranslated_[k].ready);
  }
  for (unsigned k = 0; k < lines_.count; ++k)
    ready = std::max(ready, tlb.look_up(lines_.parts[k].line, t.launch->launch_id, cycle));
  return ready;
}

// Sorted by the cycle of the translation, then by age.
void load_store_unit::wait_for_translation(lsu_transaction& t, cycle_t ready) {
  untranslated_.push({&t, ready});
  for (std::size_t k = untranslated_.size() - 1; k > 0 && untranslated_[k - 1].ready > ready; --k)
    std::swap(untranslated_[k - 1], untranslated_[k]);
  clock_.wake_at(ready);
}

// Sends the oldest translated access to the L1.
void load_store_unit::resume(cycle_t cycle) {
  pick_at_ = 0;
  if (untranslated_.front().ready > cycle || streaming_ != nullptr || cycle < l1_free_) return;
  lsu_transaction& t = *untranslated_.front().transaction;
  if (!deferred_.empty() && !passes_deferred(t)) return;
  untranslated_.pop();
  coalesce_lanes(t);
  stream(t, cycle);
}

void load_store_unit::on_chip(lsu_transaction& t, cycle_t cycle) {
  on_chip_access access;
  access.transaction = &t;
  access.cycle = cycle;
  sc_core::sc_time delay;
  if (t.kind == lsu_kind::constant_load) {
    constant_socket->b_transport(access, delay);
    constant_free_ = access.free_cycle;
  } else {
    shared_socket->b_transport(access, delay);
    shared_free_ = access.free_cycle;
  }
  data_come(t, access.first_cycle, access.ready_cycle);
}

// Sends the next line of the streaming instruction to the L1.
void load_store_unit::send_line(cycle_t cycle) {
  pick_at_ = 0;
  lsu_transaction& t = *streaming_;
  const line_part& part = lines_.parts[next_line_];
  l1_access& a = take_access();
  a.transaction = &t;
  a.line = part.line;
  a.lanes = part.lanes;
  a.sectors = part.sectors;
  a.cycle = cycle;
  a.free_cycle = cycle + 1;
  l1_phase phase = l1_phase::request;
  sc_core::sc_time delay;
  switch (l1_->nb_transport_fw(a, phase, delay)) {
    case tlm::TLM_COMPLETED:
      data_come(t, a.ready_cycle, a.ready_cycle);
      free_accesses_.push_back(&a);
      break;
    case tlm::TLM_ACCEPTED: ++t.outstanding; break;
    case tlm::TLM_UPDATED:
      if (t.kind == lsu_kind::load && !t.bypass_l1 && deferred_.size() < deferred_entries_) {
        deferred_.push(&a);
        deferred_refused_ = true;
        ++t.outstanding;
        break;
      }
      free_accesses_.push_back(&a);
      refused_ = true;
      return;
  }
  l1_free_ = a.free_cycle;
  if (++next_line_ < lines_.count) return;
  streaming_ = nullptr;
  t.all_sent = true;
  if (t.outstanding == 0) finish(t, cycle);
}

// A load may overtake deferred loads. A store or an atomic may not: it could change what a deferred load of the same
// warp has still to read.
bool load_store_unit::passes_deferred(const lsu_transaction& t) const {
  return t.global_mask == 0 || t.kind == lsu_kind::load || t.kind == lsu_kind::constant_load;
}

// Sends the first deferred load to the L1 again.
void load_store_unit::execute_again(cycle_t cycle) {
  pick_at_ = 0;
  l1_access& a = *deferred_.front();
  lsu_transaction& t = *a.transaction;
  a.cycle = cycle;
  a.free_cycle = cycle + 1;
  l1_phase phase = l1_phase::request;
  sc_core::sc_time delay;
  switch (l1_->nb_transport_fw(a, phase, delay)) {
    case tlm::TLM_COMPLETED:
      deferred_.pop();
      data_come(t, a.ready_cycle, a.ready_cycle);
      free_accesses_.push_back(&a);
      if (--t.outstanding == 0 && t.all_sent) finish(t, cycle);
      break;
    case tlm::TLM_ACCEPTED: deferred_.pop(); break;
    case tlm::TLM_UPDATED: deferred_refused_ = true; return;
  }
  l1_free_ = a.free_cycle;
  clock_.wake_at(l1_free_);
}

tlm::tlm_sync_enum load_store_unit::nb_transport_bw(l1_access& access, l1_phase& phase, sc_core::sc_time&) {
  if (phase == l1_phase::retry) {
    refused_ = false;
    deferred_refused_ = false;
    clock_.wake_at(clock_.cycle());
    return tlm::TLM_ACCEPTED;
  }
  invariant(phase == l1_phase::response, "load/store unit: the L1 sent neither response nor retry");
  lsu_transaction& t = *access.transaction;
  data_come(t, access.ready_cycle, access.ready_cycle);
  free_accesses_.push_back(&access);
  if (--t.outstanding == 0 && t.all_sent) finish(t, clock_.cycle());
  return tlm::TLM_ACCEPTED;
}

// Answers the instruction, which has no outstanding parts left, in its ready cycle.
void load_store_unit::finish(lsu_transaction& t, cycle_t cycle) {
  if (t.ready_cycle <= cycle) {
    deliver(t);
    return;
  }
  // Sorted by cycle; usually the new entry is the last.
  due_.push({t.ready_cycle, &t});
  for (std::size_t k = due_.size() - 1; k > 0 && due_[k - 1].cycle > due_[k].cycle; --k)
    std::swap(due_[k - 1], due_[k]);
  clock_.wake_at(t.ready_cycle);
}

void load_store_unit::deliver(lsu_transaction& t) {
  --pending_;
  lsu_counters& c = counters[t.launch->launch_id];
  ++(t.faulted ? c.faults : c.responses);
  if (starved_) clock_.wake_at(clock_.cycle());
  send_back(t, t.faulted ? lsu_phase::fault : lsu_phase::response);
}

void load_store_unit::send_back(lsu_transaction& t, lsu_phase phase) {
  sc_core::sc_time delay;
  partitions_[t.partition]->nb_transport_bw(t, phase, delay);
}

void load_store_unit::set_throttled(bool now) {
  throttled_ = now;
  for (auto& socket : partition_socket) {
    lsu_phase phase = now ? lsu_phase::throttle_on : lsu_phase::throttle_off;
    sc_core::sc_time delay;
    socket->nb_transport_bw(nothing_, phase, delay);
  }
}

// Schedules the next cycle with work. An access that waits for the L1 is woken by the L1's answer.
void load_store_unit::sleep(cycle_t cycle) {
  if (streaming_ != nullptr && !refused_) clock_.wake_at(std::max(l1_free_, cycle + 1));
  if (!untranslated_.empty() && streaming_ == nullptr &&
      (deferred_.empty() || passes_deferred(*untranslated_.front().transaction)))
    clock_.wake_at(std::max({untranslated_.front().ready, l1_free_, cycle + 1}));
  if (starved_) {
    pick_at_ = 0;
    return;
  }
  if (pick_at_ > cycle) return;
  cycle_t next = never;
  for (std::uint32_t rest = waiting_; rest != 0 && next != cycle + 1; rest &= rest - 1) {
    const input& in = inputs_[static_cast<unsigned>(__builtin_ctz(rest))];
    if (!deferred_.empty() && !passes_deferred(*in.queue.front())) continue;
    if ((in.needs & needs_l1) != 0 && streaming_ != nullptr) continue;
    cycle_t at = std::max(ready_to_pick(in), cycle + 1);
    if ((in.needs & needs_constants) != 0) at = std::max(at, constant_free_);
    if ((in.needs & needs_shared) != 0) at = std::max(at, shared_free_);
    if ((in.needs & needs_l1) != 0) at = std::max(at, l1_free_);
    next = std::min(next, at);
  }
  pick_at_ = next;
  if (next != never) clock_.wake_at(next);
}

l1_access& load_store_unit::take_access() {
  if (free_accesses_.empty()) {
    accesses_.push_back(std::make_unique<l1_access>());
    free_accesses_.push_back(accesses_.back().get());
  }
  l1_access& a = *free_accesses_.back();
  free_accesses_.pop_back();
  return a;
}

}  // namespace heddle
