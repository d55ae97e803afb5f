// SPDX-License-Identifier: MIT
#include "heddle/memory/noc/sm_network.h"

#include <algorithm>
#include <string>

#include "heddle/config/error.h"

namespace heddle {

sm_network::sm_network(sc_core::sc_module_name name, clock_domain& clock, const gpu_config& config)
    : sc_module(name),
      sms_(config.gpu.sm_count),
      cycles_back_(cycles_from_cluster(config)),
      cycles_round_(cycles_to_cluster(config) + cycles_back_),
      sms_per_tpc_(config.gpu.sms_per_tpc),
      tpc_hop_(config.cluster.tpc_hop_cycles),
      hop_(config.cluster.hop_cycles),
      clock_(clock, *this) {
  for (unsigned i = 0; i < sms_; ++i) sm_socket.emplace_back(part_name{"sm_socket_", this, i}).bind(*this);
}

tlm::tlm_sync_enum sm_network::nb_transport_fw(cluster_transaction& t, cluster_phase& phase, sc_core::sc_time& delay) {
  invariant(phase != cluster_phase::release && t.sm < sms_, "an SM sent what only the network between SMs may send");
  if (phase == cluster_phase::request || phase == cluster_phase::response) {
    pass_on(t, phase, delay);
    return tlm::TLM_COMPLETED;
  }
  const cycle_t at = clock_.domain().arrival(delay);
  arrivals_.push_back({at, t, phase});
  clock_.wake_at(at);
  return tlm::TLM_COMPLETED;
}

void sm_network::expect(bool barriers, bool accesses) {
  const auto at_least = [this](unsigned cycles) {
    least_cycles_ = least_cycles_ == 0 ? cycles : std::min(least_cycles_, cycles);
  };
  if (barriers) at_least(cycles_round_);
  if (accesses) at_least(std::min(hop_, tpc_hop_));
}

// Between two SMs messages keep their order, since all take the same time. An SM sends no more than its port can.
void sm_network::pass_on(cluster_transaction& t, cluster_phase phase, const sc_core::sc_time& delay) {
  ++messages;
  const cluster_access& a = *t.access;
  const bool answers = phase == cluster_phase::response;
  const cycle_t sent = clock_.domain().arrival(delay);
  const unsigned hop = a.from / sms_per_tpc_ == a.to / sms_per_tpc_ ? tpc_hop_ : hop_;
  sc_core::sc_time arrival = clock_.domain().delay_until(sent + hop - 2);  // the sender's edge is the one before
  sm_socket[answers ? a.from : a.to]->nb_transport_bw(t, phase, arrival);
}

// Messages of one cycle are taken by SM number, independent of the order in which the SMs were simulated.
void sm_network::on_cycle(cycle_t cycle) {
  std::stable_sort(arrivals_.begin(), arrivals_.end(), [](const arrival& a, const arrival& b) {
    return a.cycle != b.cycle ? a.cycle < b.cycle : a.message.sm < b.message.sm;
  });
  std::size_t taken = 0;
  for (; taken < arrivals_.size() && arrivals_[taken].cycle <= cycle; ++taken) {
    const cluster_transaction& t = arrivals_[taken].message;
    const auto key = std::make_pair(t.launch, t.cluster);
    meeting& m = meetings_[key];
    const std::uint32_t all = (std::uint32_t{1} << t.blocks) - 1, bit = std::uint32_t{1} << t.rank;
    if (arrivals_[taken].phase == cluster_phase::leave) {
      m.left |= bit;
    } else {
      invariant((m.arrived & bit) == 0, "a block arrived twice at one barrier of its cluster");
      m.arrived |= bit;
      m.arrivals.push_back(t);
    }
    if ((m.arrived | m.left) == all && m.arrived != 0) release(m, cycle);
    if (m.left == all) meetings_.erase(key);
  }
  arrivals_.erase(arrivals_.begin(), arrivals_.begin() + static_cast<std::ptrdiff_t>(taken));
  clusters_ = static_cast<std::uint32_t>(meetings_.size());
  for (const arrival& a : arrivals_) clock_.wake_at(a.cycle);
}

void sm_network::release(meeting& m, cycle_t cycle) {
  ++barriers_completed;
  for (cluster_transaction& t : m.arrivals) {
    cluster_phase phase = cluster_phase::release;
    sc_core::sc_time delay = clock_.domain().delay_until(cycle + cycles_back_ - 1);
    sm_socket[t.sm]->nb_transport_bw(t, phase, delay);
  }
  m.arrived = 0;
  m.arrivals.clear();
}

// A message that has not been sent needs the request latency and the response latency of the network.
cycle_t sm_network::nothing_arrives_until(cycle_t now) const {
  if (least_cycles_ == 0) return never;
  cycle_t until = now + least_cycles_ - 1;
  for (const arrival& a : arrivals_) until = std::min(until, a.cycle + cycles_back_ - 1);
  return until;
}

void sm_network::restart() {
  arrivals_.clear();
  meetings_.clear();
  clusters_ = 0;
}

void sm_network::exchange(state_image& image) {
  image.part(name());
  image(barriers_completed, messages, least_cycles_, arrivals_, meetings_, clusters_);
}

void sm_network::check_invariants() const {
  for (const auto& [key, m] : meetings_)
    invariant((m.arrived != 0) == !m.arrivals.empty(), "a cluster's arrivals are not those that were sent");
}

void sm_network::trace(sc_core::sc_trace_file* file) const {
  const std::string base(name());
  sc_core::sc_trace(file, clusters_, base + ".clusters");
  sc_core::sc_trace(file, messages, base + ".messages");
  sc_core::sc_trace(file, barriers_completed, base + ".barriers_completed");
}

}  // namespace heddle
