// SPDX-License-Identifier: MIT
// The L1's memory side: responses, fills, fences; invalidation and size; checks and trace.
#include <algorithm>
#include <cstdio>
#include <cstring>

#include "heddle/config/error.h"
#include "heddle/memory/common/lane_data.h"
#include "heddle/memory/common/refusal.h"
#include "heddle/memory/l1/l1_cache.h"

namespace heddle {

namespace {

// Adds what the memory side has done for a request. The flits of stores and atomics were counted when they left.
void count_answer(instruction_traffic& t, const gpu_request& request, bool write) {
  const l2_outcome& o = request.l2;
  t.fetched_sectors += o.fetched;
  if (write) {
    t.l2_write_hits += o.hits;
    t.l2_write_misses += o.misses;
    return;
  }
  t.l2_read_hits += o.hits;
  t.l2_read_misses += o.misses;
  if (request.atomic == nullptr) t.flits += 1 + static_cast<unsigned>(__builtin_popcount(request.sectors));
}

}  // namespace

void l1_cache::on_cycle(cycle_t cycle) {
  bool freed = false;
  while (line_payload* p = port_free_ <= cycle ? port_.take(cycle) : nullptr) {
    if (atomic_return_ != 0 && p->request.atomic != nullptr && p->request.atomic->returns) hold_port(*p, cycle);
    respond(*p, cycle);
    freed = true;
  }
  freed |= port_.send(cycle);
  send_fences(cycle);
  if (freed) notify_retry();
}

// The results of lanes that use one word come back one after another; those of different words together.
void l1_cache::hold_port(const line_payload& p, cycle_t cycle) {
  const atomic_request& a = *p.request.atomic;
  std::uint8_t uses[line_bytes] = {};
  unsigned most = 1;
  for (unsigned i = 0; i < a.count; ++i) most = std::max<unsigned>(most, ++uses[a.offset[i]]);
  port_free_ = cycle + static_cast<cycle_t>(most * atomic_return_ + 0.5);
  clock_.wake_at(port_free_);
}

void l1_cache::notify_retry() {
  l1_access nothing;
  for (unsigned o = 0; o < static_cast<unsigned>(l1_origin::count); ++o) {
    if (!(nacked_ >> o & 1)) continue;
    nacked_ &= static_cast<std::uint8_t>(~(1u << o));
    answer(static_cast<l1_origin>(o), nothing, l1_phase::retry);
  }
}

void l1_cache::answer(l1_origin to, l1_access& access, l1_phase phase) {
  sc_core::sc_time delay;
  if (to == l1_origin::warp) initiator_.of(access_socket).nb_transport_bw(access, phase, delay);
  else if (to == l1_origin::bulk) bulk_socket->nb_transport_bw(access, phase, delay);
  else (to == l1_origin::context ? context_socket : instruction_socket)->nb_transport_bw(access, phase, delay);
}

void l1_cache::respond(line_payload& payload, cycle_t cycle) {
  const std::uint64_t token = payload.request.token;
  invariant(token < slots_.size() && slots_[token].payload == &payload, "L1: unexpected response");
  const request_slot slot = slots_[token];
  slots_[token].payload = nullptr;
  free_slots_.push_back(static_cast<unsigned>(token));
  --slots_used_;
  if (slot.traffic) slot.traffic.each([&](instruction_traffic& t) { count_answer(t, payload.request, slot.write); });
  if (slot.access != nullptr && slot.access->origin == l1_origin::context)
    count_answer(context_traffic[slot.launch], payload.request, slot.write);
  if (slot.fencing_warp != no_warp) {
    // An error response to a fence is ignored: a memory that does not know fences has nothing to write back.
    if (--fence_answers_[slot.fencing_warp] == 0 && fence_observer_ != nullptr)
      fence_observer_->fence_performed(slot.fencing_warp, cycle);
  } else if (slot.access == nullptr) {
    fill(slot, cycle);
  } else {
    l1_access& a = *slot.access;
    std::string message;
    if (a.origin == l1_origin::instructions) {
      // Its bytes are not used: the decoded program is, so an error has no effect.
    } else if (failed(payload, message)) {
      note_failure(a, message);
    } else if (payload.request.atomic != nullptr) {
      if (payload.request.atomic->returns) atomic_to_lanes(*a.transaction, *payload.request.atomic);
    } else if (!slot.write) {
      bytes_to_lanes(*a.transaction, a.lanes, a.missing, payload.line_data());
    }
    const bool past = a.origin == l1_origin::instructions || a.origin == l1_origin::bulk;
    if (!slot.write && payload.request.atomic == nullptr && !past) {
      --reads_;
      counters[slot.launch].fills += static_cast<unsigned>(__builtin_popcount(payload.request.sectors));
    }
    finish(a, cycle);
  }
  payload.release();
}

void l1_cache::fill(const request_slot& slot, cycle_t cycle) {
  line_payload& payload = *slot.payload;
  mshr& m = mshrs_[slot.mshr];
  l1_tags::line_state& line = tags_[m.line];
  const std::uint8_t arrived = payload.request.sectors;
  std::string message;
  const bool bad = failed(payload, message);
  counters[slot.launch].fills += static_cast<unsigned>(__builtin_popcount(arrived));
  const std::uint8_t kept = bad ? 0 : arrived & ~m.stale;
  for (unsigned s = 0; s < sectors_per_line; ++s)
    if (kept >> s & 1)
      std::memcpy(tags_.data(m.line) + s * sector_bytes, payload.line_data() + s * sector_bytes, sector_bytes);
  line.valid |= kept;
  m.pending &= ~arrived;
  m.stale &= ~arrived;

  // All waiting accesses joined before the sector became stale, so the response has the right bytes for each of them.
  l1_access* done = nullptr;
  l1_access** done_end = &done;
  l1_access** link = &m.first;
  m.last = nullptr;
  while (l1_access* a = *link) {
    const std::uint8_t part = a->missing & arrived;
    if (part != 0) {
      if (bad) note_failure(*a, message);
      else bytes_to_lanes(*a->transaction, a->lanes, part, payload.line_data());
      a->missing &= ~part;
    }
    if (a->missing != 0) {
      m.last = a;
      link = &a->next;
      continue;
    }
    *link = a->next;
    a->next = nullptr;
    *done_end = a;
    done_end = &a->next;
    --m.waiting;
  }
  if (m.pending == 0) {
    invariant(m.first == nullptr && m.waiting == 0, "L1: an access waits for a sector that is not in flight");
    line.mshr = l1_tags::none;
    m.line = l1_tags::none;
    free_mshrs_.push_back(slot.mshr);
    --mshrs_used_;
    --reads_;
  }
  while (done != nullptr) {
    l1_access& a = *done;
    done = a.next;
    finish(a, cycle);
  }
}

void l1_cache::finish(l1_access& access, cycle_t cycle) {
  if (access.ready_cycle < cycle) access.ready_cycle = cycle;
  answer(access.origin, access, l1_phase::response);
}

// True if the memory answered with an error. A memory that leaves the status unset is taken as successful, with one
// warning.
bool l1_cache::failed(line_payload& payload, std::string& message) {
  const tlm::tlm_response_status status = payload.get_response_status();
  if (status == tlm::TLM_OK_RESPONSE) return false;
  if (status == tlm::TLM_INCOMPLETE_RESPONSE) {
    if (!warned_) {
      SC_REPORT_WARNING("/heddle/l1", "the memory left a response status at TLM_INCOMPLETE_RESPONSE; taken as success");
      warned_ = true;
    }
    return false;
  }
  message = "the memory answered with " + refusal_of(payload);
  return true;
}

void l1_cache::note_failure(l1_access& access, const std::string& message) {
  lsu_transaction& t = *access.transaction;
  if (t.faulted) return;
  t.faulted = true;
  char place[48];
  std::snprintf(place, sizeof place, " in the line at 0x%08llx", static_cast<unsigned long long>(access.line));
  t.fault = message + place;
  t.fault_lane = static_cast<unsigned>(__builtin_ctz(access.lanes));
}

void l1_cache::system_fence(unsigned warp, std::uint32_t launch, cycle_t cycle) {
  fence_answers_[warp] = fenced_.count;
  unsent_fences_.push_back({warp, launch, fenced_.first});
  send_fences(cycle);
}

// Sends as many fence requests as the queue has room for; on_cycle sends the rest as requests leave.
void l1_cache::send_fences(cycle_t cycle) {
  while (!unsent_fences_.empty() && !port_.full()) {
    unsent_fence& f = unsent_fences_.front();
    line_payload& p = take_payload({nullptr, nullptr, l1_tags::none, f.launch, false, f.warp, nullptr});
    p.request.warp = f.warp;
    p.make_fence(map_.some_address(f.next_slice));
    if (++f.next_slice == fenced_.first + fenced_.count) unsent_fences_.pop_front();
    port_.push(p, cycle);
  }
}

void l1_cache::invalidate() {
  tags_.invalidate(mshrs_used_ != 0);
  for (mshr& m : mshrs_) m.stale = m.pending;
}

void l1_cache::resize(unsigned size_bytes) {
  invariant(idle(), "L1: the size changes while requests are in flight");
  tags_.resize(size_bytes, ways_, replacement(make_policy_()));
}

void l1_cache::use(std::function<std::unique_ptr<replacement_policy>()> make) {
  make_policy_ = std::move(make);
  restart();
}

void l1_cache::restart() { resize(tags_.sets() * tags_.ways() * line_bytes); }

void l1_cache::check_invariants() const {
  // More payloads than requests are in use while another module still holds an answered one.
  invariant(pool_.in_use() >= slots_used_, "L1: fewer payloads in use than requests without an answer");
  invariant(port_.queued() + port_.in_flight() == slots_used_,
            "L1: requests queued and sent differ from those without an answer");
  invariant(reads_ <= mshr_entries_ && mshrs_used_ <= reads_, "L1: more lines outstanding than MSHRs");
  for (std::uint32_t l = 0; l < counters.end(); ++l) {
    const l1_counters* c = counters.find(l);
    if (c == nullptr) continue;
    invariant(c->accesses == c->hits + c->misses + c->pending_hits,
              "L1: accesses differ from hits + misses + pending hits");
    invariant(c->accesses == c->reads + c->writes, "L1: accesses differ from reads + writes");
    invariant(c->delivered_words <= words_per_sector * (c->hits - c->write_hits + c->pending_hits),
              "L1: more words are read than the sectors have that hit or were pending");
    const std::uint64_t read_misses = c->reads - (c->hits - c->write_hits) - c->pending_hits + c->prefetched;
    invariant(!idle() || (sector_group_ == 1 ? c->fills == read_misses : c->fills >= read_misses),
              "L1: idle, and the sectors that arrived differ from those that loads missed");
  }
  if (!idle()) return;
  invariant(mshrs_used_ == 0 && reads_ == 0, "L1: idle, and a line still waits for its fill");
}

void l1_cache::name_objects(state_image& image) {
  pool_.exchange(image);
  for (auto* const traffic : {&other_traffic, &context_traffic})
    traffic->exchange(image, [&image](std::uint32_t, instruction_traffic& t) {
      image(t);
      image.name(&t);
    });
}

void l1_cache::exchange(state_image& image) {
  image.part(name());
  std::uint32_t size = tags_.sets() * tags_.ways() * line_bytes;
  image(size);
  if (image.reading() && size != tags_.sets() * tags_.ways() * line_bytes) resize(size);
  pool_.exchange_payloads(image);
  image(tags_, counters, read_, port_free_, port_, free_mshrs_, free_slots_);
  image.taken(mshrs_, free_mshrs_);
  image.taken(slots_, free_slots_);
  image(slots_used_, unsent_fences_, mshrs_used_, reads_);
  image.each(fence_answers_);
  image(nacked_, code_waits_, warned_);
  if (locality_ != nullptr) image(*locality_);
  if (image.reading()) hint_ = {};
}

void l1_cache::trace(sc_core::sc_trace_file* file) const {
  const std::string prefix = std::string(name()) + ".";
  sc_core::sc_trace(file, mshrs_used_, prefix + "mshrs_used");
  sc_core::sc_trace(file, reads_, prefix + "lines_outstanding");
  sc_core::sc_trace(file, port_.queued(), prefix + "miss_queue");
  sc_core::sc_trace(file, slots_used_, prefix + "requests_outstanding");
}

}  // namespace heddle
