// SPDX-License-Identifier: MIT
// The GPU's host socket as used by third-party IP: register accesses by words and halves, images by debug transport,
// all kinds of invalid accesses, time resolutions, no interrupt line, memories with few features.
#include <gtest/gtest.h>
#include <tlm_utils/simple_initiator_socket.h>
#include <tlm_utils/simple_target_socket.h>

#include <cstring>
#include <memory>
#include <random>
#include <string>

#include "heddle/config/config.h"
#include "heddle/config/error.h"
#include "heddle/gpu/gpu.h"
#include "heddle/gpu/host/host_driver.h"
#include "heddle/gpu/host/host_registers.h"
#include "heddle/tlm/kernel/has_process.h"
#include "tests/unit/common/fresh_simulation.h"
#include "tests/unit/common/store_kernel.h"

namespace heddle {
namespace host_socket_test {

namespace reg = host_register;

gpu_config small(std::vector<std::string> more = {}) {
  std::vector<std::string> settings{"gpu.sm_count=1", "memory.model=fixed", "memory.latency_cycles=20"};
  settings.insert(settings.end(), more.begin(), more.end());
  return load_config("gtx1080", settings);
}

/// A bus master that also makes invalid accesses.
struct master : sc_core::sc_module {
  tlm_utils::simple_initiator_socket<master> socket{"socket"};
  explicit master(sc_core::sc_module_name name) : sc_module(name) {}

