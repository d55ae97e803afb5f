// SPDX-License-Identifier: MIT
#include "heddle/gpu/host/host_driver.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "heddle/config/config.h"
#include "heddle/gpu/gpu.h"
#include "heddle/tlm/kernel/has_process.h"
#include "host_driver_bench.h"
#include "tests/unit/common/foreign_ip.h"

namespace heddle {
namespace host_driver_memory_test {

using namespace host_driver_bench;

// Thread t of the grid executes 700 steps of a generator with `seed` as its increment, starting at t, and stores the
// last number.
constexpr const char* steps_kernel = R"(
.version 7.0
.target sm_60
.address_size 64
.visible .entry steps(.param .u64 a, .param .u32 seed)
{
  .reg .u64 %rd<6>;
  .reg .u32 %r<9>;
  .reg .pred %p;
  ld.param.u64 %rd1, [a];
  ld.param.u32 %r5, [seed];
  mov.u32 %r1, %tid.x;
  mov.u32 %r2, %ctaid.x;
  mad.lo.u32 %r3, %r2, 128, %r1;
  mul.wide.u32 %rd2, %r3, 4;
  add.u64 %rd3, %rd1, %rd2;
  mov.u32 %r4, %r3;
  mov.u32 %r6, 0;
again:
  mad.lo.u32 %r4, %r4, 1664525, %r5;
  add.u32 %r6, %r6, 1;
  setp.lt.u32 %p, %r6, 700;
  @%p bra again;
  st.global.u32 [%rd3], %r4;
  ret;
}
)";

/// A memory bound to several GPUs' sockets that answers at once.
struct shared_memory : sc_core::sc_module {
  explicit shared_memory(sc_core::sc_module_name name) : sc_module(name) {
    socket.register_nb_transport_fw(this, &shared_memory::nb_transport_fw);
    socket.register_transport_dbg(this, &shared_memory::transport_dbg);
  }
  tlm_utils::multi_passthrough_target_socket<shared_memory> socket{"socket"};
  foreign::storage store;

