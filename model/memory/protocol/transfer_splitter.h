// SPDX-License-Identifier: MIT
// Models: the narrow port of a memory: splits transfers for a memory that does not accept long bursts or byte enables.
// Sockets: target_socket (bind the initiator here), initiator_socket (to the memory).
// One cycle: none; it forwards in delta cycles, one part after another.
// Parameters: memory.max_transfer_bytes, memory.byte_enables (one instance per external memory socket).
// Source: docs/library/integration.md.
#pragma once

#include <cstdint>
#include <deque>
#include <list>
#include <memory>
#include <systemc>
#include <tlm>
#include <vector>

#include "heddle/tlm/kernel/event_clock.h"
#include "heddle/tlm/port/at_initiator_port.h"
#include "heddle/tlm/port/at_target_port.h"

namespace heddle {

/// Splits each transfer into naturally aligned transfers of power-of-two size, in address order. The whole is answered
/// when all parts are, with the first error if there is one. Bytes are not copied: parts point into the whole's data
/// and hold a reference to it. Debug transport and DMI are forwarded unchanged.
class transfer_splitter : public sc_core::sc_module, private at_target_unit, private at_initiator_unit {
 public:
  /// `most_bytes`: the longest transfer, a power of two. Without `byte_enables`, runs of enabled bytes become separate
  /// transfers. Throws input_error.
  transfer_splitter(sc_core::sc_module_name name, unsigned most_bytes, bool byte_enables);
  ~transfer_splitter() override;

  tlm::tlm_target_socket<32> target_socket;
  tlm::tlm_initiator_socket<32> initiator_socket;

  [[nodiscard]] bool idle() const { return wholes_.empty(); }

 private:
  struct run {
    unsigned first;
    unsigned length;
    bool plain;  // all its bytes are enabled
  };
  struct whole {
    tlm::tlm_generic_payload* payload = nullptr;
    sc_core::sc_time ready;  // earliest time: first of its parts, then of its response
    std::vector<run> runs;
    std::size_t sent = 0;
    std::size_t answered = 0;
    tlm::tlm_response_status status = tlm::TLM_OK_RESPONSE;
    bool accepted = false;  // END_REQ was sent
  };
  struct part;
  struct part_pool;

  friend class at_target_port<transfer_splitter, event_clock>;
  bool accept(tlm::tlm_generic_payload& p, const sc_core::sc_time& at, bool again);
  void response_ended(tlm::tlm_generic_payload& p);
  void b_transport(tlm::tlm_generic_payload& p, sc_core::sc_time& delay);
  unsigned transport_dbg(tlm::tlm_generic_payload& p) { return initiator_socket->transport_dbg(p); }
  bool get_direct_mem_ptr(tlm::tlm_generic_payload& p, tlm::tlm_dmi& dmi) {
    return initiator_socket->get_direct_mem_ptr(p, dmi);
  }
  friend class at_initiator_port<transfer_splitter, event_clock>;
  void request_ended(const sc_core::sc_time& free_at) { clock_.wake_at(free_at); }
  bool take_response(tlm::tlm_generic_payload& q, const sc_core::sc_time& at);
  void invalidate_direct_mem_ptr(sc_dt::uint64 first, sc_dt::uint64 last) {
    target_socket->invalidate_direct_mem_ptr(first, last);
  }

  [[nodiscard]] std::vector<run> runs_of(const tlm::tlm_generic_payload& p) const;
  void fill(part& q, const tlm::tlm_generic_payload& p, const run& r) const;
  void work();
  bool send_part(const sc_core::sc_time& now);
  bool end_request(const sc_core::sc_time& now);
  bool begin_response(const sc_core::sc_time& now);

  unsigned most_;
  bool byte_enables_;
  std::unique_ptr<part_pool> pool_;
  std::list<whole> wholes_;                          // in the order of requests; parts point to them
  whole* requesting_ = nullptr;                      // between BEGIN_REQ and END_REQ
  std::vector<tlm::tlm_generic_payload*> answered_;  // answered parts that are not released yet
  sc_core::sc_event wake_;
  event_clock clock_{wake_};
  at_target_port<transfer_splitter, event_clock> target_;
  at_initiator_port<transfer_splitter, event_clock> memory_;
};

}  // namespace heddle
