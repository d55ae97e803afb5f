// SPDX-License-Identifier: MIT
// Foreign memories that do not answer, or answer against the protocol: the message names the socket, the address and
// how long the oldest request has waited. The response status of those that refuse reaches the host.
#include <string>

#include "heddle/config/error.h"
#include "heddle/gpu/host/host_registers.h"
#include "heddle/tlm/kernel/has_process.h"
#include "tests/unit/common/foreign_ip.h"
#include "tests/unit/common/fresh_simulation.h"
#include "tests/unit/memory/memory_stress.h"

namespace heddle::test {
namespace silent_memory_test {

/// Answers `right` requests, then does with each request what `then` says.
struct silent_memory : sc_core::sc_module {
  enum class behaviour : std::uint8_t { accepts, ends_request, illegal_return, illegal_call };
  silent_memory(sc_core::sc_module_name name, behaviour then, unsigned right)
      : sc_module(name), then_(then), right_(right) {
    socket.register_nb_transport_fw(this, &silent_memory::nb_transport_fw);
    socket.register_transport_dbg(this, &silent_memory::transport_dbg);
    HEDDLE_HAS_PROCESS(silent_memory);
    SC_METHOD(call_illegally);
    sensitive << illegal_;
    dont_initialize();
  }
  tlm_utils::simple_target_socket<silent_memory> socket{"socket"};
  foreign::storage store;
  /// Answers what it has accepted, and from now on all; for `accepts`, which has one request at most.
  void answer() {
    right_ = ~0u;
    if (asked_ == nullptr) return;
    tlm::tlm_generic_payload& p = *asked_;
    asked_ = nullptr;
    store.perform(p);
    tlm::tlm_phase phase = tlm::BEGIN_RESP;
    sc_core::sc_time delay;
    EXPECT_EQ(socket->nb_transport_bw(p, phase, delay), tlm::TLM_UPDATED);
  }
  std::uint64_t first_address = 0;  // of a request that is not answered

 private:
  tlm::tlm_sync_enum nb_transport_fw(tlm::tlm_generic_payload& p, tlm::tlm_phase& phase, sc_core::sc_time& delay) {
    if (right_ != 0) {
      --right_;
      store.perform(p);
      delay += sc_core::sc_time(30, sc_core::SC_NS);
      return tlm::TLM_COMPLETED;
    }
    if (first_address == 0) first_address = p.get_address();
    switch (then_) {
      case behaviour::accepts: asked_ = &p; return tlm::TLM_ACCEPTED;
      case behaviour::ends_request: phase = tlm::END_REQ; return tlm::TLM_UPDATED;
      case behaviour::illegal_return: phase = tlm::END_RESP; return tlm::TLM_UPDATED;
      case behaviour::illegal_call:
        p.acquire();
        asked_ = &p;
        illegal_.notify(7, sc_core::SC_NS);
        return tlm::TLM_ACCEPTED;
    }
    return tlm::TLM_ACCEPTED;
  }
  void call_illegally() {
    tlm::tlm_phase phase = tlm::BEGIN_REQ;
    sc_core::sc_time delay;
    tlm::tlm_generic_payload& p = *asked_;
    socket->nb_transport_bw(p, phase, delay);
    p.release();
  }
  unsigned transport_dbg(tlm::tlm_generic_payload& p) { return store.debug(p); }

  behaviour then_;
  unsigned right_;
  tlm::tlm_generic_payload* asked_ = nullptr;
  sc_core::sc_event illegal_;
};

using behaviour = silent_memory::behaviour;

class silent_memories : public fresh_simulation {
 protected:
  ~silent_memories() override { sc_core::sc_report_handler::set_actions("/heddle/protocol", sc_core::SC_UNSPECIFIED); }

