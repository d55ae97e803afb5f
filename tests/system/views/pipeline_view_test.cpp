// SPDX-License-Identifier: MIT
// The pipeline view, read strictly, contains each instruction once, with its stages in order, and the cycles that the
// metrics count.
#include <gtest/gtest.h>
#include <sys/wait.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>
#include <string>
#include <vector>

#include "tests/system/common/json_text.h"
#include "tests/system/common/kanata_reader.h"
#include "tests/system/common/text_file.h"

namespace pipeline_view_test {

namespace fs = std::filesystem;
using heddle::test::kanata_reader;
using json = nlohmann::json;

class pipeline_view : public ::testing::Test {
 protected:
  pipeline_view()
      : place_(fs::path(HEDDLE_SCRATCH "/pipeline_view") /
               ::testing::UnitTest::GetInstance()->current_test_info()->name()) {
    fs::create_directories(place_);
  }
  int run(const std::string& what) {
    const std::string command =
        "'" HEDDLE_PROGRAM "' run " + what + " --quiet 2>'" + (place_ / "log.txt").string() + "'";
    const int status = std::system(command.c_str());
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
  }
  std::string in(const char* name) const { return " '" + (place_ / name).string() + "'"; }
  std::string text(const char* name) const { return heddle::test::content(place_ / name); }
  json metrics(const char* name) const {
    json m = json::parse(text(name));
    m.erase("host");
    return m;
  }
  const fs::path place_;
};

// The position of a stage in the pipeline.
unsigned order_of(const std::string& stage) {
  static const std::vector<std::string> way = {"F",  "Ib", "Is", "Op", "Ex", "Lq", "L1",
                                               "Sh", "Cc", "Ic", "L2", "Dr", "Wb"};
  return static_cast<unsigned>(std::find(way.begin(), way.end(), stage) - way.begin());
}

TEST_F(pipeline_view, holds_what_the_metrics_count) {
  for (const char* what : {"'" HEDDLE_WORKLOADS "/vector_add/job.json' --gpu gtx1080 --set gpu.sm_count=1",
                           "'" HEDDLE_WORKLOADS "/scan/job.json' --gpu v100 --set gpu.sm_count=1",
                           "'" HEDDLE_WORKLOADS "/vector_add/job.json' --gpu gtx480 --set gpu.sm_count=1"}) {
    SCOPED_TRACE(what);
    ASSERT_EQ(0, run(what + (" --pipeline" + in("p.kanata")) + " --metrics" + in("m.json")));
    ASSERT_EQ(0, run(what + (" --metrics" + in("alone.json"))));
    const json m = metrics("m.json");
    EXPECT_TRUE(m == metrics("alone.json")) << "observing changes what happens";
    const kanata_reader k(place_ / "p.kanata");

    std::uint64_t executed = 0, complete = 0, arrows = 0;
    std::map<std::uint64_t, std::uint64_t> next;
    for (const auto& i : k.instructions()) {
      const auto* issue = i.find(0, "Is");
      ASSERT_NE(nullptr, issue) << i.label;
      EXPECT_EQ(1u, issue->to - issue->from) << i.label;
      EXPECT_EQ(next[i.thread]++, i.number) << i.label;
      ++executed;
      complete += !i.flushed;
      unsigned place = 0;
      std::uint64_t end = i.appeared;
      for (const auto& s : i.stages) {
        if (s.lane != 0) continue;
        ASSERT_LT(order_of(s.name), 13u) << s.name;
        EXPECT_TRUE(order_of(s.name) > place || s.name == "F") << i.label << ": " << s.name;
        EXPECT_EQ(end, s.from) << i.label << ": " << s.name << " does not follow the stage before";
        place = order_of(s.name);
        end = s.to;
      }
      EXPECT_EQ(end, i.retired) << i.label;
      for (const auto producer : i.producers) {
        const auto& p = k.instructions()[producer];
        EXPECT_EQ(p.thread, i.thread);
        EXPECT_LE(p.find(0, "Is")->from, issue->from) << i.label << " before " << p.label;
        // A result is read no earlier than it is available: for a load, in the cycle of its write-back.
        const auto* load = p.find(0, "Lq") != nullptr ? p.find(0, "Wb") : nullptr;
        EXPECT_LE(load != nullptr ? load->from : p.retired, issue->from)
            << i.label << " issues before " << p.label << " has its result";
        ++arrows;
      }
    }
    EXPECT_EQ(m["sms"][0]["inst_executed"].get<std::uint64_t>(), executed);
    EXPECT_EQ(executed, complete);
    EXPECT_GT(arrows, executed / 10);

    std::map<std::string, std::uint64_t> expected;
    for (const json& kernel : m["kernels"])
      for (const auto& [name, n] : kernel["warp_states"].items())
        if (name != "active" && name != "selected" && n != 0) expected[name] += n.get<std::uint64_t>();
    EXPECT_EQ(expected, k.cycles(1));
    const auto stages = k.cycles(0);
    for (const char* s : {"F", "Ib", "Is", "Op", "Wb", "Lq", "L1", "Ic", "L2", "Dr"})
      EXPECT_GT(stages.count(s), 0u) << s;
  }
}

// Operands from one bank take a cycle each; later stages do not become longer.
TEST_F(pipeline_view, conflicts_in_banks_are_spent_on_operands) {
  ASSERT_EQ(0,
            run("'" HEDDLE_WORKLOADS
                "/saxpy/job.json' --gpu gtx1080 --set gpu.sm_count=1 --set sub_partition.register_banks=2 --pipeline" +
                in("p.kanata")));
  std::map<std::uint64_t, unsigned> operands, execution;  // how often each duration occurred
  const kanata_reader k(place_ / "p.kanata");
  for (const auto& i : k.instructions()) {
    const auto *op = i.find(0, "Op"), *ex = i.find(0, "Ex");
    if (i.label.find("XMAD.H1A.H1B") == std::string::npos || op == nullptr || ex == nullptr) continue;
    ++operands[op->to - op->from];
    ++execution[ex->to - ex->from];
  }
  EXPECT_EQ(2u, operands.size());
  EXPECT_GT(operands[1], 0u);
  EXPECT_GT(operands[2], 100u);
  ASSERT_EQ(1u, execution.size());
  EXPECT_EQ(3u, execution.begin()->first);
}

TEST_F(pipeline_view, ends_what_takes_one_cycle_with_its_issue) {
  ASSERT_EQ(
      0,
      run("'" HEDDLE_WORKLOADS
          "/vector_add/job.json' --gpu gtx1080 --set gpu.sm_count=1 --set int.latency_cycles=1 --set int.shift_latency_cycles=1 --pipeline" +
          in("p.kanata")));
  const kanata_reader k(place_ / "p.kanata");
  unsigned shifts = 0;
  for (const auto& i : k.instructions()) {
    const auto* issue = i.find(0, "Is");
    if (i.label.find(": SHR") == std::string::npos || issue == nullptr) continue;
    ++shifts;
    ASSERT_EQ(1u, issue->to - issue->from) << i.label;
    EXPECT_EQ(issue->to, i.retired) << i.label;
    EXPECT_EQ(nullptr, i.find(0, "Wb")) << i.label;
  }
  EXPECT_GT(shifts, 1000u);
}

TEST_F(pipeline_view, holds_only_the_window_and_the_scope) {
  ASSERT_EQ(
      0, run("'" HEDDLE_WORKLOADS
             "/reduction/job.json' --gpu gtx1080 --trace-window 3000:4000 --trace-scope gpu.sm0.partition2 --pipeline" +
             in("p.kanata")));
  const kanata_reader k(place_ / "p.kanata");
  EXPECT_EQ(3000u, k.first());
  EXPECT_LE(k.last(), 4000u);
  EXPECT_GT(k.instructions().size(), 100u);
  for (const auto& i : k.instructions()) {
    EXPECT_EQ(2u, i.thread % 4) << i.label;
    EXPECT_EQ(0u, i.label.rfind("sm0 ", 0)) << i.label;
    EXPECT_NE(std::string::npos, i.details.find("reduction.ptx")) << i.details;
  }
  EXPECT_EQ(2, run("'" HEDDLE_WORKLOADS "/reduction/job.json' --trace-scope gpu.cwd --pipeline" + in("q.kanata")));
  EXPECT_NE(std::string::npos, text("log.txt").find("holds no sub-partition")) << text("log.txt");
  EXPECT_FALSE(fs::exists(place_ / "q.kanata"));
}

TEST_F(pipeline_view, goes_through_a_context_switch_and_ends_where_a_run_is_cut_off) {
  json job = {{"module", HEDDLE_SOURCE "/testbench/occupancy/turning.ptx"},
              {"buffers", json::object()},
              {"outputs", json::array()}};
  job["launches"] = {{{"kernel", "turning"},
                      {"grid", {4, 1, 1}},
                      {"block", {64, 1, 1}},
                      {"args", {{{"u32", 60}}, {{"u32", 10}}, {{"u32", 50}}}}}};
  job["preempt"] = {{{"at_cycle", 2100}, {"resume_after", 600}}};
  std::ofstream(place_ / "job.json") << job;
  ASSERT_EQ(0, run(in("job.json") + " --gpu v100 --set gpu.sm_count=1 --pipeline" + in("p.kanata") + " --metrics" +
                   in("m.json")));
  const kanata_reader whole(place_ / "p.kanata");
  std::uint64_t complete = 0, flushed = 0;
  for (const auto& i : whole.instructions()) (i.flushed ? flushed : complete) += 1;
  EXPECT_EQ(metrics("m.json")["sms"][0]["inst_executed"].get<std::uint64_t>(), complete);
  EXPECT_GT(flushed, 0u) << "what warps were to issue when they were switched out";
  EXPECT_EQ(1,
            run(in("job.json") + " --gpu v100 --set gpu.sm_count=1 --max-cycles 1800 --pipeline" + in("cut.kanata")));
  const kanata_reader cut(place_ / "cut.kanata");
  EXPECT_GT(cut.instructions().size(), 10u);
  EXPECT_LE(cut.last(), 1800u);
}

TEST_F(pipeline_view, needs_room_on_the_disk) {
  if (!fs::exists("/dev/full")) GTEST_SKIP() << "no /dev/full here";
  EXPECT_EQ(2, run("'" HEDDLE_WORKLOADS "/vector_add/job.json' --pipeline /dev/full --vcd" + in("w.vcd")));
  EXPECT_NE(std::string::npos, text("log.txt").find("cannot write '/dev/full'")) << text("log.txt");
  EXPECT_FALSE(fs::exists(place_ / "w.vcd")) << "written in part";
}

}  // namespace pipeline_view_test
