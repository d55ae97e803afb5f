// SPDX-License-Identifier: MIT
// The timeline agrees with the metrics: slices nest and sum to blocks, warps and warp-cycles, counters to instructions
// and bytes.
#include <gtest/gtest.h>
#include <sys/wait.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "tests/system/common/json_text.h"

namespace timeline_test {

namespace fs = std::filesystem;
using json = nlohmann::json;

constexpr double mhz = 1000;  // core clock of all runs: a cycle is a nanosecond
constexpr unsigned cta_tracks = 1, warp_tracks = 1000, switch_track = 2000;

struct slice {
  std::string name;
  std::uint64_t from, to;
};

class timelines : public ::testing::Test {
 protected:
  timelines()
      : place_(fs::path(HEDDLE_SCRATCH "/timeline") / ::testing::UnitTest::GetInstance()->current_test_info()->name()) {
    fs::create_directories(place_);
  }
  int run(const std::string& what) {
    const std::string command = "'" HEDDLE_PROGRAM "' run " + what +
                                " --set gpu.core_clock_mhz=1000 --quiet --timeline '" + (place_ / "t.json").string() +
                                "' --metrics '" + (place_ / "m.json").string() + "' 2>'" +
                                (place_ / "log.txt").string() + "'";
    fs::remove(place_ / "t.json");
    const int status = std::system(command.c_str());
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
  }
  static json read(const fs::path& file) {
    std::ifstream in(file);
    return json::parse(in);
  }
  static std::uint64_t cycle(const json& event) {
    return static_cast<std::uint64_t>(std::llround(event["ts"].get<double>() * mhz));
  }

  /// Checks the required fields of the trace event format for each phase, and that there are no others.
  static void check_format(const json& all) {
    ASSERT_EQ(2u, all.size());
    ASSERT_TRUE(all["traceEvents"].is_array() && !all["traceEvents"].empty());
    static const std::map<std::string, std::set<std::string>> fields = {
        {"M", {"ph", "pid", "tid", "name", "args"}},
        {"B", {"ph", "pid", "tid", "ts", "name", "args"}},
        {"E", {"ph", "pid", "tid", "ts", "name", "args"}},
        {"C", {"ph", "pid", "ts", "name", "args"}},
        {"b", {"ph", "cat", "id", "pid", "tid", "ts", "name"}},
        {"e", {"ph", "cat", "id", "pid", "tid", "ts", "name"}}};
    std::set<unsigned> processes, used_processes;
    std::set<std::pair<unsigned, unsigned>> threads, used_threads;
    std::map<std::string, std::pair<json, unsigned>> asynchronous;
    for (const json& e : all["traceEvents"]) {
      const std::string ph = e.at("ph");
      ASSERT_TRUE(fields.count(ph)) << e;
      for (const auto& [name, value] : e.items()) ASSERT_TRUE(fields.at(ph).count(name)) << name << " in " << e;
      for (const std::string& name : fields.at(ph))
        ASSERT_TRUE(e.contains(name) || (ph == "M" && name == "tid")) << name << " lacks in " << e;
      ASSERT_TRUE(e["pid"].is_number_unsigned() && e["name"].is_string() && !e["name"].get<std::string>().empty()) << e;
      if (ph == "M") {
        const bool process = e["name"] == "process_name";
        ASSERT_TRUE(process != (e["name"] == "thread_name")) << e;
        ASSERT_TRUE(e["args"].size() == 1 && e["args"]["name"].is_string() &&
                    !e["args"]["name"].get<std::string>().empty())
            << e;
        const bool first = process ? processes.insert(e["pid"].get<unsigned>()).second
                                   : threads.insert({e["pid"].get<unsigned>(), e.at("tid").get<unsigned>()}).second;
        ASSERT_TRUE(first) << "named twice: " << e;
        continue;
      }
      ASSERT_TRUE(e["ts"].is_number() && e["ts"].get<double>() >= 0) << e;
      used_processes.insert(e["pid"].get<unsigned>());
      if (ph == "C") {
        ASSERT_EQ(1u, e["args"].size()) << e;
        ASSERT_TRUE(e["args"]["value"].is_number() && e["args"]["value"].get<double>() >= 0) << e;
        continue;
      }
      used_threads.insert({e["pid"].get<unsigned>(), e["tid"].get<unsigned>()});
      ASSERT_TRUE(ph != "B" || e["args"].is_object()) << e;
      if (ph != "b" && ph != "e") continue;
      const std::string key = e["cat"].get<std::string>() + "/" + e["id"].dump();
      if (ph == "b") {
        ASSERT_TRUE(asynchronous.emplace(key, std::make_pair(e, 1u)).second) << "begins twice: " << e;
      } else {
        ASSERT_EQ(1u, asynchronous.count(key)) << "ends, and did not begin: " << e;
        auto& [begin, count] = asynchronous.at(key);
        ASSERT_EQ(2u, ++count) << e;
        ASSERT_EQ(begin["name"], e["name"]);
        ASSERT_LE(begin["ts"].get<double>(), e["ts"].get<double>());
      }
    }
    for (const auto& [key, event] : asynchronous) EXPECT_EQ(2u, event.second) << key << " does not end";
    for (const unsigned p : used_processes) EXPECT_TRUE(processes.count(p)) << "process " << p << " has no name";
    for (const auto& t : used_threads)
      EXPECT_TRUE(threads.count(t)) << "track " << t.first << "/" << t.second << " has no name";
  }

