// SPDX-License-Identifier: MIT
#include "heddle/memory/common/random_delay.h"

namespace heddle {

random_delay::random_delay(sc_core::sc_module_name name, const sc_core::sc_time& longest, std::uint64_t seed)
    : sc_module(name),
      target_socket("target_socket"),
      initiator_socket("initiator_socket"),
      longest_(longest.value()),
      random_(seed),
      wake_("wake") {
  target_socket.bind(static_cast<tlm::tlm_fw_transport_if<>&>(*this));
  initiator_socket.bind(static_cast<tlm::tlm_bw_transport_if<>&>(*this));
  SC_HAS_PROCESS(random_delay);
  SC_METHOD(work);
  sensitive << wake_;
  dont_initialize();
}

void random_delay::plan(step what, tlm::tlm_generic_payload& p, const sc_core::sc_time& delay, bool owes_end) {
  std::uint64_t z = random_ += 0x9e3779b97f4a7c15u;
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
  z ^= z >> 31;
  const sc_core::sc_time at = sc_core::sc_time_stamp() + delay + sc_core::sc_time::from_value(z % (longest_ + 1));
  due_.push({at, order_++, what, &p, owes_end});
  wake_.notify(due_.top().at - sc_core::sc_time_stamp());
}

void random_delay::work() {
  while (!due_.empty() && due_.top().at <= sc_core::sc_time_stamp()) {
    const due d = due_.top();
    due_.pop();
    switch (d.what) {
      case step::begin_request: begin_request(*d.payload); break;
      case step::end_request: end_request(*d.payload); break;
      case step::begin_response:
        responses_.push_back({d.payload, d.owes_end});
        begin_response();
        break;
      case step::end_response: {
        tlm::tlm_phase phase = tlm::END_RESP;
        sc_core::sc_time delay = sc_core::SC_ZERO_TIME;
        initiator_socket->nb_transport_fw(*d.payload, phase, delay);
        leave(*d.payload);
        break;
      }
    }
  }
  begin_response();
  if (!due_.empty()) wake_.notify(due_.top().at - sc_core::sc_time_stamp());
}

tlm::tlm_sync_enum random_delay::nb_transport_fw(tlm::tlm_generic_payload& p, tlm::tlm_phase& phase,
                                                 sc_core::sc_time& delay) {
  if (phase == tlm::BEGIN_REQ) {
    p.acquire();
    ++in_flight_;
    ++transactions_;
    requesting_ = &p;
    accepted_ = false;
    plan(step::begin_request, p, delay);
    return tlm::TLM_ACCEPTED;
  }
  if (phase == tlm::END_RESP) {
    response_over();
    return tlm::TLM_COMPLETED;
  }
  return tlm::TLM_ACCEPTED;  // an ignorable phase
}

void random_delay::begin_request(tlm::tlm_generic_payload& p) {
  tlm::tlm_phase phase = tlm::BEGIN_REQ;
  sc_core::sc_time delay = sc_core::SC_ZERO_TIME;
  const tlm::tlm_sync_enum answer = initiator_socket->nb_transport_fw(p, phase, delay);
  if (answer == tlm::TLM_ACCEPTED) return;
  accepted(p, delay);
  if (answer == tlm::TLM_COMPLETED || phase == tlm::BEGIN_RESP)
    plan(step::begin_response, p, delay, answer != tlm::TLM_COMPLETED);
}

// The target has accepted the request, by END_REQ or implied by a response.
void random_delay::accepted(tlm::tlm_generic_payload& p, const sc_core::sc_time& delay) {
  if (requesting_ != &p || accepted_) return;
  accepted_ = true;
  plan(step::end_request, p, delay);
}

void random_delay::end_request(tlm::tlm_generic_payload& p) {
  requesting_ = nullptr;
  tlm::tlm_phase phase = tlm::END_REQ;
  sc_core::sc_time delay = sc_core::SC_ZERO_TIME;
  target_socket->nb_transport_bw(p, phase, delay);
  begin_response();
}

tlm::tlm_sync_enum random_delay::nb_transport_bw(tlm::tlm_generic_payload& p, tlm::tlm_phase& phase,
                                                 sc_core::sc_time& delay) {
  if (phase == tlm::END_REQ || phase == tlm::BEGIN_RESP) accepted(p, delay);
  if (phase == tlm::BEGIN_RESP) plan(step::begin_response, p, delay, true);
  return tlm::TLM_ACCEPTED;
}

// Starts the next response: one at a time, and none before the END_REQ of its own request.
void random_delay::begin_response() {
  while (!answering_ && !responses_.empty() && responses_.front().payload != requesting_) {
    answering_ = true;
    tlm::tlm_phase phase = tlm::BEGIN_RESP;
    sc_core::sc_time delay = sc_core::SC_ZERO_TIME;
    if (target_socket->nb_transport_bw(*responses_.front().payload, phase, delay) == tlm::TLM_ACCEPTED) return;
    response_over();
  }
}

void random_delay::response_over() {
  const response r = responses_.front();
  responses_.pop_front();
  answering_ = false;
  if (r.owes_end) plan(step::end_response, *r.payload, sc_core::SC_ZERO_TIME);
  else leave(*r.payload);
  if (!responses_.empty()) wake_.notify(sc_core::SC_ZERO_TIME);
}

void random_delay::leave(tlm::tlm_generic_payload& p) {
  --in_flight_;
  p.release();
}

void random_delay::b_transport(tlm::tlm_generic_payload& p, sc_core::sc_time& delay) {
  initiator_socket->b_transport(p, delay);
}

bool random_delay::get_direct_mem_ptr(tlm::tlm_generic_payload& p, tlm::tlm_dmi& dmi) {
  return initiator_socket->get_direct_mem_ptr(p, dmi);
}

unsigned random_delay::transport_dbg(tlm::tlm_generic_payload& p) { return initiator_socket->transport_dbg(p); }

void random_delay::invalidate_direct_mem_ptr(sc_dt::uint64 first, sc_dt::uint64 last) {
  target_socket->invalidate_direct_mem_ptr(first, last);
}

}  // namespace heddle
