// SPDX-License-Identifier: MIT
// The overhead of a block beside its instructions: the start of the next block, and the end of a grid.

#include "tests/system/common/json_text.h"
#include "tests/system/common/ptx_run.h"

namespace block_turnaround_test {

using namespace ptx_runs;

// Each thread stores its number and exits.
const std::string one_store = module_of("", "st.global.u32 [%o], %r2;");

nlohmann::json kernel_of(const std::string& text, unsigned blocks, const std::string& options) {
  const outcome o = run(text, "v100", blocks, 32, options + " --metrics m.json");
  EXPECT_EQ(o.code, 0) << o.err;
  EXPECT_EQ(o.words.size(), 32u * blocks);
  for (unsigned k = 0; k < o.words.size(); ++k) EXPECT_EQ(o.words[k], k);
  return nlohmann::json::parse(content(place_of_test() / "m.json"))["kernels"][0];
}

double cycles_of(const nlohmann::json& kernel) {
  return kernel["end_cycle"].get<double>() - kernel["start_cycle"].get<double>();
}

// With one block at a time and late acknowledgement of stores, the next block starts before the acknowledgement; the
// grid ends after it.
TEST(block_turnaround, does_not_wait_for_the_acknowledgement_of_stores) {
  const std::string slow = "--set gpu.sm_count=1 --set sm.max_blocks=1 --set l2.latency_cycles=3000";
  const double ten = cycles_of(kernel_of(one_store, 10, slow)), twenty = cycles_of(kernel_of(one_store, 20, slow));
  EXPECT_LT((twenty - ten) / 10, 1000);
  EXPECT_GT(ten, 3000);
}

// Stores of a warp must be visible to readers that see a flag set after a fence, so the block waits for their
// acknowledgement.
TEST(block_turnaround, waits_for_fences) {
  const std::string fenced = module_of("", "st.global.u32 [%o], %r2; membar.gl;");
  const std::string slow = "--set gpu.sm_count=1 --set sm.max_blocks=1 --set l2.latency_cycles=3000";
  const double ten = cycles_of(kernel_of(fenced, 10, slow)), twenty = cycles_of(kernel_of(fenced, 20, slow));
  EXPECT_GT((twenty - ten) / 10, 3000);
}

TEST(block_turnaround, includes_the_round_trip_to_the_distributor) {
  const auto rate = [](const std::string& latency) {
    const std::string options =
        "--set gpu.sm_count=1 --set sm.max_blocks=1 --set cwd.dispatch_latency_cycles=" + latency;
    return (cycles_of(kernel_of(one_store, 60, options)) - cycles_of(kernel_of(one_store, 20, options))) / 40;
  };
  EXPECT_NEAR(rate("220") - rate("20"), 400, 8);
}

TEST(block_turnaround, blocks_are_dispatched_at_fractions_of_a_cycle) {
  const auto rate = [](const std::string& interval) {
    const std::string options = "--set cwd.dispatch_interval_cycles=" + interval;
    return (cycles_of(kernel_of(one_store, 4000, options)) - cycles_of(kernel_of(one_store, 2000, options))) / 2000;
  };
  EXPECT_NEAR(rate("2.25"), 2.25, 0.02);
  EXPECT_NEAR(rate("3"), 3, 0.02);
}

// Blocks of the first wave follow one another at dispatch_interval_cycles; those that follow the end of another, and
// the end of the grid, wait until the CWD has processed the ends of blocks, one each end_interval_cycles.
TEST(block_turnaround, the_distributor_processes_ends_one_after_another) {
  const std::string fast = "--set cwd.dispatch_interval_cycles=1.5 ", ends = "--set cwd.end_interval_cycles=3";
  const auto rate = [&](unsigned from, unsigned to, const std::string& options) {
    return (cycles_of(kernel_of(one_store, to, options)) - cycles_of(kernel_of(one_store, from, options))) /
           (to - from);
  };
  EXPECT_NEAR(rate(8000, 16000, fast + ends), 3, 0.02);
  EXPECT_NEAR(rate(1500, 2500, fast), 1.5, 0.1) << "one wave";
  EXPECT_NEAR(rate(1500, 2500, fast + ends), 3, 0.05) << "one wave ends, too";
}

// The warp that stored has ended when the fault is reported, and its slot may hold another warp.
TEST(block_turnaround, a_fault_of_a_store_names_the_thread_that_has_exited) {
  const std::string bad =
      module_of("", "setp.eq.u32 %p1, %r2, 69; @%p1 mov.b64 %o, 0x7000000000; st.global.u32 [%o], %r2;");
  const outcome o = run(bad, "v100", 4, 32, "--set gpu.sm_count=1 --set sm.max_blocks=1");
  EXPECT_EQ(o.code, 1) << o.err;
  EXPECT_NE(o.err.find("block (2,0,0), thread (5,0,0)"), std::string::npos) << o.err;
}

}  // namespace block_turnaround_test
