// SPDX-License-Identifier: MIT
#include "heddle/memory/protocol/request_port.h"

#include <algorithm>

#include "heddle/config/error.h"

namespace heddle {

request_port::request_port(tlm::tlm_initiator_socket<32>& socket, clock_port& clock, unsigned queue_entries)
    : port_(socket, clock, *this), clock_(clock), capacity_(std::max(1u, queue_entries)), queue_(capacity_) {
  responses_.reserve(64);
}

void request_port::push(line_payload& payload, cycle_t cycle) {
  invariant(!full(), "a request into a full miss queue");
  queue_.push({&payload, cycle});
  queued_ = static_cast<unsigned>(queue_.size());
  if (queue_.size() == 1) send(cycle);
  // A request that must wait for the END_REQ of the one before is woken by that END_REQ.
  if (!queue_.empty() && !port_.waits()) clock_.wake_at(std::max(port_.free_at(), cycle + 1));
}

bool request_port::send(cycle_t cycle) {
  if (queue_.empty() || !port_.may_send(cycle)) return false;
  start(clock_.domain().local_time_offset());
  if (!queue_.empty() && !port_.waits()) clock_.wake_at(std::max(port_.free_at(), cycle + 1));
  return true;
}

// Sends the requests whose departure cycle this logical process has already simulated. Nothing has sampled the queue
// since then.
void request_port::request_ended(cycle_t free_at) {
  for (; !queue_.empty() && !port_.waits(); free_at = port_.free_at()) {
    const cycle_t cycle = std::max(free_at, queue_.front().cycle);
    if (!clock_.domain().has_simulated(cycle)) return clock_.wake_at(cycle);
    start(clock_.domain().delay_until(cycle));
  }
}

// Sends the first request of the queue annotated with `delay`.
void request_port::start(const sc_core::sc_time& delay) {
  line_payload& payload = *queue_.front().payload;
  queue_.pop();
  queued_ = static_cast<unsigned>(queue_.size());
  ++in_flight_;
  clock_.domain().message_sent();
  port_.send(payload, delay);
}

bool request_port::take_response(tlm::tlm_generic_payload& payload, cycle_t arrival) {
  responses_.push_back({arrival, order_++, &line_payload::of(payload)});
  std::push_heap(responses_.begin(), responses_.end());
  clock_.wake_at(arrival);
  return true;
}

line_payload* request_port::take(cycle_t cycle) {
  if (responses_.empty() || responses_.front().cycle > cycle) return nullptr;
  line_payload* payload = responses_.front().payload;
  std::pop_heap(responses_.begin(), responses_.end());
  responses_.pop_back();
  --in_flight_;
  return payload;
}

void request_port::exchange(state_image& image) { image(port_, queue_, responses_, order_, queued_, in_flight_); }

}  // namespace heddle
