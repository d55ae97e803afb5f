// SPDX-License-Identifier: MIT
// Arrays, textures, surfaces, graphs and memory pools of CUDA programs under `heddle exec`.
#include <gtest/gtest.h>

#include <string>

#include "cuda_program.h"

namespace cuda_arrays_test {

using cuda_runs::nvcc;
using cuda_runs::outcome;
using cuda_runs::shell;

// Compiled once, because nvcc takes longer than all runs.
void run_parts(const std::string& source, const std::string& options, std::initializer_list<const char*> parts) {
  if (nvcc().empty()) GTEST_SKIP() << "nvcc is not there to compile the program";
  const outcome compiled = shell("'" + nvcc() + "' -std=c++17 -w " + options + " -o " + source +
                                 " '" HEDDLE_SOURCE "/tests/system/cuda/" + source + ".cu'");
  ASSERT_EQ(0, compiled.code) << compiled.err;
  for (const std::string part : parts) {
    const outcome o =
        cuda_runs::exec("./" + source + " " + part, "--quiet --log-level error --gpu a100 --set gpu.sm_count=4");
    EXPECT_EQ(0, o.code) << part << "\n" << o.out << o.err;
    EXPECT_EQ("right\n", o.out) << part << "\n" << o.err;
  }
}

TEST(cuda_arrays, textures_and_surfaces_hold_what_was_copied_to_them) {
  run_parts("arrays", "", {"arrays", "textures", "mipmaps", "surfaces"});
}

TEST(cuda_arrays, graphs_and_pools_do_their_work_in_order) { run_parts("graphs", "", {"capture", "graphs", "pools"}); }

TEST(cuda_arrays, programs_with_a_default_stream_for_each_thread_capture_too) {
  run_parts("graphs", "-cudart shared -default-stream per-thread", {"capture", "graphs", "pools"});
}

TEST(cuda_arrays, references_of_cuda_11_are_bound_to_memory_and_arrays) {
  const outcome o = cuda_runs::exec(HEDDLE_CUDA_REFERENCES, "--quiet --log-level error --gpu gtx1080");
  EXPECT_EQ(0, o.code);
  EXPECT_EQ("right\n", o.out) << o.err;
}

}  // namespace cuda_arrays_test
