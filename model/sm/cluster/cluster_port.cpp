// SPDX-License-Identifier: MIT
#include "heddle/sm/cluster/cluster_port.h"

#include <algorithm>
#include <cmath>
#include <string>

#include "heddle/config/error.h"
#include "heddle/memory/noc/sm_network.h"

namespace heddle {

namespace {

constexpr unsigned flit_bytes = 32;

/// Bytes of an access with its request, or with its answer. Requests of loads, and answers to stores, have none.
unsigned data_of(const cluster_access& a, bool answers) {
  const bool data = a.kind == lsu_kind::atomic || (a.kind == lsu_kind::load) == answers;
  return data ? static_cast<unsigned>(__builtin_popcount(a.lanes)) * a.bytes_per_lane : 0;
}

unsigned flits_of(unsigned bytes) { return 1 + (bytes + flit_bytes - 1) / flit_bytes; }

}  // namespace

cluster_port::cluster_port(sc_core::sc_module_name name, unit_clock& clock, const gpu_config& config,
                           cluster_supervisor& supervisor)
    : sc_module(name),
      network_socket({"network_socket", this}),
      cycles_out_(cycles_to_cluster(config)),
      cycles_round_(cycles_out_ + cycles_from_cluster(config)),
      least_hop_(std::min(config.cluster.hop_cycles, config.cluster.tpc_hop_cycles)),
      bytes_per_cycle_(config.cluster.bytes_per_cycle),
      supervisor_(supervisor),
      clock_(clock, *this) {
  network_socket.bind(*this);
  messages_.connect(clock.effects());
}

// The answer must not arrive within the SM's present time window.
unsigned cluster_port::send(const cluster_transaction& t, cluster_phase phase, cycle_t cycle) {
  messages_.send({t, phase, clock_.domain().delay_until(cycle + cycles_out_ - 1)});
  clock_.domain().limit_window(cycle + cycles_round_);
  const unsigned flits = phase == cluster_phase::arrive ? 2 * flits_of(0) : flits_of(0);
  cluster_counters& c = counters[t.launch];
  c.flits += flits;
  if (phase == cluster_phase::arrive) ++c.barrier_arrivals;
  return flits;
}

void cluster_port::deliver(const message& m) {
  cluster_transaction t = m.transaction;
  cluster_phase phase = m.phase;
  sc_core::sc_time delay = m.delay;
  network_socket->nb_transport_fw(t, phase, delay);
}

cluster_access& cluster_port::access() {
  cluster_access& a = accesses_.take();
  a.fault.clear();
  a.passes = 0;
  return a;
}

void cluster_port::request(cluster_access& a, cycle_t cycle) {
  ++requests;
  const unsigned there = data_of(a, false), back = data_of(a, true), flits = flits_of(there) + flits_of(back);
  cluster_counters& c = counters[a.launch->launch_id];
  ++c.requests;
  c.bytes += there + back;
  c.flits += flits;
  a.traffic.add(&instruction_traffic::cluster_flits, flits);
  send_access(a, cluster_phase::request, cycle, cycle);
}

// Data leave in the order in which they are given to the port.
void cluster_port::send_access(cluster_access& a, cluster_phase phase, cycle_t ready, cycle_t cycle) {
  const bool answers = phase == cluster_phase::response;
  const double bytes = data_of(a, answers);
  free_ = std::max(free_, static_cast<double>(ready));
  const cycle_t leaves = static_cast<cycle_t>(std::ceil(free_));
  free_ += std::max(1.0, bytes / bytes_per_cycle_);
  cluster_transaction t;
  t.access = &a;
  messages_.send({t, phase, clock_.domain().delay_until(leaves)});
  if (!answers) clock_.domain().limit_window(cycle + 2 * cycle_t{least_hop_});
}

tlm::tlm_sync_enum cluster_port::nb_transport_bw(cluster_transaction& t, cluster_phase& phase,
                                                 sc_core::sc_time& delay) {
  invariant(phase != cluster_phase::arrive && phase != cluster_phase::leave,
            "the network between SMs sent what only an SM may send");
  const cycle_t at = clock_.domain().arrival(delay);
  arrivals_.push_back({at, phase, t.sequence, t.access});
  for (std::size_t k = arrivals_.size() - 1; k > 0 && arrivals_[k - 1].cycle > arrivals_[k].cycle; --k)
    std::swap(arrivals_[k - 1], arrivals_[k]);
  clock_.wake_at(at);
  return tlm::TLM_COMPLETED;
}

void cluster_port::on_cycle(cycle_t cycle) {
  order(cycle);
  while (!arrivals_.empty() && arrivals_.front().cycle <= cycle) {
    const arrival a = arrivals_.front();
    arrivals_.pop_front();
    if (a.phase == cluster_phase::release) {
      ++barriers_passed;
      supervisor_.cluster_released(a.sequence, cycle);
    } else if (a.phase == cluster_phase::request) {
      ++served;
      send_access(*a.access, cluster_phase::response, supervisor_.cluster_requested(*a.access, cycle), cycle);
    } else {
      supervisor_.cluster_answered(*a.access, cycle);
      accesses_.give_back(*a.access);
    }
  }
  if (!arrivals_.empty()) clock_.wake_at(arrivals_.front().cycle);
}

// Messages of one cycle are taken by phase and SM, independent of the order in which the SMs were simulated; those of
// one SM in the order in which it sent them.
void cluster_port::order(cycle_t cycle) {
  const auto due = std::find_if(arrivals_.begin(), arrivals_.end(), [&](const arrival& a) { return a.cycle > cycle; });
  std::stable_sort(arrivals_.begin(), due, [](const arrival& a, const arrival& b) {
    if (a.cycle != b.cycle) return a.cycle < b.cycle;
    if (a.phase != b.phase) return a.phase < b.phase;
    if (a.access == nullptr) return false;
    return a.phase == cluster_phase::request ? a.access->from < b.access->from : a.access->to < b.access->to;
  });
}

void cluster_port::name_objects(state_image& image) {
  accesses_.exchange(image);
  accesses_.each_in_use([&image](cluster_access& a) { image.name(&a); });
}

void cluster_port::exchange(state_image& image) {
  image.part(name());
  accesses_.each_in_use([&image](cluster_access& a) { image(a); });
  image(arrivals_, free_, barriers_passed, requests, served);
  counters.exchange(image, [&image](std::uint32_t, cluster_counters& c) { image.numbers(c); });
}

void cluster_port::trace(sc_core::sc_trace_file* file) const {
  const std::string base(name());
  sc_core::sc_trace(file, barriers_passed, base + ".barriers_passed");
  sc_core::sc_trace(file, requests, base + ".requests");
  sc_core::sc_trace(file, served, base + ".served");
}

}  // namespace heddle
