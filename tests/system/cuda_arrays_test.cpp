// SPDX-License-Identifier: MIT
// Arrays, textures, surfaces, graphs and memory pools of CUDA programs under `heddle exec`.
#include <gtest/gtest.h>

#include <string>

#include "cuda_program.h"

namespace cuda_arrays_test {

using cuda_runs::nvcc;
using cuda_runs::outcome;
using cuda_runs::place_of_test;
using cuda_runs::shell;

// Compiled once, for nvcc takes longer than all that it does.
void run_parts(const std::string& options, std::initializer_list<const char*> parts) {
  if (nvcc().empty()) GTEST_SKIP() << "nvcc is not there to compile the program";
  const outcome compiled = shell("'" + nvcc() + "' -std=c++17 -w " + options + " -o arrays '" HEDDLE_SOURCE "/tests/system/cuda/arrays.cu'");
  ASSERT_EQ(0, compiled.code) << compiled.err;
  for (const std::string part : parts) {
    const outcome o = cuda_runs::exec("./arrays " + part, "--quiet --log-level error --gpu a100 --set gpu.sm_count=4");
    EXPECT_EQ(0, o.code) << part << "\n" << o.out << o.err;
    EXPECT_EQ("right\n", o.out) << part << "\n" << o.err;
  }
}

TEST(cuda_arrays, textures_surfaces_graphs_and_pools_do_as_cuda_says) { run_parts("", {"arrays", "textures", "surfaces", "capture", "graphs", "pools"}); }

TEST(cuda_arrays, programs_with_a_default_stream_for_each_thread_have_them_too) {
  run_parts("-cudart shared -default-stream per-thread", {"arrays", "textures", "capture", "graphs", "pools"});
}

TEST(cuda_arrays, references_of_cuda_11_are_bound_to_memory_and_arrays) {
  const outcome o = cuda_runs::exec(HEDDLE_CUDA_REFERENCES, "--quiet --log-level error --gpu gtx1080");
  EXPECT_EQ(0, o.code);
  EXPECT_EQ("right\n", o.out) << o.err;
}

}  // namespace cuda_arrays_test
