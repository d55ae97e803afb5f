// SPDX-License-Identifier: MIT
#pragma once

#include <cstring>
#include <map>
#include <random>
#include <set>
#include <stdexcept>
#include <systemc>
#include <tlm>
#include <unordered_map>
#include <vector>

#include "heddle/tlm/kernel/has_process.h"
#include "heddle/tlm/protocol/gpu_request.h"

namespace heddle {

/// A memory that can answer in every way that the base protocol allows, and checks the initiator. It performs requests
/// at once, in the order of arrival. `answer` controls when the responses come, in any order.
class fake_memory : public sc_core::sc_module, public tlm::tlm_fw_transport_if<> {
 public:
  enum class style {
    end_req_by_return,   // TLM_UPDATED, END_REQ
    end_req_by_call,     // TLM_ACCEPTED, END_REQ some cycles later
    end_req_implied,     // TLM_ACCEPTED, then BEGIN_RESP
    response_by_return,  // TLM_UPDATED, BEGIN_RESP with annotated delay
    completed,           // TLM_COMPLETED with annotated delay
    any                  // one of these at random
  };

  tlm::tlm_target_socket<32> socket{"socket"};
  style answer = style::end_req_by_return;
  sc_core::sc_time cycle;       // unit of the figures below
  unsigned latency = 100;       // BEGIN_REQ to BEGIN_RESP
  unsigned jitter = 0;          // random addition
  unsigned end_req_delay = 3;   // for end_req_by_call, random up to this many cycles
  unsigned response_delay = 0;  // BEGIN_RESP comes with an annotated delay of up to this many cycles
  bool hold = false;            // no END_REQ while set (end_req_by_call)
  tlm::tlm_response_status status = tlm::TLM_OK_RESPONSE;
  std::uint64_t reads = 0, writes = 0, atomics = 0, read_bytes = 0;
  std::vector<sc_core::sc_time> begin_times;

  fake_memory(sc_core::sc_module_name name, sc_core::sc_time cycle_time) : sc_module(name), cycle(cycle_time) {
    HEDDLE_HAS_PROCESS(fake_memory);
    socket.bind(*this);
    SC_METHOD(work);
    sensitive << due_;
    dont_initialize();
  }

  std::uint8_t& byte(std::uint64_t address) { return bytes_[address]; }
  template <class T>
  T get(std::uint64_t address) {
    T v{};
    for (unsigned k = 0; k < sizeof v; ++k) v |= static_cast<T>(T{byte(address + k)} << (8 * k));
    return v;
  }
  template <class T>
  void put(std::uint64_t address, T v) {
    for (unsigned k = 0; k < sizeof v; ++k) byte(address + k) = static_cast<std::uint8_t>(v >> (8 * k));
  }
  /// Sends the END_REQ that is held back.
  void let_go() {
    hold = false;
    if (held_ != nullptr) at(sc_core::SC_ZERO_TIME, held_, tlm::END_REQ);
    held_ = nullptr;
  }
  std::size_t open() const { return open_.size(); }

 private:
  struct action {
    tlm::tlm_generic_payload* payload;
    tlm::tlm_phase phase;
  };

  void check(bool holds, const char* what) {
    if (!holds) throw std::runtime_error(std::string("protocol: ") + what);
  }
  unsigned random_up_to(unsigned n) { return n == 0 ? 0 : static_cast<unsigned>(random_() % (n + 1)); }
  void at(sc_core::sc_time delay, tlm::tlm_generic_payload* p, tlm::tlm_phase phase) {
    actions_.emplace(sc_core::sc_time_stamp() + delay, action{p, phase});
    due_.notify(actions_.begin()->first - sc_core::sc_time_stamp());
  }

