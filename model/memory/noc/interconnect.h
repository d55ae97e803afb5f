// SPDX-License-Identifier: MIT
// Models: the crossbar between the SMs and the L2 slices: bandwidth per port, latency, queues, back-pressure, order.
// Sockets: sm_socket[i] (target, one per SM), slice_socket[m] (initiator, one per memory channel); AT base protocol.
// One cycle: complete packets leave the outputs; each free output is granted to one input; blocked senders are
//   admitted.
// Parameters: [interconnect], gpu.sm_count, memory.channels, l2.interleave_bytes, l2.hash.
// Source: docs/model/memory.md; input-queued crossbar with one queue per output and round-robin grants.
#pragma once

#include <algorithm>
#include <cstdint>
#include <deque>
#include <memory>
#include <systemc>
#include <tlm>
#include <vector>

#include "heddle/config/parameters.h"
#include "heddle/memory/common/address_map.h"
#include "heddle/memory/common/index_set.h"
#include "heddle/memory/noc/crossbar.h"
#include "heddle/tlm/kernel/clock_domain.h"
#include "heddle/tlm/kernel/state_image.h"
#include "heddle/tlm/port/at_initiator_port.h"
#include "heddle/tlm/port/at_target_port.h"
#include "heddle/tlm/protocol/gpu_request.h"

namespace heddle {

/// Without load, a request whose BEGIN_REQ comes in cycle t reaches the slice (BEGIN_REQ) in cycle t + latency_cycles +
/// (its transfer cycles - 1); the same holds for a response. announce_responses() makes the interconnect announce
/// responses when they are granted, with the arrival as annotated delay.
class interconnect : public sc_core::sc_module, public clocked {
 public:
  interconnect(sc_core::sc_module_name name, clock_domain& clock, const gpu_config& config);
  ~interconnect() override;

  sc_core::sc_vector<tlm::tlm_target_socket<32>> sm_socket;
  sc_core::sc_vector<tlm::tlm_initiator_socket<32>> slice_socket;

  void on_cycle(cycle_t cycle) override;
  void trace(sc_core::sc_trace_file* file) const override;

  [[nodiscard]] bool idle() const { return in_flight_ == 0 && requests_.idle() && responses_.idle(); }
  /// For a reset, when idle: as constructed, but for counters.
  void restart() {
    requests_.restart();
    responses_.restart();
  }
  /// While no payload has a route that is not its own (has_image). The payloads have been named.
  [[nodiscard]] bool has_image() const { return free_routes_.size() == routes_.size(); }
  void exchange(state_image& image);
  /// Throws internal_error if a packet was lost or duplicated.
  void check_invariants() const;

  /// Both directions, with their packet, byte and busy counters.
  [[nodiscard]] const crossbar& requests() const { return requests_; }
  [[nodiscard]] const crossbar& responses() const { return responses_; }
  /// Requests that waited in front of a full input buffer.
  [[nodiscard]] std::uint64_t held_requests() const { return held_requests_; }
  [[nodiscard]] const address_map& map() const { return map_; }

  /// From now on, the first `ports` SM ports receive each BEGIN_RESP when it is granted, with the remaining time as
  /// annotated delay. The initiators bound there must answer BEGIN_RESP by return. Assumes that slices take at least
  /// `slice_cycles` to answer and packets at least two cycles to cross. It does not change the cycle in which anything
  /// arrives.
  void announce_responses(unsigned ports, unsigned slice_cycles);
  /// Requests of SM port `sm` come from a logical process with this outbox: whether a request is accepted is decided at
  /// once, and everything else follows when the outbox is applied.
  void defer_requests(unsigned sm, outbox& effects) { sm_ports_[sm]->requests.connect(effects); }
  /// With announced responses: the earliest cycle in which a response that is not announced yet can reach an SM port;
  /// never: all are announced.
  [[nodiscard]] cycle_t next_response(unsigned sm, cycle_t now) const;
  /// The least of these for any SM port.
  [[nodiscard]] cycle_t soonest_response(cycle_t now) const {
    return now + std::max(1u, parameters_.latency_cycles) - 1;
  }
  /// True if the next request of an SM port is certain to be accepted at once, whenever it arrives; `now`: the present
  /// cycle of this domain. Otherwise a request with an annotated delay gets its END_REQ when the delay is over,
  /// annotated in the same way if there was room.
  [[nodiscard]] bool has_room(unsigned sm, cycle_t now) const {
    return sm_ports_[sm]->port.held() == nullptr && requests_.has_visible_room(sm, now);
  }

  /// Bytes of a packet on the wires: the header and the data that travels in this direction; `mask_bytes`: what a store
  /// of parts of sectors carries besides.
  static unsigned request_bytes(const tlm::tlm_generic_payload& payload, unsigned header_bytes, unsigned mask_bytes);
  static unsigned response_bytes(const tlm::tlm_generic_payload& payload, unsigned header_bytes);

