// SPDX-License-Identifier: MIT
#include "heddle/memory/protocol/request_port.h"

#include <algorithm>

#include "heddle/config/error.h"

namespace heddle {

request_port::request_port(tlm::tlm_initiator_socket<32>& socket, clock_port& clock, unsigned queue_entries)
    : socket_(socket), clock_(clock), capacity_(std::max(1u, queue_entries)), queue_(capacity_) {
  responses_.reserve(64);
  socket_.bind(*this);
}

void request_port::push(line_payload& payload, cycle_t cycle) {
  invariant(!full(), "a request into a full miss queue");
  queue_.push({&payload, cycle});
  queued_ = static_cast<unsigned>(queue_.size());
  if (queue_.size() == 1) send(cycle);
  // A request that must wait for the END_REQ of the one before is woken by that END_REQ.
  if (!queue_.empty() && requesting_ == nullptr) clock_.wake_at(std::max(free_cycle_, cycle + 1));
}

bool request_port::send(cycle_t cycle) {
  if (queue_.empty() || requesting_ != nullptr || cycle < free_cycle_) return false;
  start(clock_.domain().local_time_offset());
  if (!queue_.empty() && requesting_ == nullptr) clock_.wake_at(std::max(free_cycle_, cycle + 1));
  return true;
}

// Sends the requests whose departure cycle this logical process has already simulated. Nothing has sampled the queue
// since then.
void request_port::start_past() {
  while (!queue_.empty() && requesting_ == nullptr) {
    const cycle_t cycle = std::max(free_cycle_, queue_.front().cycle);
    if (!clock_.domain().has_simulated(cycle)) return clock_.wake_at(cycle);
    start(clock_.domain().delay_until(cycle));
  }
}

// Sends the first request of the queue with the annotated delay `ahead`.
void request_port::start(const sc_core::sc_time& ahead) {
  line_payload& payload = *queue_.front().payload;
  queue_.pop();
  queued_ = static_cast<unsigned>(queue_.size());
  requesting_ = &payload;
  ++in_flight_;
  clock_.domain().message_sent();
  tlm::tlm_phase phase = tlm::BEGIN_REQ;
  sc_core::sc_time delay = ahead;
  switch (memory_.of(socket_).nb_transport_fw(payload, phase, delay)) {
    case tlm::TLM_ACCEPTED: break;
    case tlm::TLM_UPDATED:
      if (phase == tlm::END_REQ) {
        if (requesting_ == &payload) request_ended(clock_.domain().arrival(delay));
      } else if (phase == tlm::BEGIN_RESP) {
        responded(payload, delay);
        phase = tlm::END_RESP;
        memory_.of(socket_).nb_transport_fw(payload, phase, delay);
      } else {
        invariant(phase != tlm::BEGIN_REQ && phase != tlm::END_RESP,
                  "a memory target answered BEGIN_REQ with a phase of ours");
      }
      break;  // any other phase is ignorable (IEEE 1666-2011, 15.2.5), and the request has not ended
    case tlm::TLM_COMPLETED: responded(payload, delay); break;
  }
}

tlm::tlm_sync_enum request_port::nb_transport_bw(tlm::tlm_generic_payload& payload, tlm::tlm_phase& phase,
                                                 sc_core::sc_time& delay) {
  if (phase == tlm::END_REQ) {
    invariant(requesting_ == &payload, "END_REQ for a request that does not wait for it");
    request_ended(clock_.domain().arrival(delay));
    start_past();
    return tlm::TLM_ACCEPTED;
  }
  invariant(phase != tlm::BEGIN_REQ && phase != tlm::END_RESP, "a memory target sent a phase that is an initiator's");
  if (phase != tlm::BEGIN_RESP) return tlm::TLM_ACCEPTED;  // ignorable
  responded(line_payload::of(payload), delay);
  phase = tlm::END_RESP;
  return tlm::TLM_UPDATED;
}

void request_port::request_ended(cycle_t next) {
  requesting_ = nullptr;
  free_cycle_ = next;
}

void request_port::responded(line_payload& payload, const sc_core::sc_time& delay) {
  const cycle_t due = clock_.domain().arrival(delay);
  if (requesting_ == &payload) request_ended(due);
  responses_.push_back({due, order_++, &payload});
  std::push_heap(responses_.begin(), responses_.end());
  clock_.wake_at(due);
}

line_payload* request_port::take(cycle_t cycle) {
  if (responses_.empty() || responses_.front().cycle > cycle) return nullptr;
  line_payload* payload = responses_.front().payload;
  std::pop_heap(responses_.begin(), responses_.end());
  responses_.pop_back();
  --in_flight_;
  return payload;
}

}  // namespace heddle
