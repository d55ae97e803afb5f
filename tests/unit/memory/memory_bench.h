// SPDX-License-Identifier: MIT
// Common parts of the memory-system tests: a fresh simulation per test, an AT initiator and an AT memory with
// configurable behaviour.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <deque>
#include <functional>
#include <map>
#include <random>
#include <systemc>
#include <tlm>
#include <utility>
#include <vector>

#include "heddle/config/parameters.h"
#include "heddle/tlm/kernel/clock_domain.h"
#include "heddle/tlm/protocol/gpu_request.h"
#include "tests/unit/common/byte_map.h"

namespace heddle::test {

/// SystemC elaborates once per context, so each test gets its own. A context cannot be destroyed, so all are kept until
/// the end.
class simulation : public ::testing::Test {
 protected:
  void SetUp() override {
    before_ = sc_core::sc_curr_simcontext;
    static auto* const contexts = new std::vector<sc_core::sc_simcontext*>;
    contexts->push_back(new sc_core::sc_simcontext());
    sc_core::sc_curr_simcontext = contexts->back();
    sc_core::sc_default_global_context = sc_core::sc_curr_simcontext;
  }
  void TearDown() override {
    sc_core::sc_curr_simcontext = before_;
    sc_core::sc_default_global_context = before_;
  }
  static void run_cycles(clock_domain& clock, cycle_t cycles) {
    sc_core::sc_start(clock.time_of(clock.cycle() + cycles) - sc_core::sc_time_stamp());
  }

 private:
  sc_core::sc_simcontext* before_ = nullptr;
};

/// Sends line payloads in order, each not before its cycle, under the request exclusion rule; accepts responses at once
/// or, with `hold_percent`, sometimes later.
class driver : public sc_core::sc_module, public clocked, private tlm::tlm_bw_transport_if<> {
 public:
  struct record {
    std::uint64_t token;
    cycle_t asked;
    cycle_t answered;
    bool operator==(const record& o) const { return token == o.token && asked == o.asked && answered == o.answered; }
  };

  driver(sc_core::sc_module_name name, clock_domain& clock) : sc_module(name), socket("socket"), clock_(clock, *this) {
    socket.bind(static_cast<tlm::tlm_bw_transport_if<>&>(*this));
  }

  tlm::tlm_initiator_socket<32> socket;
  payload_pool pool;
  unsigned hold_percent = 0;
  std::mt19937_64 random{1};
  std::vector<record> records;
  std::function<void(line_payload&)> on_response;

  void send(line_payload& p, cycle_t at) {
    queue_.push_back({&p, at});
    if (queue_.size() == 1) clock_.wake_at(at);
  }
  line_payload& read(std::uint64_t line, std::uint8_t sectors, cycle_t at, std::uint64_t token = 0) {
    line_payload& p = fresh(token);
    p.request.what = gpu_request::kind::load;
    p.make_read(line, sectors);
    send(p, at);
    return p;
  }
  line_payload& write(std::uint64_t line, unsigned offset, const std::vector<std::uint8_t>& bytes, cycle_t at,
                      std::uint64_t token = 0) {
    line_payload& p = fresh(token);
    std::memset(p.line_enables(), 0, line_bytes);
    std::memset(p.line_enables() + offset, 0xff, bytes.size());
    std::memcpy(p.line_data() + offset, bytes.data(), bytes.size());
    p.request.what = gpu_request::kind::store;
    p.make_write(line);
    send(p, at);
    return p;
  }
  line_payload& fresh(std::uint64_t token) {
    line_payload& p = pool.acquire();
    p.request.token = token;
    p.request.sm = 0;
    p.request.launch = 0;
    return p;
  }
  bool done() const { return queue_.empty() && in_flight_ == 0; }
  std::size_t answered() const { return records.size(); }

  void on_cycle(cycle_t cycle) override {
    if (held_ != nullptr && held_until_ <= cycle) {
      tlm::tlm_generic_payload& p = *held_;
      held_ = nullptr;
      tlm::tlm_phase phase = tlm::END_RESP;
      sc_core::sc_time delay = sc_core::SC_ZERO_TIME;
      socket->nb_transport_fw(p, phase, delay);
      finish(p, cycle);
    }
    if (requesting_ == nullptr && !queue_.empty() && std::max(queue_.front().second, free_at_) <= cycle) {
      line_payload& p = *queue_.front().first;
      queue_.pop_front();
      asked_[&p] = cycle;
      ++in_flight_;
      requesting_ = &p;
      tlm::tlm_phase phase = tlm::BEGIN_REQ;
      sc_core::sc_time delay = sc_core::SC_ZERO_TIME;
      if (socket->nb_transport_fw(p, phase, delay) == tlm::TLM_UPDATED) {
        EXPECT_EQ(phase, tlm::END_REQ);
        requesting_ = nullptr;
        free_at_ = clock_.domain().arrival(delay);
      }
    }
    cycle_t next = never;
    if (requesting_ == nullptr && !queue_.empty()) next = std::max(queue_.front().second, free_at_);
    if (held_ != nullptr) next = std::min(next, held_until_);
    if (next != never) clock_.wake_at(std::max(next, cycle + 1));
  }