  tlm::tlm_sync_enum nb_transport_fw(tlm::tlm_generic_payload& p, tlm::tlm_phase& phase,
                                     sc_core::sc_time& delay) override {
    if (phase == tlm::END_RESP) {
      check(responding_ == &p, "END_RESP without BEGIN_RESP");
      responding_ = nullptr;
      p.release();
      return tlm::TLM_COMPLETED;
    }
    check(phase == tlm::BEGIN_REQ, "a phase that an initiator must not send");
    check(requesting_ == nullptr, "BEGIN_REQ before END_REQ");
    check(p.has_mm() && p.get_ref_count() > 0, "payload without a memory manager");
    check(p.get_response_status() == tlm::TLM_INCOMPLETE_RESPONSE, "response status not INCOMPLETE");
    check(open_.insert(&p).second, "payload in use");
    const unsigned length = p.get_data_length();
    check((length & (length - 1)) == 0 && p.get_address() % length == 0, "not a naturally aligned power of two");
    check(p.get_streaming_width() == length, "streaming width");
    begin_times.push_back(sc_core::sc_time_stamp() + delay);
    perform(p);
    style s = answer;
    if (s == style::any) s = static_cast<style>(random_() % 5);
    const sc_core::sc_time wait = cycle * (latency + random_up_to(jitter));
    switch (s) {
      case style::completed:
        open_.erase(&p);
        delay = wait;
        return tlm::TLM_COMPLETED;
      case style::response_by_return:
        if (responding_ != nullptr) break;
        p.acquire();
        responding_ = &p;
        open_.erase(&p);
        delay = wait;
        phase = tlm::BEGIN_RESP;
        return tlm::TLM_UPDATED;
      case style::end_req_by_return:
        p.acquire();
        at(wait, &p, tlm::BEGIN_RESP);
        phase = tlm::END_REQ;
        return tlm::TLM_UPDATED;
      case style::end_req_implied:
        p.acquire();
        requesting_ = &p;
        at(cycle * (1 + random_up_to(end_req_delay)), &p, tlm::BEGIN_RESP);
        return tlm::TLM_ACCEPTED;
      default: break;
    }
    p.acquire();
    requesting_ = &p;
    if (hold) held_ = &p;
    else at(cycle * (1 + random_up_to(end_req_delay)), &p, tlm::END_REQ);
    return tlm::TLM_ACCEPTED;
  }
  void b_transport(tlm::tlm_generic_payload&, sc_core::sc_time&) override { check(false, "b_transport"); }
  bool get_direct_mem_ptr(tlm::tlm_generic_payload&, tlm::tlm_dmi&) override { return false; }
  unsigned transport_dbg(tlm::tlm_generic_payload&) override { return 0; }

  void perform(tlm::tlm_generic_payload& p) {
    std::uint8_t* data = p.get_data_ptr();
    const std::uint64_t a = p.get_address();
    if (p.is_read()) {
      ++reads;
      for (unsigned k = 0; k < p.get_data_length(); ++k)
        if (p.get_byte_enable_ptr() == nullptr || p.get_byte_enable_ptr()[k % p.get_byte_enable_length()]) {
          data[k] = byte(a + k);
          ++read_bytes;
        }
    } else if (p.is_write()) {
      ++writes;
      for (unsigned k = 0; k < p.get_data_length(); ++k)
        if (p.get_byte_enable_ptr() == nullptr || p.get_byte_enable_ptr()[k % p.get_byte_enable_length()])
          byte(a + k) = data[k];
    } else {
      ++atomics;
      atomic_request& r = *line_payload::of(p).request.atomic;
      for (unsigned k = 0; k < r.count; ++k) {  // 32-bit additions
        const auto old = get<std::uint32_t>(a + r.offset[k]);
        put<std::uint32_t>(a + r.offset[k], old + static_cast<std::uint32_t>(r.operand[k]));
        r.result[k] = old;
      }
    }
    if (status != tlm::TLM_INCOMPLETE_RESPONSE) p.set_response_status(status);
    p.set_address(~a);  // as an interconnect may do
  }

  void work() {
    while (!actions_.empty() && actions_.begin()->first <= sc_core::sc_time_stamp()) {
      const action a = actions_.begin()->second;
      actions_.erase(actions_.begin());
      tlm::tlm_phase phase = a.phase;
      sc_core::sc_time delay = sc_core::SC_ZERO_TIME;
      if (phase == tlm::END_REQ) {
        if (hold) {
          held_ = a.payload;
          continue;
        }
        requesting_ = nullptr;
        at(cycle * (latency + random_up_to(jitter)), a.payload, tlm::BEGIN_RESP);
        socket->nb_transport_bw(*a.payload, phase, delay);
        continue;
      }
      if (requesting_ == a.payload) requesting_ = nullptr;
      delay = cycle * random_up_to(response_delay);
      open_.erase(a.payload);
      const tlm::tlm_sync_enum got = socket->nb_transport_bw(*a.payload, phase, delay);
      check(got == tlm::TLM_UPDATED && phase == tlm::END_RESP, "BEGIN_RESP not answered with END_RESP");
      a.payload->release();
    }
    if (!actions_.empty()) due_.notify(actions_.begin()->first - sc_core::sc_time_stamp());
  }

  std::unordered_map<std::uint64_t, std::uint8_t> bytes_;
  std::multimap<sc_core::sc_time, action> actions_;
  sc_core::sc_event due_{"due"};
  tlm::tlm_generic_payload* requesting_ = nullptr;
  tlm::tlm_generic_payload* responding_ = nullptr;
  tlm::tlm_generic_payload* held_ = nullptr;
  std::set<tlm::tlm_generic_payload*> open_;
  std::mt19937_64 random_{7};
};

}  // namespace heddle
