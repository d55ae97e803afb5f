// SPDX-License-Identifier: MIT
#include <gtest/gtest.h>
#include <sys/wait.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>

#include "tests/system/common/json_text.h"
#include "tests/system/common/vcd_reader.h"
#include "waveform_fixture.h"

namespace waveform_window_test {

using namespace waveform_fixture;
using heddle::test::vcd_reader;
using json = nlohmann::json;

TEST(waveform, holds_only_the_window_and_its_layout_fits_it) {
  const fs::path place = fs::path(HEDDLE_SCRATCH "/waveform") / "window";
  fs::create_directories(place);
  ASSERT_EQ(0, run("'" HEDDLE_WORKLOADS
                   "/reduction/job.json' --gpu gtx1080 --set gpu.sm_count=1 --trace-window 2500:5500 --vcd" +
                   quoted(place / "w.vcd")));
  const vcd_reader w(place / "w.vcd", cycle_ps);
  EXPECT_EQ(2500 * cycle_ps, w.first_ps()) << "no warp waits for code, and something changes in each cycle";
  EXPECT_EQ(5500 * cycle_ps, w.last_ps());
  EXPECT_EQ(2500u, w["gpu.cycle"].begin()->first);
  EXPECT_EQ(5499u, std::prev(w["gpu.cycle"].end())->first);
  // Each trace of the layout is a signal of the waveform, its filters exist, and the view begins where the waveform
  // does.
  std::ifstream in(place / "w.gtkw");
  unsigned traces = 0;
  int depth = 0;
  for (std::string line; std::getline(in, line);) {
    if (line.rfind("^", 0) == 0) {
      EXPECT_TRUE(fs::exists(place / line.substr(line.find(' ') + 1))) << line;
    } else if (line.rfind("[timestart] ", 0) == 0) {
      // The view begins at an issue while the SM holds its maximum of blocks.
      const std::uint64_t start = std::stoull(line.substr(12));
      EXPECT_EQ(0u, start % cycle_ps);
      EXPECT_GE(start, 2500 * cycle_ps);
      EXPECT_LT(start, 5500 * cycle_ps);
    } else if (line.rfind("[dumpfile] ", 0) == 0) {
      EXPECT_EQ("[dumpfile] \"w.vcd\"", line);
    } else if (line == "@800200" || line == "@c00200") {
      ++depth;
    } else if (line == "@1000200" || line == "@1401200") {
      EXPECT_GE(--depth, 0);
    }
    if (line.rfind("+{", 0) == 0) line = line.substr(line.find("} ") + 2);  // shown under another name
    if (line.rfind("gpu.", 0) != 0) continue;
    ++traces;
    const std::string name = line.substr(0, line.find('['));
    ASSERT_TRUE(w.has(name)) << line;
    EXPECT_EQ(w.width(name) > 1 ? name + "[" + std::to_string(w.width(name) - 1) + ":0]" : name, line);
  }
  EXPECT_EQ(0, depth);
  EXPECT_EQ(w.signals().size(), traces);
}

// A kernel of 20 million cycles, most of which it spends in sleep.
constexpr const char* sleeper = R"(.version 6.3
.target sm_70
.address_size 64
.visible .entry sleeper(.param .u32 turns) {
  .reg .b32 %r<2>;
  .reg .pred %p<2>;
  ld.param.u32 %r1, [turns];
again:
  nanosleep.u32 1000;
  sub.u32 %r1, %r1, 1;
  setp.ne.u32 %p1, %r1, 0;
  @%p1 bra again;
  ret;
}
)";

// The core cycle, powers, which are means of 32 cycles, and the instruction that was issued last in the window.
bool depends_on_the_window(const std::string& signal) {
  return signal == "gpu.cycle" || signal.find("_mw") != std::string::npos ||
         (signal.find(".issue0_") != std::string::npos && signal.find("_operation") == std::string::npos);
}

