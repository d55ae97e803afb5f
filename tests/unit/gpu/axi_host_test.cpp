// SPDX-License-Identifier: MIT
// A host behind AXI: beats of every width, offset and strobe to registers and device memory, through bridges that drop
// the response status, so that the bytes alone tell what was wrong.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <random>
#include <vector>

#include "heddle/config/config.h"
#include "heddle/gpu/gpu.h"
#include "heddle/gpu/host/host_driver.h"
#include "heddle/gpu/host/host_registers.h"
#include "heddle/tlm/port/width_adapter.h"
#include "testbench/standards/axi_path.h"
#include "tests/unit/common/fresh_simulation.h"
#include "tests/unit/common/store_kernel.h"

namespace heddle {
namespace axi_host_test {

namespace reg = host_register;

constexpr std::uint64_t memory_at = 0x1000'0000;

/// Strobes: bit i for byte i of the data, repeated.
using strobe_list = std::vector<std::uint8_t>;

/// A GPU, and a master behind a bus of `bits`.
template <unsigned bits>
struct bus_system {
  bus_system() {
    master.socket.bind(path.target);
    path.initiator.bind(adapter.target_socket);
    adapter.initiator_socket.bind(device.host_socket);
    sc_core::sc_start(sc_core::SC_ZERO_TIME);
  }
  void access(tlm::tlm_command command, std::uint64_t address, std::uint8_t* data, unsigned bytes,
              strobe_list* strobes = nullptr, unsigned streaming = 0) {
    tlm::tlm_generic_payload p;
    p.set_command(command);
    p.set_address(address);
    p.set_data_ptr(data);
    p.set_data_length(bytes);
    p.set_streaming_width(streaming == 0 ? bytes : streaming);
    if (strobes != nullptr) {
      p.set_byte_enable_ptr(strobes->data());
      p.set_byte_enable_length(static_cast<unsigned>(strobes->size()));
    }
    sc_core::sc_time delay;
    master.socket->b_transport(p, delay);
  }
  void write(std::uint64_t address, std::uint64_t value, unsigned bytes = 8) {
    std::uint8_t data[8];
    std::memcpy(data, &value, sizeof data);
    access(tlm::TLM_WRITE_COMMAND, address, data, bytes);
  }
  std::uint64_t read(std::uint64_t address, unsigned bytes = 8) {
    std::uint8_t data[8] = {};
    access(tlm::TLM_READ_COMMAND, address, data, bytes);
    std::uint64_t value = 0;
    std::memcpy(&value, data, sizeof value);
    return value;
  }

