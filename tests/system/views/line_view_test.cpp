// SPDX-License-Identifier: MIT
// heddle view: the worst moment of a line, held against the pipeline view of the whole run.
#include <gtest/gtest.h>

#include <cmath>
#include <filesystem>
#include <fstream>
#include <map>
#include <regex>
#include <string>
#include <vector>

#include "tests/system/common/json_text.h"
#include "tests/system/common/kanata_reader.h"
#include "tests/system/common/program_run.h"
#include "tests/system/common/text_file.h"
#include "tests/system/common/vcd_reader.h"

namespace line_view_test {

namespace fs = std::filesystem;
using heddle::test::content;
using heddle::test::kanata_reader;
using heddle::test::outcome;
using json = nlohmann::ordered_json;
using words = std::vector<std::string>;

constexpr const char* module = HEDDLE_SOURCE "/tests/system/views/advice.ptx";

class line_view : public ::testing::Test {
 protected:
  line_view() : place_(fs::path(HEDDLE_SCRATCH "/line_view") / name()) {
    fs::remove_all(place_);
    fs::create_directories(place_);
  }
  static std::string name() { return ::testing::UnitTest::GetInstance()->current_test_info()->name(); }
  outcome heddle(words arguments, const words& more = {}) const {
    arguments.insert(arguments.begin(), HEDDLE_PROGRAM);
    arguments.insert(arguments.end(), more.begin(), more.end());
    return heddle::test::run_program(arguments, {place_});
  }
  [[nodiscard]] bool is_empty() const {
    for (const auto& e : fs::directory_iterator(place_))
      if (e.path().filename() != "stdout" && e.path().filename() != "stderr") return false;
    return true;
  }
  const fs::path place_;
};

// A kernel of advice.cu on two SMs.
const words columns = {"--kernel", std::string(module) + ":columns",
                       "--grid",   "8",
                       "--block",  "256",
                       "--arg",    "buf:4096:random:5",
                       "--arg",    "buf:4194304",
                       "--arg",    "s32:12",
                       "--set",    "gpu.sm_count=2"};

/// What the command says.
struct told {
  std::uint64_t begin = 0, end = 0;
  unsigned sm = 0;
  double warps = 0;
  std::map<std::string, double> percent;
};

told read(const std::string& text) {
  told t;
  std::smatch m;
  const std::regex form(
      R"(^(\S+) in kernel (\w+), cycles ([\d,]+) to ([\d,]+) on SM (\d+):\n([\d.]+) warps wait there on average(: .*)?\n)");
  if (!std::regex_search(text, m, form)) throw std::runtime_error("not what view says: " + text);
  const auto number = [](std::string n) {
    n.erase(std::remove(n.begin(), n.end(), ','), n.end());
    return std::stoull(n);
  };
  t.begin = number(m[3]);
  t.end = number(m[4]);
  t.sm = static_cast<unsigned>(number(m[5]));
  t.warps = std::stod(m[6]);
  const std::string states = m[7];
  const std::regex state(R"((\w+) (\d+) %)");
  for (std::sregex_iterator s(states.begin(), states.end(), state); s != std::sregex_iterator(); ++s)
    t.percent[(*s)[1]] = std::stod((*s)[2]);
  return t;
}

/// Warp-cycles in which rows whose details hold `place` wait, in [from, to), by state.
std::map<std::string, double> waits(const kanata_reader& view, const std::string& place, std::uint64_t from,
                                    std::uint64_t to, const std::string& sm) {
  std::map<std::string, double> all;
  for (const kanata_reader::instruction& i : view.instructions()) {
    if (i.details.find(place) == std::string::npos || i.label.rfind(sm + " ", 0) != 0) continue;
    for (const kanata_reader::stage& s : i.stages)
      if (s.lane == 1 && s.from < to && s.to > from)
        all[s.name] += static_cast<double>(std::min(s.to, to) - std::max(s.from, from));
  }
  return all;
}

double sum(const std::map<std::string, double>& of) {
  double all = 0;
  for (const auto& [name, n] : of) all += n;
  return all;
}

TEST_F(line_view, shows_the_cycles_in_which_a_line_waits_most) {
  const outcome o = heddle({"view", "--line", "advice.cu:57", "--cycles", "200"}, columns);
  ASSERT_EQ(o.code, 0) << o.err;
  EXPECT_EQ(o.err, "");
  const told t = read(o.out);
  EXPECT_EQ(t.end - t.begin, 200u);
  EXPECT_NE(o.out.find("\n    gtkwave advice.cu.57.gtkw\n    konata advice.cu.57.kanata\n"), std::string::npos)
      << o.out;
  // The pipeline view that it has written shows these cycles, and as many around them.
  const kanata_reader shown(place_ / "advice.cu.57.kanata");
  const std::string sm = "sm" + std::to_string(t.sm);
  const auto there = waits(shown, "advice.cu:57", t.begin, t.end, sm);
  EXPECT_NEAR(sum(there) / 200, t.warps, 0.051);
  for (const auto& [state, percent] : t.percent)
    EXPECT_NEAR(100 * there.at(state) / sum(there), percent, 0.51) << state;
  const heddle::test::vcd_reader wave(place_ / "advice.cu.57.vcd", 1000);
  EXPECT_EQ(wave.first_ps(), (t.begin - 100) * 1000);
  EXPECT_EQ(wave.last_ps(), (t.end + 100) * 1000);
  EXPECT_TRUE(wave.has("gpu." + sm + ".partition0.issue0_pc"));
  EXPECT_FALSE(wave.has("gpu.sm" + std::to_string(1 - t.sm) + ".partition0.issue0_pc"));
  EXPECT_NE(content(place_ / "advice.cu.57.gtkw").find("[timestart] " + std::to_string(t.begin * 1000) + "\n"),
            std::string::npos);
  // No other window of 200 cycles, of either SM, has more: in a view of the whole run.
  words run = {"run", "--quiet", "--pipeline", "all.kanata", "--trace-scope", "gpu.sm*"};
  ASSERT_EQ(heddle(run, columns).code, 0);
  const kanata_reader all(place_ / "all.kanata");
  double most = 0;
  for (const std::string one : {"sm0", "sm1"})
    for (std::uint64_t from = 0; from + 200 <= all.last(); from += 50)
      most = std::max(most, sum(waits(all, "advice.cu:57", from, from + 200, one)));
  EXPECT_EQ(sum(there), most);
  EXPECT_GT(most, 200);
}

TEST_F(line_view, takes_lines_of_the_ptx_and_job_files) {
  const outcome o = heddle({"view", HEDDLE_WORKLOADS "/reduction/job.json", "--gpu", "v100", "--line",
                            "reduction.ptx:60", "-o", "here", "--threads", "2"});
  ASSERT_EQ(o.code, 0) << o.err;
  EXPECT_EQ(read(o.out).end - read(o.out).begin, 400u);
  for (const char* end : {"vcd", "gtkw", "state.filter", "operation.filter", "step.filter", "line.filter", "kanata"})
    EXPECT_TRUE(fs::exists(place_ / (std::string("here.") + end))) << end;
  // In place of its index, the waveform shows an instruction's line.
  const std::string lines = content(place_ / "here.line.filter");
  EXPECT_EQ(lines.rfind("00000000 reduction.ptx:", 0), 0u) << lines;
  EXPECT_NE(lines.find(" reduction.ptx:60\n"), std::string::npos);
  EXPECT_NE(content(place_ / "here.gtkw").find("^4 here.line.filter\n+{line} gpu.sm"), std::string::npos);
  EXPECT_NE(content(place_ / "here.kanata").find("sum_words, reduction.ptx:60, block ("), std::string::npos);
}

TEST_F(line_view, refuses_a_line_without_code_and_names_the_nearest) {
  const auto refused = [&](const std::string& line) {
    const outcome o = heddle({"view", "--line", line}, columns);
    EXPECT_EQ(o.code, 2) << line;
    EXPECT_EQ(o.out, "");
    EXPECT_EQ(std::count(o.err.begin(), o.err.end(), '\n'), 1) << o.err;
    return o.err;
  };
  EXPECT_EQ(refused("advice.cu:56"),
            "heddle: error: --line: advice.cu:56 has no code; the nearest lines with code are 53, 54, 55, 57 and 58\n");
  EXPECT_EQ(refused("other.cu:1"),
            "heddle: error: --line: no code of the job is of 'other.cu', expected a line of advice.cu, advice.ptx\n");
  for (const char* wrong : {"advice.cu", "advice.cu:", ":5", "advice.cu:0", "advice.cu:x", "advice.cu:99999999999"})
    EXPECT_NE(refused(wrong).find("expected FILE:LINE"), std::string::npos) << wrong;
  EXPECT_EQ(heddle({"view"}, columns).first_line().find("heddle: error: expected --line FILE:LINE"), 0u);
  const outcome nowhere = heddle({"view", "--line", "advice.cu:57", "-o", "missing/x"}, columns);
  EXPECT_EQ(nowhere.code, 2);
  EXPECT_EQ(nowhere.first_line().find("heddle: error: --output: cannot write 'missing/x.vcd'"), 0u) << nowhere.err;
  EXPECT_TRUE(is_empty());
}

// A branch that no thread takes, and a barrier at which the block hangs.
constexpr const char* code = R"(.version 6.3
.target sm_70
.address_size 64
.visible .entry k(.param .u32 n) {
  .reg .b32 %r<4>; .reg .pred %p<2>;
  ld.param.u32 %r1, [n];
  setp.eq.u32 %p1, %r1, 0;
  @%p1 bra never;
  mov.u32 %r2, %tid.x;
  setp.lt.u32 %p1, %r2, 32;
  @%p1 bra out;
  bar.sync 0, 96;
out:
  ret;
never:
  membar.gl;
  ret;
}
)";

