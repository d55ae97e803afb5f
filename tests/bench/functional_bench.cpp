// SPDX-License-Identifier: MIT
// Warp instructions a second of launches that are executed functionally (docs/use/functional.md): the first launch of a
// workload on a V100, again and again. The machine program is lowered and memory fetched before.
#include <benchmark/benchmark.h>

#include <algorithm>
#include <memory>
#include <string>
#include <systemc>

#include "heddle/config/config.h"
#include "heddle/gpu/gpu.h"
#include "heddle/gpu/host/host_driver.h"
#include "testbench/job/job_parser.h"
#include "testbench/run/device_job.h"

namespace {

using namespace heddle;

void functional(benchmark::State& state, host_driver& driver, const std::string& name) {
  const testbench::job j = testbench::load_job(HEDDLE_WORKLOADS "/" + name + "/job.json");
  const testbench::device_job device(j, driver);
  const auto first = std::find_if(j.operations.begin(), j.operations.end(), [](const testbench::operation& o) {
    return o.what == testbench::operation::kind::kernel;
  });
  const launch_request& request = device.request(*first);
  driver.execute(request);
  std::uint64_t instructions = 0;
  for (auto _ : state) instructions += driver.execute(request);
  state.counters["warp_instructions/s"] =
      benchmark::Counter(static_cast<double>(instructions), benchmark::Counter::kIsRate);
}

}  // namespace

int sc_main(int argc, char* argv[]) {
  const gpu_config config = load_config("v100");
  gpu chip("gpu", config);
  host_driver driver("driver", config);
  driver.host_socket.bind(chip.host_socket);
  sc_core::sc_start(sc_core::SC_ZERO_TIME);
  for (const char* name : {"sgemm", "sgemm_register_tiled", "vector_add", "divergent", "histogram", "hotspot",
                           "mandelbrot", "nbody", "spmv"})
    benchmark::RegisterBenchmark(name, [&driver, name](benchmark::State& state) { functional(state, driver, name); });
  benchmark::Initialize(&argc, argv);
  benchmark::RunSpecifiedBenchmarks();
  return 0;
}

int main(int argc, char* argv[]) {
  ::setenv("SYSTEMC_DISABLE_COPYRIGHT_MESSAGE", "1", 1);
  return sc_core::sc_elab_and_sim(argc, argv);
}