  /// Reads the timeline; every begin must have an end on its track, properly nested.
  void load() {
    metrics_ = read(place_ / "m.json");
    const json all = read(place_ / "t.json");
    ASSERT_EQ("ns", all["displayTimeUnit"]);
    ASSERT_NO_FATAL_FAILURE(check_format(all));
    std::map<std::pair<unsigned, unsigned>, std::vector<json>> open;
    slices_.clear();
    counters_.clear();
    std::vector<json> timed;
    for (const json& e : all["traceEvents"])
      if (e.contains("ts")) timed.push_back(e);
    std::stable_sort(timed.begin(), timed.end(), [](const json& a, const json& b) { return cycle(a) < cycle(b); });
    std::map<std::uint64_t, int> preemptions;
    for (const json& e : timed) {
      const std::string ph = e["ph"];
      if (ph == "C") {
        const std::string of_sm = e["pid"] == 0 ? "" : " of SM " + std::to_string(e["pid"].get<unsigned>() - 1);
        counters_[e["name"].get<std::string>() + of_sm].emplace_back(cycle(e), e["args"]["value"].get<double>());
        continue;
      }
      if (ph == "b" || ph == "e") {
        preemptions[e["id"]] += ph == "b" ? 1 : -1;
        ++asynchronous_;
        continue;
      }
      const std::pair<unsigned, unsigned> track{e["pid"], e["tid"]};
      auto& stack = open[track];
      if (ph == "B") {
        ASSERT_TRUE(stack.empty()) << "slices of one track overlap: " << stack.back() << e;
        stack.push_back(e);
      } else {
        ASSERT_EQ("E", ph);
        ASSERT_FALSE(stack.empty()) << e;
        ASSERT_EQ(stack.back()["name"], e["name"]);
        ASSERT_EQ(stack.back()["args"], e["args"]);
        slices_[track].push_back({e["name"], cycle(stack.back()), cycle(e)});
        stack.pop_back();
      }
    }
    for (const auto& [track, stack] : open)
      EXPECT_TRUE(stack.empty()) << "process " << track.first << ", track " << track.second;
    for (const auto& [id, n] : preemptions) EXPECT_EQ(0, n) << id;
  }
  /// Slices on tracks [from, to) of all SMs.
  [[nodiscard]] std::vector<slice> on_tracks(unsigned from, unsigned to) const {
    std::vector<slice> found;
    for (const auto& [track, list] : slices_)
      if (track.first != 0 && track.second >= from && track.second < to)
        found.insert(found.end(), list.begin(), list.end());
    return found;
  }
  static std::uint64_t cycles(const std::vector<slice>& list) {
    std::uint64_t sum = 0;
    for (const slice& s : list) sum += s.to - s.from;
    return sum;
  }
  /// The integral over time; the last value extends to the end of the last slice.
  [[nodiscard]] double integral(const std::string& counter) const {
    const auto& list = counters_.at(counter);
    std::uint64_t end = 0;
    for (const auto& [track, slices] : slices_)
      for (const slice& s : slices) end = std::max(end, s.to);
    double sum = 0;
    for (std::size_t k = 0; k < list.size(); ++k)
      sum +=
          list[k].second *
          static_cast<double>((k + 1 < list.size() ? list[k + 1].first : std::max(end, list[k].first)) - list[k].first);
    return sum;
  }
  [[nodiscard]] double total(const std::string& path) const {
    double sum = 0;
    for (const json& k : metrics_["kernels"]) sum += k.at(json::json_pointer(path)).get<double>();
    return sum;
  }