TEST_F(line_view, tells_that_a_line_was_not_reached_and_shows_runs_that_fail) {
  std::ofstream(place_ / "k.ptx") << code;
  const words launch = {"--kernel", "k.ptx", "--grid", "1", "--block", "64", "--arg", "u32:1"};
  const outcome never = heddle({"view", "--line", "k.ptx:16"}, launch);
  EXPECT_EQ(never.code, 2);
  EXPECT_NE(never.err.find("heddle: error: --line: no warp has reached k.ptx:16 in this run"), std::string::npos)
      << never.err;
  EXPECT_FALSE(fs::exists(place_ / "k.ptx.16.vcd"));
  // The block hangs at its barrier; one of its warps has left.
  const outcome hangs = heddle({"view", "--line", "k.ptx:12"}, launch);
  EXPECT_EQ(hangs.code, 1);
  EXPECT_NE(hangs.err.find("deadlock"), std::string::npos) << hangs.err;
  EXPECT_EQ(hangs.err.find("heddle: error"), hangs.err.rfind("heddle: error")) << hangs.err;
  EXPECT_EQ(std::lround(read(hangs.out).percent["barrier"]), 100) << hangs.out;
  EXPECT_TRUE(fs::exists(place_ / "k.ptx.12.vcd"));
  EXPECT_TRUE(fs::exists(place_ / "k.ptx.12.kanata"));
}

