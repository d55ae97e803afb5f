// SPDX-License-Identifier: MIT
// Warp instructions a second of launches that are executed functionally (docs/use/functional.md): the first launch of a
// workload on a V100, again and again. The machine program is lowered and memory fetched before. HEDDLE_THREADS: host
// threads; the column of rates is per second of the first one's CPU time, so use the column of times.
#include <benchmark/benchmark.h>

#include <algorithm>
#include <cstdlib>
#include <map>
#include <memory>
#include <string>
#include <systemc>
#include <vector>

#include "heddle/config/config.h"
#include "heddle/gpu/gpu.h"
#include "heddle/gpu/host/host_driver.h"
#include "testbench/job/job_parser.h"
#include "testbench/run/device_job.h"

namespace {

using namespace heddle;

/// A workload on the GPU; the driver accepts its modules once.
struct placed_workload {
  testbench::job job;
  testbench::device_job device;
  placed_workload(const std::string& name, host_driver& driver, const gpu_config& config)
      : job(testbench::load_job(HEDDLE_WORKLOADS "/" + name + "/job.json")), device(job, driver, config) {}
  [[nodiscard]] const launch_request& first_launch() const {
    return device.request(*std::find_if(job.operations.begin(), job.operations.end(),
                                        [](const auto& o) { return o.what == testbench::operation::kind::kernel; }));
  }
};

// The library calls this several times, with more and more iterations.
void functional(benchmark::State& state, host_driver& driver, const gpu_config& config, const std::string& name,
                std::unique_ptr<placed_workload>& workload) {
  if (!workload) {
    workload = std::make_unique<placed_workload>(name, driver, config);
    driver.execute(workload->first_launch());
  }
  std::uint64_t instructions = 0;
  for (auto _ : state) instructions += driver.execute(workload->first_launch());
  state.counters["warp_instructions/s"] =
      benchmark::Counter(static_cast<double>(instructions), benchmark::Counter::kIsRate);
}

constexpr const char* small_kernels = R"(.version 7.0
.target sm_70
.address_size 64
.visible .entry copy(.param .u64 to, .param .u64 from)
{
  .reg .b64 %rd<9>; .reg .b32 %r<6>;
  ld.param.u64 %rd1, [to]; ld.param.u64 %rd2, [from]; mov.u32 %r1, %tid.x; mov.u32 %r2, %ctaid.x; mov.u32 %r3, %ntid.x;
  mad.lo.u32 %r4, %r2, %r3, %r1; mul.wide.u32 %rd3, %r4, 4; add.u64 %rd4, %rd1, %rd3; add.u64 %rd5, %rd2, %rd3;
  ld.global.u32 %r5, [%rd5]; st.global.u32 [%rd4], %r5; ret;
}
.visible .entry gather(.param .u64 to, .param .u64 from)
{
  .reg .b64 %rd<9>; .reg .b32 %r<9>; .reg .pred %p;
  ld.param.u64 %rd1, [to]; ld.param.u64 %rd2, [from]; mov.u32 %r1, %tid.x; mov.u32 %r2, %ctaid.x; mov.u32 %r3, %ntid.x;
  mad.lo.u32 %r4, %r2, %r3, %r1; mov.u32 %r6, %r4; mov.u32 %r7, 0; mov.u32 %r8, 0;
turn:
  mad.lo.u32 %r6, %r6, 1664525, 1013904223; shr.u32 %r5, %r6, 10; mul.wide.u32 %rd3, %r5, 4; add.u64 %rd5, %rd2, %rd3;
  ld.global.u32 %r5, [%rd5]; add.u32 %r7, %r7, %r5; add.u32 %r8, %r8, 1; setp.lt.u32 %p, %r8, 16; @%p bra turn;
  mul.wide.u32 %rd3, %r4, 4; add.u64 %rd4, %rd1, %rd3; st.global.u32 [%rd4], %r7; ret;
}
.visible .entry nothing() { ret; }
)";

launch_request small_launch(unsigned module, const char* kernel, std::uint32_t blocks, std::uint32_t threads) {
  launch_request r;
  r.module = module;
  r.kernel = kernel;
  r.grid[0] = blocks;
  r.block[0] = threads;
  return r;
}

// A copy whose pages are fetched first, and written back by the launch that is simulated afterwards.
void first_accesses(benchmark::State& state, host_driver& driver) {
  static const unsigned module = driver.load_module(small_kernels, "small.ptx");
  constexpr std::uint64_t bytes = std::uint64_t{64} << 20;
  static const std::uint64_t to = driver.allocate(bytes), from = driver.allocate(bytes);
  launch_request copy = small_launch(module, "copy", bytes / 4 / 256, 256);
  copy.argument(to).argument(from);
  const std::vector<std::uint32_t> data(bytes / 4, 7);
  driver.write(from, data.data(), bytes);
  std::uint64_t instructions = 0;
  for (auto _ : state) {
    instructions += driver.execute(copy);
    const unsigned number = driver.launch(small_launch(module, "nothing", 1, 32));
    while (!driver.finished(number)) sc_core::sc_start(sc_core::sc_time(20, sc_core::SC_US));
  }
  state.counters["warp_instructions/s"] =
      benchmark::Counter(static_cast<double>(instructions), benchmark::Counter::kIsRate);
}

// Launches of one kernel of small_kernels again and again.
void launches(benchmark::State& state, host_driver& driver, const char* kernel, std::uint32_t blocks) {
  const unsigned module = driver.load_module(small_kernels, "small.ptx");
  constexpr std::uint64_t bytes = std::uint64_t{16} << 20;
  static const std::uint64_t to = driver.allocate(bytes), from = driver.allocate(bytes);
  launch_request r = small_launch(module, kernel, blocks, 64);
  r.argument(to).argument(from);
  driver.execute(r);
  std::uint64_t instructions = 0;
  for (auto _ : state) instructions += driver.execute(r);
  state.counters["warp_instructions/s"] =
      benchmark::Counter(static_cast<double>(instructions), benchmark::Counter::kIsRate);
}

}  // namespace

int sc_main(int argc, char* argv[]) {
  const gpu_config config = load_config("v100");
  gpu chip("gpu", config);
  if (const char* threads = std::getenv("HEDDLE_THREADS"))
    chip.use_threads(static_cast<unsigned>(std::strtoul(threads, nullptr, 10)));
  host_driver driver("driver", config);
  driver.host_socket.bind(chip.host_socket);
  sc_core::sc_start(sc_core::SC_ZERO_TIME);
  std::map<std::string, std::unique_ptr<placed_workload>> workloads;
  for (const char* name : {"sgemm", "sgemm_register_tiled", "vector_add", "divergent", "histogram", "hotspot",
                           "mandelbrot", "nbody", "spmv"})
    benchmark::RegisterBenchmark(name, [&driver, &config, name, &workload = workloads[name]](benchmark::State& state) {
      functional(state, driver, config, name, workload);
    });
  benchmark::RegisterBenchmark("first_accesses", [&](benchmark::State& state) { first_accesses(state, driver); });
  benchmark::RegisterBenchmark("small_launches", [&](benchmark::State& state) { launches(state, driver, "copy", 4); });
  benchmark::RegisterBenchmark("gather", [&](benchmark::State& state) { launches(state, driver, "gather", 1000); });
  benchmark::Initialize(&argc, argv);
  benchmark::RunSpecifiedBenchmarks();
  return 0;
}

int main(int argc, char* argv[]) {
  ::setenv("SYSTEMC_DISABLE_COPYRIGHT_MESSAGE", "1", 1);
  return sc_core::sc_elab_and_sim(argc, argv);
}