  gpu device{"gpu", load_config("gtx1080", {"gpu.sm_count=1", "memory.model=fixed", "memory.channels=2"})};
  struct bus_master : sc_core::sc_module {
    explicit bus_master(sc_core::sc_module_name name) : sc_module(name) {}
    tlm_utils::simple_initiator_socket<bus_master, bits> socket{"socket"};
  };
  bus_master master{"master"};
  standards::axi_path<bits> path{"path"};
  width_adapter<bits, 32> adapter{"adapter"};
};

class axi_host : public fresh_simulation {
 protected:
  template <unsigned bits>
  void each_beat_of_memory();
  template <unsigned bits>
  void each_beat_of_registers();
  template <unsigned bits>
  void random_beats(std::uint64_t beats, unsigned seed);
};

// Every size, offset and, up to eight bytes, every strobe; of longer beats runs and holes.
template <unsigned bits>
void axi_host::each_beat_of_memory() {
  bus_system<bits> s;
  constexpr unsigned bus = bits / 8, window = 4 * bus;
  std::vector<std::uint8_t> expected(window), data(window), back(window);
  s.access(tlm::TLM_WRITE_COMMAND, memory_at, expected.data(), window);
  std::uint8_t next = 1;
  unsigned pairs = 0;
  for (unsigned size = 1; size <= bus; size *= 2)
    for (unsigned offset = 0; offset < bus; ++offset)
      for (unsigned strobe = 0; strobe < (1u << std::min(size, 8u)); ++strobe) {
        strobe_list strobes(size);
        for (unsigned i = 0; i < size; ++i) strobes[i] = strobe >> i % 8 & 1 ? TLM_BYTE_ENABLED : TLM_BYTE_DISABLED;
        s.path.beat_bytes = size;
        for (unsigned i = 0; i < size; ++i) {
          data[i] = next++;
          if (strobes[i] == TLM_BYTE_ENABLED) expected[bus + offset + i] = data[i];
        }
        s.access(tlm::TLM_WRITE_COMMAND, memory_at + bus + offset, data.data(), size, &strobes);
        s.access(tlm::TLM_READ_COMMAND, memory_at, back.data(), window);
        ASSERT_EQ(back, expected) << bits << " bits, size " << size << ", offset " << offset << ", strobe " << strobe;
        ++pairs;
      }
  EXPECT_EQ(s.path.refused, 0u);
  EXPECT_GE(pairs, bits == 32 ? 80u : 2000u);
}

TEST_F(axi_host, beats_of_every_width_offset_and_strobe_reach_device_memory) {
  each_beat_of_memory<32>();
  restart();
  each_beat_of_memory<64>();
  restart();
  each_beat_of_memory<128>();
}

// The lowest byte of a register carries out the write, with the bytes written before.
template <unsigned bits>
void axi_host::each_beat_of_registers() {
  bus_system<bits> s;
  for (unsigned size = 1; size <= bits / 8; size *= 2) {
    s.path.beat_bytes = size;
    const std::uint64_t base = 0x0123'4567'89ab'cdef + size, bytes = 0xfedc'ba98'7654'3210 + size;
    std::uint8_t both[16], back[16] = {};
    std::memcpy(both, &base, 8);
    std::memcpy(both + 8, &bytes, 8);
    s.access(tlm::TLM_WRITE_COMMAND, reg::map_base, both, 16);  // two registers in one burst
    EXPECT_EQ(s.read(reg::map_base), base);
    EXPECT_EQ(s.read(reg::map_bytes), bytes);
    s.access(tlm::TLM_READ_COMMAND, reg::map_base, back, 16);
    EXPECT_EQ(std::memcmp(both, back, 16), 0) << bits << " bits in beats of " << size;
    for (unsigned offset = 0; offset < 8; ++offset)
      for (unsigned n = 1; offset + n <= 8; ++n)
        EXPECT_EQ(s.read(reg::map_base + offset, n), base >> offset * 8 & ~std::uint64_t{0} >> (64 - 8 * n));
    EXPECT_EQ(s.read(reg::identity), 0x0100'454c'4444'4548u);
    // From the highest byte down, `size` bytes at a time.
    const std::uint64_t value = base * 3;
    for (unsigned at = 8; at > 0;) {
      const unsigned n = std::min(size, at);
      at -= n;
      EXPECT_EQ(s.read(reg::map_base), base) << "nothing is carried out before the lowest byte";
      s.write(reg::map_base + at, value >> at * 8, n);
    }
    EXPECT_EQ(s.read(reg::map_base), value);
  }
  // Strobes: lanes that are not written are zero, as behind a 32-bit host.
  std::uint8_t data[8] = {1, 2, 3, 4, 5, 6, 7, 8};
  strobe_list strobes{0xff, 0, 0, 0xff, 0, 0, 0xff, 0};
  s.path.beat_bytes = bits / 8;
  s.access(tlm::TLM_WRITE_COMMAND, reg::map_bytes, data, 8, &strobes);
  EXPECT_EQ(s.read(reg::map_bytes), 0x0007'0000'0400'0001u);
  strobes.assign(8, 0);
  s.access(tlm::TLM_WRITE_COMMAND, reg::map_bytes, data, 8, &strobes);
  EXPECT_EQ(s.read(reg::map_bytes), 0x0007'0000'0400'0001u) << "without a strobe nothing is written";
  EXPECT_EQ(s.path.refused, 0u);
}

TEST_F(axi_host, beats_of_every_width_and_offset_reach_registers) {
  each_beat_of_registers<32>();
  restart();
  each_beat_of_registers<64>();
  restart();
  each_beat_of_registers<128>();
}

TEST_F(axi_host, a_fixed_burst_repeats_its_address) {
  bus_system<64> s;
  std::uint8_t data[32];
  for (unsigned i = 0; i < 32; ++i) data[i] = static_cast<std::uint8_t>(i + 1);
  s.access(tlm::TLM_WRITE_COMMAND, memory_at + 64, data, 32, nullptr, 8);
  EXPECT_EQ(s.read(memory_at + 64), 0x201f'1e1d'1c1b'1a19u) << "the last beat remains";
  EXPECT_EQ(s.read(memory_at + 72), 0u);
  s.access(tlm::TLM_READ_COMMAND, memory_at + 64, data, 32, nullptr, 8);
  for (unsigned i = 0; i < 32; ++i) EXPECT_EQ(data[i], 0x19 + i % 8) << i;
  // To a register, each beat takes effect.
  for (unsigned i = 0; i < 32; ++i) data[i] = static_cast<std::uint8_t>(i);
  s.access(tlm::TLM_WRITE_COMMAND, reg::map_base, data, 16, nullptr, 8);
  EXPECT_EQ(s.read(reg::map_base), 0x0f0e'0d0c'0b0a'0908u);
  EXPECT_EQ(s.path.refused, 0u);
}

template <unsigned bits>
void axi_host::random_beats(std::uint64_t beats, unsigned seed) {
  bus_system<bits> s;
  constexpr unsigned bus = bits / 8, window = 8192;
  std::mt19937 random(seed);
  const auto number = [&](unsigned bound) { return static_cast<unsigned>(random() % bound); };
  std::vector<std::uint8_t> expected(window), data(16 * bus), back(16 * bus);
  s.access(tlm::TLM_WRITE_COMMAND, memory_at, expected.data(), window);
  std::uint64_t wrong = 0;
  while (s.path.beats < beats) {
    s.path.beat_bytes = 1u << number(static_cast<unsigned>(__builtin_ctz(bus)) + 1);
    const bool fixed = number(8) == 0;
    const unsigned length = 1 + number(s.path.beat_bytes * (1 + number(16)));
    const unsigned at = number(window - length);
    const unsigned streaming = fixed ? bus : length;
    const std::uint64_t address = fixed ? at / bus * bus : at;
    if (number(2) == 0) {
      std::fill(back.begin(), back.end(), 0xee);
      s.access(tlm::TLM_READ_COMMAND, memory_at + address, back.data(), length, nullptr, streaming);
      for (unsigned i = 0; i < length; ++i) wrong += back[i] != expected[address + i % streaming];
      continue;
    }
    strobe_list strobes(1 + number(length));
    for (auto& b : strobes) b = number(3) != 0 ? TLM_BYTE_ENABLED : TLM_BYTE_DISABLED;
    const bool strobed = number(4) != 0;
    for (unsigned i = 0; i < length; ++i) {
      data[i] = static_cast<std::uint8_t>(random());
      if (!strobed || strobes[i % strobes.size()] == TLM_BYTE_ENABLED) expected[address + i % streaming] = data[i];
    }
    s.access(tlm::TLM_WRITE_COMMAND, memory_at + address, data.data(), length, strobed ? &strobes : nullptr, streaming);
  }
  for (unsigned at = 0; at < window; at += bus) {
    s.access(tlm::TLM_READ_COMMAND, memory_at + at, back.data(), bus);
    for (unsigned i = 0; i < bus; ++i) wrong += back[i] != expected[at + i];
  }
  EXPECT_EQ(wrong, 0u) << bits << " bits";
  EXPECT_EQ(s.path.refused, 0u);
  EXPECT_GE(s.path.beats, beats);
}

TEST_F(axi_host, a_million_random_beats_transfer_every_byte_correctly) {
  random_beats<32>(400000, 1);
  restart();
  random_beats<64>(300000, 2);
  restart();
  random_beats<128>(300000, 3);
}

/// A bus that turns every read of registers into one of the aligned beat around it.
struct beat_bus : sc_core::sc_module {
  tlm_utils::simple_target_socket<beat_bus, 32> target{"target"};
  tlm_utils::simple_initiator_socket<beat_bus, 32> initiator{"initiator"};
  std::uint64_t beat;
  beat_bus(sc_core::sc_module_name name, std::uint64_t beat) : sc_module(name), beat(beat) {
    target.register_b_transport(this, &beat_bus::b_transport);
  }
  void b_transport(tlm::tlm_generic_payload& p, sc_core::sc_time& delay) {
    const std::uint64_t at = p.get_address(), first = at / beat * beat;
    if (!p.is_read() || at >= reg::message) return initiator->b_transport(p, delay);
    std::vector<std::uint8_t> data(beat);
    tlm::tlm_generic_payload wide;
    wide.set_command(tlm::TLM_READ_COMMAND);
    wide.set_address(first);
    wide.set_data_ptr(data.data());
    wide.set_data_length(static_cast<unsigned>(beat));
    wide.set_streaming_width(static_cast<unsigned>(beat));
    initiator->b_transport(wide, delay);
    std::copy_n(data.begin() + static_cast<std::ptrdiff_t>(at - first), p.get_data_length(), p.get_data_ptr());
    p.set_response_status(wide.get_response_status());
  }
  std::uint64_t read(std::uint64_t address) {
    std::uint64_t value = 0;
    tlm::tlm_generic_payload p;
    p.set_command(tlm::TLM_READ_COMMAND);
    p.set_address(address);
    p.set_data_ptr(reinterpret_cast<std::uint8_t*>(&value));
    p.set_data_length(sizeof value);
    p.set_streaming_width(sizeof value);
    sc_core::sc_time delay;
    b_transport(p, delay);
    EXPECT_TRUE(p.is_response_ok());
    return value;
  }
};

TEST_F(axi_host, a_wide_beat_leaves_completions_that_it_only_covers) {
  for (std::uint64_t beat = 8; beat <= 1024; beat *= 2) {
    restart();
    const gpu_config config = load_config("gtx1080", {"gpu.sm_count=1", "memory.model=fixed"});
    gpu device("gpu", config);
    beat_bus bus("bus", beat);
    host_driver driver("driver", config);
    driver.host_socket.bind(bus.target);
    bus.initiator.bind(device.host_socket);
    sc_core::sc_start(sc_core::SC_ZERO_TIME);
    launch_request r;
    r.module = driver.load_module(store_kernel, "store.ptx");
    r.kernel = "store";
    r.block[0] = 32;
    r.argument(driver.allocate(128));
    for (std::uint64_t launch = 1; launch <= 3; ++launch) {
      static_cast<void>(driver.launch(r));
      sc_core::sc_start();
      ASSERT_EQ(bus.read(reg::completions), launch) << beat;
    }
    for (unsigned turn = 0; turn < 2; ++turn)
      for (const std::uint64_t at : {reg::completions, reg::message_bytes, reg::interrupt_enable, reg::status})
        static_cast<void>(bus.read(at));
    if (beat > 8) {
      EXPECT_EQ(bus.read(reg::completion_pop), 1u) << "the oldest one";
    }
    EXPECT_EQ(bus.read(reg::completion_take), 1u) << beat;
    EXPECT_EQ(bus.read(reg::completion_take), 2u) << beat;
    EXPECT_TRUE(driver.finished(2)) << "the driver takes the last one";
    EXPECT_EQ(bus.read(reg::completion_take), 0u) << beat;
    EXPECT_FALSE(driver.finished(1)) << "this test took its completion";
  }
}

}  // namespace axi_host_test
}  // namespace heddle
