// SPDX-License-Identifier: MIT
// Models: a stand-in for an SM where only the distribution of blocks matters: each block stays for its own duration.
// Sockets: cta_socket (target, cta_protocol) from a CWD.
// One cycle: none; it acts on messages.
// Parameters: the duration of a block as a function of its number. It does not support context switches.
#pragma once

#include <heddle/tlm/kernel/has_process.h>

#include <heddle/simt/warp/warp_state.h>
#include <heddle/tlm/port/phase_target.h>
#include <heddle/tlm/protocol/cta_protocol.h>

#include <tlm_utils/peq_with_get.h>
#include <algorithm>
#include <functional>
#include <map>
#include <systemc>
#include <utility>

namespace parts {

class own_sm : public sc_core::sc_module, public heddle::phase_target<heddle::cta_protocol_types> {
 public:
  using duration_of = std::function<sc_core::sc_time(const heddle::cta_transaction&)>;

  own_sm(sc_core::sc_module_name name, duration_of duration, const sc_core::sc_time& latency)
      : sc_module(name), duration_(std::move(duration)), latency_(latency) {
    cta_socket.bind(*this);
    HEDDLE_HAS_PROCESS(own_sm);
    SC_METHOD(arrive);
    sensitive << arrivals_.get_event();
    dont_initialize();
    SC_METHOD(end);
    sensitive << ends_.get_event();
    dont_initialize();
  }

  tlm::tlm_target_socket<32, heddle::cta_protocol_types> cta_socket{"cta_socket"};
  std::map<std::pair<std::uint32_t, std::uint64_t>, unsigned> ended;  // completions, by launch and block
  unsigned resident = 0;
  unsigned most_resident = 0;
  std::uint64_t misunderstood = 0;  // phases other than dispatch

 private:
  tlm::tlm_sync_enum nb_transport_fw(heddle::cta_transaction& block, heddle::cta_phase& phase,
                                     sc_core::sc_time& delay) override {
    if (phase == heddle::cta_phase::dispatch) arrivals_.notify(block, delay);
    else ++misunderstood;
    return tlm::TLM_ACCEPTED;
  }

  void arrive() {
    while (heddle::cta_transaction* block = arrivals_.get_next_transaction()) {
      most_resident = std::max(most_resident, ++resident);
      ends_.notify(*block, duration_(*block));
    }
  }

  void end() {
    while (heddle::cta_transaction* block = ends_.get_next_transaction()) {
      --resident;
      ++ended[{block->launch->launch_id, block->block}];
      heddle::cta_phase phase = heddle::cta_phase::complete;
      sc_core::sc_time delay = latency_;
      cta_socket->nb_transport_bw(*block, phase, delay);
    }
  }

  duration_of duration_;
  sc_core::sc_time latency_;
  tlm_utils::peq_with_get<heddle::cta_transaction> arrivals_{"arrivals"};
  tlm_utils::peq_with_get<heddle::cta_transaction> ends_{"ends"};
};

}  // namespace parts
