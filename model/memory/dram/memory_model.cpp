// SPDX-License-Identifier: MIT
#include "heddle/memory/dram/memory_model.h"

#include <algorithm>
#include <string>

#include "heddle/config/error.h"
#include "heddle/memory/protocol/protocol_report.h"
#include "heddle/tlm/protocol/gpu_request.h"

namespace heddle {

namespace {

std::uint64_t enabled_count(const tlm::tlm_generic_payload& p) {
  const unsigned length = p.get_data_length();
  const unsigned period = p.get_byte_enable_length();
  if (p.get_byte_enable_ptr() == nullptr || period == 0) return length;
  std::uint64_t n = 0;
  for (unsigned i = 0; i < length; ++i) n += p.get_byte_enable_ptr()[i % period] == TLM_BYTE_ENABLED;
  return n;
}

}  // namespace

memory_model::memory_model(sc_core::sc_module_name name, clock_domain& clock, const gpu_config& config, unsigned index,
                           unsigned entries)
    : sc_module(name),
      request_socket("request_socket"),
      map_(config),
      index_(index),
      clock_(clock, *this),
      slots_(std::max(1u, entries)),
      responses_(entries) {
  request_socket.bind(static_cast<tlm::tlm_fw_transport_if<>&>(*this));
}

std::uint32_t memory_model::launch_of(const tlm::tlm_generic_payload& p) {
  const auto* request = request_of(p);
  return request != nullptr ? request->launch : 0;
}

void memory_model::perform(tlm::tlm_generic_payload& p) {
  if (map_.channel_of(p.get_address()) != index_) {
    p.set_response_status(tlm::TLM_ADDRESS_ERROR_RESPONSE);
    return;
  }
  bytes_.serve(p, map_.local_address(p.get_address()));
  memory_counters& c = counters_[launch_of(p)];
  if (p.is_read()) {
    ++c.reads;
    c.read_bytes += p.get_data_length();
  } else if (p.is_write()) {
    ++c.writes;
    c.write_bytes += enabled_count(p);
  }
}

tlm::tlm_sync_enum memory_model::nb_transport_fw(tlm::tlm_generic_payload& p, tlm::tlm_phase& phase,
                                                 sc_core::sc_time& delay) {
  const cycle_t arrival = clock_.domain().arrival(delay);
  if (phase == tlm::BEGIN_REQ) {
    if (held_ != nullptr) SC_REPORT_ERROR(protocol_report, "BEGIN_REQ before END_REQ of the request before");
    p.acquire();
    ++requests_in_;
    perform(p);
    clock_.wake_at(arrival);
    if (slots_.take(clock_.cycle())) {
      enter(p, arrival);
      phase = tlm::END_REQ;
      return tlm::TLM_UPDATED;
    }
    held_ = &p;
    held_from_ = arrival;
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

void memory_model::answer(tlm::tlm_generic_payload& p, cycle_t due) { responses_.push({&p, due}); }

void memory_model::on_cycle(cycle_t cycle) {
  cycle_t next = work(cycle);
  send_response(cycle);
  admit(cycle);
  if (!responses_.empty() && answering_ == nullptr)
    next = std::min(next, std::max(responses_.front().due, response_free_));
  if (held_ != nullptr && slots_.has_room()) next = std::min(next, held_from_);
  if (next != never) clock_.wake_at(std::max(next, cycle + 1));
}

void memory_model::send_response(cycle_t now) {
  if (responses_.empty() || answering_ != nullptr || std::max(responses_.front().due, response_free_) > now) return;
  tlm::tlm_generic_payload& p = *responses_.front().payload;
  responses_.pop();
  answering_ = &p;
  tlm::tlm_phase phase = tlm::BEGIN_RESP;
  sc_core::sc_time delay = sc_core::SC_ZERO_TIME;
  const tlm::tlm_sync_enum status = initiator_.of(request_socket).nb_transport_bw(p, phase, delay);
  if (status == tlm::TLM_ACCEPTED || answering_ != &p) return;
  response_free_ = clock_.domain().arrival(delay);
  finish(p);
}

void memory_model::finish(tlm::tlm_generic_payload& p) {
  answering_ = nullptr;
  ++responses_out_;
  p.release();
}

void memory_model::admit(cycle_t now) {
  if (held_ == nullptr || held_from_ > now || !slots_.take(now)) return;
  tlm::tlm_generic_payload& p = *held_;
  held_ = nullptr;
  enter(p, now + 1);
  clock_.wake_at(now + 1);
  tlm::tlm_phase phase = tlm::END_REQ;
  sc_core::sc_time delay = sc_core::SC_ZERO_TIME;
  initiator_.of(request_socket).nb_transport_bw(p, phase, delay);
}

void memory_model::b_transport(tlm::tlm_generic_payload& p, sc_core::sc_time& delay) {
  perform(p);
  delay += clock_.domain().time_of(unloaded_cycles(p));
}

unsigned memory_model::transport_dbg(tlm::tlm_generic_payload& p) {
  if (!p.is_read() && !p.is_write()) return 0;
  unsigned done = 0;
  while (done < p.get_data_length()) {
    const std::uint64_t address = p.get_address() + done;
    if (map_.channel_of(address) != index_) break;
    const auto n =
        static_cast<unsigned>(std::min<std::uint64_t>(map_.bytes_to_boundary(address), p.get_data_length() - done));
    if (p.is_read()) bytes_.read(map_.local_address(address), p.get_data_ptr() + done, n);
    else bytes_.write(map_.local_address(address), p.get_data_ptr() + done, n);
    done += n;
  }
  return done;
}

void memory_model::trace(sc_core::sc_trace_file* file) const {
  sc_core::sc_trace(file, slots_.level(), std::string(name()) + ".requests_waiting");
}

void memory_model::check_invariants() const {
  const std::uint64_t inside =
      slots_.used() + responses_.size() + (held_ != nullptr ? 1 : 0) + (answering_ != nullptr ? 1 : 0);
  invariant(requests_in_ == responses_out_ + inside, "memory: requests in = responses out + requests inside");
}

}  // namespace heddle