  /// The fault that the driver reads when nothing happens any more.
  std::string fault_with(behaviour then, std::vector<std::string> more = {}) {
    std::vector<std::string> settings{"gpu.sm_count=2", "memory.model=external", "memory.channels=1",
                                      "l2.slices_per_channel=2", "l2.size_bytes=65536"};
    settings.insert(settings.end(), more.begin(), more.end());
    stressed_gpu g("gpu", load_config("gtx1080", settings));
    foreign::blocking_memory good("good", true);
    silent_memory silent("silent", then, 20);
    g.gpu.memory_socket[0].bind(good.socket);
    g.gpu.memory_socket[1].bind(silent.socket);
    sc_core::sc_start(sc_core::SC_ZERO_TIME);
    g.start(stress_size{4, 64, 4});
    sc_core::sc_start();
    first_address_ = silent.first_address;
    return g.driver.fault();
  }
  std::uint64_t first_address_ = 0;
};

std::string hexadecimal(std::uint64_t address) {
  char text[24];
  std::snprintf(text, sizeof text, "0x%llx", static_cast<unsigned long long>(address));
  return text;
}

bool contains(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

TEST_F(silent_memories, are_named_with_the_oldest_request) {
  for (const behaviour then : {behaviour::accepts, behaviour::ends_request}) {
    restart();
    const std::string fault = fault_with(then);
    EXPECT_EQ(fault.rfind("the memory at gpu.memory_socket_1 has not answered a read of ", 0), 0u) << fault;
    EXPECT_TRUE(contains(fault, " bytes at " + hexadecimal(first_address_) + ", sent ")) << fault;
    EXPECT_TRUE(contains(fault, " ns ago: ") || contains(fault, " ps ago: ")) << fault;
    EXPECT_TRUE(contains(fault, then == behaviour::accepts ? "END_REQ is missing" : "BEGIN_RESP is missing")) << fault;
    EXPECT_TRUE(contains(fault, "\n  sm 0 warp ")) << "which warps wait: " << fault;
  }
}

TEST_F(silent_memories, are_named_with_their_own_addresses_where_these_differ) {
  const std::string fault = fault_with(behaviour::accepts, {"memory.base_mib=0"});
  EXPECT_TRUE(contains(fault, "(" + hexadecimal(first_address_) + " there), sent ")) << fault;
}

/// Host software in a platform whose clock never stops: it waits by interrupt, or asks the status register every µs.
struct busy_platform : sc_core::sc_module {
  sc_core::sc_clock clock{"clock", sc_core::sc_time(10, sc_core::SC_NS)};
  stressed_gpu g;
  foreign::blocking_memory good{"good", true};
  silent_memory silent;
  bool asks;
  std::string fault;
  sc_core::sc_time ended;
  busy_platform(sc_core::sc_module_name name, const gpu_config& config, unsigned right, bool asks)
      : sc_module(name), g("gpu", config), silent("silent", behaviour::accepts, right), asks(asks) {
    g.gpu.memory_socket[0].bind(good.socket);
    g.gpu.memory_socket[1].bind(silent.socket);
    HEDDLE_HAS_PROCESS(busy_platform);
    SC_THREAD(run);
  }
  void run() {
    wait(1, sc_core::SC_US);
    g.start(stress_size{4, 64, 4});
    while (asks && !g.finished() && g.driver.fault().empty()) wait(1, sc_core::SC_US);
    if (!asks) g.driver.wait_for(0);
    fault = g.driver.fault();
    ended = sc_core::sc_time_stamp();
    if (fault.empty()) {
      EXPECT_TRUE(g.result() == stress_expected(stress_size{4, 64, 4}));
    }
  }
};

gpu_config of_patience(unsigned cycles) {
  return load_config("gtx1080",
                     {"gpu.sm_count=2", "memory.model=external", "memory.channels=1", "l2.slices_per_channel=2",
                      "gpu.core_clock_mhz=1000", "gpu.watchdog_cycles=" + std::to_string(cycles)});
}

TEST_F(silent_memories, are_reported_though_other_parts_of_the_platform_go_on) {
  for (const bool asks : {false, true}) {
    restart();
    busy_platform p("platform", of_patience(20000), 20, asks);
    sc_core::sc_start(200, sc_core::SC_US);
    EXPECT_EQ(p.fault.rfind("the memory at platform.gpu.memory_socket_1 has not answered a ", 0), 0u) << p.fault;
    EXPECT_TRUE(contains(p.fault, " bytes at " + hexadecimal(p.silent.first_address) + ", sent ")) << p.fault;
    EXPECT_GT(p.ended, sc_core::sc_time(20, sc_core::SC_US));
    EXPECT_LT(p.ended, sc_core::sc_time(40, sc_core::SC_US));
    restart();
    busy_platform patient("platform", of_patience(0), 20, asks);
    sc_core::sc_start(200, sc_core::SC_US);
    EXPECT_EQ(patient.fault, "");
    EXPECT_EQ(patient.ended, sc_core::SC_ZERO_TIME);
    restart();
    busy_platform answered("platform", of_patience(300), ~0u, asks);
    sc_core::sc_start(200, sc_core::SC_US);
    EXPECT_EQ(answered.fault, "") << "no request waits for so long, though the kernel runs longer";
    EXPECT_GT(answered.ended, sc_core::sc_time(2, sc_core::SC_US));
  }
}

/// Host software that resets a GPU whose memory is silent. After `answers` it answers, if that is not zero.
struct patient_host : sc_core::sc_module {
  stressed_gpu g;
  foreign::blocking_memory good{"good", true};
  silent_memory silent;
  sc_core::sc_time answers;
  std::string fault, message;
  std::uint64_t status = 0;
  bool recovered = false, right = false;
  patient_host(sc_core::sc_module_name name, const gpu_config& config, sc_core::sc_time answers)
      : sc_module(name), g("gpu", config), silent("silent", behaviour::accepts, 20), answers(answers) {
    g.gpu.memory_socket[0].bind(good.socket);
    g.gpu.memory_socket[1].bind(silent.socket);
    HEDDLE_HAS_PROCESS(patient_host);
    SC_THREAD(run);
  }
  void run() {
    g.start(stress_size{4, 64, 4});
    wait(5, sc_core::SC_US);
    try {
      recover(g.driver);
      recovered = true;
    } catch (const input_error& e) {
      message = e.what();
    }
    fault = g.driver.fault();
    g.driver.read(host_register::status, &status, sizeof status);
    if (answers == sc_core::SC_ZERO_TIME) return;
    wait(answers);
    silent.answer();
    recover(g.driver);
    recovered = true;
    g.start(stress_size{4, 64, 4});
    g.driver.wait_for(1);
    right = g.driver.fault().empty() && g.result() == stress_expected(stress_size{4, 64, 4});
  }
};

TEST_F(silent_memories, are_named_while_a_reset_waits_for_them) {
  patient_host h("host", of_patience(20000), sc_core::SC_ZERO_TIME);
  sc_core::sc_start();
  EXPECT_LT(sc_core::sc_time_stamp(), sc_core::sc_time(1, sc_core::SC_MS)) << "the reset waits without events";
  EXPECT_FALSE(h.recovered);
  EXPECT_EQ(h.status & (host_status::stuck | host_status::resetting), host_status::stuck | host_status::resetting);
  EXPECT_EQ(h.message.rfind("the memory at host.gpu.memory_socket_1 has not answered a read of ", 0), 0u) << h.message;
  EXPECT_TRUE(contains(h.message, " bytes at " + hexadecimal(h.silent.first_address) + ", sent ")) << h.message;
  EXPECT_TRUE(contains(h.message, " ago: END_REQ is missing; the reset waits for it\n")) << h.message;
  EXPECT_EQ(h.fault.substr(0, 60), h.message.substr(0, 60));
}

TEST_F(silent_memories, that_answer_late_let_a_reset_end) {
  for (const unsigned patience : {20000u, 0u}) {
    restart();
    patient_host h("host", of_patience(patience), sc_core::sc_time(300, sc_core::SC_US));
    if (patience == 0) {
      sc_core::sc_start(500, sc_core::SC_US);
      EXPECT_EQ(h.message, "") << "without patience a reset waits, and nothing is reported";
      h.silent.answer();
    }
    sc_core::sc_start(5, sc_core::SC_MS);
    EXPECT_TRUE(h.recovered);
    EXPECT_TRUE(h.right);
    h.g.gpu.check_invariants();
  }
}

TEST_F(silent_memories, that_answer_do_not_prolong_the_simulation) {
  stressed_gpu g("gpu", of_patience(1000000));
  foreign::blocking_memory first("first", true), second("second", true);
  g.gpu.memory_socket[0].bind(first.socket);
  g.gpu.memory_socket[1].bind(second.socket);
  sc_core::sc_start(sc_core::SC_ZERO_TIME);
  g.start(stress_size{4, 64, 4});
  sc_core::sc_start();
  EXPECT_TRUE(g.finished());
  EXPECT_LT(sc_core::sc_time_stamp(), sc_core::sc_time(100, sc_core::SC_US));
}

TEST_F(silent_memories, phases_that_are_not_allowed_are_errors_that_name_socket_and_address) {
  for (const behaviour then : {behaviour::illegal_return, behaviour::illegal_call}) {
    restart();
    try {
      fault_with(then);
      ADD_FAILURE() << "an illegal phase was accepted";
    } catch (const sc_core::sc_report& report) {
      const std::string text = report.get_msg();
      EXPECT_STREQ(report.get_msg_type(), "/heddle/protocol");
      EXPECT_TRUE(contains(text, "gpu.l2_slice1.memory_socket: a phase that the base protocol does not allow here"))
          << text;
      EXPECT_TRUE(contains(text, "(address 0x")) << text;
    }
    // A program whose report handler goes on gets the oldest request.
    restart();
    sc_core::sc_report_handler::set_actions("/heddle/protocol", sc_core::SC_DO_NOTHING);
    const std::string fault = fault_with(then);
    sc_core::sc_report_handler::set_actions("/heddle/protocol", sc_core::SC_UNSPECIFIED);
    EXPECT_TRUE(contains(fault, "gpu.memory_socket_1 has not answered")) << fault;
    EXPECT_TRUE(contains(fault, hexadecimal(first_address_))) << fault;
  }
}

/// A host thread that makes one access.
struct one_access : sc_core::sc_module {
  tlm_utils::simple_initiator_socket<one_access> socket{"socket"};
  tlm::tlm_command command;
  tlm::tlm_response_status status = tlm::TLM_INCOMPLETE_RESPONSE;
  one_access(sc_core::sc_module_name name, tlm::tlm_command command) : sc_module(name), command(command) {
    HEDDLE_HAS_PROCESS(one_access);
    SC_THREAD(run);
  }
  void run() {
    std::uint8_t data[100] = {};
    tlm::tlm_generic_payload p;
    p.set_command(command);
    p.set_address(0x1000'0000 + 16);
    p.set_data_ptr(data);
    p.set_data_length(sizeof data);
    p.set_streaming_width(sizeof data);
    sc_core::sc_time delay;
    socket->b_transport(p, delay);
    status = p.get_response_status();
  }
};

TEST_F(silent_memories, pass_on_their_response_status_to_the_host) {
  for (const tlm::tlm_command command : {tlm::TLM_READ_COMMAND, tlm::TLM_WRITE_COMMAND})
    for (int status = tlm::TLM_BYTE_ENABLE_ERROR_RESPONSE; status <= tlm::TLM_GENERIC_ERROR_RESPONSE; ++status)
      for (const char* splits : {"memory.max_transfer_bytes=128", "memory.max_transfer_bytes=8"}) {
        restart();
        class gpu g("gpu",
                    load_config("gtx1080", {"gpu.sm_count=1", "memory.model=external", "memory.channels=1", splits}));
        foreign::blocking_memory memory("memory", false);
        memory.read_status = memory.write_status = static_cast<tlm::tlm_response_status>(status);
        one_access host("host", command);
        g.memory_socket[0].bind(memory.socket);
        host.socket.bind(g.host_socket);
        sc_core::sc_start();
        EXPECT_EQ(host.status, status) << splits << ", command " << command;
      }
}

}  // namespace silent_memory_test
}  // namespace heddle::test
