// SPDX-License-Identifier: MIT
#include "heddle/sm/load_store_unit.h"

#include <algorithm>
#include <cmath>
#include <cstddef>

#include "heddle/config/error.h"
#include "heddle/isa/set_bits.h"
#include "heddle/memory/common/lookup_latency.h"
#include "heddle/simt/warp/warp_state.h"
#include "heddle/tlm/kernel/prefetch.h"

namespace heddle {

namespace {
// The leading bytes of a transaction that an answer reads, and those that are read when an instruction is taken.
constexpr std::size_t answer_bytes = offsetof(lsu_transaction, own_addresses);
constexpr std::size_t request_bytes = offsetof(lsu_transaction, words);
static_assert(answer_bytes == 128, "two cache lines");
static_assert(request_bytes == 384, "two cache lines, and four of addresses");

unsigned interval_of(double lanes) {
  if (!(lanes > 0)) throw input_error("ldst.lanes: a number above zero was expected");
  return warp_cycles(std::max(lanes, 1.0 / 64));
}

// In shared memory, or different addresses of constants.
void count_passes(const lsu_transaction& t, unsigned passes) {
  if (!t.traffic) return;
  const bool constant = t.kind == lsu_kind::constant_load;
  t.traffic.add(constant ? &instruction_traffic::constant_reads : &instruction_traffic::shared_passes, passes);
}

// Merges the times of some of the instruction's data: the first data arrive in `first`, the last in `last`.
void data_arrive(lsu_transaction& t, std::uint64_t first, std::uint64_t last) {
  t.first_cycle = std::min(t.first_cycle, first);
  t.ready_cycle = std::max(t.ready_cycle, last);
}
}  // namespace

load_store_unit::hot_state::hot_state(load_store_unit& unit, const gpu_config& config)
    : queue_entries(std::max(1u, config.ldst.queue_entries)),
      pending_limit(std::max(1u, config.ldst.pending_instructions)),
      address_stage_cycles(address_cycles(config)),
      pick_interval(interval_of(config.ldst.lanes)),
      accept_interval(config.ldst.accept_interval_cycles),
      deferred_entries(config.ldst.reexecution_entries),
      inputs(config.sm.sub_partitions),
      half_warps(config.ldst.coalescing == choice::coalescing::half_warp),
      l1(unit.l1_socket, unit) {}

load_store_unit::load_store_unit(sc_core::sc_module_name name, unit_clock& clock, const gpu_config& config, unsigned,
                                 const address_ranges& ranges)
    : sc_module(name),
      shared_socket({"shared_socket", this}),
      constant_socket({"constant_socket", this}),
      l1_socket({"l1_socket", this}),
      tlb(config),
      clock_(clock, *this),
      ranges_(ranges),
      hot_(*this, config) {
  for (unsigned k = 0; k < config.sm.sub_partitions; ++k)
    partition_socket.emplace_back(part_name{"partition_socket_", this, k})
        .bind(static_cast<phase_target<lsu_protocol_types>&>(*this));
  shared_socket.bind(on_chip_backward_);
  constant_socket.bind(on_chip_backward_);
}

void load_store_unit::end_of_elaboration() {
  shared_socket.check_bound();
  constant_socket.check_bound();
  l1_socket.check_bound();
  for (auto& socket : partition_socket) hot_.partitions.push_back(socket.operator->());
}

tlm::tlm_sync_enum load_store_unit::nb_transport_fw(lsu_transaction& t, lsu_phase& phase, sc_core::sc_time&) {
  invariant(phase == lsu_phase::request && t.partition < hot_.inputs.size(),
            "load/store unit: not a request of a sub-partition");
  input& in = hot_.inputs[t.partition];
  invariant(in.queue.size() < hot_.queue_entries, "load/store unit: a request without a credit");
  in.queue.push(&t);
  hot_.waiting |= 1u << t.partition;
  ++in.queued;
  ++hot_.queued;
  if (in.queue.size() != 1) return tlm::TLM_ACCEPTED;
  examine_oldest(in);
  hot_.pick_at = std::min(hot_.pick_at, ready_to_pick(in));
  clock_.wake_at(ready_to_pick(in));
  return tlm::TLM_ACCEPTED;
}

void load_store_unit::examine_oldest(input& in) const {
  const lsu_transaction& t = *in.queue.front();
  in.addressed = t.issue_cycle + hot_.address_stage_cycles;
  in.needs =
      t.kind == lsu_kind::constant_load
          ? needs_constants
          : static_cast<std::uint8_t>((t.shared_mask != 0 ? needs_shared : 0) | (t.global_mask != 0 ? needs_l1 : 0));
}

void load_store_unit::on_cycle(cycle_t cycle) {
  while (!hot_.due.empty() && hot_.due.front().cycle <= cycle) {
    lsu_transaction& t = *hot_.due.front().transaction;
    hot_.due.pop();
    deliver(t);
  }
  if (!hot_.deferred.empty() && !hot_.deferred_nacked && cycle >= hot_.l1_free) execute_again(cycle);
  if (hot_.streaming != nullptr && !hot_.nacked && cycle >= hot_.l1_free) send_line(cycle);
  if (!hot_.awaiting_translation.empty()) resume(cycle);
  if (hot_.queued != 0 && cycle >= hot_.pick_at) pick(cycle);
  const bool throttled = hot_.nacked || (hot_.starved && hot_.queued != 0);
  if (throttled != hot_.throttled) set_throttled(throttled);
  sleep(cycle);
}

void load_store_unit::prefetch_hint(cycle_t, bool distant) const {
  if (distant) {
    host_prefetch(&hot_, sizeof hot_);
    host_prefetch(hot_.inputs.data(), hot_.inputs.size() * sizeof(input));
    return;
  }
  if (!hot_.due.empty()) host_prefetch(hot_.due.front().transaction, answer_bytes);
  for (const unsigned index : set_bits(hot_.waiting)) host_prefetch(hot_.inputs[index].queue.front(), request_bytes);
}

bool load_store_unit::pipes_free(const input& in, cycle_t cycle) const {
  if ((in.needs & needs_constants) != 0 && cycle < hot_.constant_free) return false;
  if ((in.needs & needs_shared) != 0 && cycle < hot_.shared_free) return false;
  if ((in.needs & needs_l1) == 0) return true;
  // An access that has its translation goes first, so that accesses to one address stay in order.
  const bool waiting = !hot_.awaiting_translation.empty() && hot_.awaiting_translation.front().ready <= cycle;
  return hot_.streaming == nullptr && cycle >= hot_.l1_free && !waiting;
}

// Takes one instruction from the inputs, if one is ready and its path is free.
void load_store_unit::pick(cycle_t cycle) {
  hot_.starved = false;
  const std::uint32_t before = (1u << hot_.next_input) - 1;  // inputs below the round-robin pointer come last
  const std::uint64_t candidates = (hot_.waiting & ~before) | std::uint64_t{hot_.waiting & before} << 32;
  for (const unsigned candidate : set_bits(candidates)) {
    const unsigned index = candidate % 32;
    input& in = hot_.inputs[index];
    if (ready_to_pick(in) > cycle || !pipes_free(in, cycle)) continue;
    if (!hot_.deferred.empty() && !passes_deferred(*in.queue.front())) continue;
    if (hot_.pending >= hot_.pending_limit) {
      hot_.starved = true;
      return;
    }
    lsu_transaction& t = *in.queue.front();
    in.queue.pop();
    if (in.queue.empty()) hot_.waiting &= ~(1u << index);
    else examine_oldest(in);
    --in.queued;
    --hot_.queued;
    in.next_pick = cycle + hot_.pick_interval;
    hot_.next_accept = cycle + hot_.accept_interval;
    hot_.next_input = index + 1 < hot_.inputs.size() ? index + 1 : 0;
    ++hot_.pending;
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
    if (t.cluster_mask != 0) {
      const unsigned sent = reach_->reach(t, cycle);
      if (t.faulted) return deliver(t);
      t.outstanding += sent;
    }
    if (t.shared_mask != 0) on_chip(t, cycle);
    if (t.global_mask != 0) {
      coalesce_lanes(t);
      count(t);
      t.all_sent = false;
      const cycle_t ready = tlb.enabled() ? translated(t, cycle) : cycle;
      return ready > cycle ? wait_for_translation(t, ready) : stream(t, cycle);
    }
  }
  if (t.outstanding == 0) finish(t, cycle);
}

void load_store_unit::coalesce_lanes(const lsu_transaction& t) {
  if (hot_.half_warps) coalesce_half_warps(t.addresses(), t.global_mask, t.bytes_per_lane, hot_.lines);
  else coalesce(t.addresses(), t.global_mask, t.bytes_per_lane, hot_.lines);
}

// Sends the lines in hot_.lines to the L1, starting in this cycle.
void load_store_unit::stream(lsu_transaction& t, cycle_t cycle) {
  hot_.streaming = &t;
  hot_.next_line = 0;
  send_line(cycle);
}

void load_store_unit::on_chip(lsu_transaction& t, cycle_t cycle) {
  on_chip_access access;
  access.transaction = &t;
  access.cycle = cycle;
  sc_core::sc_time delay;
  if (t.kind == lsu_kind::constant_load) {
    constant_socket->b_transport(access, delay);
    hot_.constant_free = access.free_cycle;
  } else {
    shared_socket->b_transport(access, delay);
    hot_.shared_free = access.free_cycle;
  }
  count_passes(t, access.passes);
  data_arrive(t, access.first_cycle, access.ready_cycle);
}

// Sends the next line of the streaming instruction to the L1.
void load_store_unit::send_line(cycle_t cycle) {
  hot_.pick_at = 0;
  lsu_transaction& t = *hot_.streaming;
  const line_part& part = hot_.lines.parts[hot_.next_line];
  l1_access& a = hot_.accesses.take();
  a = l1_access{};
  a.transaction = &t;
  a.line = part.line;
  a.lanes = part.lanes;
  a.sectors = part.sectors();
  a.words = part.words;
  if (hot_.next_line == 0) a.missing_words = static_cast<std::uint8_t>(hot_.lines.missing_words());
  a.free_cycle = cycle + 1;
  const l1_answer answer = hot_.l1.send(a, cycle);
  const cycle_t free_cycle = a.free_cycle;
  switch (answer) {
    case l1_answer::hit:
      data_arrive(t, a.ready_cycle, a.ready_cycle);
      hot_.accesses.give_back(a);
      break;
    case l1_answer::accepted: ++t.outstanding; break;
    case l1_answer::nacked:
      if (t.kind == lsu_kind::load && !t.bypass_l1 && hot_.deferred.size() < hot_.deferred_entries) {
        hot_.deferred.push(&a);
        hot_.deferred_nacked = true;
        ++t.outstanding;
        break;
      }
      hot_.accesses.give_back(a);
      hot_.nacked = true;
      return;
  }
  hot_.l1_free = free_cycle;
  if (++hot_.next_line < hot_.lines.count) return;
  hot_.streaming = nullptr;
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
  hot_.pick_at = 0;
  l1_access& a = *hot_.deferred.front();
  lsu_transaction& t = *a.transaction;
  a.free_cycle = cycle + 1;
  const l1_answer answer = hot_.l1.send(a, cycle);
  const cycle_t free_cycle = a.free_cycle;
  switch (answer) {
    case l1_answer::hit:
      hot_.deferred.pop();
      data_arrive(t, a.ready_cycle, a.ready_cycle);
      hot_.accesses.give_back(a);
      if (--t.outstanding == 0 && t.all_sent) finish(t, cycle);
      break;
    case l1_answer::accepted: hot_.deferred.pop(); break;
    case l1_answer::nacked: hot_.deferred_nacked = true; return;
  }
  hot_.l1_free = free_cycle;
  clock_.wake_at(hot_.l1_free);
}

void load_store_unit::l1_retries() {
  hot_.nacked = false;
  hot_.deferred_nacked = false;
  clock_.wake_at(clock_.cycle());
}

void load_store_unit::l1_responds(l1_access& access) {
  lsu_transaction& t = *access.transaction;
  data_arrive(t, access.ready_cycle, access.ready_cycle);
  hot_.accesses.give_back(access);
  if (--t.outstanding == 0 && t.all_sent) finish(t, clock_.cycle());
}

// Answers the instruction, which has no outstanding parts left, in its ready cycle.
void load_store_unit::finish(lsu_transaction& t, cycle_t cycle) {
  if (t.ready_cycle <= cycle) {
    deliver(t);
    return;
  }
  // Sorted by cycle; usually the new entry is the last.
  hot_.due.push({t.ready_cycle, &t});
  for (std::size_t k = hot_.due.size() - 1; k > 0 && hot_.due[k - 1].cycle > hot_.due[k].cycle; --k)
    std::swap(hot_.due[k - 1], hot_.due[k]);
  clock_.wake_at(t.ready_cycle);
}

void load_store_unit::deliver(lsu_transaction& t) {
  --hot_.pending;
  lsu_counters& c = counters[t.launch->launch_id];
  ++(t.faulted ? c.faults : c.responses);
  if (hot_.starved) clock_.wake_at(clock_.cycle());
  send_back(t, t.faulted ? lsu_phase::fault : lsu_phase::response);
}

void load_store_unit::send_back(lsu_transaction& t, lsu_phase phase) {
  sc_core::sc_time delay;
  hot_.partitions[t.partition]->nb_transport_bw(t, phase, delay);
}

void load_store_unit::set_throttled(bool now) {
  hot_.throttled = now;
  for (auto& socket : partition_socket) {
    lsu_phase phase = now ? lsu_phase::throttle_on : lsu_phase::throttle_off;
    sc_core::sc_time delay;
    socket->nb_transport_bw(nothing_, phase, delay);
  }
}

// Schedules the next cycle with work. An access that waits for the L1 is woken by the L1's answer.
void load_store_unit::sleep(cycle_t cycle) {
  const bool sends = hot_.streaming != nullptr && !hot_.nacked, again = !hot_.deferred.empty() && !hot_.deferred_nacked;
  if (sends || again) clock_.wake_at(std::max(hot_.l1_free, cycle + 1));
  if (!hot_.awaiting_translation.empty() && hot_.streaming == nullptr &&
      (hot_.deferred.empty() || passes_deferred(*hot_.awaiting_translation.front().transaction)))
    clock_.wake_at(std::max({hot_.awaiting_translation.front().ready, hot_.l1_free, cycle + 1}));
  if (hot_.starved) {
    hot_.pick_at = 0;
    return;
  }
  if (hot_.pick_at > cycle) return;
  cycle_t next = never;
  for (const unsigned index : set_bits(hot_.waiting)) {
    if (next == cycle + 1) break;
    const input& in = hot_.inputs[index];
    if (!hot_.deferred.empty() && !passes_deferred(*in.queue.front())) continue;
    if ((in.needs & needs_l1) != 0 && hot_.streaming != nullptr) continue;
    cycle_t at = std::max(ready_to_pick(in), cycle + 1);
    if ((in.needs & needs_constants) != 0) at = std::max(at, hot_.constant_free);
    if ((in.needs & needs_shared) != 0) at = std::max(at, hot_.shared_free);
    if ((in.needs & needs_l1) != 0) at = std::max(at, hot_.l1_free);
    next = std::min(next, at);
  }
  hot_.pick_at = next;
  if (next != never) clock_.wake_at(next);
}

// The answer passes the unit in the next cycle.
void load_store_unit::cluster_answered(const cluster_access& a, cycle_t cycle) {
  lsu_transaction& t = *a.transaction;
  invariant(t.outstanding != 0, "load/store unit: an answer that no instruction waits for");
  if (!a.fault.empty() && !t.faulted) {
    t.faulted = true;
    t.fault = a.fault;
    t.fault_lane = a.fault_lane;
  }
  if (t.kind == lsu_kind::load || t.kind == lsu_kind::atomic)
    for (unsigned k = 0; k < (t.bytes_per_lane + 3u) / 4; ++k)
      for (const unsigned lane : set_bits(a.lanes)) t.words[k][lane] = a.words[k][lane];
  t.first_cycle = std::min<std::uint64_t>(t.first_cycle, cycle + 1);
  t.ready_cycle = std::max<std::uint64_t>(t.ready_cycle, cycle + 1);
  if (--t.outstanding == 0 && t.all_sent) finish(t, cycle);
}

cycle_t load_store_unit::serve(const lsu_transaction& t, cycle_t cycle) {
  on_chip_access access;
  access.transaction = &t;
  access.cycle = std::max(cycle, hot_.shared_free);
  sc_core::sc_time delay;
  shared_socket->b_transport(access, delay);
  if (t.traffic) t.traffic.add(&instruction_traffic::shared_passes, access.passes);
  hot_.shared_free = access.free_cycle;
  return access.ready_cycle;
}

}  // namespace heddle