TEST_F(line_view, takes_addresses_of_recorded_kernels) {
  fs::copy_file(HEDDLE_SOURCE "/tests/fuzz/corpus_trace/version4.traceg", place_ / "kernel-1.traceg");
  std::ofstream(place_ / "list.g") << "kernel-1.traceg\n";
  const auto view = [&](const words& what) { return heddle({"view", "list.g", "--gpu", "v100"}, what); };
  const outcome o = view({"--pc", "kernel-1.traceg:0x40", "-o", "here"});
  ASSERT_EQ(o.code, 0) << o.err;
  EXPECT_EQ(o.out.rfind("kernel-1.traceg:0x40 in kernel _Z4testPf, cycles ", 0), 0u) << o.out;
  EXPECT_NE(o.out.find("warps wait there on average: barrier 100 %"), std::string::npos) << o.out;
  EXPECT_TRUE(fs::exists(place_ / "here.vcd"));
  EXPECT_EQ(view({"--pc", "0xfff0"}).err,
            "heddle: error: --pc: no warp has reached 0xfff0 in this run, expected a line that is executed\n");
  EXPECT_EQ(view({"--pc", "other.traceg:0x40"}).code, 2);
  EXPECT_NE(view({"--pc", "0x4g"}).err.find("--pc: got '0x4g', expected [TRACE:]ADDRESS"), std::string::npos);
  EXPECT_NE(view({"--line", "a.cu:4"}).err.find("recorded kernels have no lines: expected --pc"), std::string::npos);
  EXPECT_NE(heddle({"view", "--pc", "0x40"}, columns).err.find("--pc is for recorded kernels"), std::string::npos);
}

