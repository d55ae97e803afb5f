// SPDX-License-Identifier: MIT
// speedscope, in a headless Chromium, opens timelines: each track becomes a profile, without complaints, and the
// profiles agree with the kernels, blocks and warps of the metrics.
#include <gtest/gtest.h>

#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "tests/system/common/json_text.h"
#include "tests/system/common/speedscope.h"

namespace speedscope_test {

namespace fs = std::filesystem;
using heddle::tests::browser;
using heddle::tests::speedscope;
using json = nlohmann::json;

// The core clock is 1000 MHz: a cycle is a nanosecond, and speedscope's unit is a microsecond.
std::uint64_t cycles(double microseconds) { return static_cast<std::uint64_t>(std::llround(microseconds * 1000)); }

struct span {
  std::string name;
  std::uint64_t cycles;
};

class speedscope_timelines : public ::testing::Test {
 protected:
  void SetUp() override {
    if (browser::program().empty())
      GTEST_SKIP() << "no browser: install chromium-headless-shell, or name one in HEDDLE_BROWSER";
    if (speedscope::page().empty())
      GTEST_SKIP() << "no speedscope: ./dev viewers, or name its index.html in HEDDLE_SPEEDSCOPE";
    place_ = fs::path(HEDDLE_SCRATCH "/speedscope") / ::testing::UnitTest::GetInstance()->current_test_info()->name();
    fs::create_directories(place_);
    chromium_ = std::make_unique<browser>(browser::program(), place_);
  }
  void run(const std::string& what) {
    const std::string command = "'" HEDDLE_PROGRAM "' run " + what +
                                " --set gpu.core_clock_mhz=1000 --quiet --timeline '" + (place_ / "t.json").string() +
                                "' --metrics '" + (place_ / "m.json").string() + "'";
    ASSERT_EQ(0, std::system(command.c_str()));
    std::ifstream in(place_ / "m.json");
    metrics_ = json::parse(in);
  }
  /// The spans of each track in speedscope: no span contains another.
  void load() {
    viewer_ = std::make_unique<speedscope>(*chromium_, (place_ / "t.json").string(), 1200);
    // Only log messages are allowed; messages about drawing without a graphics card are the browser's concern.
    for (const std::string& said : chromium_->complaints())
      EXPECT_TRUE(said.rfind("console log", 0) == 0 || said.rfind("console timeEnd", 0) == 0 ||
                  said.find("\"source\":\"rendering\"") != std::string::npos)
          << said;
    const json all = viewer_->exported();
    const json& frames = all["shared"]["frames"];
    spans_.clear();
    for (const json& p : all["profiles"]) {
      EXPECT_EQ("microseconds", p["unit"]);
      const json& events = p["events"];
      ASSERT_EQ(0u, events.size() % 2) << p["name"];
      for (std::size_t k = 0; k < events.size(); k += 2) {
        ASSERT_TRUE(events[k]["type"] == "O" && events[k + 1]["type"] == "C" &&
                    events[k]["frame"] == events[k + 1]["frame"])
            << p["name"];
        spans_[p["name"]].push_back({frames[events[k]["frame"].get<std::size_t>()]["name"],
                                     cycles(events[k + 1]["at"].get<double>() - events[k]["at"].get<double>())});
      }
    }
  }
  /// The number of spans and the sum of their cycles, for all tracks with these words in their names.
  [[nodiscard]] std::pair<std::size_t, std::uint64_t> of_tracks(const std::string& words) const {
    std::pair<std::size_t, std::uint64_t> sum{0, 0};
    for (const auto& [track, list] : spans_)
      if (track.find(words) != std::string::npos)
        for (const span& s : list) {
          ++sum.first;
          sum.second += s.cycles;
        }
    return sum;
  }
  [[nodiscard]] std::uint64_t total(const std::string& path) const {
    std::uint64_t sum = 0;
    for (const json& k : metrics_["kernels"]) sum += k.at(json::json_pointer(path)).get<std::uint64_t>();
    return sum;
  }

  fs::path place_;
  std::unique_ptr<browser> chromium_;
  std::unique_ptr<speedscope> viewer_;
  json metrics_;
  std::map<std::string, std::vector<span>> spans_;
};

TEST_F(speedscope_timelines, show_what_the_metrics_count) {
  run("'" HEDDLE_WORKLOADS "/bitonic_sort/job.json' --gpu gtx1080 --set gpu.sm_count=2");
  load();
  const std::vector<span>& kernels = spans_.at("gtx1080 (pid 0), stream 0 (tid 0)");
  ASSERT_EQ(metrics_["kernels"].size(), kernels.size());
  for (std::size_t k = 0; k < kernels.size(); ++k) {
    EXPECT_EQ(0u, kernels[k].name.rfind(
                      metrics_["kernels"][k]["name"].get<std::string>() + " {\"launch\":" + std::to_string(k), 0))
        << kernels[k].name;
    EXPECT_EQ(metrics_["kernels"][k]["cycles"].get<std::uint64_t>(), kernels[k].cycles);
  }
  EXPECT_EQ(total("/blocks"), of_tracks(", CTA slot ").first);
  EXPECT_EQ(total("/warps"), of_tracks(", warp ").first);
  EXPECT_EQ(total("/warp_cycles/active"), of_tracks(", warp ").second);
  // The first track is shown, and after each key the next one; slices have text.
  EXPECT_EQ("gtx1080 (pid 0), stream 0 (tid 0)", viewer_->track());
  EXPECT_GT(viewer_->drawn(), 1000u);
  viewer_->next();
  EXPECT_EQ(0u, viewer_->track().rfind("SM 0 (pid 1), CTA slot 0", 0)) << viewer_->track();
  EXPECT_GT(viewer_->drawn(), 1000u);
}

TEST_F(speedscope_timelines, show_streams_and_context_switches) {
  json job = {{"module", HEDDLE_SOURCE "/testbench/occupancy/turning.ptx"},
              {"buffers", json::object()},
              {"outputs", json::array()}};
  for (unsigned stream = 0; stream < 2; ++stream)
    job["launches"].push_back({{"kernel", "turning"},
                               {"grid", {20, 1, 1}},
                               {"block", {128, 1, 1}},
                               {"stream", stream},
                               {"args", {{{"u32", 300}}, {{"u32", 10}}, {{"u32", 50}}}}});
  job["preempt"] = {{{"at_cycle", 2500}, {"resume_after", 600}}};
  std::ofstream(place_ / "job.json") << job;
  run("'" + (place_ / "job.json").string() + "' --gpu v100 --set gpu.sm_count=1");
  load();
  EXPECT_EQ(1u, of_tracks(", stream 0 ").first);
  EXPECT_EQ(1u, of_tracks(", stream 1 ").first);
  EXPECT_EQ(total("/warp_cycles/active"), of_tracks(", warp ").second);
  const json& s = metrics_["context_switches"][0];
  const std::vector<span>& engine = spans_.at("SM 0 (pid 1), context engine (tid 2000)");
  ASSERT_EQ(2u, engine.size());
  EXPECT_EQ(s["saved_cycle"].get<std::uint64_t>() - s["quiesced_cycle"].get<std::uint64_t>(), engine[0].cycles);
  EXPECT_EQ(s["resumed_cycle"].get<std::uint64_t>() - s["restore_cycle"].get<std::uint64_t>(), engine[1].cycles);
}

}  // namespace speedscope_test