 private:
  using route_state = line_payload::route_state;
  /// Route of a payload that has no route field of its own, or whose field another interconnect uses; attached while
  /// the payload is in this interconnect.
  struct route_extension : tlm::tlm_extension<route_extension> {
    route_state route;
    route_extension* outer = nullptr;             // route of another interconnect that the payload passed before
    tlm::tlm_generic_payload* payload = nullptr;  // null: not in use
    [[nodiscard]] tlm::tlm_extension_base* clone() const override { return nullptr; }
    void copy_from(const tlm::tlm_extension_base&) override {}
    void free() override { payload = nullptr; }  // the payload is being destroyed; the pool keeps the route
  };
  struct request {
    tlm::tlm_generic_payload* payload;
    cycle_t arrival;
    std::uint64_t number;  // among the requests of its port
    bool accepted;         // a slot is reserved; else the port holds the request
  };
  struct sm_port : at_target_unit {
    sm_port(interconnect& owner, unsigned index);
    bool accept(tlm::tlm_generic_payload& p, cycle_t arrival, bool) { return owner.accept_request(*this, p, arrival); }
    void request_held(const sc_core::sc_time& at) { sent = at; }
    void response_ended(tlm::tlm_generic_payload& p) {
      owner.close_route(p);
      owner.in_flight_ -= index >= owner.announced_ports_;  // an announced response has yet to arrive
    }
    cycle_t arrival_after(const clock_port& clock, const sc_core::sc_time& delay) {
      return clock.domain().arrival(delay, times);
    }
    void wake_for_held(clock_port&, cycle_t) {}  // take_request does
    void take(const request& r) { owner.take_request(*this, r); }
    void exchange(state_image& image);
    void b_transport(tlm::tlm_generic_payload& p, sc_core::sc_time& delay) { owner.blocking(p, delay); }
    unsigned transport_dbg(tlm::tlm_generic_payload& p) { return owner.debug(p); }

    interconnect& owner;
    unsigned index;
    at_target_port<sm_port> port;
    // A request whose annotated time lies in the future is held until then, when it is decided whether there is room.
    bool undecided = false;
    sc_core::sc_time sent;
    std::uint64_t first_open = 0;  // number of the oldest request whose response is not announced
    std::deque<cycle_t> earliest;  // by request from that one on: earliest grant of the response; never: granted
    cycle_cache times;
    deferred_effects<sm_port, request, &sm_port::take> requests{*this};
  };
  struct slice_port : at_initiator_unit {
    slice_port(interconnect& owner, unsigned index);
    void request_ended(cycle_t free_at) { owner.clock_.wake_at(free_at); }
    bool take_response(tlm::tlm_generic_payload& p, cycle_t arrival) { return owner.take_response(*this, p, arrival); }
    void exchange(state_image& image) { image(port, held_from); }

    interconnect& owner;
    unsigned index;
    at_initiator_port<slice_port> port;
    cycle_t held_from = 0;  // of the response that waits for END_RESP
  };

  void blocking(tlm::tlm_generic_payload& p, sc_core::sc_time& delay);
  unsigned debug(tlm::tlm_generic_payload& p);

  bool accept_request(sm_port& sm, tlm::tlm_generic_payload& p, cycle_t arrival);
  void take_request(sm_port& sm, const request& r);
  bool take_response(slice_port& slice, tlm::tlm_generic_payload& p, cycle_t arrival);
  void push_request(const route_state& route, tlm::tlm_generic_payload& p, cycle_t arrival);
  void push_response(unsigned slice, tlm::tlm_generic_payload& p, cycle_t arrival);
  cycle_t deliver_requests(cycle_t now);
  cycle_t deliver_responses(cycle_t now);
  void send_response(sm_port& sm, cycle_t now);
  void announce();
  cycle_t admit_requests(cycle_t now);
  void admit(sm_port& sm, cycle_t arrival, const sc_core::sc_time& delay);
  cycle_t admit_responses(cycle_t now);
  route_state& open_route(tlm::tlm_generic_payload& p, const route_state& route);
  route_state& route_of(tlm::tlm_generic_payload& p) const;
  void close_route(tlm::tlm_generic_payload& p);

  address_map map_;
  interconnect_parameters parameters_;
  clock_port clock_;
  crossbar requests_;
  crossbar responses_;
  std::vector<std::unique_ptr<sm_port>> sm_ports_;
  std::vector<std::unique_ptr<slice_port>> slice_ports_;
  std::deque<route_extension> routes_;
  std::vector<route_extension*> free_routes_;
  unsigned announced_ports_ = 0;
  cycle_t minimum_round_trip_ = 0;  // least cycles from the arrival of a request to that of its response here
  index_set held_sms_;              // ports with a request that waits for room
  index_set held_slices_;           // ports with a response that waits for room
  unsigned held_now_ = 0;           // in both
  unsigned open_routes_ = 0;
  unsigned in_flight_ = 0;
  unsigned announced_ = 0;  // in flight as announced responses that have not arrived yet; their payloads are not held
  std::uint64_t held_requests_ = 0;
};

}  // namespace heddle
