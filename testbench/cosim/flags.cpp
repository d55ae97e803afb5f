// SPDX-License-Identifier: MIT
// A persistent kernel and a CPU that gives it work through flags in shared memory, without launches and interrupts.
// The CPU reads and writes the DRAM through its own port; system-scope accesses of the kernel make the data visible.
//
//   cpu.memory --> dram.port[0]      gpu.memory_socket[i] --> dram.port[1 + i]      driver --> gpu.host_socket
#include <heddle/heddle.h>
#include <heddle/tlm/kernel/has_process.h>

#include <tlm_utils/simple_initiator_socket.h>

#include <iostream>

#include "testbench/cosim/at_dram.h"

namespace {

// a[0]: the CPU's flag; a[64]: the GPU's; a[32 ...]: 32 numbers, whose squares the kernel writes to a[128 ...]. It
// ends at flag 0.
constexpr const char* server = R"(
.version 7.0
.target sm_70
.address_size 64
.visible .entry server(.param .u64 a)
{
  .reg .u64 %rd<6>;
  .reg .u32 %r<6>;
  .reg .pred %p<4>;
  ld.param.u64 %rd1, [a];
  mov.u32 %r1, %tid.x;
  mul.wide.u32 %rd2, %r1, 4;
  add.u64 %rd3, %rd1, %rd2;
  mov.u32 %r2, 0;
again:
  ld.acquire.sys.global.u32 %r3, [%rd1];
  setp.eq.u32 %p1, %r3, %r2;
  @%p1 bra again;
  mov.u32 %r2, %r3;
  setp.eq.u32 %p2, %r2, 0;
  @%p2 bra done;
  ld.global.u32 %r4, [%rd3+128];
  mul.lo.u32 %r4, %r4, %r4;
  st.global.u32 [%rd3+512], %r4;
  bar.warp.sync 0xffffffff;
  setp.ne.u32 %p3, %r1, 0;
  @%p3 bra next;
  st.release.sys.global.u32 [%rd1+256], %r2;
next:
  bra.uni again;
done:
  ret;
}
)";

struct cpu : sc_core::sc_module {
  tlm_utils::simple_initiator_socket<cpu> memory{"memory"};
  heddle::host_driver driver;
  unsigned right = 0;
  static constexpr unsigned rounds = 20;

  cpu(sc_core::sc_module_name name, const heddle::gpu_config& config) : sc_module(name), driver("driver", config) {
    HEDDLE_HAS_PROCESS(cpu);
    SC_THREAD(run);
  }

 private:
  void access(tlm::tlm_command command, std::uint64_t address, std::uint32_t& word) {
    tlm::tlm_generic_payload p;
    p.set_command(command);
    p.set_address(address);
    p.set_data_ptr(reinterpret_cast<unsigned char*>(&word));
    p.set_data_length(4);
    p.set_streaming_width(4);
    sc_core::sc_time delay;
    memory->b_transport(p, delay);
    wait(delay);
  }
  void put(std::uint64_t address, std::uint32_t word) { access(tlm::TLM_WRITE_COMMAND, address, word); }
  std::uint32_t get(std::uint64_t address) {
    std::uint32_t word = 0;
    access(tlm::TLM_READ_COMMAND, address, word);
    return word;
  }

  void run() {
    heddle::launch_request request;
    request.module = driver.load_module(server, "server.ptx");
    request.kernel = "server";
    request.block[0] = 32;
    const std::uint64_t a = driver.allocate(1024);
    driver.fill(a, 0, 1024);
    request.argument(a);
    const unsigned launch = driver.launch(request);
    for (unsigned round = 1; round <= rounds; ++round) {
      for (unsigned i = 0; i < 32; ++i) put(a + 128 + 4 * i, 100 * round + i);
      put(a, round);
      while (get(a + 256) != round) wait(200, sc_core::SC_NS);
      bool all = true;
      for (unsigned i = 0; i < 32; ++i) all = all && get(a + 512 + 4 * i) == (100 * round + i) * (100 * round + i);
      right += all;
    }
    put(a, 0);
    driver.wait_for(launch);
    if (!driver.fault().empty()) right = 0;
  }
};

}  // namespace

int sc_main(int, char*[]) {
  const heddle::gpu_config config =
      heddle::load_config("v100", {"gpu.sm_count=2", "memory.model=external", "memory.channels=4", "tlm.check=true"});
  heddle::gpu gpu("gpu", config);
  cpu host("cpu", config);
  cosim::at_dram dram("dram", 1 + config.memory.channels);
  host.driver.host_socket.bind(gpu.host_socket);
  host.memory.bind(dram.port[0].socket);
  for (unsigned i = 0; i < config.memory.channels; ++i) gpu.memory_socket[i].bind(dram.port[1 + i].socket);
  sc_core::sc_start(10, sc_core::SC_MS);
  std::cout << host.right << " of " << cpu::rounds << " rounds right\n";
  return host.right == cpu::rounds ? 0 : 1;
}
