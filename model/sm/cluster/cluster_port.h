// SPDX-License-Identifier: MIT
// Models: an SM's port to the network between the SMs of a GPC: what it sends takes time by its bytes.
// Sockets: network_socket (initiator).
// One cycle: hands the messages that have arrived to the SM.
// Parameters: [cluster]. Source: docs/model/clusters.md.
#pragma once

#include <deque>
#include <systemc>
#include <tlm>

#include "heddle/config/parameters.h"
#include "heddle/memory/common/per_launch.h"
#include "heddle/tlm/kernel/outbox.h"
#include "heddle/tlm/kernel/state_image.h"
#include "heddle/tlm/kernel/unit_clock.h"
#include "heddle/tlm/port/direct_sockets.h"
#include "heddle/tlm/port/phase_initiator.h"
#include "heddle/tlm/protocol/cluster_protocol.h"
#include "heddle/tlm/protocol/object_pool.h"

namespace heddle {

struct cluster_counters {
  /// Headers of messages, and units of 32 bytes of data with them. Accesses to other SMs count with their answers.
  std::uint64_t flits = 0;
  std::uint64_t requests = 0;          // accesses to other SMs
  std::uint64_t bytes = 0;             // of data with them and their answers
  std::uint64_t barrier_arrivals = 0;  // of blocks
};

/// What the SM does with messages of its blocks' clusters.
class cluster_supervisor {
 public:
  virtual ~cluster_supervisor() = default;
  /// The barrier of its cluster at which the block with this number has arrived is complete.
  virtual void cluster_released(std::uint64_t sequence, cycle_t cycle) = 0;
  /// Another SM accesses the shared memory of a block here. Performs the access, or sets its fault. Returns the cycle
  /// in which the answer can leave.
  virtual cycle_t cluster_requested(cluster_access& a, cycle_t cycle) = 0;
  /// An access to another SM has been answered.
  virtual void cluster_answered(const cluster_access& a, cycle_t cycle) = 0;
};

class cluster_port : public sc_core::sc_module, public clocked, public phase_initiator<cluster_protocol_types> {
 public:
  cluster_port(sc_core::sc_module_name name, unit_clock& clock, const gpu_config& config,
               cluster_supervisor& supervisor);

  direct_initiator_socket<cluster_protocol_types> network_socket;

  /// Sends a message about a barrier in `cycle`. Returns its flits, with those of the answer.
  unsigned send(const cluster_transaction& t, cluster_phase phase, cycle_t cycle);
  /// An access to be filled in and sent with request().
  cluster_access& access();
  void request(cluster_access& a, cycle_t cycle);
  [[nodiscard]] bool idle() const { return arrivals_.empty() && accesses_.in_use() == 0; }
  /// For a reset: nothing is in flight.
  void restart() {
    arrivals_.clear();
    free_ = 0;
  }
  /// Names the accesses in flight.
  void name_objects(state_image& image);
  void exchange(state_image& image);

  void on_cycle(cycle_t cycle) override;
  tlm::tlm_sync_enum nb_transport_bw(cluster_transaction& t, cluster_phase& phase, sc_core::sc_time& delay) override;
  void trace(sc_core::sc_trace_file* file) const override;

  per_launch<cluster_counters> counters;
  std::uint64_t barriers_passed = 0;  // releases of blocks
  std::uint64_t requests = 0;         // accesses to other SMs: warp instructions, by block accessed
  std::uint64_t served = 0;           // accesses of other SMs

 private:
  struct arrival {
    cycle_t cycle;
    cluster_phase phase;
    std::uint64_t sequence;  // release: of the block
    cluster_access* access;  // request, response

    void exchange(state_image& image) { image(cycle, phase, sequence, access); }
  };
  struct message {
    cluster_transaction transaction;
    cluster_phase phase;
    sc_core::sc_time delay;
  };
  void deliver(const message& m);
  void order(cycle_t cycle);
  void send_access(cluster_access& a, cluster_phase phase, cycle_t ready, cycle_t cycle);

  const unsigned cycles_out_;
  const unsigned cycles_round_;
  const unsigned least_hop_;
  const double bytes_per_cycle_;
  cluster_supervisor& supervisor_;
  clock_port clock_;
  std::deque<arrival> arrivals_;  // sorted by cycle
  double free_ = 0;               // when the port can send the next data
  object_pool<cluster_access> accesses_;
  deferred_effects<cluster_port, message, &cluster_port::deliver> messages_{*this};  // to the network
};

}  // namespace heddle
