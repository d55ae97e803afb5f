// SPDX-License-Identifier: MIT
#include "heddle/memory/protocol/transfer_splitter.h"

#include <algorithm>
#include <array>
#include <string>

#include "heddle/config/error.h"

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
    if (unused.empty()) {
      all.push_back(std::make_unique<part>(this));
      unused.push_back(all.back().get());
    }
    part& p = *unused.back();
    unused.pop_back();
    p.acquire();
    return p;
  }
  void free(tlm::tlm_generic_payload* p) override {
    p->reset();
    part& q = *static_cast<part*>(p);
    if (q.owner != nullptr) q.owner->release();
    q.owner = nullptr;
    unused.push_back(&q);
  }
  std::vector<std::unique_ptr<part>> all;
  std::vector<part*> unused;
};

transfer_splitter::transfer_splitter(sc_core::sc_module_name name, unsigned most_bytes, bool byte_enables)
    : sc_module(name),
      target_socket("target_socket"),
      initiator_socket("initiator_socket"),
      most_(most_bytes),
      byte_enables_(byte_enables),
      pool_(std::make_unique<part_pool>()),
      wake_("wake") {
  if (most_bytes == 0 || (most_bytes & (most_bytes - 1)) != 0)
    throw input_error("transfers of at most " + std::to_string(most_bytes) + " bytes, expected a power of two");
  target_socket.bind(static_cast<tlm::tlm_fw_transport_if<>&>(*this));
  initiator_socket.bind(static_cast<tlm::tlm_bw_transport_if<>&>(*this));
  SC_HAS_PROCESS(transfer_splitter);
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

void transfer_splitter::wake(const sc_core::sc_time& at) {
  const sc_core::sc_time& now = sc_core::sc_time_stamp();
  wake_.notify(at > now ? at - now : sc_core::SC_ZERO_TIME);
}

tlm::tlm_sync_enum transfer_splitter::nb_transport_fw(tlm::tlm_generic_payload& p, tlm::tlm_phase& phase,
                                                      sc_core::sc_time& delay) {
  const sc_core::sc_time at = sc_core::sc_time_stamp() + delay;
  if (phase == tlm::BEGIN_REQ) {
    if (requesting_ != nullptr) SC_REPORT_ERROR("/heddle/protocol", "BEGIN_REQ before END_REQ of the request before");
    p.acquire();
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
    wake(at);
    return tlm::TLM_ACCEPTED;
  }
  if (phase == tlm::END_RESP && answering_ == &p) {
    answering_ = nullptr;
    response_free_ = at;
    leave(p);
    wake(at);
    return tlm::TLM_COMPLETED;
  }
  return tlm::TLM_ACCEPTED;  // an ignorable phase
}

void transfer_splitter::leave(tlm::tlm_generic_payload& p) {
  wholes_.remove_if([&](const whole& w) { return w.payload == &p; });
  p.release();
}

// Does everything that is possible now and schedules its next wake-up; calls on the backward path wake it as well.
void transfer_splitter::work() {
  const sc_core::sc_time now = sc_core::sc_time_stamp();
  // Not released earlier: the call that delivered the answer is still unwinding through other modules.
  for (tlm::tlm_generic_payload* q : answered_) q->release();
  answered_.clear();
  while (send_part(now) || end_request(now) || begin_response(now)) {}
  sc_core::sc_time next = sc_core::sc_max_time();
  if (requesting_ != nullptr && asking_ == nullptr) next = std::max(port_free_, requesting_->ready);
  if (answering_ == nullptr)
    for (const whole& w : wholes_)
      if (w.accepted && w.answered == w.runs.size()) next = std::min(next, std::max(w.ready, response_free_));
  if (next > now && next != sc_core::sc_max_time()) wake(next);
}

bool transfer_splitter::send_part(const sc_core::sc_time& now) {
  if (requesting_ == nullptr || asking_ != nullptr || port_free_ > now || requesting_->ready > now) return false;
  whole& w = *requesting_;
  if (w.sent == w.runs.size()) return false;
  part& q = pool_->acquire();
  fill(q, *w.payload, w.runs[w.sent++]);
  q.of = &w;
  q.owner = w.payload;
  q.owner->acquire();
  asking_ = &q;
  tlm::tlm_phase phase = tlm::BEGIN_REQ;
  sc_core::sc_time delay;
  const tlm::tlm_sync_enum answer = initiator_socket->nb_transport_fw(q, phase, delay);
  const bool ignorable = answer == tlm::TLM_UPDATED && phase != tlm::END_REQ && phase != tlm::BEGIN_RESP;
  if (answer == tlm::TLM_ACCEPTED || ignorable) return true;
  asking_ = nullptr;
  port_free_ = now + delay;
  if (answer == tlm::TLM_COMPLETED) {
    part_answered(q, port_free_);
  } else if (phase == tlm::BEGIN_RESP) {
    phase = tlm::END_RESP;
    const sc_core::sc_time at = port_free_;
    initiator_socket->nb_transport_fw(q, phase, delay);
    part_answered(q, at);
  }
  return true;
}

bool transfer_splitter::end_request(const sc_core::sc_time& now) {
  if (requesting_ == nullptr || asking_ != nullptr || requesting_->sent != requesting_->runs.size()) return false;
  if (port_free_ > now || requesting_->accepted) return false;
  if (requesting_->runs.empty() && requesting_->ready > now) return false;
  whole& w = *requesting_;
  w.accepted = true;
  requesting_ = nullptr;
  tlm::tlm_phase phase = tlm::END_REQ;
  sc_core::sc_time delay;
  target_socket->nb_transport_bw(*w.payload, phase, delay);
  return true;
}

bool transfer_splitter::begin_response(const sc_core::sc_time& now) {
  if (answering_ != nullptr || response_free_ > now) return false;
  const auto done = std::find_if(wholes_.begin(), wholes_.end(), [&](const whole& w) {
    return w.accepted && w.answered == w.runs.size() && w.ready <= now;
  });
  if (done == wholes_.end()) return false;
  tlm::tlm_generic_payload& p = *done->payload;
  p.set_response_status(done->status);
  answering_ = &p;
  tlm::tlm_phase phase = tlm::BEGIN_RESP;
  sc_core::sc_time delay;
  const tlm::tlm_sync_enum answer = target_socket->nb_transport_bw(p, phase, delay);
  if (answer == tlm::TLM_ACCEPTED || answering_ != &p) return true;
  answering_ = nullptr;
  response_free_ = now + delay;
  leave(p);
  return true;
}

tlm::tlm_sync_enum transfer_splitter::nb_transport_bw(tlm::tlm_generic_payload& p, tlm::tlm_phase& phase,
                                                      sc_core::sc_time& delay) {
  const sc_core::sc_time at = sc_core::sc_time_stamp() + delay;
  if (phase != tlm::END_REQ && phase != tlm::BEGIN_RESP) return tlm::TLM_ACCEPTED;
  if (asking_ == &p) {  // BEGIN_RESP implies END_REQ
    asking_ = nullptr;
    port_free_ = at;
    wake(at);
  }
  if (phase == tlm::END_REQ) return tlm::TLM_ACCEPTED;
  part_answered(static_cast<part&>(p), at);
  phase = tlm::END_RESP;
  return tlm::TLM_UPDATED;
}

void transfer_splitter::part_answered(part& q, const sc_core::sc_time& at) {
  whole* const w = q.of;
  if (w == nullptr) {
    SC_REPORT_ERROR("/heddle/protocol", "the memory answered a transaction that is not outstanding");
    return;
  }
  q.of = nullptr;
  ++w->answered;
  w->ready = std::max(w->ready, at);
  const tlm::tlm_response_status status = q.get_response_status();
  if (status <= 0 && w->status == tlm::TLM_OK_RESPONSE) w->status = status;
  if (asking_ == &q) asking_ = nullptr;
  answered_.push_back(&q);
  wake(at);
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

bool transfer_splitter::get_direct_mem_ptr(tlm::tlm_generic_payload& p, tlm::tlm_dmi& dmi) {
  return initiator_socket->get_direct_mem_ptr(p, dmi);
}

unsigned transfer_splitter::transport_dbg(tlm::tlm_generic_payload& p) { return initiator_socket->transport_dbg(p); }

void transfer_splitter::invalidate_direct_mem_ptr(sc_dt::uint64 first, sc_dt::uint64 last) {
  target_socket->invalidate_direct_mem_ptr(first, last);
}

}  // namespace heddle
