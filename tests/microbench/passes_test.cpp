// SPDX-License-Identifier: MIT
// Accesses that take several passes: contended atomics and the bandwidth of shared memory against silicon, and
// replays, which are counted up to Kepler as in NVIDIA's profiler.
#include "explained_values.h"
#include "memory_figures.h"

#include <cmath>

namespace heddle::test {
namespace passes_test {

struct contention {
  const char* gpu;
  const char* kernel;
  double added[5];             // cycles with 2, 4, 8, 16 and 32 lanes on a word, minus those with one lane
  const char* explained = "";  // reason for differences of more than one cycle and 8 %
};

constexpr char even_steps[] =
    "each further lane takes as long as the others in the model; on the chip the steps are uneven";
constexpr char few_lanes[] =
    "the chip takes less with few lanes on a word than one lane alone lets expect, or less than that";

// Jia et al. 2018, table 4.2. Only the cycles added by further lanes are compared: its figures for one lane are lower
// than the latency of any access.
TEST_F(memory_figures, of_contended_atomics) {
  const contention all[] = {{"p100", "atomic_shared", {2, 4, 15, 31, 63}, even_steps},
                            {"gtx1080", "atomic_shared", {2, 9, 14, 30, 62}, even_steps},
                            {"gtx980", "atomic_shared", {2, 8, 14, 30, 62}, even_steps},
                            {"v100", "atomic_shared", {1, 5, 12, 18, 60}, even_steps},
                            {"gtxtitan", "atomic_shared", {121, 367, 859, 1843, 4164}},
                            {"p100", "atomic_global", {5, 22, 22, 24, 24}, few_lanes},
                            {"gtx1080", "atomic_global", {20, 20, 21, 21, 21}},
                            {"gtx980", "atomic_global", {2, 17, 17, 22, 22}, few_lanes},
                            {"v100", "atomic_global", {-5, -4, 5, 22, 40}, few_lanes},
                            {"gtxtitan", "atomic_global", {40, 67, 123, 235, 459}}};
  std::set<std::string> rows;
  for (const contention& c : all) {
    double alone = 0;
    unsigned apart = 0;
    for (unsigned step = 0; step < 6; ++step) {
      const unsigned lanes = 1u << step;
      json arguments = {argument("cycles")};
      if (std::string(c.kernel) == "atomic_global") arguments.push_back(argument("cells"));
      arguments.push_back(number(lanes));
      run(c.gpu, {{"cells", {{"bytes", 128}}}}, {launch(c.kernel, 1, 32, arguments)});
      if (HasFatalFailure()) return;
      const double model = clocks_ / 32.0;
      if (step == 0) {
        alone = model;
        continue;
      }
      const double published = c.added[step - 1];
      const bool agrees = std::abs(model - alone - published) <= std::max(1.01, 0.08 * std::abs(published));
      apart += !agrees;
      std::printf("%-8s %s, %2u lanes on a word: added cycles %6.1f (published %g)%s%s\n", c.gpu, c.kernel, lanes,
                  model - alone, published, agrees ? "" : ": ", agrees ? "" : c.explained);
      EXPECT_TRUE(agrees || *c.explained != 0) << c.gpu << " " << c.kernel << " " << lanes;
      const std::string row = std::string("contention ") + c.gpu + " " + c.kernel + ", " + std::to_string(lanes) +
                              " lanes on a word: added cycles";
      microbench::expect_written(row, model - alone);
      rows.insert(row);
    }
    EXPECT_EQ(apart != 0, *c.explained != 0) << "an explanation that has become idle: " << c.gpu << " " << c.kernel;
  }
  EXPECT_EQ(microbench::written_rows("contention"), rows);
}

// Bytes per cycle of one SM with all warps at work, from the difference of two run lengths.
class throughput : public memory_figures {
 protected:
  double of(const char* gpu, const char* kernel, unsigned blocks, unsigned rounds, unsigned bytes_a_thread_and_round,
            json arguments, const json& buffers = json::object()) {
    options_ = " --set gpu.sm_count=1";
    constexpr unsigned threads = 1024;
    double cycles[2] = {};
    for (const unsigned k : {0u, 1u}) {
      json all = arguments;
      all.push_back(number(rounds << k));
      run(gpu, buffers, {launch(kernel, blocks, threads, all)}, false, "passes.ptx");
      if (HasFatalFailure()) return 0;
      cycles[k] = metrics_["kernels"][0]["cycles"].get<double>();
    }
    return static_cast<double>(blocks) * threads * rounds * bytes_a_thread_and_round / (cycles[1] - cycles[0]);
  }
};

// Jia et al. 2018, table 3.1, measured and theoretical; their kernel also loads, calculates and stores, with the
// maximum of threads and blocks. Words have 8 bytes: with 4 bytes the K80 could not reach the measured figure.
TEST_F(throughput, of_shared_memory) {
  const struct {
    const char* gpu;
    double theoretical, measured, of;  // bytes a cycle and SM; GB/s of GB/s
  } chips[] = {{"v100", 128, 12080, 13800},
               {"p100", 128, 7763, 9519},
               {"gtx1080", 128, 3555, 3919},
               {"gtx980", 128, 2122, 2410},
               {"gtxtitan", 256, 2540, 2912}};
  for (const auto& c : chips) {
    const double model = of(c.gpu, "shared_update", 8, 8, 8 * 16, {argument("cycles")});
    if (HasFatalFailure()) return;
    compare(c.gpu, "shared memory, bytes a cycle and SM", model, c.theoretical * c.measured / c.of, 0.02, "Jia");
  }
}

// Jia et al. 2018, table 3.2, and Luo et al. 2024, table V (H800 for the H100). Jia's figures for M60 and P4, 15.7,
// are not compared: there an FP64 addition per load bounds the kernel.
TEST_F(throughput, of_l1_hits) {
  const struct {
    const char* gpu;
    double measured;
    const char* source;
  } chips[] = {
      {"v100", 125.7, "gpu-benches"}, {"p100", 31.3, "Jia"}, {"a100", 125.1, "gpu-benches"}, {"h100", 124.1, "Luo"}};
  for (const auto& c : chips) {
    const double model =
        of(c.gpu, "l1_stream", 2, 8, 8 * 16, {argument("cycles"), argument("words")}, {{"words", {{"bytes", 4096}}}});
    if (HasFatalFailure()) return;
    compare(c.gpu, "L1 hits, bytes a cycle and SM", model, c.measured, 0.02, c.source);
    EXPECT_EQ(metrics_["kernels"][0]["memory"]["l1"]["bank_conflicts"].get<std::uint64_t>() != 0,
              std::string(c.gpu) == "p100");
  }
}

class replays : public memory_figures {
 protected:
  double of(const char* metric) const { return metrics_["kernels"][0]["metrics"][metric].get<double>(); }
  std::uint64_t count(const char* metric) const {
    return metrics_["kernels"][0]["metrics"][metric].get<std::uint64_t>();
  }
  void shared(const char* gpu, unsigned stride) {
    run(gpu, json::object(), {launch("shared_conflict", 1, 32, {argument("cycles"), number(stride)})});
  }
  void global(const char* gpu, unsigned stride, unsigned threads = 32) {
    run(gpu, {{"words", {{"bytes", 4 * stride * threads}}}},
        {launch("strided_load", 1, threads, {argument("cycles"), argument("words"), number(stride)})}, false,
        "passes.ptx");
  }
};

// A store and 128 loads, with words of adjacent lanes `stride` apart: on 32 banks of 4 bytes, `stride` lanes share a
// bank.
TEST_F(replays, of_bank_conflicts_are_issued_up_to_kepler) {
  for (const unsigned stride : {1u, 2u, 8u, 32u}) {
    shared("gtx480", stride);
    if (HasFatalFailure()) return;
    const double executed = of("inst_executed");
    EXPECT_EQ(count("inst_issued") - count("inst_executed"), 129u * (stride - 1));
    EXPECT_DOUBLE_EQ(of("shared_replay_overhead"), 129.0 * (stride - 1) / executed);
    EXPECT_DOUBLE_EQ(of("inst_replay_overhead"), of("shared_replay_overhead"));
    EXPECT_EQ(of("global_replay_overhead"), 0);
    EXPECT_EQ(metrics_["kernels"][0]["memory"]["shared"]["bank_conflicts"], 129u * (stride - 1));
    const auto& cycles = metrics_["kernels"][0]["warp_cycles"];
    EXPECT_EQ(cycles["selected"].get<std::uint64_t>(), count("issue_slots"))
        << "a replay takes an issue slot of its warp";
  }
}

// A pair of 8-byte banks holds the words of four lanes, so a stride of 2 words has no conflicts.
TEST_F(replays, follow_the_wide_banks_of_kepler) {
  shared("gtxtitan", 2);
  EXPECT_EQ(of("inst_replay_overhead"), 0);
  shared("gtxtitan", 4);
  EXPECT_EQ(count("inst_issued") - count("inst_executed"), 129u);
}

TEST_F(replays, of_divergent_addresses_are_issued_up_to_kepler) {
  const struct {
    const char* gpu;
    unsigned stride, replays_a_load;
  } cases[] = {
      {"gtx480", 1, 0}, {"gtx480", 2, 1}, {"gtxtitan", 8, 7}, {"gtxtitan", 32, 31},
      {"g80", 1, 0},    {"g80", 2, 30}};  // compute capability 1.0: coalesced per half-warp in order, or lane by lane
  for (const auto& c : cases) {
    global(c.gpu, c.stride);
    if (HasFatalFailure()) return;
    EXPECT_EQ(count("inst_issued") - count("inst_executed"), 8u * c.replays_a_load) << c.gpu << " " << c.stride;
    EXPECT_DOUBLE_EQ(of("global_replay_overhead"), 8.0 * c.replays_a_load / of("inst_executed"));
  }
}

TEST_F(replays, are_passes_inside_the_unit_from_maxwell_on) {
  for (const char* gpu : {"gtx980", "v100"}) {
    shared(gpu, 32);
    EXPECT_EQ(of("inst_replay_overhead"), 0);
    EXPECT_EQ(of("shared_replay_overhead"), 0);
    EXPECT_EQ(metrics_["kernels"][0]["memory"]["shared"]["bank_conflicts"], 129u * 31);
    global(gpu, 32);
    EXPECT_EQ(of("global_replay_overhead"), 0);
    EXPECT_EQ(count("gld_transactions"), 8u * 32);
  }
}

// Other warps cannot issue during a replay: the slots are lost.
TEST_F(replays, take_slots_from_all_warps) {
  global("gtxtitan", 32, 1024);
  if (HasFatalFailure()) return;
  EXPECT_EQ(count("inst_issued") - count("inst_executed"), 32u * 8 * 31);
  EXPECT_GE(metrics_["kernels"][0]["cycles"].get<std::uint64_t>(), 32u * 8 * 32 / 4) << "four schedulers";
}

}  // namespace passes_test
}  // namespace heddle::test
