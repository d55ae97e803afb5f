// SPDX-License-Identifier: MIT
// Models: a custom CWD for one SM: it keeps a fixed number of blocks resident and dispatches them from the last to the
// first. Sockets: cta_socket (initiator) to the SM's resource manager. One cycle: none; it acts on completions.
// Parameters: the number of blocks, which has to fit the SM, because a dispatch cannot be refused.
#pragma once

#include <heddle/tlm/kernel/has_process.h>

#include <heddle/sub_partition/dependence/decoded_program.h>
#include <heddle/tlm/port/phase_initiator.h>
#include <heddle/tlm/protocol/cta_protocol.h>

#include <deque>
#include <memory>
#include <string>
#include <systemc>

namespace parts {

class own_cwd : public sc_core::sc_module, public heddle::phase_initiator<heddle::cta_protocol_types> {
 public:
  /// `latency`: latency of a message between CWD and SM.
  own_cwd(sc_core::sc_module_name name, unsigned resident_blocks, const sc_core::sc_time& latency)
      : sc_module(name), resident_(resident_blocks), latency_(latency) {
    cta_socket.bind(*this);
    HEDDLE_HAS_PROCESS(own_cwd);
    SC_METHOD(dispatch);
    sensitive << room_;
    dont_initialize();
  }

  tlm::tlm_initiator_socket<32, heddle::cta_protocol_types> cta_socket{"cta_socket"};

  /// Launches all blocks of the grid.
  void launch(std::shared_ptr<const heddle::resident_launch> what) {
    const std::uint64_t all = what->grid.count();
    launch(std::move(what), 0, all);
  }
  /// Launches `blocks` blocks from block `first` on.
  void launch(std::shared_ptr<const heddle::resident_launch> what, std::uint64_t first, std::uint64_t blocks) {
    launch_ = std::move(what);
    first_ = first;
    left_ = blocks;
    room_.notify(sc_core::SC_ZERO_TIME);
  }
  [[nodiscard]] std::uint64_t completed() const { return completed_; }
  [[nodiscard]] const std::string& fault() const { return fault_; }

 private:
  void dispatch() {
    while (left_ != 0 && blocks_.size() - completed_ < resident_) {
      blocks_.emplace_back();
      heddle::cta_transaction& block = blocks_.back();
      block.launch = launch_.get();
      block.block = first_ + --left_;
      heddle::cta_phase phase = heddle::cta_phase::dispatch;
      sc_core::sc_time delay = latency_;
      cta_socket->nb_transport_fw(block, phase, delay);
    }
  }

  tlm::tlm_sync_enum nb_transport_bw(heddle::cta_transaction& block, heddle::cta_phase& phase,
                                     sc_core::sc_time& delay) override {
    if (phase == heddle::cta_phase::fault) {
      fault_ = block.fault;
      left_ = 0;
    } else if (phase == heddle::cta_phase::complete) {  // the later phase `settled` reports that its stores are
                                                        // acknowledged, too
      ++completed_;
      room_.notify(delay + latency_);
    }
    return tlm::TLM_ACCEPTED;
  }

  unsigned resident_;
  sc_core::sc_time latency_;
  std::shared_ptr<const heddle::resident_launch> launch_;
  std::deque<heddle::cta_transaction> blocks_;  // owned here until they complete
  std::uint64_t first_ = 0;
  std::uint64_t left_ = 0;
  std::uint64_t completed_ = 0;
  std::string fault_;
  sc_core::sc_event room_;
};

}  // namespace parts
