// SPDX-License-Identifier: MIT
// A kernel that stresses the memory path, and GPUs to run it on.
#pragma once

#include <gtest/gtest.h>

#include <cstdint>
#include <cstring>
#include <memory>
#include <string>
#include <systemc>
#include <vector>

#include "heddle/config/config.h"
#include "heddle/gpu/gpu.h"
#include "heddle/gpu/gpu_blocks.h"
#include "heddle/gpu/host/host_driver.h"
#include "heddle/memory/protocol/protocol_monitor.h"
#include "heddle/sm/sm.h"

namespace heddle::test {

/// Threads walk `in` at random, count the values in `bins` and store running sums: scattered loads, contended
/// reductions and coalesced stores. The result does not depend on any order.
constexpr const char* stress_ptx = R"(
.version 7.0
.target sm_50
.address_size 64
.visible .entry stress(.param .u64 in, .param .u64 out, .param .u64 bins, .param .u32 rounds)
{
  .reg .u64 %in, %out, %bins, %a, %step;
  .reg .u32 %i, %t, %c, %n, %v, %x, %sum, %r, %all;
  .reg .pred %p;
  ld.param.u64 %in, [in];
  ld.param.u64 %out, [out];
  ld.param.u64 %bins, [bins];
  ld.param.u32 %r, [rounds];
  mov.u32 %t, %tid.x;
  mov.u32 %c, %ctaid.x;
  mov.u32 %n, %ntid.x;
  mad.lo.u32 %i, %c, %n, %t;
  mov.u32 %all, %nctaid.x;
  mul.lo.u32 %all, %all, %n;
  mul.wide.u32 %step, %all, 4;
  mul.wide.u32 %a, %i, 4;
  add.u64 %out, %out, %a;
  mov.u32 %v, %i;
  mov.u32 %sum, 0;
again:
  mad.lo.u32 %v, %v, 1664525, 1013904223;
  shr.u32 %x, %v, 16;
  mul.wide.u32 %a, %x, 4;
  add.u64 %a, %a, %in;
  ld.global.u32 %x, [%a];
  add.u32 %sum, %sum, %x;
  and.b32 %x, %x, 255;
  mul.wide.u32 %a, %x, 4;
  add.u64 %a, %a, %bins;
  red.global.add.u32 [%a], 1;
  st.global.u32 [%out], %sum;
  add.u64 %out, %out, %step;
  sub.u32 %r, %r, 1;
  setp.ne.u32 %p, %r, 0;
  @%p bra again;
  ret;
}
)";

struct stress_size {
  unsigned blocks = 4;
  unsigned threads = 128;
  unsigned rounds = 4;
  [[nodiscard]] std::size_t stored() const { return std::size_t{blocks} * threads * rounds; }
};

constexpr unsigned stress_words = 65536;

inline std::vector<std::uint32_t> stress_input() {
  std::vector<std::uint32_t> in(stress_words);
  for (unsigned k = 0; k < stress_words; ++k) in[k] = k * 2654435761u ^ k >> 3;
  return in;
}

struct stress_result {
  std::vector<std::uint32_t> out;
  std::vector<std::uint32_t> bins;
  bool operator==(const stress_result& o) const { return out == o.out && bins == o.bins; }
};

inline stress_result stress_expected(const stress_size& size) {
  const std::vector<std::uint32_t> in = stress_input();
  stress_result e{std::vector<std::uint32_t>(size.stored()), std::vector<std::uint32_t>(256)};
  const unsigned all = size.blocks * size.threads;
  for (unsigned i = 0; i < all; ++i) {
    std::uint32_t v = i;
    std::uint32_t sum = 0;
    for (unsigned r = 0; r < size.rounds; ++r) {
      v = v * 1664525u + 1013904223u;
      const std::uint32_t x = in[v >> 16];
      sum += x;
      ++e.bins[x & 255];
      e.out[std::size_t{r} * all + i] = sum;
    }
  }
  return e;
}

/// A GPU with its driver; the kernel is started on it, and its result read later.
class stressed_gpu {
 public:
  stressed_gpu(const std::string& name, const gpu_config& config, const gpu_blocks& own = {})
      : gpu(name.c_str(), config, own),
        driver((name + "_driver").c_str(), config),
        monitor((name + "_monitor").c_str()),
        irq((name + "_irq").c_str()) {
    driver.host_socket.bind(monitor.target_socket);
    monitor.initiator_socket.bind(gpu.host_socket);
    gpu.irq(irq);
    driver.irq(irq);
  }

  class gpu gpu;
  host_driver driver;
  protocol_monitor monitor;
  sc_core::sc_signal<bool> irq;

  /// Call after elaboration.
  void start(const stress_size& size) {
    size_ = size;
    const std::vector<std::uint32_t> in = stress_input();
    const std::uint64_t from = driver.allocate(in.size() * 4);
    out_ = driver.allocate(size.stored() * 4);
    bins_ = driver.allocate(1024);
    driver.write(from, in.data(), in.size() * 4);
    driver.fill(bins_, 0, 1024);
    launch_request r;
    r.module = driver.load_module(stress_ptx, "stress.ptx");
    r.kernel = "stress";
    r.grid[0] = size.blocks;
    r.block[0] = size.threads;
    r.parameters.resize(28);
    std::memcpy(r.parameters.data(), &from, 8);
    std::memcpy(r.parameters.data() + 8, &out_, 8);
    std::memcpy(r.parameters.data() + 16, &bins_, 8);
    std::memcpy(r.parameters.data() + 24, &size.rounds, 4);
    driver.check(r);
    launch_ = driver.launch(r);
  }
  bool finished() { return driver.finished(launch_) && gpu.idle(); }
  stress_result result() {
    stress_result r{std::vector<std::uint32_t>(size_.stored()), std::vector<std::uint32_t>(256)};
    driver.read(out_, r.out.data(), r.out.size() * 4);
    driver.read(bins_, r.bins.data(), 1024);
    return r;
  }
  /// Requests from the SMs to the L2.
  std::uint64_t requests() const {
    std::uint64_t n = 0;
    for (unsigned i = 0; i < gpu.sm_count(); ++i) {
      const l1_counters& c = gpu.sm_at(i).l1.counters.at(launch_);
      n += c.read_requests + c.write_requests + c.atomics;
    }
    return n;
  }

 private:
  stress_size size_;
  std::uint64_t out_ = 0;
  std::uint64_t bins_ = 0;
  unsigned launch_ = 0;
};

/// Runs the simulation until all GPUs have finished; a hang fails the test.
inline void run_until_finished(const std::vector<stressed_gpu*>& gpus) {
  for (unsigned turn = 0; turn < 100000; ++turn) {
    bool all = true;
    for (stressed_gpu* g : gpus) {
      ASSERT_EQ(g->driver.fault(), "");
      g->gpu.check_invariants();
      all = g->finished() && all;
    }
    if (all) break;
    ASSERT_TRUE(sc_core::sc_pending_activity()) << "nothing can go on";
    sc_core::sc_start(sc_core::sc_time(10, sc_core::SC_US), sc_core::SC_EXIT_ON_STARVATION);
  }
  for (stressed_gpu* g : gpus) {
    ASSERT_TRUE(g->finished());
    g->gpu.check_invariants();
    EXPECT_FALSE(g->monitor.violated());
  }
}

}  // namespace heddle::test
