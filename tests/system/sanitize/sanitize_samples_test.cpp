// SPDX-License-Identifier: MIT
// heddle run --sanitize: the errors of the public samples of NVIDIA's Compute Sanitizer, by the kernels of samples.cu;
// sanitize_host_test.cpp has those that need a host. And that nothing is found in the kernels of other tests.
#include <gtest/gtest.h>

#include "tests/system/sanitize/sanitize_fixture.h"

namespace sanitize_samples_test {

using sanitize_runs::launch;
using sanitize_runs::outcome;
using sanitize_runs::run;

struct sample {
  const char* name;
  std::vector<const char*> said;  // of the bad one
  bool in_lock_step = true;       // also an error where the lanes of a warp run in lock step
};

const sample samples[] = {
    {"device_variable",
     {"samples.cu:15", "misaligned write of 4 bytes of global memory at 0x", "block (0,0,0), thread (0,0,0)"}},
    {"far_address",
     {"samples.cu:21: out of bounds: write of 4 bytes of global memory at 0x87654320",
      "bytes behind buffer 'argument 1' (512 bytes at 0x", "and 127 cases more"}},
    {"sum_of_block", {"samples.cu:32", "samples.cu:37", "race: ", " of shared memory at 0x"}},
    {"sum_of_warps",
     {"samples.cu:51", "race: read of shared memory at 0x4 and a write that nothing orders", "samples.cu:46"},
     false},
    {"tail_of_input", {"samples.cu:69", "barrier in divergent code: threads of a warp do not execute it together"}},
    {"mask_of_ballot",
     {"samples.cu:84", "by a thread that its member mask 0xffff leaves out", "thread (16,0,0)"},
     false},
};

TEST(sanitize_samples, are_told_from_kernels_without_errors) {
  for (const char* gpu : {"v100", "gtx1080"})
    for (const sample& s : samples) {
      SCOPED_TRACE(std::string(s.name) + " " + gpu);
      const bool lock_step = std::string(gpu) == "gtx1080";
      launch l;
      l.file = "samples.ptx";
      l.blocks = 1;
      l.threads = 128;
      l.arguments = {"buf:512"};
      l.kernel = "bad_" + std::string(s.name);
      const outcome bad = run(l, gpu);
      EXPECT_EQ(bad.code, lock_step && !s.in_lock_step ? 0 : 1) << bad.err;
      for (const char* text : s.said)
        EXPECT_EQ(bad.err.find(text) != std::string::npos, bad.code == 1) << text << "\n" << bad.err;
      l.kernel = "good_" + std::string(s.name);
      const outcome good = run(l, gpu);
      EXPECT_EQ(good.code, 0) << good.err;
      EXPECT_EQ(good.err, "");
    }
}

}  // namespace sanitize_samples_test
