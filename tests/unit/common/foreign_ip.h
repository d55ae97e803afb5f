// SPDX-License-Identifier: MIT
// Third-party IP to be bound to a GPU's memory sockets: a memory with unusual answers, one for blocking calls only, a
// bus with random arbitration. The protocol checker is in foreign_checker.h. None of it uses a class of Heddle.
#pragma once

#include <tlm_utils/multi_passthrough_target_socket.h>
#include <tlm_utils/peq_with_cb_and_phase.h>
#include <tlm_utils/simple_initiator_socket.h>
#include <tlm_utils/simple_target_socket.h>
#include <cstdint>
#include <cstring>
#include <deque>
#include <random>
#include <string>
#include <systemc>
#include <tlm>
#include <vector>

#include "heddle/tlm/kernel/has_process.h"
#include "tests/unit/common/byte_map.h"

namespace foreign {

DECLARE_EXTENDED_PHASE(rows_open);  // an ignorable phase defined by the memory

/// Storage whose addresses begin at `base`.
struct storage {
  std::uint64_t base = 0;
  unsigned most_bytes = ~0u;  // longer transfers are rejected
  bool knows_enables = true;  // false: byte enables are rejected
  unsigned most_debug = ~0u;  // maximum size of one debug access
  heddle::test::byte_map bytes;

  unsigned debug(tlm::tlm_generic_payload& p) {
    const unsigned n = p.get_data_length() < most_debug ? p.get_data_length() : most_debug;
    for (unsigned i = 0; i < n; ++i) {
      std::uint8_t& byte = bytes[p.get_address() - base + i];
      if (p.is_read()) p.get_data_ptr()[i] = byte;
      else byte = p.get_data_ptr()[i];
    }
    return n;
  }
  void perform(tlm::tlm_generic_payload& p) {
    const std::uint8_t* enables = p.get_byte_enable_ptr();
    if (p.get_data_length() > most_bytes) return p.set_response_status(tlm::TLM_BURST_ERROR_RESPONSE);
    if (enables != nullptr && !knows_enables) return p.set_response_status(tlm::TLM_BYTE_ENABLE_ERROR_RESPONSE);
    for (unsigned i = 0; i < p.get_data_length(); ++i) {
      if (enables != nullptr && enables[i % p.get_byte_enable_length()] != TLM_BYTE_ENABLED) continue;
      std::uint8_t& byte = bytes[p.get_address() - base + i];
      if (p.is_read()) p.get_data_ptr()[i] = byte;
      else byte = p.get_data_ptr()[i];
    }
    p.set_response_status(tlm::TLM_OK_RESPONSE);
  }
};

/// A memory of `width` bits. It answers successive transactions in all ways that IEEE 1666 allows, at times that are no
/// multiple of any clock period. Its responses allow DMI although it grants none, and it sometimes invalidates DMI
/// pointers that no initiator has.
template <unsigned width>
class odd_memory : public sc_core::sc_module {
 public:
  odd_memory(sc_core::sc_module_name name, unsigned seed)
      : sc_module(name), random_(seed), queue_(this, &odd_memory::on_event) {
    socket.register_nb_transport_fw(this, &odd_memory::nb_transport_fw);
    socket.register_transport_dbg(this, &odd_memory::transport_dbg);
    socket.register_get_direct_mem_ptr(this, &odd_memory::get_direct_mem_ptr);
  }

  tlm_utils::simple_target_socket<odd_memory, width> socket{"socket"};
  storage store;
  unsigned ways[8] = {};

 private:
  enum way {
    completed,
    ends_in_call,
    responds_in_call,
    returns_end,
    returns_response,
    implies_end,
    sends_other,
    returns_other
  };

