// SPDX-License-Identifier: MIT
#include "heddle/memory/l2/l2_slice.h"

#include <algorithm>
#include <cstdio>
#include <string>

#include "heddle/config/error.h"
#include "heddle/memory/common/refusal.h"
#include "heddle/memory/protocol/protocol_report.h"
#include "heddle/tlm/kernel/prefetch.h"

namespace heddle {

namespace {

unsigned set_count(const gpu_config& c) {
  if (c.l2.line_bytes != line_bytes || c.l2.sector_bytes != sector_bytes)
    throw input_error("l2.line_bytes must be 128 and l2.sector_bytes 32");
  if (c.l2.ways == 0 || c.memory.channels == 0) throw input_error("l2.ways and memory.channels must be at least 1");
  return std::max(1u, c.l2.size_bytes / c.memory.channels / c.l2.ways / line_bytes);
}

}  // namespace

l2_slice::l2_slice(sc_core::sc_module_name name, clock_domain& clock, const gpu_config& config, unsigned index,
                   unsigned hit_latency_cycles)
    : l2_cache(name),
      map_(config),
      parameters_(config.l2),
      index_(index),
      shared_(config.memory.model == choice::memory_model::external),
      pipeline_(std::max(1u, hit_latency_cycles) - 1),
      interval_(std::max(1u, config.l2.lookup_interval_cycles)),
      clock_(clock, *this),
      memory_(memory_socket, clock_),
      lines_(set_count(config), config.l2.ways, replacement(config.l2.replacement)),
      slots_(std::max(1u, config.l2.queue_entries) + static_cast<unsigned>(pipeline_ / interval_)),
      accesses_(config.l2.queue_entries + pipeline_ / interval_),
      mshrs_(std::max(1u, config.l2.mshr_entries)) {
  parameters_.queue_entries = std::max(1u, parameters_.queue_entries);
  parameters_.mshr_merges = std::max(1u, parameters_.mshr_merges);
  request_socket.bind(static_cast<tlm::tlm_fw_transport_if<>&>(*this));
  for (std::uint32_t m = static_cast<std::uint32_t>(mshrs_.size()); m-- > 0;) free_mshrs_.push_back(m);
}

tlm::tlm_sync_enum l2_slice::nb_transport_fw(tlm::tlm_generic_payload& p, tlm::tlm_phase& phase,
                                             sc_core::sc_time& delay) {
  const cycle_t arrival = clock_.domain().arrival(delay);
  if (phase == tlm::BEGIN_REQ) {
    if (held_ != nullptr) SC_REPORT_ERROR(protocol_report, "BEGIN_REQ before END_REQ of the request before");
    p.acquire();
    ++requests_in_;
    if (slots_.take(clock_.cycle())) {
      accept(p, arrival);
      phase = tlm::END_REQ;
      return tlm::TLM_UPDATED;
    }
    held_ = &p;
    held_from_ = arrival;
    clock_.wake_at(arrival);
    return tlm::TLM_ACCEPTED;
  }
  if (phase == tlm::END_RESP) {
    if (answering_ != &p) SC_REPORT_ERROR(protocol_report, "END_RESP for a transaction that has no BEGIN_RESP");
    response_free_ = arrival;
    clock_.wake_at(arrival);
    finish(p);
    return tlm::TLM_COMPLETED;
  }
  return tlm::TLM_ACCEPTED;  // an ignorable phase
}

void l2_slice::accept(tlm::tlm_generic_payload& p, cycle_t arrival) {
  accesses_.push({&p, arrival + pipeline_});
  if (observer_ != nullptr)
    if (const auto* request = request_of(p)) observer_->reached_l2(*request);
  ++queued_;
  // A request behind others needs no wake-up: schedule() wakes the slice for it when those in front are done.
  if (accesses_.size() == 1) clock_.wake_at(std::max(arrival + pipeline_, next_access_));
}

void l2_slice::admit(cycle_t now) {
  if (held_ == nullptr || held_from_ > now || !slots_.take(now)) return;
  tlm::tlm_generic_payload& p = *held_;
  held_ = nullptr;
  accept(p, now);
  tlm::tlm_phase phase = tlm::END_REQ;
  sc_core::sc_time delay = sc_core::SC_ZERO_TIME;
  initiator_.of(request_socket).nb_transport_bw(p, phase, delay);
}

void l2_slice::on_cycle(cycle_t cycle) {
  progress_ = false;
  take_responses(cycle);
  while (!atomics_.empty() && atomics_.front().due <= cycle) {
    responses_.push(atomics_.front().payload);
    atomics_.pop();
  }
  look_up(cycle);
  if (flush_slot_ != none || !flushing_.empty()) flush_some();
  if (memory_.send(cycle)) progress_ = true;
  send_response(cycle);
  admit(cycle);
  schedule(cycle);
}

void l2_slice::prefetch_hint(cycle_t cycle, bool distant) const {
  if (distant) {
    host_prefetch(&clock_, static_cast<std::size_t>(reinterpret_cast<const char*>(&flush_requests_) -
                                                    reinterpret_cast<const char*>(&clock_)));
    return;
  }
  if (!accesses_.empty() && accesses_.front().due <= cycle) host_prefetch(accesses_.front().payload, 192);
  if (!responses_.empty()) host_prefetch(responses_.front(), 192);
  memory_.prepare(cycle);
}

void l2_slice::look_up(cycle_t now) {
  stalled_ = false;
  if (accesses_.empty() || std::max(accesses_.front().due, next_access_) > now) return;
  if (responses_.size() >= parameters_.queue_entries) return;  // resumes when a response has left
  if (waits_for_room_ && (free_mshrs_.empty() || !memory_has_room())) {
    stalled_ = true;
    return;
  }
  tlm::tlm_generic_payload& p = *accesses_.front().payload;
  if (stalled_since_ == never) wanted_ = demand{};
  if (stalled_since_ == never && !decode(p, wanted_)) {
    responses_.push(&p);
  } else if (!perform(p, wanted_, now)) {
    stalled_ = true;
    if (stalled_since_ == never) stalled_since_ = now;
    return;
  }
  if (stalled_since_ != never) stall_cycles_ += now - stalled_since_;
  stalled_since_ = never;
  waits_for_room_ = false;
  accesses_.pop();
  --queued_;
  slots_.give(now);
  next_access_ = now + interval_;
}

void l2_slice::take_responses(cycle_t now) {
  while (const memory_port::response* r = memory_.arrived(now)) {
    const memory_port::request& q = memory_.at(r->request);
    const tlm::tlm_response_status status = q.payload->get_response_status();
    progress_ = true;
    if (q.stale) {
      l2_counters& c = counters_[q.payload->request.launch];
      ++c.fetches;
      c.fetch_bytes += q.bytes.count();
      memory_.read_first_again();
      continue;
    }
    if (q.write) {
      if (status != tlm::TLM_OK_RESPONSE) write_lost(q);
      memory_.release_first();
      continue;
    }
    const std::uint32_t miss = q.tag;
    mshr& m = mshrs_[miss];
    line_store::state& s = lines_.at(m.slot);
    const unsigned sectors = q.bytes.touched_sectors();
    if (status == tlm::TLM_OK_RESPONSE) {
      // Bytes written after the fetch was sent are newer than the fetched ones.
      copy_masked(lines_.data(m.slot), q.payload->line_data(), q.bytes & ~s.valid);
      s.valid |= q.bytes;
    } else {
      m.failed |= sectors;
      m.error = status;
    }
    m.pending &= ~sectors;
    memory_.release_first();
    wake_waiters(miss, now);
  }
}

void l2_slice::write_lost(const memory_port::request& q) {
  char place[64];
  std::snprintf(place, sizeof place, " to the line at 0x%llx: ", static_cast<unsigned long long>(q.line_address));
  const std::string text = "the memory refused a write" + (place + refusal_of(*q.payload));
  if (on_lost_write) on_lost_write(text);
  else SC_REPORT_ERROR("/heddle/memory", text.c_str());
}

void l2_slice::send_response(cycle_t now) {
  if (responses_.empty() || answering_ != nullptr || response_free_ > now) return;
  tlm::tlm_generic_payload& p = *responses_.front();
  responses_.pop();
  answering_ = &p;
  tlm::tlm_phase phase = tlm::BEGIN_RESP;
  sc_core::sc_time delay = sc_core::SC_ZERO_TIME;
  const tlm::tlm_sync_enum answer = initiator_.of(request_socket).nb_transport_bw(p, phase, delay);
  if (answer == tlm::TLM_ACCEPTED || answering_ != &p) return;
  response_free_ = clock_.domain().arrival(delay);
  finish(p);
}

void l2_slice::finish(tlm::tlm_generic_payload& p) {
  answering_ = nullptr;
  ++responses_out_;
  p.release();
}

void l2_slice::schedule(cycle_t now) {
  cycle_t next = memory_.next(now);
  if (!responses_.empty() && answering_ == nullptr) next = std::min(next, response_free_);
  if (!atomics_.empty()) next = std::min(next, atomics_.front().due);
  if (!accesses_.empty() && responses_.size() < parameters_.queue_entries) {
    if (!stalled_) next = std::min(next, std::max(accesses_.front().due, next_access_));
    else if (progress_) next = now + 1;
    else if (atomic_free_ > now) next = std::min(next, atomic_free_);
  }
  if (held_ != nullptr && slots_.has_room()) next = std::min(next, held_from_);
  if (flush_slot_ != none && memory_has_room()) next = now + 1;
  if (next != never) clock_.wake_at(std::max(next, now + 1));
}

void l2_slice::flush(std::function<void()> done) {
  flush_requests_.push_back(std::move(done));
  if (flushing_.empty()) {
    flushing_.swap(flush_requests_);
    flush_slot_ = 0;
    clock_.wake_at(clock_.cycle() + 1);
  }
}

void l2_slice::drop_clean() {
  for (std::uint32_t slot = 0; slot < lines_.slots(); ++slot)
    if (lines_.occupied(slot)) lines_.at(slot).valid = lines_.at(slot).dirty;
  memory_.mark_stale();
}

void l2_slice::flush_some() {
  if (flush_slot_ != none) {
    while (flush_slot_ < lines_.slots() && memory_has_room()) {
      const std::uint32_t slot = flush_slot_++;
      if (!lines_.at(slot).dirty.any()) continue;
      write_back(slot);
      return;  // one line per cycle
    }
    if (flush_slot_ < lines_.slots()) return;
    // Writes issued from here on do not belong to this flush.
    flush_slot_ = none;
    memory_.start_epoch();
  }
  if (memory_.older_writes() == 0) end_flush();
}

void l2_slice::end_flush() {
  std::vector<std::function<void()>> done;
  done.swap(flushing_);
  if (!flush_requests_.empty()) {
    flushing_.swap(flush_requests_);
    flush_slot_ = 0;
  }
  for (const auto& f : done) f();
}

bool l2_slice::idle() const {
  return requests_in_ == responses_out_ && memory_.idle() && flushing_.empty() && flush_requests_.empty();
}

void l2_slice::trace(sc_core::sc_trace_file* file) const {
  const std::string base = name();
  sc_core::sc_trace(file, queued_, base + ".requests_waiting");
  sc_core::sc_trace(file, misses_, base + ".misses_outstanding");
  sc_core::sc_trace(file, memory_.level(), base + ".memory_requests");
  sc_core::sc_trace(file, sectors_hit_, base + ".sectors_hit");
  sc_core::sc_trace(file, sectors_missed_, base + ".sectors_missed");
}

void l2_slice::check_invariants() const {
  std::uint64_t lines = 0;
  for (std::uint32_t slot = 0; slot < lines_.slots(); ++slot) lines += lines_.occupied(slot);
  for (std::uint32_t launch = 0; launch < counters_.end(); ++launch) {
    const l2_counters* c = counters_.find(launch);
    if (c == nullptr) continue;
    invariant(c->read_sectors == c->read_hits + c->read_misses + c->read_pending_hits,
              "l2: read sectors = hits + misses + pending hits");
    invariant(c->write_sectors == c->write_hits + c->write_misses, "l2: write sectors = hits + misses");
    lines += c->evictions;
  }
  invariant(lines_in_ == lines, "l2: lines in = lines evicted + lines here");
  std::uint64_t inside = accesses_.size() + responses_.size() + atomics_.size();
  inside += (held_ != nullptr) + (answering_ != nullptr) + fences_;
  unsigned open = 0;
  for (const mshr& m : mshrs_) {
    inside += m.count;
    open += m.slot != none;
  }
  invariant(requests_in_ == responses_out_ + inside, "l2: requests in = responses out + requests inside");
  invariant(open == misses_ && open + free_mshrs_.size() == mshrs_.size(), "l2: miss entries are open or free");
}

}  // namespace heddle
