// SPDX-License-Identifier: MIT
#include "heddle/memory/noc/interconnect.h"

#include <algorithm>
#include <string>

#include "heddle/config/error.h"
#include "heddle/config/sm_places.h"
#include "heddle/isa/opcode.h"

namespace heddle {

namespace {

unsigned atomic_bytes(const atomic_request& a, bool request) {
  const unsigned element = isa::size_of(static_cast<isa::dtype>(a.type));
  const bool cas = static_cast<isa::atomic_op>(a.operation) == isa::atomic_op::cas;
  return a.count * element * (request && cas ? 2 : 1);
}

// The port of an SM moves `sm_bytes` in each core cycle; 0: what a slice's port moves in a cycle of the interconnect.
crossbar::port_rate sm_port_rate(const gpu_config& c, unsigned sm_bytes, unsigned slice_bytes) {
  if (sm_bytes == 0) return {slice_bytes};
  return {sm_bytes, c.interconnect.clock_mhz / c.gpu.core_clock_mhz};
}

crossbar::shape request_shape(const gpu_config& c) {
  return {c.gpu.sm_count,
          slices_of(c),
          sm_port_rate(c, c.interconnect.sm_request_bytes_per_cycle, c.interconnect.request_bytes_per_cycle),
          {c.interconnect.request_bytes_per_cycle},
          c.interconnect.latency_cycles,
          c.interconnect.input_queue_entries,
          c.interconnect.output_queue_entries};
}

std::vector<crossbar::shared_ports> shared_response_ports(const gpu_config& c) {
  const std::vector<sm_place> places = places_of_sms(c);
  std::vector<crossbar::shared_ports> all;
  const auto add = [&](unsigned bytes, unsigned sm_place::*port) {
    if (bytes == 0) return;
    crossbar::shared_ports ports = {{}, sm_port_rate(c, bytes, bytes)};
    for (const sm_place& at : places) ports.of_output.push_back(at.*port);
    all.push_back(std::move(ports));
  };
  add(c.interconnect.cpc_response_bytes_per_cycle, &sm_place::cpc);
  add(c.interconnect.gpc_response_bytes_per_cycle, &sm_place::gpc);
  return all;
}

crossbar::shape response_shape(const gpu_config& c) {
  return {slices_of(c),
          c.gpu.sm_count,
          {c.interconnect.response_bytes_per_cycle},
          sm_port_rate(c, c.interconnect.sm_response_bytes_per_cycle, c.interconnect.response_bytes_per_cycle),
          c.interconnect.latency_cycles,
          c.interconnect.input_queue_entries,
          c.interconnect.output_queue_entries,
          shared_response_ports(c)};
}

}  // namespace

interconnect::interconnect(sc_core::sc_module_name name, clock_domain& clock, const gpu_config& config)
    : sc_module(name),
      sm_socket("sm_socket", config.gpu.sm_count),
      slice_socket("slice_socket", slices_of(config)),
      map_(config),
      parameters_(config.interconnect),
      clock_(clock, *this),
      requests_(request_shape(config)),
      responses_(response_shape(config)),
      held_sms_(config.gpu.sm_count),
      held_slices_(slices_of(config)) {
  for (unsigned i = 0; i < sm_socket.size(); ++i) sm_ports_.push_back(std::make_unique<sm_port>(*this, i));
  for (unsigned m = 0; m < slice_socket.size(); ++m) slice_ports_.push_back(std::make_unique<slice_port>(*this, m));
}

interconnect::sm_port::sm_port(interconnect& owner, unsigned index)
    : owner(owner), index(index), port(owner.sm_socket[index], owner.clock_, *this) {}

interconnect::slice_port::slice_port(interconnect& owner, unsigned index)
    : owner(owner), index(index), port(owner.slice_socket[index], owner.clock_, *this) {}

interconnect::~interconnect() {
  // An aborted run leaves routes on payloads that outlive the interconnect.
  for (route_extension& r : routes_)
    if (r.payload != nullptr) r.payload->set_extension(r.outer);
}

unsigned interconnect::request_bytes(const tlm::tlm_generic_payload& payload, unsigned header_bytes,
                                     unsigned mask_bytes) {
  if (payload.is_read()) return header_bytes;
  const auto* request = request_of(payload);
  if (payload.is_write()) {
    if (mask_bytes == 0 || request == nullptr || request->sectors == 0) return header_bytes + payload.get_data_length();
    const auto sectors = static_cast<unsigned>(__builtin_popcount(request->sectors));
    return header_bytes + sectors * sector_bytes + (request->parts ? mask_bytes : 0);
  }
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

interconnect::route_state& interconnect::open_route(tlm::tlm_generic_payload& p, const route_state& route) {
  ++open_routes_;
  if (line_payload* own = line_payload::if_one(p); own != nullptr && own->route.owner == nullptr) {
    own->route = route;
    return own->route;
  }
  if (free_routes_.empty()) free_routes_.push_back(&routes_.emplace_back());
  route_extension& r = *free_routes_.back();
  free_routes_.pop_back();
  r.route = route;
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

// Decides whether the request is accepted, which depends on its port alone.
bool interconnect::accept_request(sm_port& sm, tlm::tlm_generic_payload& p, cycle_t arrival) {
  const cycle_t now = clock_.cycle();
  const bool accepted = requests_.reserve(sm.index, now);
  std::uint64_t number = 0;
  if (sm.index < announced_ports_) {
    number = sm.first_open + sm.earliest.size();
    sm.earliest.push_back(arrival + minimum_round_trip_);
  }
  if (!accepted) sm.undecided = arrival > now + 1;
  sm.requests.send({&p, arrival, number, accepted});
  return accepted;
}

void interconnect::take_request(sm_port& sm, const request& r) {
  tlm::tlm_generic_payload& p = *r.payload;
  ++in_flight_;
  const route_state& route = open_route(p, {this, sm.index, map_.slice_of(p.get_address()), r.number});
  clock_.wake_at(r.arrival);
  if (r.accepted) return push_request(route, p, r.arrival);
  held_sms_.insert(sm.index);
  ++held_now_;
  if (sm.undecided) clock_.wake_at(r.arrival - 1);
  else ++held_requests_;
}

void interconnect::push_request(const route_state& route, tlm::tlm_generic_payload& p, cycle_t arrival) {
  requests_.push(route.sm, route.slice, request_bytes(p, parameters_.header_bytes, parameters_.mask_bytes), p, arrival);
}

bool interconnect::take_response(slice_port& slice, tlm::tlm_generic_payload& p, cycle_t arrival) {
  clock_.wake_at(arrival);
  if (responses_.reserve(slice.index, clock_.cycle())) {
    push_response(slice.index, p, arrival);
    return true;
  }
  if (slice.port.responding() != &p)  // no phase is left to apply back-pressure with
    slice.port.report("a slice completed a request at once while its response port was full", p);
  slice.held_from = arrival;
  held_slices_.insert(slice.index);
  ++held_now_;
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
    auto& port = slice_ports_[m]->port;
    if (port.may_send(now) && requests_.due(m) <= now) port.send(*requests_.pop(m, now));
    if (!port.waits()) next = std::min(next, std::max(requests_.due(m), port.free_at()));
  });
  return next;
}

cycle_t interconnect::deliver_responses(cycle_t now) {
  cycle_t next = never;
  responses_.for_each_occupied([&](unsigned i) {
    auto& port = sm_ports_[i]->port;
    if (port.may_respond(now) && responses_.due(i) <= now) send_response(*sm_ports_[i], now);
    if (port.answering() == nullptr) next = std::min(next, std::max(responses_.due(i), port.response_free()));
  });
  return next;
}

void interconnect::send_response(sm_port& sm, cycle_t now) {
  const cycle_t due = responses_.due(sm.index);
  tlm::tlm_generic_payload* const payload = responses_.pop(sm.index, now);
  invariant(sm.index >= announced_ports_ || now == due,
            "interconnect: a response has not arrived in the cycle that was announced");
  if (sm.index < announced_ports_) {  // the payload was taken out and released when the response was announced
    sm.port.set_response_free(now + 1);
    --announced_;
    --in_flight_;
    return;
  }
  sm.port.respond(*payload);
}

void interconnect::announce_responses(unsigned ports, unsigned slice_cycles) {
  announced_ports_ = ports;
  minimum_round_trip_ = std::max(1u, parameters_.latency_cycles) - 1 + slice_cycles + 1;
  responses_.keep_grants();
}

cycle_t interconnect::next_response(unsigned sm, cycle_t now) const {
  const sm_port& port = *sm_ports_[sm];
  if (port.earliest.empty()) return never;
  return std::max(port.earliest.front(), now) + std::max(1u, parameters_.latency_cycles) - 1;
}

void interconnect::announce() {
  for (const crossbar::grant_record& g : responses_.granted()) {
    if (g.output >= announced_ports_) continue;
    sm_port& sm = *sm_ports_[g.output];
    tlm::tlm_generic_payload& p = responses_.take(g);
    sm.earliest[route_of(p).number - sm.first_open] = never;
    for (; !sm.earliest.empty() && sm.earliest.front() == never; ++sm.first_open) sm.earliest.pop_front();
    ++announced_;
    const bool taken = sm.port.respond_after(p, clock_.domain().delay_until(g.due));
    invariant(taken, "interconnect: an announced response was not taken by return");
  }
}

cycle_t interconnect::admit_requests(cycle_t now) {
  cycle_t next = never;
  held_sms_.for_each([&](unsigned i) {
    sm_port& sm = *sm_ports_[i];
    const cycle_t from = sm.port.held_from();
    if (sm.undecided) {
      if (from > now + 1) return;  // its departure time lies in the future; on_cycle is scheduled for then
      sm.undecided = false;
      if (requests_.reserve(i, now)) return admit(sm, from, sm.sent - sc_core::sc_time_stamp());
      ++held_requests_;
    }
    if (from > now || !requests_.reserve(i, now)) {
      // Without room only a grant helps, and on_cycle runs this after every grant.
      if (requests_.has_room(i)) next = std::min(next, std::max(from, now + 1));
      return;
    }
    admit(sm, now + 1, sc_core::SC_ZERO_TIME);
    next = now + 1;
  });
  return next;
}

// Moves the request held in front of a port into the reserved slot.
void interconnect::admit(sm_port& sm, cycle_t arrival, const sc_core::sc_time& delay) {
  tlm::tlm_generic_payload& p = *sm.port.held();
  held_sms_.erase(sm.index);
  --held_now_;
  push_request(route_of(p), p, arrival);
  sm.port.end_request(delay);
}

cycle_t interconnect::admit_responses(cycle_t now) {
  cycle_t next = never;
  held_slices_.for_each([&](unsigned i) {
    slice_port& slice = *slice_ports_[i];
    if (slice.held_from > now || !responses_.reserve(i, now)) {
      // Without room only a grant helps, and on_cycle runs this after every grant.
      if (responses_.has_room(i)) next = std::min(next, std::max(slice.held_from, now + 1));
      return;
    }
    held_slices_.erase(i);
    --held_now_;
    push_response(i, *slice.port.responding(), now + 1);
    next = now + 1;
    slice.port.end_response();
  });
  return next;
}

void interconnect::sm_port::exchange(state_image& image) {
  image(port, undecided, first_open, earliest);
  if (undecided) image(sent);
  if (image.reading()) times = cycle_cache();
}

void interconnect::exchange(state_image& image) {
  image.part(name());
  invariant(has_image() || image.reading(), "a checkpoint while payloads of other initiators are in flight");
  image(requests_, responses_, held_sms_, held_slices_, held_now_, open_routes_, in_flight_, announced_,
        held_requests_);
  for (const auto& port : sm_ports_) image(*port);
  for (const auto& port : slice_ports_) image(*port);
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
            "interconnect: open routes and announced responses = transactions in flight");
}

}  // namespace heddle