  tlm::tlm_sync_enum nb_transport_fw(tlm::tlm_generic_payload& p, tlm::tlm_phase& phase, sc_core::sc_time& delay) {
    if (phase == tlm::END_RESP) {
      responding_ = false;
      p.release();
      queue_next();
      return random_() % 2 != 0 ? tlm::TLM_COMPLETED : tlm::TLM_ACCEPTED;
    }
    way how = static_cast<way>(random_() % 8);
    if (responding_ && (how == responds_in_call || how == returns_response)) how = returns_end;
    ++ways[how];
    if (random_() % 16 == 0) socket->invalidate_direct_mem_ptr(0, ~std::uint64_t{0});
    if (how == completed) {
      answer(p);
      delay += odd_time(20);
      return tlm::TLM_COMPLETED;
    }
    p.acquire();
    switch (how) {
      case ends_in_call: send(p, tlm::END_REQ, delay + odd_time(3)); break;
      case responds_in_call: respond(p, delay + odd_time(30)); return tlm::TLM_ACCEPTED;
      case returns_end:
        phase = tlm::END_REQ;
        delay += odd_time(5);
        plan(p);
        return tlm::TLM_UPDATED;
      case returns_response:
        answer(p);
        responding_ = true;
        phase = tlm::BEGIN_RESP;
        delay += odd_time(30);
        return tlm::TLM_UPDATED;
      case implies_end: break;
      case sends_other: queue_.notify(p, tlm::END_REQ, delay + odd_time(10)); return tlm::TLM_ACCEPTED;
      case returns_other:
        queue_.notify(p, tlm::END_REQ, delay + odd_time(10));
        phase = rows_open;
        return tlm::TLM_UPDATED;
      default: break;
    }
    plan(p);
    return tlm::TLM_ACCEPTED;
  }

  void plan(tlm::tlm_generic_payload& p) {
    queue_.notify(p, tlm::BEGIN_RESP, sc_core::sc_time(6, sc_core::SC_NS) + odd_time(90));
  }

  void on_event(tlm::tlm_generic_payload& p, const tlm::tlm_phase& phase) {
    if (phase == tlm::END_REQ) {
      send(p, rows_open, sc_core::SC_ZERO_TIME);
      send(p, tlm::END_REQ, odd_time(2));
      plan(p);
      return;
    }
    ready_.push_back(&p);
    queue_next();
  }

  void queue_next() {
    if (responding_ || ready_.empty()) return;
    tlm::tlm_generic_payload& p = *ready_.front();
    ready_.pop_front();
    respond(p, random_() % 2 != 0 ? odd_time(12) : sc_core::SC_ZERO_TIME);
  }

  void respond(tlm::tlm_generic_payload& p, const sc_core::sc_time& delay) {
    answer(p);
    responding_ = true;
    tlm::tlm_phase phase = tlm::BEGIN_RESP;
    sc_core::sc_time t = delay;
    if (socket->nb_transport_bw(p, phase, t) == tlm::TLM_ACCEPTED) return;
    responding_ = false;
    p.release();
    queue_next();
  }

  void answer(tlm::tlm_generic_payload& p) {
    store.perform(p);
    p.set_dmi_allowed(random_() % 2 != 0);
  }

  void send(tlm::tlm_generic_payload& p, tlm::tlm_phase phase, const sc_core::sc_time& delay) {
    sc_core::sc_time t = delay;
    socket->nb_transport_bw(p, phase, t);
  }

  sc_core::sc_time odd_time(unsigned most_ns) {
    return sc_core::sc_time(static_cast<double>(random_() % (most_ns * 1000)), sc_core::SC_PS);
  }
  unsigned transport_dbg(tlm::tlm_generic_payload& p) { return store.debug(p); }
  bool get_direct_mem_ptr(tlm::tlm_generic_payload&, tlm::tlm_dmi&) {
    SC_REPORT_ERROR("/foreign/memory", "unexpected request for DMI");
    return false;
  }

