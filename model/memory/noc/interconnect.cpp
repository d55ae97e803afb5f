// SPDX-License-Identifier: MIT
#include "heddle/memory/noc/interconnect.h"

#include <algorithm>
#include <string>

#include "heddle/config/error.h"
#include "heddle/isa/opcode.h"
#include "heddle/memory/protocol/protocol_report.h"

namespace heddle {

namespace {

unsigned atomic_bytes(const atomic_request& a, bool request) {
  const unsigned element = isa::size_of(static_cast<isa::dtype>(a.type));
  const bool cas = static_cast<isa::atomic_op>(a.operation) == isa::atomic_op::cas;
  return a.count * element * (request && cas ? 2 : 1);
}

crossbar::shape request_shape(const gpu_config& c) {
  return {c.gpu.sm_count,
          c.memory.channels,
          c.interconnect.request_bytes_per_cycle,
          c.interconnect.latency_cycles,
          c.interconnect.input_queue_entries,
          c.interconnect.output_queue_entries};
}

crossbar::shape response_shape(const gpu_config& c) {
  return {c.memory.channels,
          c.gpu.sm_count,
          c.interconnect.response_bytes_per_cycle,
          c.interconnect.latency_cycles,
          c.interconnect.input_queue_entries,
          c.interconnect.output_queue_entries};
}

}  // namespace

interconnect::interconnect(sc_core::sc_module_name name, clock_domain& clock, const gpu_config& config)
    : sc_module(name),
      sm_socket("sm_socket", config.gpu.sm_count),
      slice_socket("slice_socket", config.memory.channels),
      map_(config),
      parameters_(config.interconnect),
      clock_(clock, *this),
      requests_(request_shape(config)),
      responses_(response_shape(config)),
      sm_ports_(config.gpu.sm_count),
      slice_ports_(config.memory.channels) {
  for (unsigned i = 0; i < sm_ports_.size(); ++i) {
    sm_ports_[i].owner = this;
    sm_ports_[i].index = i;
    sm_socket[i].bind(sm_ports_[i]);
  }
  for (unsigned m = 0; m < slice_ports_.size(); ++m) {
    slice_ports_[m].owner = this;
    slice_ports_[m].index = m;
    slice_socket[m].bind(slice_ports_[m]);
  }
}

interconnect::~interconnect() {
  // An aborted run leaves routes on payloads that outlive the interconnect.
  for (route_extension& r : routes_)
    if (r.payload != nullptr) r.payload->set_extension(r.outer);
}

unsigned interconnect::request_bytes(const tlm::tlm_generic_payload& payload, unsigned header_bytes) {
  if (payload.is_write()) return header_bytes + payload.get_data_length();
  if (payload.is_read()) return header_bytes;
  const auto* request = request_of(payload);
  return header_bytes + (request != nullptr && request->atomic != nullptr ? atomic_bytes(*request->atomic, true) : 0);
}

unsigned interconnect::response_bytes(const tlm::tlm_generic_payload& payload, unsigned header_bytes) {
  if (payload.is_write()) return header_bytes;
  if (payload.is_read() && payload.get_byte_enable_ptr() == nullptr) return header_bytes + payload.get_data_length();
  const auto* request = request_of(payload);
  if (payload.is_read()) {
    if (request != nullptr)
      return header_bytes + static_cast<unsigned>(__builtin_popcount(request->sectors)) * sector_bytes;
    return header_bytes + payload.get_data_length();
  }
  const bool returns = request != nullptr && request->atomic != nullptr && request->atomic->returns;
  return header_bytes + (returns ? atomic_bytes(*request->atomic, false) : 0);
}

interconnect::route_state& interconnect::open_route(tlm::tlm_generic_payload& p, unsigned sm, unsigned slice) {
  ++open_routes_;
  if (line_payload* own = line_payload::if_one(p); own != nullptr && own->route.owner == nullptr) {
    own->route = {this, sm, slice, 0};
    return own->route;
  }
  if (free_routes_.empty()) free_routes_.push_back(&routes_.emplace_back());
  route_extension& r = *free_routes_.back();
  free_routes_.pop_back();
  r.route = {this, sm, slice, 0};
  r.payload = &p;
  r.outer = p.set_extension(&r);
  return r.route;
}

interconnect::route_state& interconnect::route_of(tlm::tlm_generic_payload& p) const {
  if (line_payload* own = line_payload::if_one(p); own != nullptr && own->route.owner == this) return own->route;
  route_extension* r = p.get_extension<route_extension>();
  invariant(r != nullptr && r->payload == &p && r->route.owner == this,
            "interconnect: a response to a transaction that is not outstanding");
  return r->route;
}

void interconnect::close_route(tlm::tlm_generic_payload& p) {
  --open_routes_;
  if (line_payload* own = line_payload::if_one(p); own != nullptr && own->route.owner == this) {
    own->route.owner = nullptr;
    return;
  }
  route_extension* r = p.get_extension<route_extension>();
  p.set_extension(r->outer);
  r->outer = nullptr;
  r->payload = nullptr;
  free_routes_.push_back(r);
}

tlm::tlm_sync_enum interconnect::from_sm(sm_port& port, tlm::tlm_generic_payload& p, tlm::tlm_phase& phase,
                                         sc_core::sc_time& delay) {
  const cycle_t arrival = clock_.domain().arrival(delay);
  if (phase == tlm::BEGIN_REQ) {
    begin_request(port, p, arrival, delay);
    if (port.held == &p) return tlm::TLM_ACCEPTED;
    phase = tlm::END_REQ;
    return tlm::TLM_UPDATED;
  }
  if (phase == tlm::END_RESP) {
    if (port.answering != &p) SC_REPORT_ERROR(protocol_report, "END_RESP for a transaction that has no BEGIN_RESP");
    finish(port, p, arrival);
    clock_.wake_at(arrival);
    return tlm::TLM_COMPLETED;
  }
  return tlm::TLM_ACCEPTED;  // an ignorable phase
}

void interconnect::begin_request(sm_port& port, tlm::tlm_generic_payload& p, cycle_t arrival,
                                 const sc_core::sc_time& delay) {
  if (port.held != nullptr) SC_REPORT_ERROR(protocol_report, "BEGIN_REQ before END_REQ of the request before");
  p.acquire();
  ++in_flight_;
  route_state& route = open_route(p, port.index, map_.channel_of(p.get_address()));
  if (port.index < announced_ports_) {
    route.number = port.first_open + port.earliest.size();
    port.earliest.push_back(arrival + minimum_round_trip_);
  }
  if (requests_.reserve(port.index, clock_.cycle())) {
    push_request(route, p, arrival);
  } else {
    port.held = &p;
    port.held_from = arrival;
    ++held_now_;
    port.undecided = arrival > clock_.cycle() + 1;
    if (port.undecided) {
      port.asked_at = sc_core::sc_time_stamp() + delay;
      clock_.wake_at(arrival - 1);
    } else {
      ++held_requests_;
    }
  }
  clock_.wake_at(arrival);
}

void interconnect::push_request(const route_state& route, tlm::tlm_generic_payload& p, cycle_t arrival) {
  requests_.push(route.sm, route.slice, request_bytes(p, parameters_.header_bytes), p, arrival);
}

tlm::tlm_sync_enum interconnect::from_slice(slice_port& port, tlm::tlm_generic_payload& p, tlm::tlm_phase& phase,
                                            sc_core::sc_time& delay) {
  const cycle_t arrival = clock_.domain().arrival(delay);
  if (phase == tlm::END_REQ) {
    if (port.asking == &p) port.asking = nullptr;
    port.free_at = arrival;
    clock_.wake_at(arrival);
    return tlm::TLM_ACCEPTED;
  }
  if (phase == tlm::BEGIN_RESP) {
    if (port.asking == &p) {  // BEGIN_RESP implies END_REQ
      port.asking = nullptr;
      port.free_at = arrival;
    }
    if (!begin_response(port, p, arrival)) return tlm::TLM_ACCEPTED;
    phase = tlm::END_RESP;
    return tlm::TLM_UPDATED;
  }
  return tlm::TLM_ACCEPTED;
}

bool interconnect::begin_response(slice_port& port, tlm::tlm_generic_payload& p, cycle_t arrival) {
  if (port.held != nullptr) SC_REPORT_ERROR(protocol_report, "BEGIN_RESP before END_RESP of the response before");
  clock_.wake_at(arrival);
  if (responses_.reserve(port.index, clock_.cycle())) {
    push_response(port.index, p, arrival);
    return true;
  }
  port.held = &p;
  port.held_from = arrival;
  ++held_now_;
  ++held_responses_;
  return false;
}

void interconnect::push_response(unsigned slice, tlm::tlm_generic_payload& p, cycle_t arrival) {
  responses_.push(slice, route_of(p).sm, response_bytes(p, parameters_.header_bytes), p, arrival);
}

void interconnect::on_cycle(cycle_t cycle) {
  cycle_t next = std::min(deliver_requests(cycle), deliver_responses(cycle));
  next = std::min(next, requests_.arbitrate(cycle));
  next = std::min(next, responses_.arbitrate(cycle));
  if (announced_ports_ != 0) announce();
  if (held_now_ != 0) {
    next = std::min(next, admit_requests(cycle));
    next = std::min(next, admit_responses(cycle));
  }
  if (next != never) clock_.wake_at(std::max(next, cycle + 1));
}

cycle_t interconnect::deliver_requests(cycle_t now) {
  cycle_t next = never;
  requests_.for_each_occupied([&](unsigned m) {
    slice_port& port = slice_ports_[m];
    if (port.asking == nullptr && std::max(requests_.due(m), port.free_at) <= now) send_request(port, now);
    if (port.asking == nullptr) next = std::min(next, std::max(requests_.due(m), port.free_at));
  });
  return next;
}

void interconnect::send_request(slice_port& port, cycle_t now) {
  tlm::tlm_generic_payload& p = *requests_.pop(port.index, now);
  tlm::tlm_phase phase = tlm::BEGIN_REQ;
  sc_core::sc_time delay = sc_core::SC_ZERO_TIME;
  port.asking = &p;
  const tlm::tlm_sync_enum answer = port.slice.of(slice_socket[port.index]).nb_transport_fw(p, phase, delay);
  if (answer == tlm::TLM_ACCEPTED) return;
  const cycle_t arrival = clock_.domain().arrival(delay);
  port.asking = nullptr;
  port.free_at = arrival;
  if (answer == tlm::TLM_UPDATED && phase == tlm::END_REQ) return;
  const bool taken = begin_response(port, p, arrival);
  if (answer == tlm::TLM_COMPLETED && !taken) {
    // No phase is left to apply back-pressure with: the response stays the port's held response and needs no END_RESP.
    SC_REPORT_ERROR(protocol_report, "a slice completed a request at once while its response port was full");
  }
  if (answer == tlm::TLM_UPDATED && taken) {
    phase = tlm::END_RESP;
    port.slice.of(slice_socket[port.index]).nb_transport_fw(p, phase, delay);
  }
}

cycle_t interconnect::deliver_responses(cycle_t now) {
  cycle_t next = never;
  responses_.for_each_occupied([&](unsigned i) {
    sm_port& port = sm_ports_[i];
    if (port.answering == nullptr && std::max(responses_.due(i), port.free_at) <= now) send_response(port, now);
    if (port.answering == nullptr) next = std::min(next, std::max(responses_.due(i), port.free_at));
  });
  return next;
}

void interconnect::send_response(sm_port& port, cycle_t now) {
  const cycle_t due = responses_.due(port.index);
  tlm::tlm_generic_payload* const payload = responses_.pop(port.index, now);
  invariant(port.index >= announced_ports_ || now == due,
            "interconnect: a response has not arrived in the cycle that was announced");
  if (port.index < announced_ports_) {  // the payload was taken out and released when the response was announced
    port.free_at = now + 1;
    --announced_;
    --in_flight_;
    return;
  }
  tlm::tlm_generic_payload& p = *payload;
  tlm::tlm_phase phase = tlm::BEGIN_RESP;
  sc_core::sc_time delay = sc_core::SC_ZERO_TIME;
  port.answering = &p;
  const tlm::tlm_sync_enum answer = port.sm.of(sm_socket[port.index]).nb_transport_bw(p, phase, delay);
  if (answer != tlm::TLM_ACCEPTED && port.answering == &p) finish(port, p, clock_.domain().arrival(delay));
}

void interconnect::announce_responses(unsigned ports, unsigned slice_cycles) {
  announced_ports_ = ports;
  minimum_round_trip_ = std::max(1u, parameters_.latency_cycles) - 1 + slice_cycles + 1;
  responses_.keep_grants();
}

cycle_t interconnect::next_response(unsigned sm, cycle_t now) const {
  const sm_port& port = sm_ports_[sm];
  if (port.earliest.empty()) return never;
  return std::max(port.earliest.front(), now) + std::max(1u, parameters_.latency_cycles) - 1;
}

void interconnect::announce() {
  for (const crossbar::grant_record& g : responses_.granted()) {
    if (g.output >= announced_ports_) continue;
    sm_port& port = sm_ports_[g.output];
    tlm::tlm_generic_payload& p = responses_.take(g);
    port.earliest[route_of(p).number - port.first_open] = never;
    for (; !port.earliest.empty() && port.earliest.front() == never; ++port.first_open) port.earliest.pop_front();
    tlm::tlm_phase phase = tlm::BEGIN_RESP;
    sc_core::sc_time delay = clock_.domain().delay_until(g.due);
    const tlm::tlm_sync_enum answer = port.sm.of(sm_socket[g.output]).nb_transport_bw(p, phase, delay);
    invariant(answer == tlm::TLM_COMPLETED || (answer == tlm::TLM_UPDATED && phase == tlm::END_RESP),
              "interconnect: an announced response was not taken by return");
    close_route(p);
    ++announced_;
    p.release();
  }
}

void interconnect::finish(sm_port& port, tlm::tlm_generic_payload& p, cycle_t free_at) {
  port.answering = nullptr;
  port.free_at = free_at;
  close_route(p);
  --in_flight_;
  p.release();
}

cycle_t interconnect::admit_requests(cycle_t now) {
  cycle_t next = never;
  for (sm_port& port : sm_ports_) {
    if (port.held == nullptr) continue;
    if (port.undecided) {
      if (port.held_from > now + 1) continue;  // its departure time lies ahead; on_cycle is scheduled for then
      port.undecided = false;
      if (requests_.reserve(port.index, now)) {
        admit(port, port.held_from, port.asked_at - sc_core::sc_time_stamp());
        continue;
      }
      ++held_requests_;
    }
    if (port.held_from > now || !requests_.reserve(port.index, now)) {
      // Without room only a grant helps, and on_cycle runs this after every grant.
      if (requests_.has_room(port.index)) next = std::min(next, std::max(port.held_from, now + 1));
      continue;
    }
    admit(port, now + 1, sc_core::SC_ZERO_TIME);
    next = now + 1;
  }
  return next;
}

// Moves the request held in front of a port into the reserved slot.
void interconnect::admit(sm_port& port, cycle_t arrival, sc_core::sc_time delay) {
  tlm::tlm_generic_payload& p = *port.held;
  port.held = nullptr;
  --held_now_;
  push_request(route_of(p), p, arrival);
  tlm::tlm_phase phase = tlm::END_REQ;
  port.sm.of(sm_socket[port.index]).nb_transport_bw(p, phase, delay);
}

cycle_t interconnect::admit_responses(cycle_t now) {
  cycle_t next = never;
  for (slice_port& port : slice_ports_) {
    if (port.held == nullptr) continue;
    if (port.held_from > now || !responses_.reserve(port.index, now)) {
      // Without room only a grant helps, and on_cycle runs this after every grant.
      if (responses_.has_room(port.index)) next = std::min(next, std::max(port.held_from, now + 1));
      continue;
    }
    tlm::tlm_generic_payload& p = *port.held;
    port.held = nullptr;
    --held_now_;
    push_response(port.index, p, now + 1);
    next = now + 1;
    tlm::tlm_phase phase = tlm::END_RESP;
    sc_core::sc_time delay = sc_core::SC_ZERO_TIME;
    port.slice.of(slice_socket[port.index]).nb_transport_fw(p, phase, delay);
  }
  return next;
}

void interconnect::trace(sc_core::sc_trace_file* file) const {
  const std::string base = name();
  for (unsigned i = 0; i < sm_ports_.size(); ++i) {
    sc_core::sc_trace(file, requests_.input_level(i), base + ".sm" + std::to_string(i) + "_requests_waiting");
    sc_core::sc_trace(file, responses_.output_level(i), base + ".sm" + std::to_string(i) + "_responses_in_flight");
  }
  for (unsigned m = 0; m < slice_ports_.size(); ++m) {
    sc_core::sc_trace(file, requests_.output_level(m), base + ".slice" + std::to_string(m) + "_requests_in_flight");
    sc_core::sc_trace(file, responses_.input_level(m), base + ".slice" + std::to_string(m) + "_responses_waiting");
  }
}

void interconnect::check_invariants() const {
  requests_.check_invariants();
  responses_.check_invariants();
  invariant(open_routes_ + announced_ == in_flight_,
            "interconnect: open passages and announced responses = transactions in flight");
}

}  // namespace heddle