 private:
  tlm::tlm_sync_enum nb_transport_fw(int, tlm::tlm_generic_payload& p, tlm::tlm_phase& phase, sc_core::sc_time& delay) {
    if (phase != tlm::BEGIN_REQ) return tlm::TLM_ACCEPTED;
    store.perform(p);
    delay += sc_core::sc_time(2, sc_core::SC_NS);
    return tlm::TLM_COMPLETED;
  }
  unsigned transport_dbg(int, tlm::tlm_generic_payload& p) { return store.debug(p); }
};

TEST_F(host_driver_test, allocations_overlap_neither_registers_nor_contexts) {
  gpu g("gpu", small());
  for (const std::uint64_t first :
       {std::uint64_t{0}, host_driver::default_first_address - 256, host_driver::default_first_address + 1})
    EXPECT_NE(refusal([&] { host_driver driver("driver", g.config(), first); }).find("expected a multiple of 256"),
              std::string::npos);
  host_driver driver("driver", g.config());
  driver.host_socket.bind(g.host_socket);
  sc_core::sc_start(sc_core::SC_ZERO_TIME);
  const std::uint64_t contexts = std::uint64_t{g.config().context.area_mib} << 20, first = driver.allocate(1);
  // Up to the last byte, and not beyond; a rejected request has no effect.
  for (const std::uint64_t bytes : {~std::uint64_t{0}, 0 - first, contexts - first, contexts - first - 8192 - 255})
    EXPECT_NE(refusal([&] { static_cast<void>(driver.allocate(bytes)); }).find("contexts are saved"), std::string::npos)
        << bytes;
  const std::uint64_t next = driver.allocate(contexts - first - 16384);
  EXPECT_EQ(next, first + 4096 + 256);
  EXPECT_NE(refusal([&] { static_cast<void>(driver.allocate(8192)); }).find("bytes of device memory are left"),
            std::string::npos);
  EXPECT_NE(refusal([&] { driver.save_contexts_at(first + 4096); }).find("handed out"), std::string::npos);
  driver.save_contexts_at(2 * contexts);
  EXPECT_GT(driver.allocate(8192), next);
}

TEST_F(host_driver_test, gpus_that_switch_contexts_at_one_time_on_one_memory_keep_them_apart) {
  const gpu_config config =
      load_config("v100", {"gpu.sm_count=1", "memory.model=external", "memory.channels=1", "l2.size_bytes=12288"});
  struct node : sc_core::sc_module {
    node(sc_core::sc_module_name name, const gpu_config& c, std::uint64_t first_address, std::uint32_t seed)
        : sc_module(name), chip("gpu", c), driver("driver", c, first_address), seed_(seed) {
      driver.host_socket.bind(chip.host_socket);
      HEDDLE_HAS_PROCESS(node);
      SC_THREAD(run);
    }
    gpu chip;
    host_driver driver;
    bool right = false;

    void run() {
      constexpr unsigned blocks = 16, n = blocks * 128;
      launch_request r;
      r.module = driver.load_module(steps_kernel, "steps.ptx");
      r.kernel = "steps";
      r.grid[0] = blocks;
      r.block[0] = 128;
      const std::uint64_t a = driver.allocate(n * 4);
      r.argument(a).argument(seed_);
      const unsigned number = driver.launch(r);
      wait(3, sc_core::SC_US);
      driver.preempt({}, preemption_mode::context_switch, 2000);
      driver.wait_for(number);
      std::vector<std::uint32_t> seen(n);
      driver.read(a, seen.data(), n * 4);
      right = driver.fault().empty();
      for (std::uint32_t i = 0; i < n && right; ++i) {
        std::uint32_t v = i;
        for (unsigned k = 0; k < 700; ++k) v = v * 1664525 + seed_;
        right = seen[i] == v;
      }
    }

   private:
    std::uint32_t seed_;
  };
  node first("first", config, host_driver::default_first_address, 3), second("second", config, 0x1100'0000, 8);
  shared_memory memory("memory");
  for (node* n : {&first, &second}) n->chip.memory_socket[0].bind(memory.socket);
  sc_core::sc_start();
  EXPECT_TRUE(first.right);
  EXPECT_TRUE(second.right);
}

TEST_F(host_driver_test, generic_addresses_reach_shared_local_and_global_memory) {
  gpu g("gpu", small());
  host_driver driver("driver", g.config());
  driver.host_socket.bind(g.host_socket);
  sc_core::sc_start(sc_core::SC_ZERO_TIME);
  launch_request r;
  r.module = driver.load_module(
      ".version 7.0\n.target sm_60\n.address_size 64\n.visible .entry reach(.param .u64 o) {\n"
      ".reg .b64 %d<5>; .reg .b32 %r<6>; .shared .align 4 .b8 words[128]; .local .align 4 .b8 own[8]; ld.param.u64 %d0, [o];\n"
      "mov.u32 %r0, %tid.x; mul.wide.u32 %d1, %r0, 4; add.s64 %d0, %d0, %d1; mov.u64 %d2, words; cvta.shared.u64 %d2, %d2; add.s64 %d2, %d2, %d1;\n"
      "st.u32 [%d2], %r0; mov.u64 %d3, own; cvta.local.u64 %d3, %d3; add.u32 %r1, %r0, 100; st.u32 [%d3+4], %r1; bar.sync 0;\n"
      "shl.b32 %r2, %r0, 2; mov.u32 %r3, words; add.u32 %r3, %r3, %r2; ld.shared.u32 %r4, [%r3]; ld.local.u32 %r5, [own+4]; mad.lo.u32 %r4, %r4, 1000, %r5; st.u32 [%d0], %r4; ret; }\n",
      "reach.ptx");
  r.kernel = "reach";
  r.block[0] = 32;
  const std::uint64_t out = driver.allocate(128);
  r.argument(out);
  for (const bool functionally : {false, true}) {
    SCOPED_TRACE(functionally ? "functionally" : "in time");
    driver.fill(out, 0xff, 128);
    if (functionally) {
      driver.execute(r);
    } else {
      const unsigned n = driver.launch(r);
      sc_core::sc_start(100, sc_core::SC_US);
      ASSERT_TRUE(driver.finished(n)) << driver.fault();
    }
    std::uint32_t seen[32];
    driver.read(out, seen, sizeof seen);
    for (std::uint32_t k = 0; k < 32; ++k) EXPECT_EQ(seen[k], 1000 * k + k + 100);
  }
}

}  // namespace host_driver_memory_test
}  // namespace heddle
