// SPDX-License-Identifier: MIT
// The load/store unit's addresses, their translations, and checks of them and of its own state.
#include <algorithm>

#include "heddle/config/error.h"
#include "heddle/isa/set_bits.h"
#include "heddle/simt/scalar/memory_access.h"
#include "heddle/simt/warp/fault_text.h"
#include "heddle/simt/warp/warp_state.h"
#include "heddle/sm/load_store_unit.h"
#include "heddle/tlm/protocol/gpu_request.h"

namespace heddle {

// True if every global lane's address is aligned and lies in a mapped range; otherwise sets the fault of the
// transaction.
bool load_store_unit::legal(lsu_transaction& t) {
  if (t.launch->recorded()) return true;  // a recording has no list of the memory that was mapped
  const unsigned bytes = t.bytes_per_lane;
  ranges_.refresh(hint_);
  // The common case: all lanes, in the range in which the last access was.
  const std::uint64_t size = hint_.end - hint_.begin;
  if (t.global_mask == simt::all_lanes && size >= bytes && size >> 63 == 0 &&
      simt::all_lie_within(t.addresses(), hint_.begin, hint_.end - bytes, bytes))
    return true;
  for (const unsigned lane : set_bits(t.global_mask)) {
    const bool misaligned = (t.addresses()[lane] & (bytes - 1)) != 0;
    if (!misaligned && ranges_.find(t.addresses()[lane], bytes, hint_)) continue;
    set_fault(t, lane, misaligned);
    return false;
  }
  return true;
}

void load_store_unit::set_fault(lsu_transaction& t, unsigned lane, bool misaligned) {
  const char* what = "load";
  if (t.kind == lsu_kind::store) what = "store";
  if (t.kind == lsu_kind::atomic || t.kind == lsu_kind::reduction) what = "atomic";
  t.fault = simt::global_fault(what, misaligned, t.addresses()[lane], t.bytes_per_lane);
  t.faulted = true;
  t.fault_lane = lane;
}

// Counts the global or local access whose coalesced lines are in hot_.lines.
void load_store_unit::count(const lsu_transaction& t) {
  if (t.texture) return;
  lsu_counters& c = counters[t.launch->launch_id];
  lsu_counters::direction* d = &c.atomic;
  if (t.kind == lsu_kind::load) d = t.local ? &c.local_load : &c.global_load;
  if (t.kind == lsu_kind::store) d = t.local ? &c.local_store : &c.global_store;
  ++d->requests;
  unsigned sectors = 0;
  for (unsigned k = 0; k < hot_.lines.count; ++k)
    sectors += static_cast<unsigned>(__builtin_popcount(hot_.lines.parts[k].sectors()));
  d->transactions += sectors;
  const unsigned requested = static_cast<unsigned>(__builtin_popcount(t.global_mask)) * t.bytes_per_lane;
  d->requested_bytes += std::min(requested, sectors * sector_bytes);  // lanes with the same address share bytes
}

void load_store_unit::name_objects(state_image& image) {
  hot_.accesses.exchange(image);
  hot_.accesses.each_in_use([&image](l1_access& a) { image.name(&a); });
}

void load_store_unit::exchange(state_image& image) {
  hot_state& h = hot_;
  image.part(name());
  h.accesses.each_in_use([&image](l1_access& a) { image(a); });
  image.each(h.inputs);
  image(h.next_accept, h.next_input, h.waiting, h.pick_at, h.queued, h.pending, h.shared_free, h.constant_free,
        h.l1_free, h.streaming, h.nacked, h.deferred_nacked, h.starved, h.throttled);
  image(h.awaiting_translation, h.deferred, h.due, h.l1);
  if (h.streaming != nullptr) {
    image(h.next_line);
    if (image.reading()) coalesce_lanes(*h.streaming);
  }
  tlb.exchange(image);
  counters.exchange(image, [&image](std::uint32_t, lsu_counters& c) { image.numbers(c); });
}

void load_store_unit::clear_undefined() {
  const auto clear = [](lsu_transaction& t, std::uint32_t lanes) {
    if (t.kind == lsu_kind::load) t.clear_words(lanes);
  };
  for (input& in : hot_.inputs)
    for (std::size_t k = 0; k < in.queue.size(); ++k) in.queue[k]->clear_answer();
  for (std::size_t k = 0; k < hot_.awaiting_translation.size(); ++k) {
    lsu_transaction& t = *hot_.awaiting_translation[k].transaction;
    clear(t, t.global_mask);
  }
  for (unsigned k = hot_.next_line; hot_.streaming != nullptr && k < hot_.lines.count; ++k)
    clear(*hot_.streaming, hot_.lines.parts[k].lanes);
  for (std::size_t k = 0; k < hot_.deferred.size(); ++k) clear(*hot_.deferred[k]->transaction, hot_.deferred[k]->lanes);
  hot_.accesses.each_in_use([&clear](const l1_access& a) {
    for (const unsigned lane : set_bits(a.lanes))
      if ((a.missing >> (a.transaction->addresses()[lane] % line_bytes / sector_bytes) & 1) != 0)
        clear(*a.transaction, 1u << lane);
  });
}

void load_store_unit::check_invariants() const {
  std::size_t queued = 0;
  for (const input& in : hot_.inputs) {
    queued += in.queue.size();
    invariant(in.queue.size() == in.queued && in.queued <= hot_.queue_entries, "load/store unit: a queue is too long");
  }
  invariant(queued == hot_.queued, "load/store unit: the queues do not hold what was counted");
  invariant(hot_.pending <= hot_.pending_limit, "load/store unit: too many instructions in flight");
  tlb.check_invariants();
  std::uint64_t open = 0;
  for (std::uint32_t l = 0; l < counters.end(); ++l) {
    const lsu_counters* c = counters.find(l);
    if (c == nullptr) continue;
    invariant(c->instructions >= c->responses + c->faults, "load/store unit: more answers than instructions");
    open += c->instructions - c->responses - c->faults;
  }
  invariant(open == hot_.pending, "load/store unit: instructions differ from responses + faults + those in flight");
  invariant(!idle() || (hot_.accesses.in_use() == 0 && hot_.streaming == nullptr && hot_.due.empty() &&
                        hot_.awaiting_translation.empty()),
            "load/store unit: idle, and an access is still with the L1");
}

void load_store_unit::trace(sc_core::sc_trace_file* file) const {
  const std::string prefix = std::string(name()) + ".";
  sc_core::sc_trace(file, hot_.pending, prefix + "pending");
  sc_core::sc_trace(file, hot_.throttled, prefix + "throttled");
  for (std::size_t k = 0; k < hot_.inputs.size(); ++k)
    sc_core::sc_trace(file, hot_.inputs[k].queued, prefix + "queue" + std::to_string(k));
}

// The first cycle in which all lines in hot_.lines and all older accesses of the same warp have their translation: a
// warp's accesses stay in order.
cycle_t load_store_unit::translated(const lsu_transaction& t, cycle_t cycle) {
  cycle_t ready = cycle;
  for (std::size_t k = 0; k < hot_.awaiting_translation.size(); ++k) {
    const lsu_transaction& older = *hot_.awaiting_translation[k].transaction;
    if (older.partition == t.partition && older.warp == t.warp)
      ready = std::max(ready, hot_.awaiting_translation[k].ready);
  }
  for (unsigned k = 0; k < hot_.lines.count; ++k)
    ready = std::max(ready, tlb.look_up(hot_.lines.parts[k].line, t.launch->launch_id, cycle));
  if (t.traffic) t.traffic.add(&instruction_traffic::translations, hot_.lines.count);
  return ready;
}

// Sorted by the cycle of the translation, then by age.
void load_store_unit::wait_for_translation(lsu_transaction& t, cycle_t ready) {
  hot_.awaiting_translation.push({&t, ready});
  for (std::size_t k = hot_.awaiting_translation.size() - 1; k > 0 && hot_.awaiting_translation[k - 1].ready > ready;
       --k)
    std::swap(hot_.awaiting_translation[k - 1], hot_.awaiting_translation[k]);
  clock_.wake_at(ready);
}

// Sends the oldest translated access to the L1.
void load_store_unit::resume(cycle_t cycle) {
  hot_.pick_at = 0;
  if (hot_.awaiting_translation.front().ready > cycle || hot_.streaming != nullptr || cycle < hot_.l1_free) return;
  lsu_transaction& t = *hot_.awaiting_translation.front().transaction;
  if (!hot_.deferred.empty() && !passes_deferred(t)) return;
  hot_.awaiting_translation.pop();
  coalesce_lanes(t);
  stream(t, cycle);
}

}  // namespace heddle