  const fs::path place_;
  json metrics_;
  std::map<std::pair<unsigned, unsigned>, std::vector<slice>> slices_;  // by process and track
  std::map<std::string, std::vector<std::pair<std::uint64_t, double>>> counters_;
  unsigned asynchronous_ = 0;
};

TEST_F(timelines, add_up_to_the_metrics) {
  ASSERT_EQ(0, run("'" HEDDLE_WORKLOADS "/reduction/job.json' --gpu gtx1080 --set gpu.sm_count=2"));
  load();
  EXPECT_EQ(total("/blocks"), static_cast<double>(on_tracks(cta_tracks, warp_tracks).size()));
  EXPECT_EQ(total("/warps"), static_cast<double>(on_tracks(warp_tracks, switch_track).size()));
  EXPECT_EQ(total("/warp_cycles/active"), static_cast<double>(cycles(on_tracks(warp_tracks, switch_track))));
  const std::vector<slice>& kernels = slices_.at({0, 0});
  ASSERT_EQ(metrics_["kernels"].size(), kernels.size());
  for (std::size_t k = 0; k < kernels.size(); ++k) {
    EXPECT_EQ(metrics_["kernels"][k]["name"], kernels[k].name);
    EXPECT_EQ(metrics_["kernels"][k]["start_cycle"].get<std::uint64_t>(), kernels[k].from);
    EXPECT_EQ(metrics_["kernels"][k]["end_cycle"].get<std::uint64_t>(), kernels[k].to);
  }
  ASSERT_EQ(7u, counters_.size()) << "five of the chip, one of each SM";
  EXPECT_GT(counters_.at("IPC").size(), 10u);
  EXPECT_NEAR(1, integral("IPC") / total("/metrics/inst_executed"), 0.001);
  EXPECT_NEAR(1, integral("occupancy") * 2 * 64 / total("/warp_cycles/active"), 0.001);
  EXPECT_NEAR(1, integral("eligible warps") / (total("/warp_cycles/selected") + total("/warp_cycles/not_selected")),
              0.01);
  EXPECT_NEAR(1,
              integral("DRAM bytes per cycle") / (total("/memory/dram/read_bytes") + total("/memory/dram/write_bytes")),
              0.02);
  // Power: dynamic energy, and static energy up to the last kernel's end.
  const double hertz = 1e9, joules = integral("power (W)") / hertz;
  const double run_joules = metrics_["energy"]["total_joules"];
  EXPECT_NEAR(1, joules / run_joules, 0.02);
  double apart = integral("power (W) of SM 0") + integral("power (W) of SM 1");
  for (const char* unit : {"interconnect", "l2", "dram", "constant"})
    apart += metrics_["energy"]["by_unit"][unit].get<double>() * hertz;
  EXPECT_NEAR(1, apart / hertz / run_joules, 0.02);
  for (const auto& [cycle, occupancy] : counters_.at("occupancy")) EXPECT_LE(occupancy, 1.0) << cycle;
  // A time without warps is a separate interval, so that it does not affect the intervals around it.
  unsigned gaps = 0;
  for (std::size_t k = 1; k < kernels.size(); ++k) {
    std::uint64_t first = ~std::uint64_t{0};
    for (const slice& s : on_tracks(warp_tracks, switch_track))
      if (s.from >= kernels[k].from) first = std::min(first, s.from);
    const std::uint64_t end = kernels[k - 1].to;
    if (end + 600 > first) continue;
    ++gaps;
    const auto& list = counters_.at("occupancy");
    for (std::size_t s = 0; s + 1 < list.size(); ++s)
      EXPECT_FALSE(list[s].first < end && list[s].second != 0 && list[s + 1].first > end + 300)
          << list[s].first << " to " << list[s + 1].first << " over " << end;
  }
  EXPECT_GT(gaps, 0u);
}

TEST_F(timelines, show_streams_and_context_switches) {
  json job = {{"module", HEDDLE_SOURCE "/testbench/occupancy/turning.ptx"},
              {"buffers", json::object()},
              {"outputs", json::array()}};
  for (unsigned stream = 0; stream < 2; ++stream)
    job["launches"].push_back({{"kernel", "turning"},
                               {"grid", {20, 1, 1}},
                               {"block", {128, 1, 1}},
                               {"stream", stream},
                               {"args", {{{"u32", 300}}, {{"u32", 10}}, {{"u32", 50}}}}});
  job["preempt"] = {{{"at_cycle", 2500}, {"resume_after", 600}}, {{"at_cycle", 9000}, {"mode", "drain"}}};
  std::ofstream(place_ / "job.json") << job;
  ASSERT_EQ(0, run("'" + (place_ / "job.json").string() + "' --gpu v100 --set gpu.sm_count=1"));
  load();
  EXPECT_EQ(1u, slices_.at({0, 0}).size());
  EXPECT_EQ(1u, slices_.at({0, 1}).size());
  EXPECT_EQ(total("/warp_cycles/active"), static_cast<double>(cycles(on_tracks(warp_tracks, switch_track))));
  const json& s = metrics_["context_switches"][0];
  const std::vector<slice>& engine = slices_.at({1, switch_track});
  ASSERT_EQ(2u, engine.size());
  EXPECT_EQ("save", engine[0].name);
  EXPECT_EQ(s["quiesced_cycle"].get<std::uint64_t>(), engine[0].from);
  EXPECT_EQ(s["saved_cycle"].get<std::uint64_t>(), engine[0].to);
  EXPECT_EQ("restore", engine[1].name);
  EXPECT_EQ(s["restore_cycle"].get<std::uint64_t>(), engine[1].from);
  EXPECT_EQ(s["resumed_cycle"].get<std::uint64_t>(), engine[1].to);
  EXPECT_EQ(4u, asynchronous_) << "the switch and the drain, from request to return";
  // Blocks that were switched out have a slice before and one after.
  EXPECT_LT(total("/blocks"), static_cast<double>(on_tracks(cta_tracks, warp_tracks).size()));
  // If a switch begins before a window and ends after it, the window contains its part of the switch.
  const std::uint64_t saved = s["saved_cycle"].get<std::uint64_t>();
  asynchronous_ = 0;
  ASSERT_EQ(0, run("'" + (place_ / "job.json").string() + "' --gpu v100 --set gpu.sm_count=1 --trace-window " +
                   std::to_string(saved - 50) + ":" + std::to_string(saved + 50)));
  load();
  EXPECT_EQ(2u, asynchronous_);
  ASSERT_EQ(1u, slices_.at({1, switch_track}).size());
  EXPECT_EQ(saved - 50, slices_.at({1, switch_track})[0].from);
  EXPECT_EQ(saved, slices_.at({1, switch_track})[0].to);
}

TEST_F(timelines, hold_only_the_window) {
  ASSERT_EQ(
      0, run("'" HEDDLE_WORKLOADS "/reduction/job.json' --gpu gtx1080 --set gpu.sm_count=1 --trace-window 2000:5000"));
  load();
  EXPECT_FALSE(slices_.empty());
  for (const auto& [track, list] : slices_)
    for (const slice& s : list) {
      EXPECT_GE(s.from, 2000u);
      EXPECT_LE(s.to, 5000u);
    }
  for (const auto& [name, list] : counters_)
    for (const auto& [at, value] : list) EXPECT_TRUE(at >= 2000 && at < 5000) << name << at;
  EXPECT_LE(integral("IPC"), 4.0 * 2 * 3000);
}

TEST_F(timelines, are_written_up_to_where_a_run_was_cut_off) {
  ASSERT_EQ(1, run("'" HEDDLE_WORKLOADS "/reduction/job.json' --gpu gtx1080 --max-cycles 3000"));
  load();
  EXPECT_EQ(3000u, metrics_["cycles"].get<std::uint64_t>());
  EXPECT_FALSE(on_tracks(warp_tracks, switch_track).empty());
  for (const slice& s : on_tracks(cta_tracks, switch_track)) EXPECT_LE(s.to, 3000u);
  EXPECT_EQ(1, run("'" HEDDLE_WORKLOADS "/reduction/job.json' --gpu gtx1080 --max-cycles 300"));
  load();
  EXPECT_EQ(300u, metrics_["cycles"].get<std::uint64_t>()) << "before the first block the cycles pass as well";
  EXPECT_TRUE(slices_.empty());
}

TEST_F(timelines, need_room_on_the_disk) {
  if (!fs::exists("/dev/full")) GTEST_SKIP() << "no /dev/full here";
  const std::string command = "'" HEDDLE_PROGRAM "' run '" HEDDLE_WORKLOADS
                              "/reduction/job.json' --gpu gtx1080 --quiet --timeline /dev/full 2>'" +
                              (place_ / "log.txt").string() + "'";
  const int status = std::system(command.c_str());
  EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 2);
}

}  // namespace timeline_test
