// SPDX-License-Identifier: MIT
// A real context switch: while blocks are swapped out, their context is in memory only.
#include <gtest/gtest.h>

#include <cstring>
#include <vector>

#include "heddle/config/config.h"
#include "heddle/gpu/cwd/compute_work_distributor.h"
#include "heddle/gpu/gpu.h"
#include "heddle/gpu/host/host_driver.h"
#include "heddle/sm/sm.h"
#include "tests/unit/common/fresh_simulation.h"

namespace heddle {
namespace context_switch_test {

constexpr unsigned threads = 128;

// Each thread holds one word in a register and another one in shared memory, loops for a while, and stores both.
const char* const holding_kernel = R"(
.version 6.0
.target sm_60
.address_size 64
.visible .entry hold(.param .u64 in, .param .u64 out, .param .u32 turns)
{
  .reg .b32 %r<10>;
  .reg .b64 %rd<10>;
  .reg .pred %p<2>;
  .shared .align 4 .b8 words[512];
  ld.param.u64 %rd1, [in];
  ld.param.u64 %rd2, [out];
  ld.param.u32 %r1, [turns];
  mov.u32 %r2, %tid.x;
  mul.wide.u32 %rd3, %r2, 4;
  add.s64 %rd4, %rd1, %rd3;
  ld.global.u32 %r3, [%rd4];
  xor.b32 %r4, %r3, 0x11110000;
  shl.b32 %r5, %r2, 2;
  mov.u32 %r6, words;
  add.u32 %r6, %r6, %r5;
  st.shared.u32 [%r6], %r4;
  bar.sync 0;
turn:
  sub.u32 %r1, %r1, 1;
  setp.ne.u32 %p1, %r1, 0;
  @%p1 bra turn;
  ld.shared.u32 %r7, [%r6];
  add.s64 %rd5, %rd2, %rd3;
  st.global.u32 [%rd5], %r3;
  st.global.u32 [%rd5+512], %r7;
  ret;
}
)";

class context_switch : public fresh_simulation {
 protected:
  /// A GPU with one SM and the kernel's block on it, swapped out and saved.
  struct machine {
    explicit machine(const std::string& name)
        : config(load_config(name, {"gpu.sm_count=1", "memory.model=fixed"})),
          g("gpu", config),
          driver("driver", config) {
      driver.host_socket.bind(g.host_socket);
      sc_core::sc_start(sc_core::SC_ZERO_TIME);
      launch_request r;
      r.module = driver.load_module(holding_kernel, "hold.ptx");
      r.kernel = "hold";
      r.block[0] = threads;
      in = driver.allocate(threads * 4);
      out = driver.allocate(threads * 8);
      for (unsigned t = 0; t < threads; ++t) words.push_back(0xc0de0000u + t * 0x101u);
      driver.write(in, words.data(), threads * 4);
      const std::uint32_t turns = 2000;
      r.parameters.resize(20);
      std::memcpy(&r.parameters[0], &in, 8);
      std::memcpy(&r.parameters[8], &out, 8);
      std::memcpy(&r.parameters[16], &turns, 4);
      driver.launch(r);
      run_to(8000);
      driver.preempt({}, preemption_mode::context_switch, 50000);
      run_to(20000);
    }
    void run_to(cycle_t cycle) { sc_core::sc_start(g.core_clock().time_of(cycle) - sc_core::sc_time_stamp()); }
    void finish() {
      run_to(200000);
      results.resize(2 * threads);
      driver.read(out, results.data(), results.size() * 4);
    }
    /// The context image in memory.
    std::vector<std::uint32_t> context() {
      std::vector<std::uint32_t> image(g.cwd().context_switches().front()->blocks.at(0).bytes_saved / 4);
      driver.read(area(), image.data(), image.size() * 4);
      return image;
    }
    std::uint64_t area() const { return g.sm_at(0).context_engine.address(0, 0); }

