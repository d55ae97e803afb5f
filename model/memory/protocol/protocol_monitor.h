// SPDX-License-Identifier: MIT
// Models: no hardware; checks that both sides of a socket obey the base protocol, and forwards every call.
// Sockets: target_socket (bind the initiator here), initiator_socket (to the target).
// One cycle: none; it acts on calls and adds no time.
// Parameters: tlm.check puts one on every memory socket. Source: IEEE 1666-2011, clauses 11, 14 and 15.
#pragma once

#include <cstdint>
#include <string>
#include <systemc>
#include <tlm>
#include <unordered_map>

#include "heddle/tlm/kernel/state_image.h"
#include "heddle/tlm/port/pass_through.h"

namespace heddle {

/// Reports the first violation by SC_REPORT_ERROR("/heddle/protocol", ...), naming the socket and the rule, and then
/// stops checking. Any number of transactions may be in flight.
class protocol_monitor : public sc_core::sc_module, private pass_through<> {
 public:
  explicit protocol_monitor(sc_core::sc_module_name name);

  tlm::tlm_target_socket<32> target_socket;
  tlm::tlm_initiator_socket<32> initiator_socket;

  /// Heddle's initiators never answer BEGIN_RESP with TLM_COMPLETED, which is legal but hangs some memories. This call
  /// allows it for other initiators.
  void allow_completed_response() { completed_response_allowed_ = true; }

  [[nodiscard]] std::uint64_t transactions() const { return transactions_; }
  [[nodiscard]] std::size_t in_flight() const { return states_.size(); }
  [[nodiscard]] bool idle() const { return states_.empty(); }
  /// True after a violation was reported.
  [[nodiscard]] bool violated() const { return violated_; }
  void trace(sc_core::sc_trace_file* file) const override;
  /// While it is idle.
  void exchange(state_image& image);

 private:
  enum class stage : std::uint8_t { requested, accepted, responding };

  /// A transaction in flight, with the attributes that must not change.
  struct state {
    stage at = stage::requested;
    sc_core::sc_time last;  // time of its last phase, including the delay
    tlm::tlm_command command = tlm::TLM_IGNORE_COMMAND;
    std::uint8_t* data = nullptr;
    std::uint8_t* enables = nullptr;
    unsigned length = 0;
    unsigned enable_length = 0;
    unsigned width = 0;
    std::uint64_t data_hash = 0;  // of a write's data
    std::uint64_t enable_hash = 0;
  };

  tlm::tlm_sync_enum nb_transport_fw(tlm::tlm_generic_payload& p, tlm::tlm_phase& phase,
                                     sc_core::sc_time& delay) override;
  tlm::tlm_sync_enum nb_transport_bw(tlm::tlm_generic_payload& p, tlm::tlm_phase& phase,
                                     sc_core::sc_time& delay) override;
  void b_transport(tlm::tlm_generic_payload& p, sc_core::sc_time& delay) override;

  /// The arguments of a forwarded call, to be compared with what the callee returns.
  struct call {
    tlm::tlm_phase phase;
    sc_core::sc_time delay;
  };

  void begin_request(tlm::tlm_generic_payload& p, const sc_core::sc_time& delay);
  void end_request(tlm::tlm_generic_payload& p, const sc_core::sc_time& delay);
  void begin_response(tlm::tlm_generic_payload& p, const sc_core::sc_time& delay);
  void end_response(tlm::tlm_generic_payload& p, const sc_core::sc_time& delay);
  void completed(tlm::tlm_generic_payload& p, const sc_core::sc_time& delay);
  void answered_request(tlm::tlm_generic_payload& p, tlm::tlm_sync_enum answer, const tlm::tlm_phase& phase,
                        const sc_core::sc_time& delay);
  void answered_response(tlm::tlm_generic_payload& p, tlm::tlm_sync_enum answer, const tlm::tlm_phase& phase,
                         const sc_core::sc_time& delay);
  void returned(const call& sent, tlm::tlm_sync_enum answer, const tlm::tlm_phase& phase,
                const sc_core::sc_time& delay);
  void check_attributes(const tlm::tlm_generic_payload& p);
  void check_manager(const tlm::tlm_generic_payload& p);
  void check_unchanged(const tlm::tlm_generic_payload& p, const state& s);
  void advance_time(state& s, const sc_core::sc_time& delay);
  void forget(tlm::tlm_generic_payload& p);
  void violation(const char* text, const char* rule);

  std::unordered_map<tlm::tlm_generic_payload*, state> states_;
  tlm::tlm_generic_payload* requesting_ = nullptr;  // between BEGIN_REQ and END_REQ
  tlm::tlm_generic_payload* responding_ = nullptr;  // between BEGIN_RESP and END_RESP
  unsigned level_ = 0;
  std::uint64_t transactions_ = 0;
  bool completed_response_allowed_ = false;
  bool violated_ = false;
};

}  // namespace heddle
