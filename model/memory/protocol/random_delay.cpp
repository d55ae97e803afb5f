// SPDX-License-Identifier: MIT
#include "heddle/memory/protocol/random_delay.h"

#include "heddle/config/error.h"
#include "heddle/tlm/kernel/has_process.h"

namespace heddle {

random_delay::random_delay(sc_core::sc_module_name name, const sc_core::sc_time& longest, std::uint64_t seed)
    : sc_module(name),
      target_socket("target_socket"),
      initiator_socket("initiator_socket"),
      longest_(longest.value()),
      random_(seed),
      wake_("wake"),
      target_(target_socket, clock_, *this),
      memory_(initiator_socket, clock_, *this) {
  HEDDLE_HAS_PROCESS(random_delay);
  SC_METHOD(work);
  sensitive << wake_;
  dont_initialize();
}

// Schedules a phase at a random time after `after`.
void random_delay::plan(step what, tlm::tlm_generic_payload& p, const sc_core::sc_time& after) {
  due_.push({after + sc_core::sc_time::from_value(random_.below(longest_ + 1)), order_++, what, &p});
  wake_.notify(due_.top().at - sc_core::sc_time_stamp());
}

void random_delay::work() {
  while (!due_.empty() && due_.top().at <= sc_core::sc_time_stamp()) {
    const due d = due_.top();
    due_.pop();
    switch (d.what) {
      case step::begin_request:
        memory_.send(*d.payload);
        if (!memory_.waits()) accepted(memory_.free_at());
        break;
      case step::end_request:
        target_.end_request();
        begin_response();
        break;
      case step::begin_response:
        responses_.push_back(d.payload);
        begin_response();
        break;
      case step::end_response:
        memory_.end_response();
        --in_flight_;
        d.payload->release();
        break;
    }
  }
  begin_response();
  if (!due_.empty()) wake_.notify(due_.top().at - sc_core::sc_time_stamp());
}

bool random_delay::accept(tlm::tlm_generic_payload& p, const sc_core::sc_time& at, bool) {
  ++in_flight_;
  ++transactions_;
  accepted_ = false;
  plan(step::begin_request, p, at);
  return false;
}

// The memory has accepted the held request, by END_REQ or implied by a response.
void random_delay::accepted(const sc_core::sc_time& at) {
  if (accepted_) return;
  accepted_ = true;
  plan(step::end_request, *target_.held(), at);
}

bool random_delay::take_response(tlm::tlm_generic_payload& p, const sc_core::sc_time& at) {
  if (target_.held() == &p) accepted(at);
  plan(step::begin_response, p, at);
  return false;
}

// Starts the next response: one at a time, and none before the END_REQ of its own request.
void random_delay::begin_response() {
  while (!responses_.empty() && target_.answering() == nullptr && responses_.front() != target_.held()) {
    if (!target_.may_respond(sc_core::sc_time_stamp())) return clock_.wake_at(target_.response_free());
    tlm::tlm_generic_payload& p = *responses_.front();
    responses_.pop_front();
    target_.respond(p);
  }
}

void random_delay::response_ended(tlm::tlm_generic_payload& p) {
  if (memory_.responding() == &p) {  // the memory expects END_RESP, too
    p.acquire();
    plan(step::end_response, p, sc_core::sc_time_stamp());
  } else {
    --in_flight_;
  }
}

void random_delay::exchange(state_image& image) {
  image.part(name());
  invariant(in_flight_ == 0 && due_.empty() && responses_.empty(), "a checkpoint while a delay has transactions");
  image(random_, target_, memory_, order_, accepted_, transactions_);
}

}  // namespace heddle