  tlm::tlm_response_status access(tlm::tlm_command command, std::uint64_t address, void* data, unsigned bytes) {
    tlm::tlm_generic_payload p;
    p.set_command(command);
    p.set_address(address);
    p.set_data_ptr(static_cast<std::uint8_t*>(data));
    p.set_data_length(bytes);
    p.set_streaming_width(bytes);
    p.set_response_status(tlm::TLM_INCOMPLETE_RESPONSE);
    sc_core::sc_time delay;
    socket->b_transport(p, delay);
    return p.get_response_status();
  }
  unsigned debug(tlm::tlm_command command, std::uint64_t address, void* data, unsigned bytes) {
    tlm::tlm_generic_payload p;
    p.set_command(command);
    p.set_address(address);
    p.set_data_ptr(static_cast<std::uint8_t*>(data));
    p.set_data_length(bytes);
    p.set_streaming_width(bytes);
    return socket->transport_dbg(p);
  }
  template <class T>
  tlm::tlm_response_status write(std::uint64_t address, T value) {
    return access(tlm::TLM_WRITE_COMMAND, address, &value, sizeof value);
  }
  template <class T>
  T read(std::uint64_t address) {
    T value{};
    EXPECT_EQ(access(tlm::TLM_READ_COMMAND, address, &value, sizeof value), tlm::TLM_OK_RESPONSE);
    return value;
  }
};

class host_socket : public fresh_simulation {
 protected:
  void build(const gpu_config& config) {
    gpu_ = std::make_unique<gpu>("gpu", config);
    cpu_ = std::make_unique<master>("cpu");
    cpu_->socket.bind(gpu_->host_socket);
    sc_core::sc_start(sc_core::SC_ZERO_TIME);
  }
  std::unique_ptr<gpu> gpu_;
  std::unique_ptr<master> cpu_;
};

TEST_F(host_socket, registers_can_be_accessed_in_halves) {
  build(small());
  EXPECT_EQ(cpu_->read<std::uint32_t>(reg::identity), 0x44444548u);
  EXPECT_EQ(cpu_->write<std::uint32_t>(reg::map_base + 4, 0x12), tlm::TLM_OK_RESPONSE);
  EXPECT_EQ(cpu_->read<std::uint64_t>(reg::map_base), 0u) << "the upper half has no effect of its own";
  cpu_->write<std::uint32_t>(reg::map_base, 0x3456789a);
  EXPECT_EQ(cpu_->read<std::uint64_t>(reg::map_base), 0x12'3456'789aull);
  EXPECT_EQ(cpu_->read<std::uint32_t>(reg::map_base + 4), 0x12u);
  // A half-word access waits for its own register only.
  cpu_->write<std::uint32_t>(reg::map_base + 4, 0x77);
  cpu_->write<std::uint32_t>(reg::map_bytes, 0x1000);
  EXPECT_EQ(cpu_->read<std::uint64_t>(reg::map_bytes), 0x1000u);
  cpu_->write<std::uint32_t>(reg::map_base, 1);
  EXPECT_EQ(cpu_->read<std::uint64_t>(reg::map_base), 1u);
}

TEST_F(host_socket, other_places_are_refused_by_status) {
  build(small());
  std::uint8_t bytes[64] = {};
  EXPECT_EQ(cpu_->access(tlm::TLM_WRITE_COMMAND, reg::identity, bytes, 8), tlm::TLM_ADDRESS_ERROR_RESPONSE);
  EXPECT_EQ(cpu_->access(tlm::TLM_WRITE_COMMAND, reg::message, bytes, 8), tlm::TLM_ADDRESS_ERROR_RESPONSE);
  EXPECT_EQ(cpu_->access(tlm::TLM_READ_COMMAND, 0x80000, bytes, 8), tlm::TLM_ADDRESS_ERROR_RESPONSE);
  EXPECT_EQ(cpu_->access(tlm::TLM_READ_COMMAND, reg::print + reg::print_size - 8, bytes, 16),
            tlm::TLM_ADDRESS_ERROR_RESPONSE);
  // If one register cannot be written, none is.
  std::memset(bytes, 0x55, sizeof bytes);
  EXPECT_EQ(cpu_->access(tlm::TLM_READ_COMMAND, reg::resets, bytes, 16), tlm::TLM_OK_RESPONSE)
      << "a bus reads a whole beat, though no register lies behind this one";
  EXPECT_EQ(cpu_->access(tlm::TLM_WRITE_COMMAND, reg::map_command - 8, bytes, 24), tlm::TLM_ADDRESS_ERROR_RESPONSE);
  EXPECT_EQ(cpu_->read<std::uint64_t>(reg::map_bytes), 0u);
  EXPECT_EQ(cpu_->access(tlm::TLM_WRITE_COMMAND, reg::command + 6, bytes, 4), tlm::TLM_ADDRESS_ERROR_RESPONSE);
  EXPECT_EQ(cpu_->access(tlm::TLM_READ_COMMAND, reg::status, bytes, 0), tlm::TLM_BURST_ERROR_RESPONSE);
}

TEST_F(host_socket, registers_are_read_and_written_lane_by_lane) {
  build(small());
  std::uint8_t wide[16] = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16}, back[16] = {};
  EXPECT_EQ(cpu_->access(tlm::TLM_WRITE_COMMAND, reg::map_base, wide, 16), tlm::TLM_OK_RESPONSE);
  EXPECT_EQ(cpu_->read<std::uint64_t>(reg::map_bytes), 0x100f'0e0d'0c0b'0a09u);
  EXPECT_EQ(cpu_->access(tlm::TLM_READ_COMMAND, reg::map_base, back, 16), tlm::TLM_OK_RESPONSE);
  EXPECT_EQ(std::memcmp(wide, back, 16), 0);
  EXPECT_EQ(cpu_->read<std::uint16_t>(reg::map_base + 3), 0x0504u);
  EXPECT_EQ(cpu_->debug(tlm::TLM_READ_COMMAND, reg::map_base + 5, back, 7), 7u);
  EXPECT_EQ(std::memcmp(wide + 5, back, 7), 0);
  // The bytes above the lowest one wait for it.
  EXPECT_EQ(cpu_->write<std::uint8_t>(reg::map_base + 7, 0xaa), tlm::TLM_OK_RESPONSE);
  EXPECT_EQ(cpu_->write<std::uint16_t>(reg::map_base + 2, 0xbbcc), tlm::TLM_OK_RESPONSE);
  EXPECT_EQ(cpu_->read<std::uint64_t>(reg::map_base), 0x0807'0605'0403'0201u);
  EXPECT_EQ(cpu_->write<std::uint8_t>(reg::map_base, 0xdd), tlm::TLM_OK_RESPONSE);
  EXPECT_EQ(cpu_->read<std::uint64_t>(reg::map_base), 0xaa00'0000'bbcc'00ddu);
}

TEST_F(host_socket, byte_enables_and_streaming_width_hold_for_memory_and_registers) {
  build(small());
  const auto transfer = [&](tlm::tlm_command command, std::uint64_t address, void* data, unsigned bytes,
                            std::vector<std::uint8_t> enables, unsigned streaming) {
    tlm::tlm_generic_payload p;
    p.set_command(command);
    p.set_address(address);
    p.set_data_ptr(static_cast<std::uint8_t*>(data));
    p.set_data_length(bytes);
    p.set_streaming_width(streaming);
    static std::uint8_t nothing[1];
    p.set_byte_enable_ptr(enables.empty() ? nothing : enables.data());
    p.set_byte_enable_length(static_cast<unsigned>(enables.size()));
    sc_core::sc_time delay;
    cpu_->socket->b_transport(p, delay);
    return p.get_response_status();
  };
  std::uint8_t data[12] = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12};
  for (const std::uint64_t at : {std::uint64_t{0x1000'0000}, std::uint64_t{reg::map_base}}) {
    // Three enables for twelve bytes; six of them at a time.
    EXPECT_EQ(transfer(tlm::TLM_WRITE_COMMAND, at, data, 12, {0xff, 0, 0xff}, 12), tlm::TLM_OK_RESPONSE);
    EXPECT_EQ(cpu_->read<std::uint64_t>(at), 0x0007'0600'0403'0001u) << at;
    std::uint8_t back[12] = {};
    EXPECT_EQ(transfer(tlm::TLM_READ_COMMAND, at, back, 12, {0xff, 0, 0}, 6), tlm::TLM_OK_RESPONSE);
    const std::uint8_t expected[12] = {1, 0, 0, 4, 0, 0, 1, 0, 0, 4, 0, 0};
    EXPECT_EQ(std::memcmp(back, expected, 12), 0) << at;
    EXPECT_EQ(transfer(tlm::TLM_WRITE_COMMAND, at, data, 8, {0}, 8), tlm::TLM_OK_RESPONSE);
    EXPECT_EQ(transfer(tlm::TLM_WRITE_COMMAND, at, data, 8, {}, 8), tlm::TLM_BYTE_ENABLE_ERROR_RESPONSE);
    EXPECT_EQ(transfer(tlm::TLM_WRITE_COMMAND, at, data, 8, {0xff, 0x5a}, 8), tlm::TLM_BYTE_ENABLE_ERROR_RESPONSE);
    EXPECT_EQ(transfer(tlm::TLM_WRITE_COMMAND, at, data, 8, {0xff}, 0), tlm::TLM_BURST_ERROR_RESPONSE);
  }
}

TEST_F(host_socket, images_go_in_and_out_by_debug_transport) {
  build(small());
  std::string image(5000, 'x');
  for (std::size_t i = 0; i < image.size(); ++i) image[i] = static_cast<char>(i * 7);
  const std::uint64_t at = 0x1000'0000 + 77;
  EXPECT_EQ(cpu_->debug(tlm::TLM_WRITE_COMMAND, at, image.data(), 5000), 5000u);
  std::string back(5000, 0);
  EXPECT_EQ(cpu_->debug(tlm::TLM_READ_COMMAND, at, back.data(), 5000), 5000u);
  EXPECT_EQ(back, image);
  std::uint64_t word = 0;
  EXPECT_EQ(cpu_->debug(tlm::TLM_READ_COMMAND, reg::identity, &word, 8), 8u);
  EXPECT_EQ(cpu_->debug(tlm::TLM_WRITE_COMMAND, reg::command, &word, 8), 0u) << "a debug access rings no doorbell";
}

TEST_F(host_socket, random_accesses_and_descriptors_leave_the_gpu_usable) {
  build(small());
  std::mt19937_64 random(1);
  std::uint8_t bytes[256];
  const auto number = [&](std::uint64_t bound) { return random() % bound; };
  unsigned refused = 0;
  for (int i = 0; i < 20000; ++i) {
    for (auto& b : bytes) b = static_cast<std::uint8_t>(random());
    const bool write = number(2) != 0;
    const std::uint64_t address = number(4) != 0 ? number(0x60) * (number(2) + 1) * 4 : random();
    cpu_->access(write ? tlm::TLM_WRITE_COMMAND : tlm::TLM_READ_COMMAND, address, bytes,
                 static_cast<unsigned>(number(200)));
    // A descriptor that begins like a command and continues at random; lengths stay small in half of them.
    std::uint64_t fields[16];
    for (auto& f : fields) f = number(2) != 0 ? number(100) : random();
    fields[0] = number(4);
    cpu_->access(tlm::TLM_WRITE_COMMAND, 0x1000'0000, fields, sizeof fields);
    cpu_->write<std::uint64_t>(reg::command, number(8) != 0 ? 0x1000'0000 : random());
    refused += cpu_->read<std::uint64_t>(reg::error) != 0;
  }
  EXPECT_GT(refused, 10000u);
  sc_core::sc_start(1, sc_core::SC_US);
  EXPECT_EQ(cpu_->read<std::uint64_t>(reg::identity), 0x0100'454c'4444'4548ull);
  EXPECT_FALSE(gpu_->faulted());
}

/// A program with one launch.
struct one_launch : sc_core::sc_module {
  host_driver driver;
  bool right = false;
  one_launch(sc_core::sc_module_name name, const gpu_config& config) : sc_module(name), driver("driver", config) {
    HEDDLE_HAS_PROCESS(one_launch);
    SC_THREAD(run);
  }
  void run() {
    launch_request request;
    request.module = driver.load_module(store_kernel, "store.ptx");
    request.kernel = "store";
    request.block[0] = 64;
    const std::uint64_t at = driver.allocate(256);
    request.argument(at);
    driver.wait_for(driver.launch(request));
    std::uint32_t values[64] = {};
    driver.read(at, values, sizeof values);
    right = driver.fault().empty();
    for (unsigned i = 0; i < 64; ++i) right = right && values[i] == i;
  }
};

class whole_gpu : public fresh_simulation {
 protected:
  /// Cycles of one launch.
  std::uint64_t run(const gpu_config& config, bool with_irq = true) {
    gpu g("gpu", config);
    one_launch program("program", config);
    program.driver.host_socket.bind(g.host_socket);
    sc_core::sc_signal<bool> irq("irq");
    if (with_irq) {
      g.irq(irq);
      program.driver.irq(irq);
    }
    sc_core::sc_start();
    EXPECT_TRUE(program.right);
    return g.cycle();
  }
};

TEST_F(whole_gpu, the_driver_polls_without_an_interrupt_line) { run(small(), false); }

TEST_F(whole_gpu, runs_alike_under_any_time_resolution_that_fits) {
  const std::uint64_t cycles = run(small());
  for (const double picoseconds : {0.001, 0.1, 10.0, 100.0}) {
    restart();
    sc_core::sc_set_time_resolution(picoseconds * 1000, sc_core::SC_FS);
    EXPECT_NEAR(static_cast<double>(run(small())), static_cast<double>(cycles), 0.02 * static_cast<double>(cycles))
        << picoseconds;
  }
}

TEST_F(whole_gpu, says_when_the_time_resolution_is_too_coarse) {
  sc_core::sc_set_time_resolution(1, sc_core::SC_NS);
  try {
    run(small());
    FAIL() << "a cycle shorter than the time resolution was accepted";
  } catch (const sc_core::sc_report& report) {
    EXPECT_NE(std::string(report.get_msg()).find("sc_set_time_resolution"), std::string::npos) << report.get_msg();
  }
}

/// An irregular clock: periods between 0.4 and 2 ns, with occasional pauses.
struct rough_clock : sc_core::sc_module {
  sc_core::sc_signal<bool> out{"out"};
  std::uint64_t edges = 0;
  bool stopped = false;
  explicit rough_clock(sc_core::sc_module_name name) : sc_module(name) {
    HEDDLE_HAS_PROCESS(rough_clock);
    SC_THREAD(run);
  }
  void run() {
    std::mt19937 random(4);
    while (!stopped) {
      wait(200 + random() % 800, sc_core::SC_PS);
      out.write(true);
      ++edges;
      wait(200 + random() % 800, sc_core::SC_PS);
      out.write(false);
      if (random() % 500 == 0) wait(1, sc_core::SC_US);
    }
  }
};

TEST_F(whole_gpu, follows_an_external_clock_with_jitter) {
  for (const char* memory : {"memory.model=fixed", "memory.model=dram"}) {
    restart();
    const gpu_config config = small({memory});
    gpu g("gpu", config);
    one_launch program("program", config);
    rough_clock clock("clock");
    sc_core::sc_signal<bool> irq("irq");
    program.driver.host_socket.bind(g.host_socket);
    g.clk(clock.out);
    g.irq(irq);
    program.driver.irq(irq);
    while (!program.right && sc_core::sc_time_stamp() < sc_core::sc_time(1, sc_core::SC_MS))
      sc_core::sc_start(1, sc_core::SC_US);
    EXPECT_TRUE(program.right) << memory;
    clock.stopped = true;
    sc_core::sc_start();
    EXPECT_EQ(g.cycle(), clock.edges) << "core cycle k is the k-th rising edge";
    g.check_invariants();
  }
}

/// Counts rising edges of a line.
struct edge_counter : sc_core::sc_module {
  sc_core::sc_in<bool> line{"line"};
  unsigned rises = 0;
  explicit edge_counter(sc_core::sc_module_name name) : sc_module(name) {
    HEDDLE_HAS_PROCESS(edge_counter);
    SC_METHOD(rise);
    sensitive << line.pos();
    dont_initialize();
  }
  void rise() { ++rises; }
};

TEST_F(whole_gpu, a_cause_in_the_delta_cycle_of_a_clear_is_an_edge_of_its_own) {
  const gpu_config config = small();
  gpu g("gpu", config);
  one_launch program("program", config);
  edge_counter counter("counter");
  sc_core::sc_signal<bool> irq("irq");
  program.driver.host_socket.bind(g.host_socket);
  g.irq(irq);
  counter.line(irq);
  sc_core::sc_start(sc_core::SC_ZERO_TIME);
  const auto write = [&](std::uint64_t offset, std::uint64_t value) {
    program.driver.write(offset, &value, sizeof value);
  };
  write(reg::interrupt_enable, host_interrupt::completion);
  sc_core::sc_start();
  ASSERT_TRUE(program.right);
  EXPECT_EQ(counter.rises, 1u);
  EXPECT_TRUE(irq.read());
  // The cause is cleared and set again without a delta cycle in between.
  write(reg::interrupt_enable, 0);
  write(reg::interrupt_enable, host_interrupt::completion);
  sc_core::sc_start();
  EXPECT_EQ(counter.rises, 2u);
  EXPECT_TRUE(irq.read());
  write(reg::interrupt_pending, host_interrupt::completion);
  sc_core::sc_start();
  EXPECT_EQ(counter.rises, 2u);
  EXPECT_FALSE(irq.read());
}

/// A minimal memory: blocking transport only, no debug transport, no DMI.
struct plain_memory : sc_core::sc_module {
  tlm_utils::simple_target_socket<plain_memory> socket{"socket"};
  explicit plain_memory(sc_core::sc_module_name name) : sc_module(name) {
    socket.register_b_transport(this, &plain_memory::b_transport);
  }
  void b_transport(tlm::tlm_generic_payload& p, sc_core::sc_time&) { p.set_response_status(tlm::TLM_OK_RESPONSE); }
};

TEST_F(whole_gpu, says_when_external_memory_has_no_debug_transport) {
  const gpu_config config = small({"memory.model=external", "memory.channels=1"});
  gpu g("gpu", config);
  plain_memory memory("memory");
  g.memory_socket[0].bind(memory.socket);
  host_driver driver("driver", config);
  driver.host_socket.bind(g.host_socket);
  sc_core::sc_start(sc_core::SC_ZERO_TIME);
  std::string message;
  try {
    driver.load_module(store_kernel, "store.ptx");
  } catch (const input_error& e) {
    message = e.what();
  }
  EXPECT_NE(message.find("debug transport"), std::string::npos) << message;
}

}  // namespace host_socket_test
}  // namespace heddle
