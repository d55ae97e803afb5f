// SPDX-License-Identifier: MIT
// Programmatic dependent launch, through jobs of the kernels of dependent_launches.cu: launches of a stream that run at
// the same time, against references on the host, with and without preemption.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <string>
#include <utility>
#include <vector>

#include "tests/system/common/json_text.h"
#include "tests/system/common/ptx_run.h"
#include "tests/unit/common/random_numbers.h"

namespace dependent_launches_test {

using json = nlohmann::ordered_json;
using heddle::test::random_numbers;
using ptx_runs::outcome;
using words = std::vector<std::uint32_t>;

enum when : std::uint32_t { never = 0, at_once = 1, after_wait = 2, by_one_thread = 3 };

/// A launch of `step` that reads what the launch before has written.
struct step {
  unsigned prologue = 0, work = 0;
  when lets_next_begin = at_once;
  bool programmatic = true;
};

struct chain {
  unsigned blocks = 0, threads = 0;
  std::vector<step> steps;
};

std::uint32_t turned(std::uint32_t v, unsigned rounds) {
  std::uint32_t table[8];
  for (unsigned k = 0; k < 8; ++k) table[k] = v + k;
  for (unsigned round = 0; round < rounds; ++round) {
    v = v * 1664525u + 1013904223u;
    if (round % 32 != 0) continue;
    std::uint32_t& entry = table[v / 4096 % 8];
    v += entry;
    entry = v ^ round;
  }
  return v;
}

words reference(const chain& c) {
  const unsigned all = c.blocks * c.threads;
  words in(all), out(all);
  for (const step& s : c.steps) {
    for (unsigned own = 0; own < all; ++own)
      out[own] = turned(in[(own + c.threads) % all] ^ turned(own, s.prologue), s.work);
    in = out;
  }
  return in;
}

json job_of(const chain& c) {
  json job;
  job["module"] = HEDDLE_SOURCE "/tests/system/run/dependent_launches.ptx";
  for (std::size_t k = 0; k <= c.steps.size(); ++k)
    job["buffers"]["b" + std::to_string(k)] = {{"bytes", 4 * c.blocks * c.threads}};
  for (std::size_t k = 0; k < c.steps.size(); ++k) {
    const step& s = c.steps[k];
    job["launches"].push_back({{"kernel", "step"},
                               {"grid", {c.blocks}},
                               {"block", {c.threads}},
                               {"programmatic", s.programmatic},
                               {"args",
                                {{{"buffer", "b" + std::to_string(k)}},
                                 {{"buffer", "b" + std::to_string(k + 1)}},
                                 {{"u32", s.prologue}},
                                 {{"u32", s.work}},
                                 {{"u32", s.lets_next_begin}}}}});
  }
  job["outputs"] = {{{"buffer", "b" + std::to_string(c.steps.size())}, {"file", "o.bin"}}};
  return job;
}

// NOLINTNEXTLINE(bugprone-exception-escape): moving json does not throw
struct result {
  outcome out;
  json metrics;
  [[nodiscard]] std::uint64_t at(std::size_t kernel, const char* key) const {
    return metrics["kernels"][kernel][key].get<std::uint64_t>();
  }
  [[nodiscard]] std::uint64_t cycles() const { return metrics["cycles"].get<std::uint64_t>(); }
};

result run(const json& job, const std::string& options = "", const std::string& gpu = "h100") {
  result r;
  r.out = ptx_runs::run_job({{"job.json", job.dump()}}, "--metrics m.json --gpu " + gpu + " " + options);
  if (r.out.code == 0) r.metrics = json::parse(ptx_runs::content(ptx_runs::place_of_test() / "m.json"));
  return r;
}

result run(const chain& c, const std::string& options = "", const std::string& gpu = "h100") {
  const result r = run(job_of(c), options, gpu);
  EXPECT_EQ(r.out.code, 0) << r.out.err;
  EXPECT_TRUE(r.out.words == reference(c)) << "other results";
  return r;
}

std::string few_sms(unsigned sms) { return "--set gpu.sm_count=" + std::to_string(sms); }

chain serial(chain c) {
  for (step& s : c.steps) s.programmatic = false;
  return c;
}

// What comes before the wait runs beside the launch before.
TEST(dependent_launches, overlap_and_give_the_same) {
  const chain c = {32, 128, {{100, 1000}, {1000, 300, by_one_thread}, {1000, 10}}};
  const result early = run(c), after = run(serial(c));
  EXPECT_LT(early.cycles() + 1000, after.cycles());
  for (const std::size_t k : {1u, 2u}) {
    EXPECT_LT(early.at(k, "start_cycle") + 1000, early.at(k - 1, "end_cycle"));
    EXPECT_EQ(early.at(k, "early_cycles"), early.at(k - 1, "end_cycle") - early.at(k, "start_cycle"));
    EXPECT_GE(early.at(k, "end_cycle"), early.at(k - 1, "end_cycle"));
    EXPECT_GE(after.at(k, "start_cycle"), after.at(k - 1, "end_cycle"));
    EXPECT_FALSE(after.metrics["kernels"][k].contains("early_cycles"));
  }
  EXPECT_EQ(early.at(0, "early_cycles"), 0u);
  // A third launch waits for the end of the first.
  EXPECT_GE(early.at(2, "start_cycle"), early.at(0, "end_cycle"));
}

// --sanitize checks each launch on what the check of the one before has left.
TEST(dependent_launches, keep_their_timing_when_they_are_checked) {
  const chain c = {32, 128, {{100, 1000}, {1000, 300, by_one_thread}, {1000, 10}}};
  const auto timing = [](json metrics) {
    metrics.erase("host");
    return metrics.dump();
  };
  const result plain = run(c), checked = run(c, "--sanitize");
  EXPECT_EQ(timing(plain.metrics), timing(checked.metrics));
  EXPECT_EQ(checked.out.err.find("heddle: error"), std::string::npos) << checked.out.err;
  EXPECT_EQ(checked.out.err.find("heddle: warning"), std::string::npos) << checked.out.err;
}

TEST(dependent_launches, wait_in_a_state_of_their_own) {
  const chain c = {32, 128, {{0, 800}, {10, 10}}};
  const result r = run(c, "--vcd w.vcd --pipeline p.kanata --timeline t.json");
  const json states = r.metrics["kernels"][1]["warp_states"];
  EXPECT_GT(states["grid_dependency"].get<std::uint64_t>(), 32u * 4 * 1000);
  EXPECT_GE(r.metrics["kernels"][1]["warp_cycles"]["sync"], states["grid_dependency"]);
  EXPECT_FALSE(r.metrics["kernels"][0]["warp_states"].contains("grid_dependency"));
  const auto has = [](const char* file, const char* text) {
    return ptx_runs::content(ptx_runs::place_of_test() / file).find(text) != std::string::npos;
  };
  EXPECT_TRUE(has("p.kanata", "ACQBULK"));
  EXPECT_TRUE(has("p.kanata", "PREEXIT"));
  EXPECT_TRUE(has("w.vcd", "early_grids"));
  EXPECT_TRUE(has("t.json", "stream 0, launched early"));
}

TEST(dependent_launches, begin_at_the_end_of_a_launch_that_never_lets_them) {
  const chain c = {32, 128, {{0, 400, never}, {400, 10}}};
  const result early = run(c), after = run(serial(c));
  EXPECT_LT(early.at(1, "early_cycles"), 500u);  // only the last stores are outstanding
  EXPECT_LE(early.cycles(), after.cycles());
  EXPECT_LT(after.cycles() - early.cycles(), 1000u);
}

// The second launch would take the whole chip. All blocks of the first one run by then.
TEST(dependent_launches, do_not_keep_places_that_the_launch_before_needs) {
  for (const when w : {at_once, after_wait}) {
    const chain c = {24, 512, {{0, 100, w}, {20, 20, w}, {20, 20, w}, {0, 0, w}}};
    for (const unsigned few : {1, 2, 9}) run(c, few_sms(few));
  }
}

TEST(dependent_launches, are_the_same_with_any_number_of_threads) {
  const chain c = {140, 64, {{20, 100}, {100, 50}, {50, 50, after_wait}, {10, 10}}};
  json one = run(c, "--threads 1").metrics, three = run(c, "--threads 3").metrics;
  one.erase("host"), three.erase("host");
  EXPECT_EQ(one, three);
}

TEST(dependent_launches, of_several_streams_run_beside_each_other) {
  chain c = {20, 128, {{20, 200}, {100, 50}, {50, 50}}};
  json job = job_of(c), both = job;
  for (const json& launch : job["launches"]) {
    json other = launch;
    other["stream"] = 7;
    for (json& argument : other["args"])
      if (argument.contains("buffer")) argument["buffer"] = "c" + argument["buffer"].get<std::string>();
    both["launches"].push_back(other);
  }
  for (const auto& [name, buffer] : job["buffers"].items()) both["buffers"]["c" + name] = buffer;
  both["outputs"].push_back({{"buffer", "cb3"}, {"file", "other.bin"}});
  const result r = run(both, "--set cwd.max_resident_grids=3");
  ASSERT_EQ(r.out.code, 0) << r.out.err;
  EXPECT_EQ(r.out.words, reference(c));
  EXPECT_EQ(ptx_runs::content(ptx_runs::place_of_test() / "other.bin"),
            ptx_runs::content(ptx_runs::place_of_test() / "o.bin"));
}

// Lanes of a warp wait on two paths; others have exited.
TEST(dependent_launches, wait_lane_by_lane) {
  constexpr unsigned all = 512;
  json job = job_of({4, 128, {{0, 300}}});
  job["buffers"]["d"] = {{"bytes", 4 * all}};
  job["launches"].push_back({{"kernel", "diverging"},
                             {"grid", {4}},
                             {"block", {128}},
                             {"programmatic", true},
                             {"args", {{{"buffer", "b1"}}, {{"buffer", "d"}}}}});
  job["outputs"] = {{{"buffer", "d"}, {"file", "o.bin"}}};
  const words before = reference({4, 128, {{0, 300}}});
  words expected(all);
  for (unsigned k = 0; k < all; ++k)
    expected[k] = k % 8 == 3 ? 0 : k % 2 == 0 ? k + before[k] : turned(k, 20) ^ before[k];
  for (const char* options : {"", "--set sub_partition.divergence=stack"}) {
    const result r = run(job, options);
    ASSERT_EQ(r.out.code, 0) << r.out.err;
    EXPECT_TRUE(r.out.words == expected) << options;
    EXPECT_GT(r.at(1, "early_cycles"), 500u) << options;
  }
}

// Chips before compute capability 9.0 run launches one after another.
TEST(dependent_launches, need_a_chip_that_has_them) {
  const chain c = {16, 128, {{10, 50}, {50, 10}}};
  for (const char* gpu : {"gtx1080", "a100"}) {
    const result r = run(c, "", gpu);
    EXPECT_EQ(r.at(1, "early_cycles"), 0u);
    EXPECT_EQ(r.cycles(), run(serial(c), "", gpu).cycles());
  }
}

TEST(dependent_launches, take_true_or_false_in_a_job) {
  json job = job_of({1, 32, {{0, 0}}});
  job["launches"][0]["programmatic"] = 1;
  const outcome o = run(job).out;
  EXPECT_EQ(o.code, 2);
  EXPECT_NE(o.first_line().find("launches[0].programmatic"), std::string::npos) << o.err;
}

// Preempted at any time, in all modes, with other launches in between: the same bytes, and no deadlock.
TEST(dependent_launches, are_preempted_anywhere) {
  random_numbers random(26);
  unsigned switched = 0, waiting = 0;
  for (unsigned k = 0; k < 40; ++k) {
    const when w = random.one_of(std::vector<when>{never, at_once, at_once, after_wait, by_one_thread});
    const chain c = {8 + static_cast<unsigned>(random.below(20)),
                     128,
                     {{0, static_cast<unsigned>(random.below(100)), at_once},
                      {static_cast<unsigned>(random.below(60)), 30, w},
                      {30, 30, at_once, random.below(3) != 0},
                      {10, 10, w}}};
    json job = job_of(c);
    for (unsigned n = 0; n < 1 + random.below(4); ++n) {
      json p = {{"at_cycle", 600 + random.below(9000)},
                {"mode", random.one_of(std::vector<std::string>{"switch", "switch", "auto", "drain"})},
                {"resume_after", random.one_of(std::vector<unsigned>{0, 500, 20000})}};
      if (random.below(2) != 0) p["sm"] = random.below(2);
      job["preempt"].push_back(p);
    }
    if (random.below(2) != 0) {
      job["launches"].push_back(job["launches"][0]);
      job["launches"].back()["stream"] = 5;
      job["launches"].back()["priority"] = static_cast<int>(random.below(2));
      job["launches"].back()["at_cycle"] = 1000 + random.below(5000);
      job["buffers"]["aside"] = job["buffers"]["b0"];
      job["launches"].back()["args"][1] = {{"buffer", "aside"}};
    }
    std::string options = few_sms(2 + static_cast<unsigned>(random.below(3)));
    if (random.below(3) == 0) options += " --set tlm.check=true";
    if (random.below(3) == 0)
      options += " --set context.priority_preemption=" + random.one_of(std::vector<std::string>{"switch", "auto"});
    if (random.below(4) == 0) options += " --set context.time_slice_cycles=2000";
    const result r = run(job, options);
    ASSERT_EQ(r.out.code, 0) << "run " << k << " " << options << "\n" << job["preempt"] << "\n" << r.out.err;
    ASSERT_TRUE(r.out.words == reference(c)) << "run " << k << " " << options << "\n" << job["preempt"];
    switched += static_cast<unsigned>(r.metrics["context_switches"].size());
    for (const json& s : r.metrics["context_switches"]) {
      const std::size_t of = s["kernel"];
      // A launch without the attribute has no early cycles.
      if (!r.metrics["kernels"][of].contains("early_cycles") || s["mode"] != "switch") continue;
      waiting += r.at(of, "early_cycles") != 0 &&
                 s["quiesced_cycle"].get<std::uint64_t>() < r.at(of, "start_cycle") + r.at(of, "early_cycles");
    }
  }
  EXPECT_GT(switched, 80u);
  EXPECT_GT(waiting, 10u) << "hardly any block was switched before the launch before it had ended";
}

}  // namespace dependent_launches_test
