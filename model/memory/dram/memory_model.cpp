// SPDX-License-Identifier: MIT
#include "heddle/memory/dram/memory_model.h"

#include <algorithm>
#include <string>

#include "heddle/config/error.h"
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
      request_sockets("request_socket", config.l2.slices_per_channel),
      map_(config),
      index_(index),
      clock_(clock, *this),
      bytes_(config.l2.slices_per_channel),
      slots_(std::max(1u, entries)) {
  for (unsigned s = 0; s < bytes_.size(); ++s)
    ports_.push_back(std::make_unique<at_target_port<memory_model>>(request_sockets[s], clock_, *this));
}

bool memory_model::idle() const {
  return std::all_of(ports_.begin(), ports_.end(), [](const auto& p) { return p->idle(); });
}

std::size_t memory_model::answers_waiting() const {
  std::size_t most = 0;
  for (const auto& p : ports_) most = std::max(most, p->responses_queued());
  return most;
}

std::uint64_t memory_model::allocated_bytes() const {
  std::uint64_t sum = 0;
  for (const byte_store& b : bytes_) sum += b.allocated_bytes();
  return sum;
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
  bytes_[slice_in_channel(p)].serve(p, map_.local_address(p.get_address()));
  memory_counters& c = counters_[launch_of(p)];
  if (p.is_read()) {
    ++c.reads;
    c.read_bytes += p.get_data_length();
  } else if (p.is_write()) {
    ++c.writes;
    c.write_bytes += enabled_count(p);
  }
}

bool memory_model::accept(tlm::tlm_generic_payload& p, cycle_t arrival, bool again) {
  if (!again) perform(p);
  if (!slots_.take(clock_.cycle())) return false;
  const cycle_t from = again ? arrival + 1 : arrival;
  enter(p, from);
  clock_.wake_at(from);
  return true;
}

void memory_model::on_cycle(cycle_t cycle) {
  cycle_t next = work(cycle);
  // Which slice gets the first free entry changes with each cycle.
  for (std::size_t k = 0; k < ports_.size(); ++k) {
    auto& port = *ports_[ports_.size() == 1 ? 0 : (cycle + k) % ports_.size()];
    port.send_response(cycle);
    port.admit(cycle);
  }
  for (const auto& port : ports_) {
    if (port->response_waits()) next = std::min(next, port->response_time());
    if (port->held() != nullptr && slots_.has_room()) next = std::min(next, port->held_from());
  }
  if (next != never) clock_.wake_at(std::max(next, cycle + 1));
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
    byte_store& bytes = bytes_of_slice(map_.slice_of(address));
    if (p.is_read()) bytes.read(map_.local_address(address), p.get_data_ptr() + done, n);
    else bytes.write(map_.local_address(address), p.get_data_ptr() + done, n);
    done += n;
  }
  return done;
}

void memory_model::trace(sc_core::sc_trace_file* file) const {
  sc_core::sc_trace(file, slots_.level(), std::string(name()) + ".requests_waiting");
}

void memory_model::exchange(state_image&) {
  throw state_error(std::string("the memory '") + name() + "' has no state image");
}

void memory_model::exchange_common(state_image& image) {
  image.part(name());
  for (const auto& port : ports_) image(*port);
  image.each(bytes_);
  image(slots_, counters_);
}

void memory_model::check_invariants() const {
  std::size_t open = 0, inside = 0;
  for (const auto& p : ports_) {
    open += p->open();
    inside += p->inside();
  }
  invariant(open == slots_.used() + inside, "memory: requests in = responses out + requests inside");
}

}  // namespace heddle