 private:
  tlm::tlm_sync_enum nb_transport_bw(tlm::tlm_generic_payload& p, tlm::tlm_phase& phase,
                                     sc_core::sc_time& delay) override {
    const cycle_t arrival = clock_.domain().arrival(delay);
    if (phase == tlm::END_REQ || requesting_ == &p) {
      EXPECT_EQ(requesting_, &p);
      requesting_ = nullptr;
      free_at_ = arrival;
      clock_.wake_at(arrival);
    }
    if (phase != tlm::BEGIN_RESP) return tlm::TLM_ACCEPTED;
    EXPECT_EQ(held_, nullptr) << "response exclusion rule";
    if (random() % 100 < hold_percent) {
      held_ = &p;
      held_until_ = arrival + random() % 20;
      clock_.wake_at(held_until_);
      return tlm::TLM_ACCEPTED;
    }
    finish(p, clock_.cycle());
    phase = tlm::END_RESP;
    return tlm::TLM_UPDATED;
  }
  void invalidate_direct_mem_ptr(sc_dt::uint64, sc_dt::uint64) override {}

  void finish(tlm::tlm_generic_payload& p, cycle_t cycle) {
    line_payload& line = line_payload::of(p);
    records.push_back({line.request.token, asked_[&p], cycle});
    --in_flight_;
    if (on_response) on_response(line);
    p.release();
  }

  clock_port clock_;
  std::deque<std::pair<line_payload*, cycle_t>> queue_;
  std::map<tlm::tlm_generic_payload*, cycle_t> asked_;
  tlm::tlm_generic_payload* requesting_ = nullptr;
  cycle_t free_at_ = 0;
  tlm::tlm_generic_payload* held_ = nullptr;
  cycle_t held_until_ = 0;
  unsigned in_flight_ = 0;
};

/// How a test memory answers a request.
enum class answer_style {
  end_req_returned,
  end_req_called,
  end_req_implied,
  response_returned,
  completed,
  annotated,
  mixed
};

/// An AT memory with its own storage. It performs requests when they arrive and responds in any legal style.
class test_memory : public sc_core::sc_module, public clocked, private tlm::tlm_fw_transport_if<> {
 public:
  test_memory(sc_core::sc_module_name name, clock_domain& clock)
      : sc_module(name), socket("socket"), clock_(clock, *this) {
    socket.bind(static_cast<tlm::tlm_fw_transport_if<>&>(*this));
  }

  tlm::tlm_target_socket<32> socket;
  answer_style style = answer_style::end_req_returned;
  cycle_t latency = 10;        // BEGIN_REQ to BEGIN_RESP
  unsigned jitter = 0;         // random addition, so that responses overtake each other
  unsigned end_req_delay = 3;  // cycles, if END_REQ is called
  bool debug_offered = true;
  bool sets_status = true;
  bool performs_late = false;  // performs requests when it responds, not when they arrive
  tlm::tlm_response_status status = tlm::TLM_OK_RESPONSE;
  std::mt19937_64 random{2};
  byte_map bytes;
  std::vector<std::pair<std::uint64_t, unsigned>> reads;  // address, length
  std::vector<std::pair<std::uint64_t, unsigned>> writes;
  std::vector<cycle_t> asked;
  unsigned with_enables = 0;
  std::function<void(tlm::tlm_generic_payload&)> on_request;
  std::vector<tlm::tlm_sync_enum> response_answers;

  bool idle() const { return due_.empty() && answering_ == nullptr; }

  void on_cycle(cycle_t cycle) override {
    if (requesting_ != nullptr && end_req_at_ <= cycle && !implied_) {
      tlm::tlm_generic_payload& p = *requesting_;
      requesting_ = nullptr;
      tlm::tlm_phase phase = tlm::END_REQ;
      sc_core::sc_time delay = sc_core::SC_ZERO_TIME;
      socket->nb_transport_bw(p, phase, delay);
    }
    if (answering_ == nullptr && !due_.empty() && due_.begin()->first <= cycle) respond(cycle);
    cycle_t next = never;
    if (requesting_ != nullptr && !implied_) next = end_req_at_;
    if (answering_ == nullptr && !due_.empty()) next = std::min(next, due_.begin()->first);
    if (next != never) clock_.wake_at(std::max(next, cycle + 1));
  }

