// SPDX-License-Identifier: MIT
#include "heddle/memory/protocol/transfer_splitter.h"

#include <algorithm>
#include <array>
#include <string>

#include "heddle/config/error.h"
#include "heddle/tlm/kernel/has_process.h"
#include "heddle/tlm/protocol/object_pool.h"

namespace heddle {

/// One of the transfers to the memory into which a request is split.
struct transfer_splitter::part : tlm::tlm_generic_payload {
  using tlm_generic_payload::tlm_generic_payload;
  whole* of = nullptr;
  // The split payload, whose bytes this part points into. The reference keeps them valid for a holder of the part after
  // the whole has been answered.
  tlm::tlm_generic_payload* owner = nullptr;
  std::vector<std::uint8_t> enables;  // the whole's byte enables, repeated to this part's length
};

struct transfer_splitter::part_pool : tlm::tlm_mm_interface {
  part& acquire() {
    part& p = parts.take(this);
    p.acquire();
    return p;
  }
  void free(tlm::tlm_generic_payload* p) override {
    p->reset();
    part& q = *static_cast<part*>(p);
    if (q.owner != nullptr) q.owner->release();
    q.owner = nullptr;
    parts.give_back(q);
  }
  object_pool<part> parts;
};

transfer_splitter::transfer_splitter(sc_core::sc_module_name name, unsigned most_bytes, bool byte_enables)
    : sc_module(name),
      target_socket("target_socket"),
      initiator_socket("initiator_socket"),
      most_(most_bytes),
      byte_enables_(byte_enables),
      pool_(std::make_unique<part_pool>()),
      wake_("wake"),
      target_(target_socket, clock_, *this),
      memory_(initiator_socket, clock_, *this) {
  if (most_bytes == 0 || (most_bytes & (most_bytes - 1)) != 0)
    throw input_error("transfers of at most " + std::to_string(most_bytes) + " bytes, expected a power of two");
  HEDDLE_HAS_PROCESS(transfer_splitter);
  SC_METHOD(work);
  sensitive << wake_;
  dont_initialize();
}

transfer_splitter::~transfer_splitter() = default;

std::vector<transfer_splitter::run> transfer_splitter::runs_of(const tlm::tlm_generic_payload& p) const {
  const std::uint8_t* enables = p.get_byte_enable_ptr();
  const unsigned period = p.get_byte_enable_length();
  const unsigned all = p.get_data_length();
  const auto enabled = [&](unsigned i) { return enables == nullptr || enables[i % period] == TLM_BYTE_ENABLED; };
  std::vector<run> runs;
  for (unsigned i = 0; i < all;) {
    // The longest naturally aligned run that fits; without byte enables it contains only enabled bytes.
    unsigned length = 1;
    const auto fits = [&](unsigned n) {
      if (n > most_ || (p.get_address() + i) % n != 0 || i + n > all) return false;
      if (byte_enables_) return true;
      for (unsigned k = length; k < n; ++k)
        if (!enabled(i + k)) return false;
      return true;
    };
    if (byte_enables_ || enabled(i))
      while (fits(length * 2)) length *= 2;
    unsigned count = 0;
    for (unsigned k = 0; k < length; ++k) count += enabled(i + k);
    if (count != 0) runs.push_back({i, length, count == length});
    i += length;
  }
  return runs;
}

void transfer_splitter::fill(part& q, const tlm::tlm_generic_payload& p, const run& r) const {
  q.set_command(p.get_command());
  q.set_address(p.get_address() + r.first);
  q.set_data_ptr(p.get_data_ptr() + r.first);
  q.set_data_length(r.length);
  q.set_streaming_width(r.length);
  q.enables.clear();
  for (unsigned i = 0; !r.plain && i < r.length; ++i)
    q.enables.push_back(p.get_byte_enable_ptr()[(r.first + i) % p.get_byte_enable_length()]);
  q.set_byte_enable_ptr(r.plain ? nullptr : q.enables.data());
  q.set_byte_enable_length(r.plain ? 0 : r.length);
  q.set_dmi_allowed(false);
  q.set_response_status(tlm::TLM_INCOMPLETE_RESPONSE);
}

// The request is held until all its parts have been sent.
bool transfer_splitter::accept(tlm::tlm_generic_payload& p, const sc_core::sc_time& at, bool) {
  wholes_.emplace_back();
  whole& w = wholes_.back();
  w.payload = &p;
  w.ready = at;
  if (!p.is_read() && !p.is_write()) w.status = tlm::TLM_COMMAND_ERROR_RESPONSE;
  else if (p.get_data_length() == 0 || p.get_streaming_width() < p.get_data_length())
    w.status = tlm::TLM_BURST_ERROR_RESPONSE;
  else if (p.get_byte_enable_ptr() != nullptr && p.get_byte_enable_length() == 0)
    w.status = tlm::TLM_BYTE_ENABLE_ERROR_RESPONSE;
  else w.runs = runs_of(p);
  requesting_ = &w;
  return false;
}

void transfer_splitter::response_ended(tlm::tlm_generic_payload& p) {
  wholes_.remove_if([&](const whole& w) { return w.payload == &p; });
}

// Does everything that is possible now and schedules its next wake-up; calls on the backward path wake it as well.
void transfer_splitter::work() {
  const sc_core::sc_time now = sc_core::sc_time_stamp();
  // Not released earlier: the call that delivered the answer is still unwinding through other modules.
  for (tlm::tlm_generic_payload* q : answered_) q->release();
  answered_.clear();
  while (send_part(now) || end_request(now) || begin_response(now)) {}
  sc_core::sc_time next = sc_core::sc_max_time();
  if (requesting_ != nullptr && !memory_.waits()) next = std::max(memory_.free_at(), requesting_->ready);
  if (target_.answering() == nullptr)
    for (const whole& w : wholes_)
      if (w.accepted && w.answered == w.runs.size()) next = std::min(next, std::max(w.ready, target_.response_free()));
  if (next > now && next != sc_core::sc_max_time()) clock_.wake_at(next);
}

bool transfer_splitter::send_part(const sc_core::sc_time& now) {
  if (requesting_ == nullptr || !memory_.may_send(now) || requesting_->ready > now) return false;
  whole& w = *requesting_;
  if (w.sent == w.runs.size()) return false;
  part& q = pool_->acquire();
  fill(q, *w.payload, w.runs[w.sent++]);
  q.of = &w;
  q.owner = w.payload;
  q.owner->acquire();
  memory_.send(q);
  return true;
}

bool transfer_splitter::end_request(const sc_core::sc_time& now) {
  if (requesting_ == nullptr || !memory_.may_send(now) || requesting_->sent != requesting_->runs.size()) return false;
  if (requesting_->runs.empty() && requesting_->ready > now) return false;
  whole& w = *requesting_;
  w.accepted = true;
  requesting_ = nullptr;
  target_.end_request();
  return true;
}

bool transfer_splitter::begin_response(const sc_core::sc_time& now) {
  if (!target_.may_respond(now)) return false;
  const auto done = std::find_if(wholes_.begin(), wholes_.end(), [&](const whole& w) {
    return w.accepted && w.answered == w.runs.size() && w.ready <= now;
  });
  if (done == wholes_.end()) return false;
  done->payload->set_response_status(done->status);
  target_.respond(*done->payload);
  return true;
}

bool transfer_splitter::take_response(tlm::tlm_generic_payload& p, const sc_core::sc_time& at) {
  part& q = static_cast<part&>(p);
  whole* const w = q.of;
  if (w == nullptr) {
    memory_.report("the memory answered a transaction that is not outstanding", p);
    return true;
  }
  q.of = nullptr;
  ++w->answered;
  w->ready = std::max(w->ready, at);
  const tlm::tlm_response_status status = q.get_response_status();
  if (status <= 0 && w->status == tlm::TLM_OK_RESPONSE) w->status = status;
  answered_.push_back(&q);
  clock_.wake_at(at);
  return true;
}

void transfer_splitter::b_transport(tlm::tlm_generic_payload& p, sc_core::sc_time& delay) {
  if ((!p.is_read() && !p.is_write()) || p.get_data_length() == 0 || p.get_streaming_width() < p.get_data_length() ||
      (p.get_byte_enable_ptr() != nullptr && p.get_byte_enable_length() == 0))
    return initiator_socket->b_transport(p, delay);  // the memory refuses it as it would without the splitter
  tlm::tlm_response_status status = tlm::TLM_OK_RESPONSE;
  for (const run& r : runs_of(p)) {
    part& q = pool_->acquire();
    fill(q, p, r);
    initiator_socket->b_transport(q, delay);
    if (!q.is_response_ok() && status == tlm::TLM_OK_RESPONSE) status = q.get_response_status();
    q.release();
  }
  p.set_response_status(status);
}

}  // namespace heddle
