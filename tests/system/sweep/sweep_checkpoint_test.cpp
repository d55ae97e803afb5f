// SPDX-License-Identifier: MIT
// Points of a sweep that were stopped go on from their checkpoints, with the results of an undisturbed sweep.
#include <chrono>

#include "sweep_fixture.h"

namespace sweep_checkpoint_test {

using namespace sweep_tests;

// Four warps that each add a million times, which takes some seconds.
const char* const long_module = R"(.version 7.0
.target sm_60
.address_size 64
.visible .entry count(.param .u64 out)
{
	.reg .pred %p;
	.reg .b32 %r<3>;
	.reg .b64 %rd<4>;
	ld.param.u64 %rd1, [out];
	mov.u32 %r2, %tid.x;
	mov.u32 %r1, 0;
again:
	add.u32 %r1, %r1, 1;
	xor.b32 %r2, %r2, %r1;
	setp.lt.u32 %p, %r1, 1000000;
	@%p bra again;
	mov.u32 %r1, %tid.x;
	mul.wide.u32 %rd2, %r1, 4;
	add.s64 %rd3, %rd1, %rd2;
	st.global.u32 [%rd3], %r2;
	ret;
}
)";

class sweep_checkpoints : public sweeps {
 protected:
  sweep_checkpoints() {
    write("k.ptx", long_module);
    write("long.json", R"({"module": "k.ptx", "buffers": {"out": {"bytes": 512}}, "launches": [{"kernel": "count",
      "grid": [1, 1, 1], "block": [128, 1, 1], "args": [{"buffer": "out"}]}]})");
    write_sweep("");
  }
  void write_sweep(const std::string& more) {
    write("c.ini",
          "[sweep]\njob = long.json\nstore = s.sqlite\n" + more + "[axes]\ngpu.sm_count = 1\nl1.latency_cycles = 30\n");
  }
  [[nodiscard]] std::vector<fs::path> checkpoints() const {
    std::vector<fs::path> files;
    if (!fs::exists(place_ / "s.sqlite.points")) return files;
    for (const auto& e : fs::recursive_directory_iterator(place_ / "s.sqlite.points"))
      if (e.path().extension() == ".ckpt") files.push_back(e.path());
    return files;
  }
  void forget_results() {
    fs::remove_all(place_ / "s.sqlite.points");
    for (const char* file : {"s.sqlite", "s.csv"}) fs::remove(place_ / file);
  }
  pid_t start_saving() { return start({"c.ini", "--resume", "--checkpoint-every", "20000"}); }
  void wait_for_checkpoints(fs::file_time_type newer) const {
    const auto are_there = [&] {
      const auto files = checkpoints();
      if (files.empty()) return false;
      std::error_code gone;
      for (const fs::path& f : files)
        if (fs::last_write_time(f, gone) <= newer || gone) return false;
      return true;
    };
    for (int i = 0; i < 3000 && !are_there(); ++i) usleep(10000);
    ASSERT_TRUE(are_there());
  }
};

TEST_F(sweep_checkpoints, stopped_killed_and_late_points_go_on) {
  ASSERT_EQ(run({"c.ini"}), 0) << read("stderr");
  const std::string database = read("s.sqlite"), csv = read("s.csv");
  forget_results();
  // The signal that batch systems send: all that the point has done is kept.
  pid_t child = start_saving();
  wait_for_checkpoints(fs::file_time_type::min());
  kill(child, SIGTERM);
  EXPECT_EQ(finish(child), 128 + SIGTERM) << read("stderr");
  ASSERT_EQ(checkpoints().size(), 1u);
  EXPECT_EQ(rows("s.csv")[0].at("status"), "missing");
  // Killed: the last checkpoint is kept.
  const auto then = fs::file_time_type::clock::now();
  child = start_saving();
  wait_for_checkpoints(then);
  kill(child, SIGKILL);
  finish(child);
  ASSERT_EQ(checkpoints().size(), 1u);
  // One that serves for nothing any more: its point begins again.
  fs::resize_file(checkpoints()[0], 1000);
  // What takes more than a second gets done in several times a second.
  write_sweep("timeout_seconds = 1\n");
  int code = 1;
  for (int i = 0; i < 60 && code == 1; ++i) code = finish(start_saving());
  ASSERT_EQ(code, 0) << read("stderr");
  EXPECT_EQ(checkpoints().size(), 0u);
  fs::remove(place_ / "s.sqlite");
  write_sweep("");
  ASSERT_EQ(run({"c.ini"}), 0) << read("stderr");
  EXPECT_TRUE(read("s.sqlite") == database);
  EXPECT_EQ(read("s.csv"), csv);
}

TEST_F(sweep_checkpoints, control_c_keeps_them_and_the_sweep_alone_goes_on) {
  const pid_t child = start_saving();
  wait_for_checkpoints(fs::file_time_type::min());
  kill(-child, SIGINT);
  EXPECT_EQ(finish(child), 128 + SIGINT);
  ASSERT_EQ(checkpoints().size(), 1u);
  const heddle::test::outcome o =
      heddle::test::run_program({HEDDLE_PROGRAM, "resume", checkpoints()[0].string()}, {place_});
  EXPECT_EQ(o.code, 2);
  EXPECT_NE(o.err.find("of a sweep's point, expected the command of the sweep"), std::string::npos) << o.err;
}

}  // namespace sweep_checkpoint_test
