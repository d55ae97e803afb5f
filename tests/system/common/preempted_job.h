// SPDX-License-Identifier: MIT
#pragma once

#include <gtest/gtest.h>

#include <cstdint>
#include <cstdlib>
#include <fstream>
#include <map>
#include <random>
#include <string>

#include "tests/system/common/json_text.h"
#include "tests/system/common/ptx_run.h"

namespace ptx_runs {

/// Runs the job of the test's folder `runs` times, or $HEDDLE_PREEMPTED_RUNS times, on an h100, preempted up to four
/// times at random cycles on random SMs, and expects the output files of a run that is not. `most_sm`: of its blocks.
/// Returns the number of entries of context_switches with mode switch.
inline std::uint64_t expect_same_when_preempted(unsigned runs, unsigned seed, unsigned most_sm = 131,
                                                const std::string& options = "") {
  using json = nlohmann::ordered_json;
  const fs::path place = place_of_test();
  json job = json::parse(content(place / "job.json"));
  const auto run = [&](const std::string& more) {
    std::ofstream(place / "preempted.json") << job.dump();
    return outcome_in(place, std::system(("cd '" + place.string() +
                                          "' && timeout 60 '" HEDDLE_PROGRAM
                                          "' run preempted.json --quiet --gpu h100 --metrics p.json " +
                                          options + more + " >stdout 2>stderr")
                                             .c_str()));
  };
  const auto outputs = [&] {
    std::map<std::string, std::string> all;
    for (const json& o : job.at("outputs")) all[o.at("file")] = content(place / o.at("file").get<std::string>());
    return all;
  };
  EXPECT_EQ(run("").code, 0);
  const auto expected = outputs();
  const std::uint64_t cycles = json::parse(content(place / "p.json")).at("cycles");
  if (const char* wanted = std::getenv("HEDDLE_PREEMPTED_RUNS")) runs = static_cast<unsigned>(std::atoi(wanted));
  std::mt19937 random(seed);
  const auto one_of = [&](const json& values) { return values[random() % values.size()]; };
  std::uint64_t switched = 0;
  for (unsigned k = 0; k < runs; ++k) {
    job["preempt"] = json::array();
    for (unsigned left = 1 + random() % 4; left != 0; --left) {
      json p;
      p["at_cycle"] = 1 + random() % (cycles + cycles / 2);
      p["sm"] = random() % 2 == 0 ? json("all") : json(random() % (most_sm + 1));
      p["mode"] = one_of({"switch", "switch", "switch", "auto", "drain"});
      p["resume_after"] = one_of({0, 1, 100, 1000, 5000});
      job["preempt"].push_back(p);
    }
    const outcome o = run(" --threads " + std::to_string(1 + random() % 2));
    EXPECT_EQ(o.code, 0) << job["preempt"] << o.err;
    EXPECT_TRUE(outputs() == expected) << job["preempt"];
    if (::testing::Test::HasFailure()) break;
    for (const json& s : json::parse(content(place / "p.json")).value("context_switches", json::array()))
      switched += s.at("mode") == "switch";
  }
  return switched;
}

}  // namespace ptx_runs