    gpu_config config;
    gpu g;
    host_driver driver;
    std::uint64_t in = 0, out = 0;
    std::vector<std::uint32_t> words, results;
  };

  static void expect_results(const machine& m, unsigned other, std::uint32_t flipped) {
    for (unsigned t = 0; t < threads; ++t) {
      EXPECT_EQ(m.words[t] ^ (t == other ? flipped : 0), m.results[t]) << t;
      EXPECT_EQ(m.words[t] ^ 0x11110000u ^ (t + threads == other ? flipped : 0), m.results[threads + t]) << t;
    }
  }
};

TEST_F(context_switch, frees_every_resource_of_the_sm) {
  machine m("v100");
  ASSERT_EQ(1u, m.g.cwd().context_switches().size());
  const context_in_flight& c = *m.g.cwd().context_switches().front();
  EXPECT_TRUE(c.saved);
  EXPECT_FALSE(c.resumed);
  EXPECT_EQ(4u, c.blocks.at(0).warp_ids.size());
  EXPECT_EQ(0u, m.g.sm_at(0).resource_manager.resident_blocks());
  for (const auto& p : m.g.sm_at(0).partitions) {
    EXPECT_TRUE(p.idle());
    EXPECT_EQ(0u, p.register_file.in_use());
  }
  m.finish();
  EXPECT_EQ("", m.driver.fault());
  EXPECT_TRUE(c.resumed);
  EXPECT_EQ(c.blocks[0].warp_ids, c.blocks[0].restored_warp_ids);
  EXPECT_LE(c.saved_cycle + 50000, c.restore_cycle);
  expect_results(m, ~0u, 0);
}

// v100 keeps global loads in its L1. A context bypasses it, sector by sector, and evicts no line of the kernel.
TEST_F(context_switch, bypasses_the_l1) {
  machine m("v100");
  ASSERT_TRUE(m.config.l1.cache_global_loads);
  const std::uint64_t bytes = m.g.cwd().context_switches().front()->blocks.at(0).bytes_saved;
  m.finish();
  ASSERT_EQ("", m.driver.fault());
  const l1_counters& c = *m.g.sm_at(0).l1.counters.find(0);
  EXPECT_EQ(bytes / 32, c.bypassed);
  EXPECT_EQ(threads * 4 / 32 + bytes / 32, c.reads);
  EXPECT_EQ(0u, c.evictions);
}

TEST_F(context_switch, a_bit_flipped_in_memory_reaches_that_register_or_shared_byte_and_no_other) {
  for (const char* gpu : {"p100", "v100"}) {
    for (const bool shared : {false, true}) {
      restart();
      machine m(gpu);
      const unsigned thread = 77;
      const std::uint32_t word = m.words[thread] ^ (shared ? 0x11110000u : 0);
      const auto image = m.context();
      unsigned found = 0;
      for (std::size_t k = 0; k < image.size(); ++k) {
        if (image[k] != word) continue;
        ++found;
        const std::uint32_t other = word ^ 0x00400000u;
        m.driver.write(m.area() + 4 * k, &other, 4);
      }
      // The register that held the shared word before it was stored may still contain it; it is not read again.
      EXPECT_GE(found, 1u);
      EXPECT_LE(found, shared ? 2u : 1u);
      m.finish();
      ASSERT_EQ("", m.driver.fault());
      expect_results(m, thread + (shared ? threads : 0), 0x00400000u);
    }
  }
}

TEST_F(context_switch, a_context_that_comes_back_damaged_ends_the_run) {
  for (const std::uint32_t garbage : {0u, 0xffffffffu, 0x7fffffffu, 0x12345678u}) {
    restart();
    machine m("v100");
    auto image = m.context();
    std::fill(image.begin(), image.end(), garbage);
    m.driver.write(m.area(), image.data(), image.size() * 4);
    m.finish();
    EXPECT_NE(std::string::npos, m.driver.fault().find("damaged")) << m.driver.fault();
  }
}

}  // namespace context_switch_test
}  // namespace heddle