// Windows begin before the launch, while the code comes from the memory, and while the only block sleeps.
TEST(waveform, window_begins_with_its_first_cycle_even_if_nothing_works_in_it) {
  const fs::path place = fs::path(HEDDLE_SCRATCH "/waveform") / "idle";
  fs::create_directories(place);
  std::ofstream(place / "sleeper.ptx") << sleeper;
  const auto window = [&](std::uint64_t from, std::uint64_t to) {
    EXPECT_EQ(0, run("--kernel" + quoted(place / "sleeper.ptx") +
                     " --grid 1 --block 64 --arg u32:20 --gpu v100 --set gpu.sm_count=1 --trace-window " +
                     std::to_string(from) + ":" + std::to_string(to) + " --vcd" + quoted(place / "w.vcd")));
    vcd_reader w(place / "w.vcd", cycle_ps);
    EXPECT_EQ(from * cycle_ps, w.first_ps());
    EXPECT_EQ(to * cycle_ps, w.last_ps());
    EXPECT_EQ(from, w["gpu.cycle"].begin()->first);
    return w;
  };
  const vcd_reader whole = window(100, 6000);
  for (const std::uint64_t from : {300, 1000, 3700, 4600, 5000}) {
    const vcd_reader before = window(100, from), after = window(from, 6000);
    for (const auto& [signal, id] : whole.signals()) {
      if (depends_on_the_window(signal)) continue;
      vcd_reader::histogram missing = whole[signal];  // cycles of each value
      for (const auto& [value, cycles] : before[signal]) missing[value] -= cycles;
      for (const auto& [value, cycles] : after[signal]) missing[value] -= cycles;
      for (const auto& [value, cycles] : missing)
        EXPECT_EQ(0u, cycles) << signal << " = " << value << ", window from " << from;
    }
  }
}

TEST(waveform, of_a_long_run_holds_only_the_window_and_takes_no_memory_for_the_rest) {
  const fs::path place = fs::path(HEDDLE_SCRATCH "/waveform") / "long";
  fs::create_directories(place);
  std::ofstream(place / "sleeper.ptx") << sleeper;
  const std::string what = "--kernel" + quoted(place / "sleeper.ptx") +
                           " --grid 1 --block 64 --arg u32:20000 --gpu v100 --set gpu.sm_count=1";
  ASSERT_EQ(0, run(what + " --metrics" + quoted(place / "alone.json")));
  const json alone = json::parse(content(place / "alone.json"));
  ASSERT_GE(alone["cycles"].get<std::uint64_t>(), 20000000u);
  [[maybe_unused]] const std::uint64_t memory = alone["host"]["peak_rss_bytes"];
  for (const std::string window : {" --trace-window 15000000:15003000", ""}) {
    ASSERT_EQ(0, run(what + window + " --metrics" + quoted(place / "m.json") + " --vcd" + quoted(place / "w.vcd") +
                     " --pipeline" + quoted(place / "w.kanata") + " --timeline" + quoted(place / "w.json")));
    const json m = json::parse(content(place / "m.json"));
    EXPECT_EQ(alone["cycles"], m["cycles"]);
#if !defined(__SANITIZE_ADDRESS__)  // it does not release freed memory
    // Views need memory for their signals and buffers, independent of the length of the traced run.
    EXPECT_LT(m["host"]["peak_rss_bytes"].get<std::uint64_t>(), memory + (24u << 20)) << window;
#endif
    const vcd_reader w(place / "w.vcd", cycle_ps);
    if (window.empty()) {
      EXPECT_GE(w.last_ps(), 20000000 * cycle_ps);
      continue;
    }
    EXPECT_GE(w.first_ps(), 15000000 * cycle_ps);
    EXPECT_LE(w.last_ps(), 15003000 * cycle_ps);
    EXPECT_GT(w["gpu.cycle"].size(), 10u);
    EXPECT_LT(fs::file_size(place / "w.vcd"), 200000u);
  }
}

TEST(waveform, needs_room_on_the_disk_and_leaves_no_partial_file) {
  const fs::path place = fs::path(HEDDLE_SCRATCH "/waveform") / "full";
  fs::remove_all(place);
  fs::create_directories(place);
  if (fs::exists("/dev/full")) {
    EXPECT_EQ(2, run("'" HEDDLE_WORKLOADS "/vector_add/job.json' --vcd /dev/full 2>/dev/null"));
  }
  // With a file size limit of 64 blocks, the waveform, the pipeline view and the timeline run out of space during the
  // run.
  for (const char* view : {"--vcd", "--pipeline", "--timeline"}) {
    const std::string command =
        "ulimit -f 64; '" HEDDLE_PROGRAM "' run '" HEDDLE_WORKLOADS "/reduction/job.json' --gpu gtx1080 --quiet " +
        std::string(view) + quoted(place / "view") + " 2>" + quoted(fs::path(HEDDLE_SCRATCH "/waveform") / "full.log");
    const int status = std::system(command.c_str());
    EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 2) << view;
    EXPECT_TRUE(fs::is_empty(place)) << view << " left " << fs::directory_iterator(place)->path();
    EXPECT_NE(std::string::npos, content(fs::path(HEDDLE_SCRATCH "/waveform") / "full.log")
                                     .find("the disk is full, or the file's size is limited"));
  }
}

}  // namespace waveform_window_test
