// SPDX-License-Identifier: MIT
// Models: a custom load/store unit with a fixed latency, without coalescing, caches or atomics.
// Sockets: socket (target, lsu_protocol) from one sub-partition.
// One cycle: takes the oldest instruction of its queue, and responds to those whose latency has elapsed.
// Parameters: the latency in cycles. Source: none.
#pragma once

#include <heddle/isa/set_bits.h>
#include <heddle/tlm/kernel/clock_domain.h>
#include <heddle/tlm/port/phase_target.h>
#include <heddle/tlm/protocol/lsu_protocol.h>

#include <cstdint>
#include <cstring>
#include <deque>
#include <systemc>

#include "testbench/cosim/sparse_bytes.h"

namespace parts {

/// Construct it before the sub-partition, so that it runs first in each cycle.
class own_load_store_unit : public sc_core::sc_module,
                            public heddle::clocked,
                            public heddle::phase_target<heddle::lsu_protocol_types> {
 public:
  own_load_store_unit(sc_core::sc_module_name name, heddle::clock_domain& clock, unsigned latency_cycles)
      : sc_module(name), clock_(clock, *this), latency_(latency_cycles) {
    socket.bind(*this);
  }

  tlm::tlm_target_socket<32, heddle::lsu_protocol_types> socket{"socket"};
  cosim::sparse_bytes bytes;
  std::uint64_t loads = 0;
  std::uint64_t stores = 0;

 private:
  struct pending {
    heddle::lsu_transaction* transaction;
    heddle::cycle_t due;
  };

  tlm::tlm_sync_enum nb_transport_fw(heddle::lsu_transaction& t, heddle::lsu_phase&, sc_core::sc_time&) override {
    queue_.push_back(&t);
    clock_.wake_at(clock_.cycle() + 1);
    return tlm::TLM_ACCEPTED;
  }

  void on_cycle(heddle::cycle_t cycle) override {
    while (!pending_.empty() && pending_.front().due <= cycle) {
      heddle::lsu_transaction& t = *pending_.front().transaction;
      pending_.pop_front();
      answer(t, heddle::lsu_phase::response);
    }
    if (!queue_.empty()) {
      heddle::lsu_transaction& t = *queue_.front();
      queue_.pop_front();
      perform(t);
      pending_.push_back({&t, cycle + latency_});
      // Its queue entry is free for another instruction, long before the response.
      answer(t, heddle::lsu_phase::credit);
    }
    if (!queue_.empty()) clock_.wake_at(cycle + 1);
    else if (!pending_.empty()) clock_.wake_at(pending_.front().due);
  }

  void perform(heddle::lsu_transaction& t) {
    const bool load = t.kind == heddle::lsu_kind::load;
    ++(load ? loads : stores);
    for (const unsigned lane : heddle::set_bits(t.global_mask)) {
      for (unsigned done = 0; done < t.bytes_per_lane; done += 4) {
        const unsigned n = t.bytes_per_lane < 4 ? t.bytes_per_lane : 4;
        std::uint8_t word[4] = {};
        if (load) {
          bytes.read(t.addresses()[lane] + done, word, n);
          std::memcpy(&t.words[done / 4][lane], word, 4);
        } else {
          std::memcpy(word, &t.words[done / 4][lane], 4);
          bytes.write(t.addresses()[lane] + done, word, n);
        }
      }
    }
  }

  void answer(heddle::lsu_transaction& t, heddle::lsu_phase phase) {
    sc_core::sc_time delay;
    socket->nb_transport_bw(t, phase, delay);
  }

  heddle::clock_port clock_;
  unsigned latency_;
  std::deque<heddle::lsu_transaction*> queue_;
  std::deque<pending> pending_;  // all have the same latency, so they complete in order
};

}  // namespace parts