// A run that --max-cycles cuts says at which lines its warps were.
TEST_F(line_view, has_a_relative_in_runs_that_are_cut) {
  const outcome o = heddle({"run", "--quiet", "--max-cycles", "2500"}, columns);
  EXPECT_EQ(o.code, 1);
  EXPECT_EQ(o.err,
            "heddle: error: the limit of 2,500 cycles (--max-cycles) was reached while kernel 'columns' was running\n"
            "  64 warps of kernel 'columns', at advice.cu:54\n");
}

TEST_F(line_view, takes_lines_of_cuda_programs) {
  const std::string kernels = HEDDLE_SOURCE "/tests/system/cuda/kernels.fatbin";
  const auto view = [&](const std::string& line) {
    return heddle({"view", "--gpu", "v100", "--log-level", "error", "--line", line, "-o", "here", "--",
                   HEDDLE_CUDA_PROGRAMS, kernels, "streams"});
  };
  const outcome o = view("cuda_programs.1.ptx:187");
  ASSERT_EQ(o.code, 0) << o.err;
  EXPECT_EQ(o.out.rfind("cuda_programs.1.ptx:187 in kernel ", 0), 0u) << o.out;
  EXPECT_GT(read(o.out).warps, 0);
  EXPECT_TRUE(fs::exists(place_ / "here.vcd"));
  EXPECT_TRUE(fs::exists(place_ / "here.kanata"));
  const outcome never = view("cuda_programs.1.ptx:9999");
  EXPECT_EQ(never.code, 2);
  EXPECT_NE(never.err.find("--line: no warp has reached cuda_programs.1.ptx:9999"), std::string::npos) << never.err;
  EXPECT_NE(heddle({"view", "--line", "cuda_programs.1.ptx:187", "--"}).err.find("-- before a program"),
            std::string::npos);
}

TEST_F(line_view, is_what_the_report_says_of_its_hot_lines) {
  words run = {"run", "--quiet", "--metrics", "m.json", "--report", "r.html", "--threads", "1"};
  run.insert(run.end(), columns.begin(), columns.end());
  ASSERT_EQ(heddle(run).code, 0);
  const json metrics = json::parse(content(place_ / "m.json"));
  const std::string view = metrics["host"]["view"];
  EXPECT_EQ(view, "heddle view --kernel " + std::string(module) +
                      ":columns --grid 8 --block 256 --arg buf:4096:random:5 --arg buf:4194304 --arg s32:12 --set "
                      "gpu.sm_count=2");
  // As a user would paste it.
  const std::string pasted = HEDDLE_PROGRAM + view.substr(std::string("heddle").size()) + " --line advice.cu:57";
  const outcome o = heddle::test::run_program({"/bin/sh", "-c", pasted}, {place_});
  EXPECT_EQ(o.code, 0) << o.err;
  // The words for what warps wait for are those of the report.
  const json& states = metrics["kernels"][0]["warp_states"];
  for (const auto& [state, percent] : read(o.out).percent) EXPECT_TRUE(states.contains(state)) << state;
  const kanata_reader shown(place_ / "advice.cu.57.kanata");
  for (const auto& [state, cycles] : shown.cycles(1)) EXPECT_TRUE(states.contains(state)) << state;
  const std::string filter = content(place_ / "advice.cu.57.state.filter");
  for (const auto& item : states.items())
    EXPECT_NE(filter.find("?" + item.key() + "\n"), std::string::npos) << item.key();
}

}  // namespace line_view_test