 private:
  void respond(cycle_t) {
    tlm::tlm_generic_payload& p = *due_.begin()->second;
    due_.erase(due_.begin());
    if (performs_late) serve(p);
    if (&p == requesting_) {
      // The request phase must end first, unless the response implies its end.
      requesting_ = nullptr;
      if (!implied_) {
        tlm::tlm_phase end = tlm::END_REQ;
        sc_core::sc_time zero = sc_core::SC_ZERO_TIME;
        socket->nb_transport_bw(p, end, zero);
      }
    }
    answering_ = &p;
    tlm::tlm_phase phase = tlm::BEGIN_RESP;
    sc_core::sc_time delay =
        chosen_ == answer_style::annotated ? clock_.domain().time_of(random() % 7) : sc_core::SC_ZERO_TIME;
    const tlm::tlm_sync_enum answer = socket->nb_transport_bw(p, phase, delay);
    response_answers.push_back(answer);
    if (answer != tlm::TLM_ACCEPTED) {
      EXPECT_EQ(phase, tlm::END_RESP);
      answering_ = nullptr;
      p.release();
    }
  }

  void serve(tlm::tlm_generic_payload& p) {
    const std::uint64_t a = p.get_address();
    const unsigned n = p.get_data_length();
    EXPECT_EQ(n & (n - 1), 0u) << "power-of-two length";
    EXPECT_EQ(a % n, 0u) << "natural alignment";
    EXPECT_EQ(p.get_streaming_width(), n);
    (p.is_read() ? reads : writes).push_back({a, n});
    if (p.get_byte_enable_ptr() != nullptr) ++with_enables;
    for (unsigned i = 0; i < n; ++i) {
      if (p.get_byte_enable_ptr() != nullptr && p.get_byte_enable_ptr()[i % p.get_byte_enable_length()] != 0xff)
        continue;
      if (p.is_read()) p.get_data_ptr()[i] = status == tlm::TLM_OK_RESPONSE ? bytes[a + i] : 0xee;
      else bytes[a + i] = p.get_data_ptr()[i];
    }
    if (sets_status) p.set_response_status(status);
    p.set_address(0xdeadbeef);  // an interconnect may rewrite the address
  }

  tlm::tlm_sync_enum nb_transport_fw(tlm::tlm_generic_payload& p, tlm::tlm_phase& phase,
                                     sc_core::sc_time& delay) override {
    if (phase == tlm::END_RESP) {
      if (answering_ == &p) answering_ = nullptr;
      p.release();
      clock_.wake_at(clock_.cycle() + 1);
      return tlm::TLM_COMPLETED;
    }
    EXPECT_EQ(phase, tlm::BEGIN_REQ);
    EXPECT_EQ(requesting_, nullptr) << "request exclusion rule";
    EXPECT_EQ(p.get_response_status(), tlm::TLM_INCOMPLETE_RESPONSE);
    EXPECT_GT(p.get_ref_count(), 0);
    asked.push_back(clock_.cycle());
    if (on_request) on_request(p);
    answer_style s = style;
    if (s == answer_style::mixed) s = static_cast<answer_style>(random() % static_cast<unsigned>(answer_style::mixed));
    // A returned response must not overlap with another response phase.
    if (answering_ != nullptr && s == answer_style::response_returned) s = answer_style::end_req_returned;
    chosen_ = s;
    if (!performs_late || s == answer_style::completed || s == answer_style::response_returned) serve(p);
    if (s == answer_style::completed) {
      delay += clock_.domain().time_of(random() % 4);
      return tlm::TLM_COMPLETED;
    }
    p.acquire();
    if (s == answer_style::response_returned) {
      phase = tlm::BEGIN_RESP;
      delay += clock_.domain().time_of(random() % 4);
      answering_ = &p;
      return tlm::TLM_UPDATED;
    }
    const cycle_t due = clock_.cycle() + latency + (jitter != 0 ? random() % jitter : 0);
    due_.emplace(due, &p);
    clock_.wake_at(due);
    implied_ = s == answer_style::end_req_implied;
    if (s == answer_style::end_req_called || implied_) {
      requesting_ = &p;
      end_req_at_ = clock_.cycle() + end_req_delay;
      if (!implied_) clock_.wake_at(end_req_at_);
      return tlm::TLM_ACCEPTED;
    }
    if (s == answer_style::annotated) delay += clock_.domain().time_of(random() % 3);
    phase = tlm::END_REQ;
    return tlm::TLM_UPDATED;
  }
  void b_transport(tlm::tlm_generic_payload& p, sc_core::sc_time&) override { serve(p); }
  bool get_direct_mem_ptr(tlm::tlm_generic_payload&, tlm::tlm_dmi&) override { return false; }
  unsigned transport_dbg(tlm::tlm_generic_payload& p) override {
    if (!debug_offered) return 0;
    for (unsigned i = 0; i < p.get_data_length(); ++i) {
      if (p.is_read()) p.get_data_ptr()[i] = bytes[p.get_address() + i];
      else bytes[p.get_address() + i] = p.get_data_ptr()[i];
    }
    return p.get_data_length();
  }

  clock_port clock_;
  std::multimap<cycle_t, tlm::tlm_generic_payload*> due_;
  tlm::tlm_generic_payload* requesting_ = nullptr;
  cycle_t end_req_at_ = 0;
  bool implied_ = false;
  answer_style chosen_ = answer_style::end_req_returned;
  tlm::tlm_generic_payload* answering_ = nullptr;
};

}  // namespace heddle::test
