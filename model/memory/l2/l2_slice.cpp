// SPDX-License-Identifier: MIT
#include "heddle/memory/l2/l2_slice.h"

#include <algorithm>
#include <cstdio>
#include <string>

#include "heddle/config/error.h"
#include "heddle/memory/common/refusal.h"
#include "heddle/tlm/kernel/prefetch.h"

namespace heddle {

namespace {

unsigned set_count(const gpu_config& c) {
  if (c.l2.line_bytes != line_bytes || c.l2.sector_bytes != sector_bytes)
    throw input_error("l2.line_bytes must be 128 and l2.sector_bytes 32");
  if (c.l2.ways == 0 || slices_of(c) == 0) throw input_error("l2.ways and memory.channels must be at least 1");
  return std::max(1u, c.l2.size_bytes / slices_of(c) / c.l2.ways / line_bytes);
}

}  // namespace

l2_slice::hot_state::hot_state(l2_slice& slice, clock_domain& domain, const gpu_config& config)
    : clock(domain, slice),
      port(slice.request_socket, clock, slice),
      memory(slice.memory_socket, clock),
      lines(set_count(config), config.l2.ways, replacement(config.l2.replacement)),
      slots(std::max(1u, config.l2.queue_entries) + static_cast<unsigned>(slice.pipeline_ / slice.interval_)),
      accesses(config.l2.queue_entries + slice.pipeline_ / slice.interval_),
      mshrs(std::max(1u, config.l2.mshr_entries)) {}

l2_slice::l2_slice(sc_core::sc_module_name name, clock_domain& clock, const gpu_config& config, unsigned index,
                   unsigned hit_latency_cycles, unsigned code_hit_latency_cycles)
    : l2_cache(name),
      map_(config),
      parameters_(config.l2),
      index_(index),
      shared_(config.memory.model == choice::memory_model::external),
      pipeline_(std::max(1u, hit_latency_cycles) - 1),
      code_pipeline_(code_hit_latency_cycles == 0 ? pipeline_ : code_hit_latency_cycles - 1),
      interval_(std::max(1u, config.l2.lookup_interval_cycles)),
      hot_(*this, clock, config),
      atomic_sector_(config.l2.atomic_sector_cycles) {
  parameters_.queue_entries = std::max(1u, parameters_.queue_entries);
  parameters_.mshr_merges = std::max(1u, parameters_.mshr_merges);
  for (std::uint32_t m = static_cast<std::uint32_t>(hot_.mshrs.size()); m-- > 0;) hot_.free_mshrs.push_back(m);
}

void l2_slice::add_far(std::vector<bool> far_sms, unsigned latency_cycles) {
  far_sms_ = std::move(far_sms);
  far_latency_ = latency_cycles;
  if (latency_cycles != 0) copies_.resize(hot_.lines.capacity());
}

bool l2_slice::accept(tlm::tlm_generic_payload& p, cycle_t arrival, bool) {
  if (!hot_.slots.take(hot_.clock.cycle())) return false;
  const auto* request = request_of(p);
  const bool code = request != nullptr && request->what == gpu_request::kind::instruction;
  const cycle_t due = arrival + (code ? code_pipeline_ : pipeline_);
  hot_.accesses.push({&p, due});
  if (observer_ != nullptr && request != nullptr) observer_->reached_l2(*request);
  ++queued_;
  // A request behind others needs no wake-up: schedule() wakes the slice for it when those in front are done.
  if (hot_.accesses.size() == 1) hot_.clock.wake_at(std::max(due, hot_.next_access));
  return true;
}

void l2_slice::on_cycle(cycle_t cycle) {
  hot_.progress = false;
  take_responses(cycle);
  while (!hot_.atomics.empty() && hot_.atomics.front().due <= cycle) {
    tlm::tlm_generic_payload& p = *hot_.atomics.front().payload;
    if (is_far(request_of(p))) far_.push({&p, cycle + far_latency_});
    else hot_.port.answer(p);
    hot_.atomics.pop();
  }
  for (; !far_.empty() && far_.front().due <= cycle; far_.pop()) hot_.port.answer(*far_.front().payload);
  look_up(cycle);
  if (flush_way_ != none || !flushing_.empty()) flush_some();
  if (hot_.memory.send(cycle)) hot_.progress = true;
  hot_.port.send_response(cycle);
  hot_.port.admit(cycle);
  schedule(cycle);
}

void l2_slice::prefetch_hint(cycle_t cycle, bool distant) const {
  if (distant) {
    host_prefetch(&hot_, sizeof hot_);
    return;
  }
  if (!hot_.accesses.empty() && hot_.accesses.front().due <= cycle)
    host_prefetch(hot_.accesses.front().payload, payload_request_bytes);
  if (hot_.port.responses_queued() != 0) host_prefetch(&hot_.port.first_response(), payload_request_bytes);
  hot_.memory.prefetch(cycle);
}

void l2_slice::look_up(cycle_t now) {
  hot_.stalled = false;
  if (hot_.accesses.empty() || std::max(hot_.accesses.front().due, hot_.next_access) > now) return;
  if (hot_.port.responses_queued() >= parameters_.queue_entries) return;  // resumes when a response has left
  if (waits_for_room_ && (hot_.free_mshrs.empty() || !memory_has_room())) {
    hot_.stalled = true;
    return;
  }
  tlm::tlm_generic_payload& p = *hot_.accesses.front().payload;
  if (!knows_wanted_) wanted_ = demand{};
  if (!knows_wanted_ && !decode(p, wanted_)) {
    hot_.port.answer(p);
  } else if (!perform(p, wanted_, now)) {
    hot_.stalled = true;
    knows_wanted_ = true;
    return;
  }
  knows_wanted_ = false;
  waits_for_room_ = false;
  hot_.accesses.pop();
  --queued_;
  hot_.slots.give(now);
  hot_.next_access = now + interval_;
}

void l2_slice::take_responses(cycle_t now) {
  while (const memory_port::response* r = hot_.memory.arrived(now)) {
    const memory_port::request& q = hot_.memory.at(r->request);
    const tlm::tlm_response_status status = q.payload->get_response_status();
    hot_.progress = true;
    if (q.tag == of_parts) {
      hot_.memory.release_first();
      continue;
    }
    if (q.stale) {
      l2_counters& c = counters_[q.payload->request.launch];
      ++c.fetches;
      c.fetch_bytes += q.bytes.count();
      hot_.memory.read_first_again();
      continue;
    }
    if (q.write) {
      if (status != tlm::TLM_OK_RESPONSE) write_lost(q);
      hot_.memory.release_first();
      continue;
    }
    const std::uint32_t miss = q.tag;
    mshr& m = hot_.mshrs[miss];
    line_store::state& s = hot_.lines.at(m.slot);
    const unsigned sectors = q.bytes.touched_sectors();
    if (status == tlm::TLM_OK_RESPONSE) {
      // Bytes written after the fetch was sent are newer than the fetched ones.
      copy_masked(hot_.lines.data(m.slot), q.payload->line_data(), q.bytes & ~s.valid);
      s.valid |= q.bytes;
    } else {
      m.failed |= sectors;
      m.error = status;
    }
    m.pending &= ~sectors;
    occupy_array(sectors, now);
    hot_.memory.release_first();
    wake_waiters(miss, now);
  }
}

void l2_slice::write_lost(const memory_port::request& q) {
  char place[64];
  std::snprintf(place, sizeof place, " to the line at 0x%llx: ", static_cast<unsigned long long>(q.line_address));
  const std::string text = "the memory refused a write" + (place + refusal_of(*q.payload));
  report_lost_write(text);
}

void l2_slice::schedule(cycle_t now) {
  cycle_t next = hot_.memory.next(now);
  if (hot_.port.response_waits()) next = std::min(next, hot_.port.response_time());
  if (!hot_.atomics.empty()) next = std::min(next, hot_.atomics.front().due);
  if (!far_.empty()) next = std::min(next, far_.front().due);
  if (!hot_.accesses.empty() && hot_.port.responses_queued() < parameters_.queue_entries) {
    if (!hot_.stalled) next = std::min(next, std::max(hot_.accesses.front().due, hot_.next_access));
    else if (hot_.progress) next = now + 1;
    else if (const cycle_t free = std::max(hot_.atomic_free, array_ready()); free > now) next = std::min(next, free);
  }
  if (hot_.port.held() != nullptr && hot_.slots.has_room()) next = std::min(next, hot_.port.held_from());
  if (flush_way_ != none && memory_has_room()) next = now + 1;
  if (next != never) hot_.clock.wake_at(std::max(next, now + 1));
}

void l2_slice::flush(flush_observer& observer) {
  flush_requests_.push_back(&observer);
  if (flushing_.empty()) {
    flushing_.swap(flush_requests_);
    flush_way_ = 0;
    hot_.clock.wake_at(hot_.clock.cycle() + 1);
  }
}

void l2_slice::drop_clean() {
  for (std::uint32_t slot = 0; slot < hot_.lines.slots(); ++slot)
    if (hot_.lines.occupied(slot)) hot_.lines.at(slot).valid = hot_.lines.at(slot).dirty;
  hot_.memory.mark_stale();
}

void l2_slice::flush_some() {
  if (flush_way_ != none) {
    while (flush_way_ < hot_.lines.capacity() && memory_has_room()) {
      const std::uint32_t slot = hot_.lines.slot_of_way(flush_way_++);
      if (slot == line_store::none || !hot_.lines.at(slot).dirty.any()) continue;
      write_back(slot);
      return;  // one line per cycle
    }
    if (flush_way_ < hot_.lines.capacity()) return;
    // Writes issued from here on do not belong to this flush.
    flush_way_ = none;
    hot_.memory.start_epoch();
  }
  if (hot_.memory.older_writes() == 0) end_flush();
}

void l2_slice::end_flush() {
  std::vector<flush_observer*> done;
  done.swap(flushing_);
  if (!flush_requests_.empty()) {
    flushing_.swap(flush_requests_);
    flush_way_ = 0;
  }
  for (flush_observer* observer : done) observer->flushed();
}

l2_cache::queues l2_slice::queues_now() const {
  return {hot_.accesses.size(),
          {hot_.mshrs.size() - hot_.free_mshrs.size(), hot_.mshrs.size()},
          {hot_.memory.queued(), parameters_.queue_entries}};
}

std::optional<l2_cache::open_request> l2_slice::oldest_request() const {
  const memory_port::request* r = hot_.memory.oldest();
  if (r == nullptr) return std::nullopt;
  unsigned first = 0;
  while (!r->bytes.test(first)) ++first;
  return open_request{r->write, r->line_address + first, r->bytes.count(),
                      hot_.clock.domain().time_of(hot_.clock.cycle() - r->sent_at), !hot_.memory.awaits_end(*r)};
}

bool l2_slice::idle() const {
  return hot_.port.idle() && hot_.memory.idle() && flushing_.empty() && flush_requests_.empty();
}

bool l2_slice::has_image() const {
  return flushing_.empty() && flush_requests_.empty() && flush_way_ == none && fences_.in_use() == 0;
}

void l2_slice::demand::exchange(state_image& image, tlm::tlm_generic_payload& of) {
  image(line_address, line, offset, bytes, launch, write, fence, system);
  if (!image.reading()) return;
  request = request_of(of);
  atomic = request != nullptr && of.get_command() == tlm::TLM_IGNORE_COMMAND ? request->atomic : nullptr;
}

void l2_slice::exchange(state_image& image) {
  image.part(name());
  invariant(has_image() || image.reading(), "a checkpoint while an L2 slice is flushed");
  if (regions_ != nullptr && !regions_->empty())
    throw state_error(std::string(name()) + " accesses memory of the host, which has no state image");
  image(counters_, hot_.port, hot_.memory, hot_.lines, hot_.slots, hot_.accesses, hot_.next_access, hot_.stalled,
        hot_.progress, hot_.free_mshrs, hot_.free_waiters);
  image.taken(hot_.mshrs, hot_.free_mshrs);
  image.taken(hot_.waiters, hot_.free_waiters);
  image(hot_.atomics, hot_.atomic_free, atomic_sector_, hot_.array_free, far_, fences_);
  image.each(copies_);
  image(queued_, misses_, sectors_hit_, sectors_missed_, lines_in_, waits_for_room_, knows_wanted_);
  if (knows_wanted_) wanted_.exchange(image, *hot_.accesses.front().payload);
}

void l2_slice::trace(sc_core::sc_trace_file* file) const {
  const std::string base = name();
  sc_core::sc_trace(file, queued_, base + ".requests_waiting");
  sc_core::sc_trace(file, misses_, base + ".misses_outstanding");
  sc_core::sc_trace(file, hot_.memory.level(), base + ".memory_requests");
  sc_core::sc_trace(file, sectors_hit_, base + ".sectors_hit");
  sc_core::sc_trace(file, sectors_missed_, base + ".sectors_missed");
}

void l2_slice::check_invariants() const {
  std::uint64_t lines = 0;
  for (std::uint32_t slot = 0; slot < hot_.lines.slots(); ++slot) lines += hot_.lines.occupied(slot);
  for (std::uint32_t launch = 0; launch < counters_.end(); ++launch) {
    const l2_counters* c = counters_.find(launch);
    if (c == nullptr) continue;
    invariant(c->read_sectors == c->read_hits + c->read_misses + c->read_pending_hits,
              "l2: read sectors = hits + misses + pending hits");
    invariant(c->write_sectors == c->write_hits + c->write_misses, "l2: write sectors = hits + misses");
    lines += c->evictions;
  }
  invariant(lines_in_ == lines, "l2: lines in = lines evicted + lines here");
  std::uint64_t inside =
      hot_.port.inside() + hot_.accesses.size() + hot_.atomics.size() + far_.size() + fences_.in_use();
  unsigned open = 0;
  for (const mshr& m : hot_.mshrs) {
    inside += m.count;
    open += m.slot != none;
  }
  invariant(hot_.port.open() == inside, "l2: requests in = responses out + requests inside");
  invariant(open == misses_ && open + hot_.free_mshrs.size() == hot_.mshrs.size(), "l2: miss entries are open or free");
}

}  // namespace heddle
