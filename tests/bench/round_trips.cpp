// SPDX-License-Identifier: MIT
#include <tlm_utils/peq_with_cb_and_phase.h>

#include <deque>
#include <systemc>
#include <tlm>

#include "heddle/tlm/kernel/clock_domain.h"
#include "heddle/tlm/kernel/has_process.h"
#include "tests/bench/transaction_hops.h"

namespace heddle::bench {
namespace {

using payload = tlm::tlm_generic_payload;
using phase = tlm::tlm_phase;
using sync = tlm::tlm_sync_enum;
using sc_core::sc_time;

constexpr cycle_t latency = 30;
constexpr unsigned pipelined = 32;  // enough transactions for one a cycle
const sc_time period(1, sc_core::SC_NS);

/// Keeps the latency in its own queue and lets the wheel wake it; a trip is two calls.
class two_call_target : public sc_core::sc_module, public tlm::tlm_fw_transport_if<>, public clocked {
 public:
  tlm::tlm_target_socket<32> socket{"socket"};
  two_call_target(sc_core::sc_module_name name, clock_domain& domain) : sc_module(name), clock_(domain, *this) {
    socket.bind(*this);
  }
  sync nb_transport_fw(payload& p, phase& ph, sc_time&) override {
    const cycle_t due = clock_.cycle() + latency;
    queue_.push_back({&p, due});
    if (queue_.size() == 1) clock_.wake_at(due);
    ph = tlm::END_REQ;
    return tlm::TLM_UPDATED;
  }
  void on_cycle(cycle_t cycle) override {
    while (!queue_.empty() && queue_.front().due <= cycle) {
      payload* p = queue_.front().transaction;
      queue_.pop_front();
      phase ph = tlm::BEGIN_RESP;
      sc_time delay = sc_core::SC_ZERO_TIME;
      socket->nb_transport_bw(*p, ph, delay);
    }
    if (!queue_.empty()) clock_.wake_at(queue_.front().due);
  }
  void b_transport(payload&, sc_time&) override {}
  bool get_direct_mem_ptr(payload&, tlm::tlm_dmi&) override { return false; }
  unsigned transport_dbg(payload&) override { return 0; }

 private:
  struct entry {
    payload* transaction;
    cycle_t due;
  };
  std::deque<entry> queue_;
  clock_port clock_;
};

class two_call_initiator : public sc_core::sc_module, public tlm::tlm_bw_transport_if<>, public clocked {
 public:
  tlm::tlm_initiator_socket<32> socket{"socket"};
  two_call_initiator(sc_core::sc_module_name name, clock_domain& domain, unsigned in_flight, std::uint64_t count)
      : sc_module(name), pool_(in_flight), left_(count), clock_(domain, *this) {
    socket.bind(*this);
    for (payload& p : pool_) free_.push_back(&p);
    clock_.wake_at(1);
  }
  sync nb_transport_bw(payload& p, phase& ph, sc_time&) override {
    ++returned;
    free_.push_back(&p);
    clock_.wake_at(clock_.cycle() + 1);
    ph = tlm::END_RESP;
    return tlm::TLM_UPDATED;
  }
  void on_cycle(cycle_t cycle) override {
    if (free_.empty() || left_ == 0) return;
    --left_;
    payload* p = free_.back();
    free_.pop_back();
    phase ph = tlm::BEGIN_REQ;
    sc_time delay = sc_core::SC_ZERO_TIME;
    socket->nb_transport_fw(*p, ph, delay);
    if (!free_.empty()) clock_.wake_at(cycle + 1);
  }
  void invalidate_direct_mem_ptr(sc_dt::uint64, sc_dt::uint64) override {}
  std::uint64_t returned = 0;

 private:
  std::vector<payload> pool_;
  std::vector<payload*> free_;
  std::uint64_t left_;
  clock_port clock_;
};

DECLARE_EXTENDED_PHASE(SERVED);

/// The other style: four phases, each queued in the payload event queue of its receiver.
class four_phase_target : public sc_core::sc_module, public tlm::tlm_fw_transport_if<> {
 public:
  tlm::tlm_target_socket<32> socket{"socket"};
  explicit four_phase_target(sc_core::sc_module_name name) : sc_module(name), queue_(this, &four_phase_target::act) {
    socket.bind(*this);
  }
  sync nb_transport_fw(payload& p, phase& ph, sc_time& delay) override {
    queue_.notify(p, ph, delay);
    return tlm::TLM_ACCEPTED;
  }
  void b_transport(payload&, sc_time&) override {}
  bool get_direct_mem_ptr(payload&, tlm::tlm_dmi&) override { return false; }
  unsigned transport_dbg(payload&) override { return 0; }

