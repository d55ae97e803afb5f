// SPDX-License-Identifier: MIT
// Code that is read from the L2: cycles computed by hand, and who waits for it.
#include <gtest/gtest.h>

#include <tuple>
#include <vector>

#include "heddle/config/config.h"
#include "heddle/memory/l1/l1_cache.h"
#include "heddle/sm/instruction_port.h"
#include "heddle/sub_partition/fetch/fetch.h"
#include "heddle/sub_partition/fetch/instruction_cache.h"
#include "heddle/tlm/kernel/clock_domain.h"
#include "tests/unit/common/fake_memory.h"
#include "tests/unit/common/fresh_simulation.h"

namespace heddle::test {
namespace instruction_port_test {

/// A port with lines of 256 bytes between an L1 and a memory that answers after 100 cycles; 1 GHz.
struct bench : code_observer {
  using arrival = std::tuple<std::uint64_t, unsigned, cycle_t>;
  explicit bench(const gpu_config& c = {})
      : config(c),
        clock("clock", 1000),
        l1("l1", clock, config, 3),
        port("instruction_port", clock, 256, *this),
        memory("memory", sc_core::sc_time(1, sc_core::SC_NS)) {
    port.memory_socket.bind(l1.instruction_socket);
    l1.memory_socket.bind(memory.socket);
    unit.access.bind(l1.access_socket);
  }
  void instructions_arrived(std::uint64_t address, unsigned bytes, cycle_t cycle) override {
    arrivals.emplace_back(address, bytes, cycle);
  }
  struct unconnected_unit : sc_core::sc_module, tlm::tlm_bw_transport_if<l1_protocol_types> {
    explicit unconnected_unit(sc_core::sc_module_name name) : sc_module(name), access("access") { access.bind(*this); }
    tlm::tlm_initiator_socket<32, l1_protocol_types> access;
    tlm::tlm_sync_enum nb_transport_bw(l1_access&, l1_phase&, sc_core::sc_time&) override {
      ADD_FAILURE() << "an answer to the load/store unit";
      return tlm::TLM_ACCEPTED;
    }
    void invalidate_direct_mem_ptr(sc_dt::uint64, sc_dt::uint64) override {}
  };
  gpu_config config;
  clock_domain clock;
  l1_cache l1;
  instruction_port port;
  fake_memory memory;
  unconnected_unit unit{"load_store_unit"};
  std::vector<arrival> arrivals;
};

class instruction_port_test : public fresh_simulation {};

// Both halves of the line are asked for in cycles 10 and 11 and come 100 cycles later, in the cycle after which the L1
// takes the second one.
TEST_F(instruction_port_test, a_line_is_there_when_its_last_read_is_answered) {
  bench b;
  EXPECT_EQ(b.port.look_up(0x1000, 10, 2), never);
  EXPECT_FALSE(b.port.idle());
  sc_core::sc_start();
  EXPECT_EQ(b.arrivals, (std::vector<bench::arrival>{{0x1000, 256, 112}}));
  EXPECT_EQ(b.memory.reads, 2u);
  EXPECT_EQ(b.memory.read_bytes, 256u);
  EXPECT_TRUE(b.port.idle());
  EXPECT_TRUE(b.l1.idle());
  EXPECT_EQ(b.l1.counters.at(2).instruction_requests, 2u);
  EXPECT_EQ(b.l1.counters.at(2).accesses, 0u) << "not an access of the L1";
  EXPECT_NO_THROW(b.l1.check_invariants());
}

// The queue has room for one read, and the memory accepts none until it is let go: the rest waits for retries.
TEST_F(instruction_port_test, a_full_miss_queue_blocks_it) {
  gpu_config config;
  config.l1.miss_queue_entries = 1;
  bench b(config);
  b.memory.answer = fake_memory::style::end_req_by_call;
  b.memory.hold = true;
  for (unsigned k = 0; k < 4; ++k) b.port.look_up(k * 256, 10, 0);
  sc_core::sc_start(1, sc_core::SC_US);
  EXPECT_EQ(b.memory.reads, 1u);
  EXPECT_GT(b.l1.counters.at(0).nacks, 0u);
  b.memory.let_go();
  sc_core::sc_start();
  EXPECT_EQ(b.arrivals.size(), 4u);
  EXPECT_EQ(b.memory.reads, 8u);
}

TEST_F(instruction_port_test, an_error_of_the_memory_has_no_effect) {
  bench b;
  b.memory.status = tlm::TLM_ADDRESS_ERROR_RESPONSE;
  b.port.look_up(0, 10, 0);
  sc_core::sc_start();
  EXPECT_EQ(b.arrivals.size(), 1u);
}

/// Stands for memory: says of no line when it comes.
struct slow_source : instruction_source {
  cycle_t look_up(std::uint64_t address, cycle_t cycle, std::uint32_t launch) override {
    asked.emplace_back(address, cycle, launch);
    return never;
  }
  std::vector<std::tuple<std::uint64_t, cycle_t, std::uint32_t>> asked;
};

// Slot 1 begins at instruction 3, so it also waits for the fetch latency of 5; slot 0 continues into the line.
TEST_F(instruction_port_test, warps_are_notified_when_their_line_arrives) {
  gpu_config config = load_config("gtx1080", {});
  config.sub_partition.fetch_latency_cycles = 5;
  config.instruction_cache.instruction_bytes = 8;
  config.instruction_cache.line_bytes = 128;
  slow_source memory;
  instruction_cache second({"second"}, {4096, 256, 4, 0, 0}, &memory);
  instruction_cache first({"first"}, {1024, 128, 2, 30, 1}, &second);
  fetch unit({"fetch"}, config, first, 3);
  unit.clear(0, 7);
  unit.clear(1, 8);
  unit.clear(2, 8);
  EXPECT_EQ(unit.redirect(1, 0, 3, 100), never);
  EXPECT_EQ(unit.next(0, 0, 4, 102), never);
  EXPECT_EQ(unit.next(2, 0, 40, 104), never) << "another line of the second level";
  EXPECT_EQ(memory.asked, (std::vector<std::tuple<std::uint64_t, cycle_t, std::uint32_t>>{{0, 130, 8}, {256, 134, 8}}))
      << "the prefetched line is in the second level's first one";
  second.fill_arrived(0, 256, 300);
  first.fill_arrived(0, 256, 300);
  EXPECT_EQ(unit.arrived(0, 256, 300), 0b011u);
  EXPECT_EQ(unit.next(0, 0, 4, 300), 300u);
  EXPECT_EQ(unit.next(1, 0, 3, 300), 305u);
  EXPECT_EQ(unit.next(0, 0, 16, 310), 310u) << "prefetched";
  EXPECT_EQ(unit.next(2, 0, 40, 310), never);
}

}  // namespace instruction_port_test
}  // namespace heddle::test
