// SPDX-License-Identifier: MIT
// Models: the network between the SMs of a GPC: accesses to the shared memory of other blocks of a cluster, and the
//   barrier of a cluster.
// Sockets: sm_socket[i] (target), one per SM; it answers with phases of its own on the backward path.
// One cycle: takes the messages that have arrived; those that complete a cluster's barrier release its blocks. Accesses
//   pass without a cycle of their own.
// Parameters: [cluster]. Source: PTX ISA, barrier.cluster; docs/model/clusters.md.
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <systemc>
#include <tlm>
#include <utility>
#include <vector>

#include "heddle/config/parameters.h"
#include "heddle/tlm/kernel/clock_domain.h"
#include "heddle/tlm/kernel/state_image.h"
#include "heddle/tlm/port/direct_sockets.h"
#include "heddle/tlm/port/phase_target.h"
#include "heddle/tlm/protocol/cluster_protocol.h"

namespace heddle {

/// Cycles of a message from an SM to where the arrivals of a cluster meet; at least 1.
constexpr unsigned cycles_to_cluster(const gpu_config& config) { return config.cluster.barrier_latency_cycles / 2; }
/// Cycles of a message from there to an SM, where warps resume a cycle later; at least 1.
constexpr unsigned cycles_from_cluster(const gpu_config& config) {
  return config.cluster.barrier_latency_cycles - cycles_to_cluster(config) - 1;
}

class sm_network : public sc_core::sc_module, public clocked, public phase_target<cluster_protocol_types> {
 public:
  sm_network(sc_core::sc_module_name name, clock_domain& clock, const gpu_config& config);

  std::deque<direct_target_socket<cluster_protocol_types>> sm_socket;

  /// Launches of clusters may run that meet at barriers, or that access shared memory of other blocks: without any, no
  /// message ever comes.
  void expect(bool barriers, bool accesses);
  /// Lookahead of an SM: the last cycle by which no message sent from cycle `now` on reaches an SM, except in answer to
  /// what that SM sends itself.
  [[nodiscard]] cycle_t nothing_arrives_until(cycle_t now) const;
  [[nodiscard]] bool idle() const { return arrivals_.empty(); }
  /// For a reset: no cluster is left.
  void restart();
  void check_invariants() const;
  /// The accesses have been named.
  void exchange(state_image& image);

  void on_cycle(cycle_t cycle) override;
  tlm::tlm_sync_enum nb_transport_fw(cluster_transaction& t, cluster_phase& phase, sc_core::sc_time& delay) override;
  void trace(sc_core::sc_trace_file* file) const override;

  std::uint64_t barriers_completed = 0;
  std::uint64_t messages = 0;  // of accesses: requests and responses

 private:
  struct arrival {
    cycle_t cycle;
    cluster_transaction message;
    cluster_phase phase;

    void exchange(state_image& image) { image(cycle, message, phase); }
  };
  /// The barrier of one cluster. Ranks are bits.
  struct meeting {
    std::uint32_t arrived = 0;                  // blocks that have arrived in the present phase
    std::uint32_t left = 0;                     // blocks that have exited
    std::vector<cluster_transaction> arrivals;  // of the present phase, in the order in which they came
    void exchange(state_image& image) { image(arrived, left, arrivals); }
  };
  void release(meeting& m, cycle_t cycle);
  void pass_on(cluster_transaction& t, cluster_phase phase, const sc_core::sc_time& delay);

  const unsigned sms_;
  const unsigned cycles_back_;
  const unsigned cycles_round_;
  const unsigned sms_per_tpc_, tpc_hop_, hop_;
  clock_port clock_;
  unsigned least_cycles_ = 0;  // of a message from one SM to another; 0: there is none
  std::vector<arrival> arrivals_;
  std::map<std::pair<std::uint32_t, std::uint64_t>, meeting> meetings_;  // by launch and cluster
  std::uint32_t clusters_ = 0;                                           // that have met and not ended, for tracing
};

}  // namespace heddle