  std::mt19937 random_;
  tlm_utils::peq_with_cb_and_phase<odd_memory> queue_;
  std::deque<tlm::tlm_generic_payload*> ready_;
  bool responding_ = false;
};

/// A memory for blocking calls, which consume time; its convenience socket also accepts non-blocking calls.
class blocking_memory : public sc_core::sc_module {
 public:
  blocking_memory(sc_core::sc_module_name name, bool with_debug) : sc_module(name) {
    socket.register_b_transport(this, &blocking_memory::b_transport);
    if (with_debug) socket.register_transport_dbg(this, &blocking_memory::transport_dbg);
  }
  tlm_utils::simple_target_socket<blocking_memory> socket{"socket"};
  storage store;
  tlm::tlm_response_status read_status = tlm::TLM_OK_RESPONSE;
  tlm::tlm_response_status write_status = tlm::TLM_OK_RESPONSE;

 private:
  void b_transport(tlm::tlm_generic_payload& p, sc_core::sc_time& delay) {
    wait(delay + sc_core::sc_time(13, sc_core::SC_NS));
    delay = sc_core::sc_time(700, sc_core::SC_PS);
    const tlm::tlm_response_status status = p.is_read() ? read_status : write_status;
    if (status == tlm::TLM_OK_RESPONSE) store.perform(p);
    else p.set_response_status(status);
  }
  unsigned transport_dbg(tlm::tlm_generic_payload& p) { return store.debug(p); }
};

/// A bus with any number of masters and one slave for blocking calls. It serves a random requester, and subtracts the
/// base from addresses.
class random_bus : public sc_core::sc_module {
 public:
  random_bus(sc_core::sc_module_name name, std::uint64_t base, unsigned seed)
      : sc_module(name), base_(base), random_(seed) {
    masters.register_nb_transport_fw(this, &random_bus::nb_transport_fw);
    masters.register_transport_dbg(this, &random_bus::transport_dbg);
    HEDDLE_HAS_PROCESS(random_bus);
    SC_THREAD(arbitrate);
  }
  tlm_utils::multi_passthrough_target_socket<random_bus, 32> masters{"masters"};
  tlm_utils::simple_initiator_socket<random_bus> slave{"slave"};
  std::uint64_t served = 0;
  std::uint64_t overtaken = 0;  // grants that did not go to the oldest request

 private:
  struct request {
    int master;
    tlm::tlm_generic_payload* payload;
  };

  tlm::tlm_sync_enum nb_transport_fw(int master, tlm::tlm_generic_payload& p, tlm::tlm_phase& phase,
                                     sc_core::sc_time& delay) {
    if (phase != tlm::BEGIN_REQ) {
      ended_.notify(delay);
      return tlm::TLM_COMPLETED;
    }
    p.acquire();
    waiting_.push_back({master, &p});
    asked_.notify(delay);
    return tlm::TLM_ACCEPTED;
  }

  void arbitrate() {
    for (;;) {
      while (waiting_.empty()) wait(asked_);
      const std::size_t chosen = random_() % waiting_.size();
      overtaken += chosen != 0;
      const request r = waiting_[chosen];
      waiting_.erase(waiting_.begin() + static_cast<std::ptrdiff_t>(chosen));
      tlm::tlm_phase phase = tlm::END_REQ;
      sc_core::sc_time delay;
      masters[r.master]->nb_transport_bw(*r.payload, phase, delay);
      r.payload->set_address(r.payload->get_address() - base_);
      slave->b_transport(*r.payload, delay);
      wait(delay);
      phase = tlm::BEGIN_RESP;
      delay = sc_core::SC_ZERO_TIME;
      if (masters[r.master]->nb_transport_bw(*r.payload, phase, delay) == tlm::TLM_ACCEPTED) wait(ended_);
      else wait(delay);
      r.payload->release();
      ++served;
    }
  }

  unsigned transport_dbg(int, tlm::tlm_generic_payload& p) {
    p.set_address(p.get_address() - base_);
    return slave->transport_dbg(p);
  }

  std::uint64_t base_;
  std::mt19937 random_;
  std::deque<request> waiting_;
  sc_core::sc_event asked_;
  sc_core::sc_event ended_;
};

}  // namespace foreign
