// SPDX-License-Identifier: MIT
// Models: no hardware; delays every phase of the transactions that pass through it by a random time, so that a unit
//   that relies on timing instead of the protocol fails.
// Sockets: target_socket (bind the initiator here), initiator_socket (to the target).
// One cycle: none; it acts on calls and at its own times. Blocking and debug transport are forwarded at once.
// Parameters: tlm.random_delay_cycles, tlm.random_delay_seed (one instance per memory socket).
// Source: IEEE 1666-2011, clause 15.
#pragma once

#include <cstdint>
#include <deque>
#include <queue>
#include <systemc>
#include <tlm>
#include <vector>

namespace heddle {

/// Keeps the order of requests and the order of responses, and obeys both exclusion rules on both sides. It accepts
/// every answer that the base protocol allows; the initiator always sees all four phases.
class random_delay : public sc_core::sc_module, private tlm::tlm_fw_transport_if<>, private tlm::tlm_bw_transport_if<> {
 public:
  /// Delays are between zero and `longest`, drawn by splitmix64 (Steele, Lea, Flood 2014) from `seed`.
  random_delay(sc_core::sc_module_name name, const sc_core::sc_time& longest, std::uint64_t seed);

  tlm::tlm_target_socket<32> target_socket;
  tlm::tlm_initiator_socket<32> initiator_socket;

  bool idle() const { return in_flight_ == 0; }
  /// Transactions begun.
  std::uint64_t transactions() const { return transactions_; }

 private:
  enum class step : std::uint8_t { begin_request, end_request, begin_response, end_response };
  struct due {
    sc_core::sc_time at;
    std::uint64_t order;
    step what;
    tlm::tlm_generic_payload* payload;
    bool owes_end;  // begin_response: the target expects END_RESP
    bool operator<(const due& o) const { return at != o.at ? at > o.at : order > o.order; }
  };
  struct response {
    tlm::tlm_generic_payload* payload;
    bool owes_end;
  };

  tlm::tlm_sync_enum nb_transport_fw(tlm::tlm_generic_payload& p, tlm::tlm_phase& phase,
                                     sc_core::sc_time& delay) override;
  tlm::tlm_sync_enum nb_transport_bw(tlm::tlm_generic_payload& p, tlm::tlm_phase& phase,
                                     sc_core::sc_time& delay) override;
  void b_transport(tlm::tlm_generic_payload& p, sc_core::sc_time& delay) override;
  bool get_direct_mem_ptr(tlm::tlm_generic_payload& p, tlm::tlm_dmi& dmi) override;
  unsigned transport_dbg(tlm::tlm_generic_payload& p) override;
  void invalidate_direct_mem_ptr(sc_dt::uint64 first, sc_dt::uint64 last) override;

  void plan(step what, tlm::tlm_generic_payload& p, const sc_core::sc_time& delay, bool owes_end = false);
  void work();
  void begin_request(tlm::tlm_generic_payload& p);
  void end_request(tlm::tlm_generic_payload& p);
  void accepted(tlm::tlm_generic_payload& p, const sc_core::sc_time& delay);
  void begin_response();
  void response_over();
  void leave(tlm::tlm_generic_payload& p);

  std::uint64_t longest_;
  std::uint64_t random_;
  sc_core::sc_event wake_;
  std::priority_queue<due> due_;
  std::uint64_t order_ = 0;
  tlm::tlm_generic_payload* requesting_ = nullptr;  // between BEGIN_REQ and END_REQ
  bool accepted_ = false;                           // its END_REQ is scheduled
  std::deque<response> responses_;                  // ready to be sent, in this order
  bool answering_ = false;                          // BEGIN_RESP of the first was sent, END_RESP is outstanding
  unsigned in_flight_ = 0;
  std::uint64_t transactions_ = 0;
};

}  // namespace heddle
