// SPDX-License-Identifier: MIT
// Whole GPUs with memories, buses and checkers that do not use Heddle, with every answer that IEEE 1666 allows.
#include "tests/unit/common/foreign_ip.h"

#include <string>

#include "heddle/memory/common/address_map.h"
#include "heddle/memory/protocol/protocol_monitor.h"
#include "heddle/memory/protocol/transfer_splitter.h"
#include "heddle/tlm/kernel/has_process.h"
#include "heddle/tlm/port/width_adapter.h"
#include "tests/unit/common/foreign_checker.h"
#include "tests/unit/common/fresh_simulation.h"
#include "tests/unit/memory/memory_stress.h"

namespace heddle::test {
namespace foreign_ip_test {

class foreign_ip : public fresh_simulation {
 protected:
  static constexpr stress_size size{4, 128, 4};

  static gpu_config external(unsigned channels, std::vector<std::string> more = {}) {
    more.insert(more.end(),
                {"gpu.sm_count=2", "memory.model=external", "tlm.check=true",
                 "memory.channels=" + std::to_string(channels), "l2.size_bytes=" + std::to_string(65536 * channels)});
    return load_config("gtx1080", more);
  }
  static void run(stressed_gpu& g) {
    sc_core::sc_start(sc_core::SC_ZERO_TIME);
    g.start(size);
    run_until_finished({&g});
    EXPECT_TRUE(g.result() == stress_expected(size));
  }
  static void expect_content(const foreign::checker& c) {
    for (const std::string& text : c.complaints) ADD_FAILURE() << c.name() << ": " << text;
    EXPECT_GT(c.begun, 100u);
    EXPECT_EQ(c.begun, c.ended);
  }
};

TEST_F(foreign_ip, memories_with_odd_answers) {
  for (unsigned seed = 1; seed <= 3; ++seed) {
    restart();
    stressed_gpu g("gpu", external(2));
    foreign::checker first("first"), second("second");
    foreign::odd_memory<32> left("left", seed), right("right", seed + 100);
    g.gpu.memory_socket[0].bind(first.in);
    g.gpu.memory_socket[1].bind(second.in);
    first.out.bind(left.socket);
    second.out.bind(right.socket);
    run(g);
    expect_content(first);
    expect_content(second);
    EXPECT_GT(first.most_open, 1u) << "requests never overlapped";
    for (const unsigned n : left.ways) EXPECT_GT(n, 5u) << "a way to answer was hardly tried";
  }
}

TEST_F(foreign_ip, memories_that_take_short_transfers_and_know_no_byte_enables) {
  struct {
    unsigned most;
    bool enables;
  } const kinds[] = {{4, false}, {8, true}, {32, false}, {128, false}, {1, true}};
  unsigned seed = 40;
  for (const auto& kind : kinds) {
    restart();
    stressed_gpu g("gpu", external(2, {"memory.max_transfer_bytes=" + std::to_string(kind.most),
                                       kind.enables ? "memory.byte_enables=true" : "memory.byte_enables=false"}));
    foreign::checker first("first"), second("second");
    foreign::odd_memory<32> left("left", ++seed);
    foreign::blocking_memory right("right", true);
    left.store.most_bytes = right.store.most_bytes = kind.most;
    left.store.knows_enables = right.store.knows_enables = kind.enables;
    g.gpu.memory_socket[0].bind(first.in);
    g.gpu.memory_socket[1].bind(second.in);
    first.out.bind(left.socket);
    second.out.bind(right.socket);
    run(g);
    expect_content(first);
    expect_content(second);
  }
}

// A request is a line of 128 bytes at most, with byte enables for writes of a part of it.
TEST_F(foreign_ip, a_memory_that_takes_whole_lines_with_byte_enables_is_bound_without_a_splitter) {
  struct {
    const char *most, *enables;
    unsigned splitters;
  } const kinds[] = {{"64", "true", 2}, {"128", "false", 2}, {"128", "true", 0}};
  for (const auto& kind : kinds) {
    SCOPED_TRACE(std::string(kind.most) + " bytes, byte enables: " + kind.enables);
    restart();
    const stressed_gpu g("gpu", external(2, {std::string("memory.max_transfer_bytes=") + kind.most,
                                             std::string("memory.byte_enables=") + kind.enables}));
    unsigned found = 0;
    for (const sc_core::sc_object* part : g.gpu.get_child_objects())
      found += dynamic_cast<const transfer_splitter*>(part) != nullptr;
    EXPECT_EQ(kind.splitters, found);
  }
}

TEST_F(foreign_ip, parts_of_a_transfer_keep_their_bytes_as_long_as_they_are_referenced) {
  // A memory that answers at once and reads the data later.
  struct slow_reader : sc_core::sc_module {
    explicit slow_reader(sc_core::sc_module_name name) : sc_module(name) {
      socket.register_nb_transport_fw(this, &slow_reader::nb_transport_fw);
    }
    tlm::tlm_sync_enum nb_transport_fw(tlm::tlm_generic_payload& p, tlm::tlm_phase&, sc_core::sc_time&) {
      p.acquire();
      held.push_back(&p);
      p.set_response_status(tlm::TLM_OK_RESPONSE);
      return tlm::TLM_COMPLETED;
    }
    tlm_utils::simple_target_socket<slow_reader> socket{"socket"};
    std::vector<tlm::tlm_generic_payload*> held;
  };
  struct writer : sc_core::sc_module, tlm::tlm_mm_interface {
    explicit writer(sc_core::sc_module_name name) : sc_module(name) {
      socket.register_nb_transport_bw(this, &writer::nb_transport_bw);
    }
    tlm::tlm_sync_enum nb_transport_bw(tlm::tlm_generic_payload& p, tlm::tlm_phase& phase, sc_core::sc_time&) {
      if (phase != tlm::BEGIN_RESP) return tlm::TLM_ACCEPTED;
      answered = true;
      p.release();
      return tlm::TLM_COMPLETED;
    }
    void free(tlm::tlm_generic_payload*) override { bytes.assign(16, 0xee); }  // reused for another transfer
    tlm_utils::simple_initiator_socket<writer> socket{"socket"};
    std::vector<std::uint8_t> bytes = std::vector<std::uint8_t>(16, 7);
    bool answered = false;
  };
  slow_reader memory("memory");
  transfer_splitter splitter("splitter", 4, true);
  writer source("source");
  source.socket.bind(splitter.target_socket);
  splitter.initiator_socket.bind(memory.socket);
  sc_core::sc_start(sc_core::SC_ZERO_TIME);
  tlm::tlm_generic_payload p(&source);
  p.acquire();
  p.set_write();
  p.set_data_ptr(source.bytes.data());
  p.set_data_length(16);
  p.set_streaming_width(16);
  tlm::tlm_phase phase = tlm::BEGIN_REQ;
  sc_core::sc_time delay;
  source.socket->nb_transport_fw(p, phase, delay);
  sc_core::sc_start(sc_core::sc_time(1, sc_core::SC_US));
  ASSERT_TRUE(source.answered);
  ASSERT_EQ(memory.held.size(), 4u);
  for (tlm::tlm_generic_payload* part : memory.held) {
    EXPECT_EQ(part->get_data_ptr()[3], 7);
    part->release();
  }
  EXPECT_EQ(source.bytes[3], 0xee) << "the transfer was never given back";
}

TEST_F(foreign_ip, a_memory_that_refuses_what_it_was_not_said_to_refuse_stops_the_gpu_with_its_reason) {
  stressed_gpu g("gpu", external(1));
  foreign::blocking_memory memory("memory", true);
  memory.store.most_bytes = 16;
  g.gpu.memory_socket[0].bind(memory.socket);
  sc_core::sc_start(sc_core::SC_ZERO_TIME);
  g.start(size);
  sc_core::sc_start(1, sc_core::SC_MS);
  for (const char* part : {"TLM_BURST_ERROR_RESPONSE", "memory.max_transfer_bytes"})
    EXPECT_NE(g.driver.fault().find(part), std::string::npos) << g.driver.fault();
}

TEST_F(foreign_ip, a_memory_that_moves_a_few_bytes_in_a_debug_access_is_asked_for_the_rest) {
  stressed_gpu g("gpu", external(1));
  foreign::blocking_memory memory("memory", true);
  memory.store.most_debug = 5;
  g.gpu.memory_socket[0].bind(memory.socket);
  run(g);
}

TEST_F(foreign_ip, memories_of_64_and_of_512_bits_through_an_adapter) {
  stressed_gpu g("gpu", external(2));
  width_adapter<32, 64> wider("wider");
  width_adapter<32, 512> widest("widest");
  foreign::odd_memory<64> left("left", 5);
  foreign::odd_memory<512> right("right", 6);
  g.gpu.memory_socket[0].bind(wider.target_socket);
  g.gpu.memory_socket[1].bind(widest.target_socket);
  wider.initiator_socket.bind(left.socket);
  widest.initiator_socket.bind(right.socket);
  run(g);
}

TEST_F(foreign_ip, a_host_of_64_bits_through_an_adapter) {
  struct wide_host : sc_core::sc_module {
    tlm_utils::simple_initiator_socket<wide_host, 64> socket{"socket"};
    explicit wide_host(sc_core::sc_module_name name) : sc_module(name) {}
  } host("host");
  gpu g("gpu", load_config("gtx1080", {"gpu.sm_count=1"}));
  width_adapter<64, 32> adapter("adapter");
  protocol_monitor monitor("monitor");
  host.socket.bind(adapter.target_socket);
  adapter.initiator_socket.bind(monitor.target_socket);
  monitor.initiator_socket.bind(g.host_socket);
  sc_core::sc_start(sc_core::SC_ZERO_TIME);
  std::uint64_t identity = 0;
  tlm::tlm_generic_payload p;
  p.set_read();
  p.set_data_ptr(reinterpret_cast<std::uint8_t*>(&identity));
  p.set_data_length(8);
  p.set_streaming_width(8);
  sc_core::sc_time delay;
  host.socket->b_transport(p, delay);
  EXPECT_EQ(identity, 0x0100'454c'4444'4548u);
  EXPECT_FALSE(monitor.violated());
}

TEST_F(foreign_ip, a_bus_with_random_arbitration_before_one_blocking_memory) {
  const unsigned channels = 4;
  stressed_gpu g("gpu", external(channels));
  foreign::random_bus bus("bus", 0x1000'0000, 9);
  foreign::blocking_memory memory("memory", true);
  std::vector<std::unique_ptr<foreign::checker>> checkers;
  for (unsigned m = 0; m < channels; ++m) {
    checkers.push_back(std::make_unique<foreign::checker>(("checker" + std::to_string(m)).c_str()));
    g.gpu.memory_socket[m].bind(checkers[m]->in);
    checkers[m]->out.bind(bus.masters);
  }
  bus.slave.bind(memory.socket);
  run(g);
  for (const auto& c : checkers) expect_content(*c);
  EXPECT_GT(bus.overtaken, 100u);
}

TEST_F(foreign_ip, a_blocking_memory_at_the_socket_itself) {
  stressed_gpu g("gpu", external(1));
  foreign::checker checker("checker");
  foreign::blocking_memory memory("memory", true);
  g.gpu.memory_socket[0].bind(checker.in);
  checker.out.bind(memory.socket);
  run(g);
  expect_content(checker);
}

TEST_F(foreign_ip, errors_of_the_memory_stop_the_gpu_and_not_the_simulation) {
  for (const bool reads : {true, false}) {
    restart();
    stressed_gpu g("gpu", external(1));
    foreign::blocking_memory memory("memory", true);
    g.gpu.memory_socket[0].bind(memory.socket);
    (reads ? memory.read_status : memory.write_status) = tlm::TLM_ADDRESS_ERROR_RESPONSE;
    sc_core::sc_start(sc_core::SC_ZERO_TIME);
    g.start(size);
    sc_core::sc_start(1, sc_core::SC_MS);
    EXPECT_TRUE(g.gpu.faulted());
    EXPECT_NO_THROW(g.gpu.check_invariants());
    EXPECT_NE(g.driver.fault().find("TLM_ADDRESS_ERROR_RESPONSE"), std::string::npos) << g.driver.fault();
  }
}

/// A host whose thread does everything, so that its accesses may wait.
struct threaded_host : sc_core::sc_module {
  threaded_host(sc_core::sc_module_name name, stressed_gpu& gpu, const stress_size& what)
      : sc_module(name), g(gpu), size(what) {
    HEDDLE_HAS_PROCESS(threaded_host);
    SC_THREAD(run);
  }
  void run() {
    g.start(size);
    while (!g.finished() && g.driver.fault().empty()) wait(1, sc_core::SC_US);
    right = g.result() == stress_expected(size);
  }
  stressed_gpu& g;
  stress_size size;
  bool right = false;
};

TEST_F(foreign_ip, a_memory_with_neither_dmi_nor_debug_transport) {
  stressed_gpu g("gpu", external(1));
  foreign::checker checker("checker");
  foreign::blocking_memory memory("memory", false);
  g.gpu.memory_socket[0].bind(checker.in);
  checker.out.bind(memory.socket);
  threaded_host host("host", g, size);
  sc_core::sc_start();
  EXPECT_TRUE(host.right);
  EXPECT_EQ(g.driver.fault(), "");
  expect_content(checker);
  EXPECT_GT(checker.blocking, 100u) << "images and commands went another way";
}

// A format string is in host-written memory, and a kernel's printf cannot wait for memory.
TEST_F(foreign_ip, a_kernel_prints_though_the_memory_has_no_debug_transport) {
  constexpr const char* ptx = R"(
.version 6.0
.target sm_61
.address_size 64
.extern .func (.param .b32 r) vprintf (.param .b64 a, .param .b64 b);
.global .align 1 .b8 format[9] = {37, 100, 32, 111, 102, 32, 37, 115, 10};
.global .align 1 .b8 none = 0;
.global .align 1 .b8 word[5] = {102, 105, 118, 101, 0};
.visible .entry say(.param .u64 text)
{
  .local .align 16 .b8 depot[16];
  .reg .b64 %d<6>;
  .reg .b32 %r<2>;
  ld.param.u64 %d1, [text];
  mov.u64 %d2, depot;
  mov.u32 %r1, 3;
  st.local.u32 [%d2], %r1;
  st.local.u64 [%d2+8], %d1;
  cvta.local.u64 %d2, %d2;
  mov.u64 %d3, format;
  cvta.global.u64 %d3, %d3;
  { .param .b64 a; .param .b64 b; .param .b32 r;
    st.param.b64 [a], %d3; st.param.b64 [b], %d2;
    call.uni (r), vprintf, (a, b); }
  ret;
}
)";
  struct printer : sc_core::sc_module, print_observer {
    printer(sc_core::sc_module_name name, host_driver& d) : sc_module(name), driver(d) {
      HEDDLE_HAS_PROCESS(printer);
      SC_THREAD(run);
    }
    void run() {
      driver.observe(*this);
      launch_request r;
      r.module = driver.load_module(ptx, "say.ptx");
      r.kernel = "say";
      const auto say = [&](std::uint64_t text) {
        r.parameters.clear();
        r.argument(text);
        driver.wait_for(driver.launch(r));
      };
      const std::uint64_t word = driver.symbol("word").address, other = driver.allocate(8);
      say(word);
      driver.write(word, "six", 4);
      say(word);
      EXPECT_EQ(driver.fault(), "");
      say(other);  // not a variable of the module: the message gives the reason
      fault = driver.fault();
    }
    host_driver& driver;
    void printed(const std::string& more) override { text += more; }
    std::string text, fault;
  };
  stressed_gpu g("gpu", external(1));
  foreign::blocking_memory memory("memory", false);
  g.gpu.memory_socket[0].bind(memory.socket);
  printer host("host", g.driver);
  sc_core::sc_start();
  EXPECT_EQ(host.text, "3 of five\n3 of six\n");
  EXPECT_NE(host.fault.find("offers no debug transport"), std::string::npos) << host.fault;
}

// Each channel has a memory that starts at address zero and is hardly larger than its contents. The bytes must be where
// the address map puts them.
TEST_F(foreign_ip, small_memories_that_begin_at_zero) {
  constexpr unsigned channels = 4;
  for (const std::string more :
       {"tlm.random_delay_cycles=0", "memory.max_transfer_bytes=8", "tlm.random_delay_cycles=20"})
    for (const bool debug : {true, false}) {
      restart();
      const gpu_config config =
          external(channels, {"memory.addresses=channel", "memory.base_mib=0", "l2.hash=xor", more});
      stressed_gpu g("gpu", config);
      sc_core::sc_vector<foreign::checker> checkers("checker", channels);
      std::vector<std::unique_ptr<foreign::blocking_memory>> memories;
      for (unsigned m = 0; m < channels; ++m) {
        memories.push_back(std::make_unique<foreign::blocking_memory>(("memory" + std::to_string(m)).c_str(), debug));
        memories[m]->store.most_bytes = config.memory.max_transfer_bytes;
        g.gpu.memory_socket[m].bind(checkers[m].in);
        checkers[m].out.bind(memories[m]->socket);
      }
      threaded_host host("host", g, size);
      sc_core::sc_start();
      EXPECT_TRUE(host.right) << more;
      const std::uint64_t used = g.driver.allocate(1) - host_driver::default_first_address;
      for (unsigned m = 0; m < channels; ++m) {
        expect_content(checkers[m]);
        EXPECT_LT(memories[m]->store.bytes.last(), used / channels + config.l2.interleave_bytes) << more;
      }
      const address_map map(config);
      const std::vector<std::uint32_t> in = stress_input();  // the first buffer that the driver allocates
      for (std::uint64_t i = 0; i < in.size(); ++i) {
        const std::uint64_t address = host_driver::default_first_address + i * 4, at = map.outside_address(address);
        std::uint32_t value = 0;
        for (unsigned b = 0; b < 4; ++b)
          value |= std::uint32_t{memories[map.channel_of(address)]->store.bytes[at + b]} << 8 * b;
        ASSERT_EQ(value, in[i]) << address;
      }
    }
}

}  // namespace foreign_ip_test
}  // namespace heddle::test
