// SPDX-License-Identifier: MIT
#include "heddle/memory/protocol/protocol_monitor.h"

#include "heddle/config/error.h"
#include "heddle/tlm/port/protocol_error.h"

namespace heddle {

namespace {

constexpr const char* request_exclusion = "15.2.6 e), request exclusion";
constexpr const char* response_exclusion = "15.2.6 f), response exclusion";
constexpr const char* phase_order = "15.2.4, permitted phase transitions";
constexpr const char* return_rule = "15.2.3 c), phase sequences";
constexpr const char* timing_rule = "15.2.7 c), timing annotation";
constexpr const char* modifiability = "14.7, default values and modifiability of the attributes";
constexpr const char* memory_management = "14.5, generic payload memory management";

std::uint64_t hash_of(const std::uint8_t* bytes, unsigned length) {
  std::uint64_t h = 14695981039346656037u;
  for (unsigned i = 0; bytes != nullptr && i < length; ++i) h = (h ^ bytes[i]) * 1099511628211u;
  return h;
}

}  // namespace

protocol_monitor::protocol_monitor(sc_core::sc_module_name name)
    : sc_module(name),
      pass_through(target_socket, initiator_socket),
      target_socket("target_socket"),
      initiator_socket("initiator_socket") {
  bind_sockets();
}

void protocol_monitor::violation(const char* text, const char* rule) {
  if (violated_) return;
  violated_ = true;
  const std::string message = std::string(target_socket.name()) + ": " + text + " (IEEE 1666-2011 " + rule + ")";
  SC_REPORT_ERROR(protocol_report, message.c_str());
}

tlm::tlm_sync_enum protocol_monitor::nb_transport_fw(tlm::tlm_generic_payload& p, tlm::tlm_phase& phase,
                                                     sc_core::sc_time& delay) {
  const call sent{phase, delay};
  if (!violated_) {
    if (phase == tlm::BEGIN_REQ) begin_request(p, delay);
    else if (phase == tlm::END_RESP) end_response(p, delay);
    else if (phase == tlm::END_REQ || phase == tlm::BEGIN_RESP || phase == tlm::UNINITIALIZED_PHASE)
      violation("the initiator sent a phase that belongs to the target", phase_order);
  }
  const tlm::tlm_sync_enum answer = pass_through::nb_transport_fw(p, phase, delay);
  if (violated_) return answer;
  returned(sent, answer, phase, delay);
  if (sent.phase == tlm::BEGIN_REQ) answered_request(p, answer, phase, delay);
  else if (sent.phase == tlm::END_RESP && answer == tlm::TLM_UPDATED)
    violation("END_RESP was answered with TLM_UPDATED", return_rule);
  return answer;
}

tlm::tlm_sync_enum protocol_monitor::nb_transport_bw(tlm::tlm_generic_payload& p, tlm::tlm_phase& phase,
                                                     sc_core::sc_time& delay) {
  const call sent{phase, delay};
  if (!violated_) {
    if (phase == tlm::END_REQ) end_request(p, delay);
    else if (phase == tlm::BEGIN_RESP) begin_response(p, delay);
    else if (phase == tlm::BEGIN_REQ || phase == tlm::END_RESP || phase == tlm::UNINITIALIZED_PHASE)
      violation("the target sent a phase that belongs to the initiator", phase_order);
  }
  const tlm::tlm_sync_enum answer = pass_through::nb_transport_bw(p, phase, delay);
  if (violated_) return answer;
  returned(sent, answer, phase, delay);
  if (sent.phase == tlm::BEGIN_RESP) answered_response(p, answer, phase, delay);
  else if (sent.phase == tlm::END_REQ && answer != tlm::TLM_ACCEPTED)
    violation("END_REQ was answered with something else than TLM_ACCEPTED", return_rule);
  return answer;
}

void protocol_monitor::returned(const call& sent, tlm::tlm_sync_enum answer, const tlm::tlm_phase& phase,
                                const sc_core::sc_time& delay) {
  if (answer == tlm::TLM_ACCEPTED && phase != sent.phase)
    violation("the phase was changed by a callee that returned TLM_ACCEPTED", "11.1.2, nb_transport: TLM_ACCEPTED");
  else if (answer == tlm::TLM_ACCEPTED && delay != sent.delay)
    violation("the delay was changed by a callee that returned TLM_ACCEPTED", "11.1.2, nb_transport: TLM_ACCEPTED");
  else if (delay < sent.delay) violation("a callee made the annotated delay smaller", timing_rule);
}

void protocol_monitor::begin_request(tlm::tlm_generic_payload& p, const sc_core::sc_time& delay) {
  if (states_.count(&p) != 0)
    return violation("BEGIN_REQ with a payload whose transaction is still outstanding", memory_management);
  if (requesting_ != nullptr) return violation("BEGIN_REQ before END_REQ of the request before", request_exclusion);
  check_manager(p);
  check_attributes(p);
  if (violated_) return;
  if (p.get_response_status() != tlm::TLM_INCOMPLETE_RESPONSE)
    return violation("the response status is not TLM_INCOMPLETE_RESPONSE at BEGIN_REQ", "14.17, response status");
  if (p.is_dmi_allowed()) return violation("the DMI allowed attribute is set at BEGIN_REQ", "14.16, DMI allowed");
  state s;
  s.last = sc_core::sc_time_stamp() + delay;
  s.command = p.get_command();
  s.data = p.get_data_ptr();
  s.enables = p.get_byte_enable_ptr();
  s.length = p.get_data_length();
  s.enable_length = p.get_byte_enable_length();
  s.width = p.get_streaming_width();
  if (p.is_write()) s.data_hash = hash_of(s.data, s.length);
  s.enable_hash = hash_of(s.enables, s.enable_length);
  states_.emplace(&p, s);
  requesting_ = &p;
  ++transactions_;
  ++level_;
}

void protocol_monitor::check_manager(const tlm::tlm_generic_payload& p) {
  if (!p.has_mm()) violation("a payload without a memory manager came by nb_transport", memory_management);
  else if (p.get_ref_count() < 1)
    violation("the payload's reference count is zero: acquire() was not called", memory_management);
}

void protocol_monitor::check_attributes(const tlm::tlm_generic_payload& p) {
  if (violated_ || (!p.is_read() && !p.is_write())) return;  // TLM_IGNORE_COMMAND: data attributes mean nothing here
  if (p.get_data_ptr() == nullptr) violation("the data pointer is null", "14.11, data pointer");
  else if (p.get_data_length() == 0) violation("the data length is zero", "14.12, data length");
  else if (p.get_streaming_width() == 0) violation("the streaming width is zero", "14.15, streaming width");
  else if (p.get_byte_enable_ptr() != nullptr && p.get_byte_enable_length() == 0)
    violation("the byte enable length is zero though there are byte enables", "14.14, byte enable length");
}

void protocol_monitor::check_unchanged(const tlm::tlm_generic_payload& p, const state& s) {
  if (violated_) return;
  if (p.get_command() != s.command) violation("the command was changed between phases", modifiability);
  else if (p.get_data_ptr() != s.data) violation("the data pointer was changed between phases", modifiability);
  else if (p.get_data_length() != s.length) violation("the data length was changed between phases", modifiability);
  else if (p.get_streaming_width() != s.width)
    violation("the streaming width was changed between phases", modifiability);
  else if (p.get_byte_enable_ptr() != s.enables || p.get_byte_enable_length() != s.enable_length ||
           hash_of(s.enables, s.enable_length) != s.enable_hash)
    violation("the byte enables were changed between phases", modifiability);
  else if (s.command == tlm::TLM_WRITE_COMMAND && hash_of(s.data, s.length) != s.data_hash)
    violation("the data of a write was changed between phases", modifiability);
}

void protocol_monitor::advance_time(state& s, const sc_core::sc_time& delay) {
  const sc_core::sc_time t = sc_core::sc_time_stamp() + delay;
  if (t < s.last) return violation("a phase lies earlier in time than the phase before it", timing_rule);
  s.last = t;
}

void protocol_monitor::end_request(tlm::tlm_generic_payload& p, const sc_core::sc_time& delay) {
  const auto it = states_.find(&p);
  if (it == states_.end() || it->second.at != stage::requested)
    return violation("END_REQ without a BEGIN_REQ that waits for it", phase_order);
  check_manager(p);
  check_unchanged(p, it->second);
  advance_time(it->second, delay);
  it->second.at = stage::accepted;
  requesting_ = nullptr;
}

void protocol_monitor::begin_response(tlm::tlm_generic_payload& p, const sc_core::sc_time& delay) {
  const auto it = states_.find(&p);
  if (it == states_.end() || it->second.at == stage::responding)
    return violation("BEGIN_RESP without a request that waits for it", phase_order);
  if (responding_ != nullptr) return violation("BEGIN_RESP before END_RESP of the response before", response_exclusion);
  check_manager(p);
  check_unchanged(p, it->second);
  if (violated_) return;
  if (p.get_response_status() == tlm::TLM_INCOMPLETE_RESPONSE)
    return violation("the response status is not set at BEGIN_RESP", "14.17, response status");
  advance_time(it->second, delay);
  if (requesting_ == &p) requesting_ = nullptr;  // implied END_REQ
  it->second.at = stage::responding;
  responding_ = &p;
}

void protocol_monitor::end_response(tlm::tlm_generic_payload& p, const sc_core::sc_time& delay) {
  const auto it = states_.find(&p);
  if (it == states_.end() || it->second.at != stage::responding)
    return violation("END_RESP without a BEGIN_RESP that waits for it", phase_order);
  check_manager(p);
  check_unchanged(p, it->second);
  advance_time(it->second, delay);
  forget(p);
}

void protocol_monitor::completed(tlm::tlm_generic_payload& p, const sc_core::sc_time& delay) {
  const auto it = states_.find(&p);
  if (it == states_.end()) return violation("a transaction was completed that is not outstanding", phase_order);
  check_unchanged(p, it->second);
  if (violated_) return;
  if (p.get_response_status() == tlm::TLM_INCOMPLETE_RESPONSE)
    return violation("the response status is not set at completion", "14.17, response status");
  advance_time(it->second, delay);
  forget(p);
}

void protocol_monitor::forget(tlm::tlm_generic_payload& p) {
  if (requesting_ == &p) requesting_ = nullptr;
  if (responding_ == &p) responding_ = nullptr;
  states_.erase(&p);
  --level_;
}

void protocol_monitor::answered_request(tlm::tlm_generic_payload& p, tlm::tlm_sync_enum answer,
                                        const tlm::tlm_phase& phase, const sc_core::sc_time& delay) {
  if (violated_) return;
  if (answer == tlm::TLM_COMPLETED) completed(p, delay);
  else if (answer == tlm::TLM_UPDATED && phase == tlm::END_REQ) end_request(p, delay);
  else if (answer == tlm::TLM_UPDATED && phase == tlm::BEGIN_RESP) begin_response(p, delay);
  else if (answer == tlm::TLM_UPDATED && (phase == tlm::BEGIN_REQ || phase == tlm::END_RESP))
    violation("BEGIN_REQ was answered with TLM_UPDATED and neither END_REQ nor BEGIN_RESP", return_rule);
}

void protocol_monitor::answered_response(tlm::tlm_generic_payload& p, tlm::tlm_sync_enum answer,
                                         const tlm::tlm_phase& phase, const sc_core::sc_time& delay) {
  if (violated_ || answer == tlm::TLM_ACCEPTED) return;
  if (answer == tlm::TLM_COMPLETED) {
    if (!completed_response_allowed_)
      return violation("BEGIN_RESP was answered with TLM_COMPLETED, on which some memories hang", return_rule);
    completed(p, delay);
  } else if (phase == tlm::END_RESP) {
    end_response(p, delay);
  } else if (phase == tlm::BEGIN_REQ || phase == tlm::END_REQ || phase == tlm::BEGIN_RESP) {
    violation("BEGIN_RESP was answered with TLM_UPDATED and not END_RESP", return_rule);
  }
}

void protocol_monitor::b_transport(tlm::tlm_generic_payload& p, sc_core::sc_time& delay) {
  if (!violated_) check_attributes(p);
  pass_through::b_transport(p, delay);
  if (!violated_ && p.get_response_status() == tlm::TLM_INCOMPLETE_RESPONSE)
    violation("the response status is not set when b_transport returns", "14.17, response status");
}

void protocol_monitor::exchange(state_image& image) {
  image.part(name());
  invariant(idle(), "a checkpoint while a protocol monitor has transactions");
  image(transactions_, violated_);
}

void protocol_monitor::trace(sc_core::sc_trace_file* file) const {
  sc_core::sc_trace(file, level_, std::string(name()) + ".transactions_in_flight");
}

}  // namespace heddle
