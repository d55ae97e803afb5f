// SPDX-License-Identifier: MIT
#pragma once

#include "heddle/memory/l2/l2_slice.h"

#include <memory>

#include "heddle/config/error.h"
#include "heddle/isa/opcode.h"
#include "heddle/simt/execute.h"
#include "memory_bench.h"

namespace heddle::test {
namespace l2_slice_bench {

inline constexpr unsigned hit_latency = 20;

inline gpu_config small_config() {
  gpu_config c;
  c.memory.channels = 1;
  c.l2.size_bytes = 8 * 1024;
  c.l2.ways = 4;
  return c;
}

/// A driver, a slice and a test memory on one clock.
struct bench {
  clock_domain clock{"clock", 1000};
  driver sm{"sm", clock};
  l2_slice slice;
  test_memory memory{"memory", clock};

  explicit bench(const gpu_config& c = small_config(), unsigned code_hit_latency = 0)
      : slice("slice", clock, c, 0, hit_latency, code_hit_latency) {
    sm.socket.bind(slice.request_socket);
    slice.memory_socket.bind(memory.socket);
  }
  /// Counts the ends of a flush, and the writes that the memory had then.
  struct flush_end final : flush_observer {
    explicit flush_end(const test_memory& of) : at(of) {}
    virtual ~flush_end() = default;
    void flushed() override {
      ++calls;
      writes = at.writes.size();
    }
    const test_memory& at;
    unsigned calls = 0;
    std::size_t writes = 0;
  };
  void run(cycle_t cycles) { sc_core::sc_start(clock.time_of(cycles) - sc_core::sc_time_stamp()); }
  void check_done() {
    EXPECT_TRUE(sm.done());
    EXPECT_TRUE(slice.idle());
    EXPECT_EQ(sm.pool.in_use(), 0u);
    slice.check_invariants();
  }
  std::vector<std::uint8_t> debug_read(std::uint64_t address, unsigned n, unsigned* done = nullptr) {
    std::vector<std::uint8_t> out(n);
    tlm::tlm_generic_payload p;
    p.set_command(tlm::TLM_READ_COMMAND);
    p.set_address(address);
    p.set_data_ptr(out.data());
    p.set_data_length(n);
    const unsigned got = sm.socket->transport_dbg(p);
    if (done != nullptr) *done = got;
    return out;
  }
  unsigned debug_write(std::uint64_t address, std::vector<std::uint8_t> in) {
    tlm::tlm_generic_payload p;
    p.set_command(tlm::TLM_WRITE_COMMAND);
    p.set_address(address);
    p.set_data_ptr(in.data());
    p.set_data_length(static_cast<unsigned>(in.size()));
    return sm.socket->transport_dbg(p);
  }
};

class l2_slice_test : public simulation {};

inline line_payload& atomic(driver& sm, std::uint64_t line, isa::atomic_op op, unsigned lanes, unsigned stride,
                            cycle_t at) {
  line_payload& p = sm.fresh(0);
  p.make_atomic(line);
  atomic_request& a = *p.request.atomic;
  a.operation = static_cast<std::uint8_t>(op);
  a.type = static_cast<std::uint8_t>(isa::dtype::u32);
  a.returns = true;
  a.count = lanes;
  for (unsigned i = 0; i < lanes; ++i) {
    a.lane[i] = static_cast<std::uint8_t>(i);
    a.offset[i] = static_cast<std::uint8_t>(i * stride);
    a.operand[i] = 1;
  }
  sm.send(p, at);
  return p;
}

}  // namespace l2_slice_bench
}  // namespace heddle::test
