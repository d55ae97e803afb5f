// SPDX-License-Identifier: MIT
#include <tlm_utils/simple_initiator_socket.h>
#include <tlm_utils/simple_target_socket.h>

#include <systemc>
#include <tlm>

#include "tests/bench/transaction_hops.h"

namespace heddle::bench {
namespace {

using payload = tlm::tlm_generic_payload;
using phase = tlm::tlm_phase;
using sync = tlm::tlm_sync_enum;
using sc_core::sc_time;

class receiver {
 public:
  virtual ~receiver() = default;
  virtual sync accept(payload& p, phase& ph, sc_time& delay) = 0;
};

class plain_receiver : public receiver {
 public:
  sync accept(payload& p, phase&, sc_time&) override {
    received += p.get_data_length();
    return tlm::TLM_ACCEPTED;
  }
  std::uint64_t received = 0;
};

class bare_target : public sc_core::sc_module, public tlm::tlm_fw_transport_if<> {
 public:
  tlm::tlm_target_socket<32> socket{"socket"};
  explicit bare_target(sc_core::sc_module_name name) : sc_module(name) { socket.bind(*this); }
  sync nb_transport_fw(payload& p, phase&, sc_time&) override {
    received += p.get_data_length();
    return tlm::TLM_ACCEPTED;
  }
  void b_transport(payload&, sc_time&) override {}
  bool get_direct_mem_ptr(payload&, tlm::tlm_dmi&) override { return false; }
  unsigned transport_dbg(payload&) override { return 0; }
  std::uint64_t received = 0;
};

class bare_initiator : public sc_core::sc_module, public tlm::tlm_bw_transport_if<> {
 public:
  tlm::tlm_initiator_socket<32> socket{"socket"};
  explicit bare_initiator(sc_core::sc_module_name name) : sc_module(name) { socket.bind(*this); }
  sync nb_transport_bw(payload&, phase&, sc_time&) override { return tlm::TLM_ACCEPTED; }
  void invalidate_direct_mem_ptr(sc_dt::uint64, sc_dt::uint64) override {}
};

class simple_target : public sc_core::sc_module {
 public:
  tlm_utils::simple_target_socket<simple_target> socket{"socket"};
  explicit simple_target(sc_core::sc_module_name name) : sc_module(name) {
    socket.register_nb_transport_fw(this, &simple_target::nb_transport_fw);
  }
  sync nb_transport_fw(payload& p, phase&, sc_time&) {
    received += p.get_data_length();
    return tlm::TLM_ACCEPTED;
  }
  std::uint64_t received = 0;
};

class simple_initiator : public sc_core::sc_module {
 public:
  tlm_utils::simple_initiator_socket<simple_initiator> socket{"socket"};
  explicit simple_initiator(sc_core::sc_module_name name) : sc_module(name) {
    socket.register_nb_transport_bw(this, &simple_initiator::nb_transport_bw);
  }
  sync nb_transport_bw(payload&, phase&, sc_time&) { return tlm::TLM_ACCEPTED; }
};

template <class send>
outcome time_calls(std::uint64_t count, send&& one) {
  payload p;
  p.set_data_length(1);
  sc_time delay = sc_core::SC_ZERO_TIME;
  const double begin = cpu_seconds();
  for (std::uint64_t i = 0; i < count; ++i) {
    phase ph = tlm::BEGIN_REQ;
    one(p, ph, delay);
  }
  outcome o;
  o.seconds = cpu_seconds() - begin;
  return o;
}

outcome run_virtual_call(std::uint64_t count) {
  plain_receiver target;
  receiver* volatile hidden = &target;  // the compiler must not see through the call
  outcome o = time_calls(count, [&](payload& p, phase& ph, sc_time& t) { hidden->accept(p, ph, t); });
  o.activations = target.received;
  return o;
}

template <class initiator_type, class target_type>
outcome run_sockets(std::uint64_t count) {
  initiator_type initiator("initiator");
  target_type target("target");
  initiator.socket.bind(target.socket);
  sc_core::sc_start(sc_core::SC_ZERO_TIME);
  outcome o =
      time_calls(count, [&](payload& p, phase& ph, sc_time& t) { initiator.socket->nb_transport_fw(p, ph, t); });
  o.activations = target.received;
  return o;
}

}  // namespace

std::vector<hop> single_hops() {
  return {{"virtual call", run_virtual_call},
          {"nb_transport_fw, tlm sockets bound directly", run_sockets<bare_initiator, bare_target>},
          {"nb_transport_fw, simple sockets", run_sockets<simple_initiator, simple_target>}};
}

}  // namespace heddle::bench
