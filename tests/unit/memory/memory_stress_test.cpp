// SPDX-License-Identifier: MIT
// Whole GPUs with a disturbed memory path: third-party memories that answer in every legal way, several GPUs in one
// simulation, randomly delayed phases.
#include "memory_stress.h"

#include "memory_bench.h"
#include "tests/unit/common/fresh_simulation.h"

namespace heddle::test {
namespace memory_stress_test {

class memory_stress : public fresh_simulation {};

constexpr stress_size small{4, 128, 4};

std::vector<std::string> with(std::vector<std::string> more) {
  more.insert(more.end(), {"gpu.sm_count=3", "tlm.check=true"});
  return more;
}

/// Runs one launch under a configuration and checks all invariants; returns results and number of requests.
stress_result run_once(const std::string& gpu, const std::vector<std::string>& overrides, const stress_size& size,
                       std::uint64_t* requests = nullptr) {
  stressed_gpu g("gpu", load_config(gpu, with(overrides)));
  sc_core::sc_start(sc_core::SC_ZERO_TIME);
  g.start(size);
  run_until_finished({&g});
  if (requests != nullptr) *requests = g.requests();
  return g.result();
}

TEST_F(memory_stress, two_gpus_in_one_simulation_one_with_a_foreign_memory) {
  // Each style alone, then all at random: early completion, annotated delays, late or implied END_REQ, out-of-order
  // responses.
  for (const answer_style style :
       {answer_style::end_req_returned, answer_style::end_req_called, answer_style::end_req_implied,
        answer_style::response_returned, answer_style::completed, answer_style::annotated, answer_style::mixed}) {
    restart();
    stressed_gpu own("own", load_config("gtx1080", with({})));
    const gpu_config config =
        load_config("v100", with({"memory.model=external", "memory.channels=4", "l2.size_bytes=393216"}));
    stressed_gpu foreign("foreign", config);
    std::vector<std::unique_ptr<test_memory>> memories;
    for (unsigned m = 0; m < config.memory.channels; ++m) {
      memories.push_back(
          std::make_unique<test_memory>(("memory" + std::to_string(m)).c_str(), foreign.gpu.dram_clock()));
      memories.back()->style = style;
      memories.back()->latency = 30;
      memories.back()->jitter = 60;
      memories.back()->end_req_delay = 5;
      memories.back()->random.seed(m + 1);
      foreign.gpu.memory_socket[m].bind(memories.back()->socket);
    }
    sc_core::sc_start(sc_core::SC_ZERO_TIME);
    own.start(small);
    foreign.start(small);
    run_until_finished({&own, &foreign});
    const stress_result expected = stress_expected(small);
    EXPECT_TRUE(own.result() == expected) << "style " << static_cast<int>(style);
    EXPECT_TRUE(foreign.result() == expected) << "style " << static_cast<int>(style);
    std::size_t reads = 0;
    for (const auto& m : memories) reads += m->reads.size();
    EXPECT_GT(reads, 1000u) << "the foreign memory was hardly asked";
    for (const auto& m : memories) EXPECT_TRUE(m->idle());
  }
}

TEST_F(memory_stress, results_do_not_depend_on_when_phases_come) {
  const stress_result expected = stress_expected(small);
  std::uint64_t undisturbed = 0;
  EXPECT_TRUE(run_once("gtx1080", {}, small, &undisturbed) == expected);
  for (const char* seed : {"1", "2", "3"}) {
    for (const char* longest : {"1", "7", "100"}) {
      for (const char* gpu : {"gtx1080", "v100"}) {
        restart();
        std::uint64_t requests = 0;
        const std::vector<std::string> delays = {std::string("tlm.random_delay_cycles=") + longest,
                                                 std::string("tlm.random_delay_seed=") + seed};
        const stress_result got = run_once(gpu, delays, small, &requests);
        EXPECT_TRUE(got == expected) << gpu << ", up to " << longest << " cycles, seed " << seed;
        if (std::string(gpu) == "gtx1080") {
          EXPECT_EQ(requests, undisturbed) << "requests were lost or made twice";
        }
      }
    }
  }
}

TEST_F(memory_stress, the_same_seed_gives_the_same_run) {
  sc_core::sc_time ends[3];
  for (unsigned k = 0; k < 3; ++k) {
    restart();
    run_once("gtx1080", {"tlm.random_delay_cycles=20", k < 2 ? "tlm.random_delay_seed=5" : "tlm.random_delay_seed=6"},
             small);
    ends[k] = sc_core::sc_time_stamp();
  }
  EXPECT_EQ(ends[0], ends[1]);
  EXPECT_NE(ends[0], ends[2]);
}

// Results do not depend on timing: every architecture's rules and every policy give the same bytes.
TEST_F(memory_stress, results_do_not_depend_on_caches_and_policies) {
  const stress_result expected = stress_expected(small);
  const std::vector<std::vector<std::string>> variants = {
      {"ldst.coalescing=half_warp"},
      {"l1.cache_global_loads=true", "l1.sector_bytes=128"},
      {"l1.replacement=fifo", "l2.replacement=random"},
      {"l1.cache_global_loads=true", "l1.store_hit=update", "l1.replacement=random"},
      {"tlb.entries=2", "tlb.page_bytes=4096"},
      {"tlb.entries=16", "tlb.page_bytes=65536", "tlb.miss_latency_cycles=1000"},
      {"dram.t_refi_cycles=1000", "dram.t_rfc_cycles=100"},
      {"memory.model=fixed", "l2.replacement=fifo", "l2.size_bytes=262144"}};
  for (const auto& v : variants) {
    restart();
    EXPECT_TRUE(run_once("gtx1080", v, small) == expected) << v[0];
  }
}

// Several slices before a channel share its queue, or have each its own socket of the memory outside.
TEST_F(memory_stress, several_slices_of_a_channel) {
  const stress_result expected = stress_expected(small);
  for (const char* slices : {"2", "4", "8"}) {
    const std::string setting = std::string("l2.slices_per_channel=") + slices;
    for (const char* model : {"memory.model=dram", "memory.model=fixed"}) {
      SCOPED_TRACE(setting + " " + model);
      restart();
      EXPECT_TRUE(run_once("gtx1080", {setting, model, "memory.channels=2", "l2.size_bytes=524288"}, small) ==
                  expected);
    }
    SCOPED_TRACE(setting + " memory outside");
    restart();
    stressed_gpu g(
        "gpu",
        load_config("gtx1080", with({setting, "memory.model=external", "memory.channels=2", "l2.size_bytes=524288"})));
    ASSERT_EQ(g.gpu.memory_socket.size(), 2 * std::stoul(slices));
    std::vector<std::unique_ptr<test_memory>> memories;
    for (auto& socket : g.gpu.memory_socket) {
      memories.push_back(std::make_unique<test_memory>(sc_core::sc_gen_unique_name("memory"), g.gpu.dram_clock()));
      memories.back()->style = answer_style::mixed;
      memories.back()->latency = 30;
      memories.back()->jitter = 60;
      memories.back()->random.seed(memories.size());
      socket.bind(memories.back()->socket);
    }
    sc_core::sc_start(sc_core::SC_ZERO_TIME);
    g.start(small);
    run_until_finished({&g});
    EXPECT_TRUE(g.result() == expected);
  }
}

class long_memory_stress : public fresh_simulation {};

TEST_F(long_memory_stress, a_million_transactions_with_random_delays) {
  const stress_size large{16, 256, 240};
  const stress_result expected = stress_expected(large);
  std::uint64_t requests = 0;
  const stress_result got =
      run_once("v100", {"tlm.random_delay_cycles=50", "tlm.random_delay_seed=11"}, large, &requests);
  EXPECT_TRUE(got == expected);
  EXPECT_GE(requests, 1000000u);
}

}  // namespace memory_stress_test
}  // namespace heddle::test