 private:
  void act(payload& p, const phase& ph) {
    sc_time delay = sc_core::SC_ZERO_TIME;
    if (ph == tlm::BEGIN_REQ) {
      phase answer = tlm::END_REQ;
      socket->nb_transport_bw(p, answer, delay);
      queue_.notify(p, SERVED, period * static_cast<double>(latency));
    } else if (ph == SERVED) {
      phase answer = tlm::BEGIN_RESP;
      socket->nb_transport_bw(p, answer, delay);
    }
  }

  tlm_utils::peq_with_cb_and_phase<four_phase_target> queue_;
};

class four_phase_initiator : public sc_core::sc_module, public tlm::tlm_bw_transport_if<> {
 public:
  tlm::tlm_initiator_socket<32> socket{"socket"};
  four_phase_initiator(sc_core::sc_module_name name, unsigned in_flight, std::uint64_t count)
      : sc_module(name), pool_(in_flight), left_(count), queue_(this, &four_phase_initiator::act) {
    socket.bind(*this);
    for (payload& p : pool_) free_.push_back(&p);
    HEDDLE_HAS_PROCESS(four_phase_initiator);
    SC_METHOD(send);
    sensitive << may_send_;
  }
  sync nb_transport_bw(payload& p, phase& ph, sc_time& delay) override {
    queue_.notify(p, ph, delay);
    return tlm::TLM_ACCEPTED;
  }
  void invalidate_direct_mem_ptr(sc_dt::uint64, sc_dt::uint64) override {}
  std::uint64_t returned = 0;

 private:
  void send() {
    if (free_.empty() || left_ == 0) return;
    --left_;
    payload* p = free_.back();
    free_.pop_back();
    phase ph = tlm::BEGIN_REQ;
    sc_time delay = sc_core::SC_ZERO_TIME;
    socket->nb_transport_fw(*p, ph, delay);
    if (!free_.empty()) may_send_.notify(period);
  }
  void act(payload& p, const phase& ph) {
    if (ph != tlm::BEGIN_RESP) return;
    phase answer = tlm::END_RESP;
    sc_time delay = sc_core::SC_ZERO_TIME;
    socket->nb_transport_fw(p, answer, delay);
    ++returned;
    free_.push_back(&p);
    may_send_.notify(period);
  }

  std::vector<payload> pool_;
  std::vector<payload*> free_;
  std::uint64_t left_;
  sc_core::sc_event may_send_;
  tlm_utils::peq_with_cb_and_phase<four_phase_initiator> queue_;
};

template <class initiator_type>
outcome simulate(const initiator_type& initiator) {
  sc_core::sc_start(sc_core::SC_ZERO_TIME);
  const double begin = cpu_seconds();
  sc_core::sc_start();
  outcome o;
  o.seconds = cpu_seconds() - begin;
  o.activations = initiator.returned;
  o.cycles = sc_core::sc_time_stamp().value() / period.value();
  return o;
}

outcome run_two_calls(std::uint64_t count, unsigned in_flight) {
  clock_domain domain("domain", 1000.0);
  two_call_initiator initiator("initiator", domain, in_flight, count);
  two_call_target target("target", domain);
  initiator.socket.bind(target.socket);
  return simulate(initiator);
}

outcome run_four_phases(std::uint64_t count, unsigned in_flight) {
  four_phase_initiator initiator("initiator", in_flight, count);
  four_phase_target target("target");
  initiator.socket.bind(target.socket);
  return simulate(initiator);
}

}  // namespace

std::vector<hop> round_trips() {
  return {{"two calls and the wheel, one at a time", [](std::uint64_t n) { return run_two_calls(n, 1); }},
          {"two calls and the wheel, one a cycle", [](std::uint64_t n) { return run_two_calls(n, pipelined); }},
          {"four phases through PEQs, one at a time", [](std::uint64_t n) { return run_four_phases(n, 1); }},
          {"four phases through PEQs, one a cycle", [](std::uint64_t n) { return run_four_phases(n, pipelined); }}};
}

}  // namespace heddle::bench
