// SPDX-License-Identifier: MIT
// Programs that never end although their warps issue: they spin on a value that no warp will change. The run reports
// this and lists the waiting warps.
#include <gtest/gtest.h>
#include <sys/wait.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <nlohmann/json.hpp>
#include <string>

namespace livelock_test {

namespace fs = std::filesystem;
using json = nlohmann::ordered_json;

struct result {
  int code = -1;
  std::string log;
};

class livelock : public ::testing::Test {
 protected:
  livelock()
      : place_(fs::path(HEDDLE_SCRATCH "/livelock") / ::testing::UnitTest::GetInstance()->current_test_info()->name()) {
    fs::create_directories(place_);
  }
  result run(const json& job, const std::string& options) {
    std::ofstream(place_ / "job.json") << job.dump(2);
    const fs::path log = place_ / "log.txt";
    const std::string command = "'" HEDDLE_PROGRAM "' run '" + (place_ / "job.json").string() + "' --quiet " + options +
                                " >'" + log.string() + "' 2>&1";
    const int status = std::system(command.c_str());
    std::ifstream in(log);
    return {WIFEXITED(status) ? WEXITSTATUS(status) : -1, {std::istreambuf_iterator<char>(in), {}}};
  }
  const fs::path place_;
};

// Takes the lock at `lock`, iterates `turns` times, and releases it.
const char* const locked_kernel = R"(.version 6.0
.target sm_60
.address_size 64
.visible .entry locked(.param .u64 lock, .param .u32 turns)
{
  .reg .b32 %r<4>;
  .reg .b64 %rd<2>;
  .reg .pred %p<2>;
  ld.param.u64 %rd1, [lock];
  ld.param.u32 %r1, [turns];
spin:
  atom.global.cas.b32 %r2, [%rd1], 0, 1;
  setp.ne.u32 %p1, %r2, 0;
  @%p1 bra spin;
turn:
  sub.u32 %r1, %r1, 1;
  setp.ne.u32 %p1, %r1, 0;
  @%p1 bra turn;
  membar.gl;
  atom.global.exch.b32 %r2, [%rd1], 0;
  ret;
}
)";

// The block that holds the lock is switched out; a block of another kernel takes the SM's only slot and spins on the
// lock.
TEST_F(livelock, a_block_that_waits_for_one_that_spins_on_its_lock_is_a_deadlock) {
  std::ofstream(place_ / "locked.ptx") << locked_kernel;
  json job = {{"module", (place_ / "locked.ptx").string()},
              {"buffers", {{"lock", {{"bytes", 4}}}}},
              {"outputs", json::array()}};
  for (unsigned stream = 0; stream < 2; ++stream)
    job["launches"].push_back({{"kernel", "locked"},
                               {"grid", {1, 1, 1}},
                               {"block", {1, 1, 1}},
                               {"stream", stream},
                               {"args", {{{"buffer", "lock"}}, {{"u32", 3000}}}}});
  const std::string options =
      "--gpu gtx1080 --set gpu.sm_count=1 --set sm.max_blocks=1 --set gpu.watchdog_cycles=20000 --max-cycles 5000000";
  EXPECT_EQ(0, run(job, options).code) << "one after the other";
  job["preempt"] = {{{"at_cycle", 5000}, {"mode", "switch"}, {"resume_after", 3000}}};
  result r = run(job, options);
  EXPECT_EQ(1, r.code) << r.log;
  for (const char* text : {"error: deadlock: since cycle ", "\n  block 0 of kernel 'locked', which left sm 0 in cycle ",
                           "is to be restored, waits for the blocks there to end", "\n  sm 0 warp ",
                           "block (0,0,0) of kernel 'locked', loops at "})
    EXPECT_NE(std::string::npos, r.log.find(text)) << text << "\n" << r.log;
  EXPECT_NE(std::string::npos, r.log.find("locked.ptx:1")) << r.log;
  json two = job;
  for (json& launch : two["launches"]) launch["grid"][0] = 2;
  r = run(two, options + " --set sm.max_blocks=2");
  EXPECT_EQ(1, r.code) << r.log;
  EXPECT_NE(std::string::npos, r.log.find("\n  block 0 of kernel 'locked' and 1 more, which left sm 0 in cycle "))
      << r.log;
  EXPECT_NE(std::string::npos, r.log.find("are to be restored, wait for the blocks there to end")) << r.log;
  // Without a watchdog the run continues.
  r = run(job,
          "--gpu gtx1080 --set gpu.sm_count=1 --set sm.max_blocks=1 --set gpu.watchdog_cycles=0 --max-cycles 100000");
  EXPECT_EQ(1, r.code) << r.log;
  EXPECT_EQ(std::string::npos, r.log.find("error: deadlock")) << r.log;
  EXPECT_NE(std::string::npos, r.log.find("limit of 100,000 cycles")) << r.log;
  // With time slices the holder of the lock is resumed.
  r = run(job, options + " --set context.time_slice_cycles=4000");
  EXPECT_EQ(0, r.code) << r.log;
  // A block that holds the lock for a long time is not stuck, nor are its waiters.
  job.erase("preempt");
  for (json& launch : job["launches"]) launch["args"][1] = {{"u32", 40000}};
  r = run(job, "--gpu gtx1080 --set gpu.sm_count=1 --set gpu.watchdog_cycles=20000");
  EXPECT_EQ(0, r.code) << r.log;
}

// The releasing event is certain: a launch, a preemption, or the resumption of a preempted block.
TEST_F(livelock, those_that_wait_for_what_the_job_does_later_are_no_deadlock) {
  std::ofstream(place_ / "locked.ptx") << locked_kernel;
  std::ofstream(place_ / "taken.bin", std::ios::binary) << std::string("\1\0\0\0", 4);
  std::ofstream(place_ / "free.ptx")
      << ".version 7.0\n.target sm_60\n.address_size 64\n.visible .entry free(.param .u64 p) {\n"
         "  .reg .b64 %d; .reg .b32 %r;\n  ld.param.u64 %d, [p];\n  atom.global.exch.b32 %r, [%d], 0;\n  ret;\n}\n";
  json job = {{"modules", {(place_ / "locked.ptx").string(), (place_ / "free.ptx").string()}},
              {"outputs", json::array()},
              {"buffers", {{"lock", {{"file", (place_ / "taken.bin").string()}}}}}};
  const auto launch = [](const char* kernel, unsigned stream, unsigned cycle) {
    json l = {{"kernel", kernel}, {"grid", {1, 1, 1}}, {"block", {1, 1, 1}},
              {"stream", stream}, {"at_cycle", cycle}, {"args", {{{"buffer", "lock"}}}}};
    if (std::string(kernel) == "locked") l["args"].push_back({{"u32", 30}});
    return l;
  };
  const std::string options = "--gpu gtx1080 --set gpu.sm_count=1 --set gpu.watchdog_cycles=20000 --max-cycles 5000000";
  job["launches"] = {launch("locked", 0, 0), launch("free", 1, 300000)};
  result r = run(job, options);
  EXPECT_EQ(0, r.code) << r.log;
  job["launches"][1]["at_cycle"] = 4000;
  job["preempt"] = {{{"at_cycle", 250000}, {"mode", "switch"}, {"resume_after", 100}}};
  r = run(job, options + " --set sm.max_blocks=1");
  EXPECT_EQ(0, r.code) << r.log;
  // The block that would release the lock is switched out until long after the other began to wait.
  job["launches"] = {launch("free", 0, 0), launch("locked", 1, 2000)};
  job["preempt"] = {{{"at_cycle", 850}, {"mode", "switch"}, {"resume_after", 250000}}};
  r = run(job, options);
  EXPECT_EQ(0, r.code) << r.log;
}

// Blocks wait for a block for which no SM has room, without any preemption.
TEST_F(livelock, running_blocks_that_wait_for_one_that_is_not_resident_are_a_deadlock) {
  std::ofstream(place_ / "locked.ptx") << locked_kernel;
  json job = {{"module", (place_ / "locked.ptx").string()},
              {"buffers", {{"lock", {{"file", (place_ / "taken.bin").string()}}}}},
              {"outputs", json::array()}};
  std::ofstream(place_ / "taken.bin", std::ios::binary) << std::string("\1\0\0\0", 4);
  job["launches"] = {{{"kernel", "locked"},
                      {"grid", {5, 1, 1}},
                      {"block", {64, 1, 1}},
                      {"args", {{{"buffer", "lock"}}, {{"u32", 3000}}}}}};
  const result r = run(
      job,
      "--gpu gtx1080 --set gpu.sm_count=1 --set sm.max_blocks=2 --set gpu.watchdog_cycles=20000 --max-cycles 5000000");
  EXPECT_EQ(1, r.code) << r.log;
  EXPECT_NE(std::string::npos, r.log.find("deadlock")) << r.log;
  EXPECT_NE(std::string::npos, r.log.find("3 blocks of kernel 'locked' (launch 0, stream 0) wait for a place on an SM"))
      << r.log;
  EXPECT_NE(std::string::npos, r.log.find("block (1,0,0) of kernel 'locked', loops at ")) << r.log;
}

// On chips before Volta a lane that holds the lock waits for the lanes of its warp that spin on it.
TEST_F(livelock, lanes_of_a_warp_that_spin_for_a_lock_before_volta) {
  const std::string job = "'" HEDDLE_WORKLOADS "/intra_warp_lock/job.json'", log = (place_ / "log.txt").string();
  const int status = std::system(
      ("'" HEDDLE_PROGRAM "' run " + job + " --gpu gtx1080 --set gpu.watchdog_cycles=20000 --quiet >'" + log + "' 2>&1")
          .c_str());
  EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 1);
  std::ifstream in(log);
  const std::string text{std::istreambuf_iterator<char>(in), {}};
  EXPECT_NE(std::string::npos, text.find("block (0,0,0) of kernel 'intra_warp_lock', loops at ")) << text;
}

// A warp that branches to itself is in the same state at each sample and still issues. An atomic that changes no value
// leaves memory as it is.
TEST_F(livelock, a_branch_to_itself_never_ends) {
  std::ofstream(place_ / "self.ptx") << R"(.version 7.0
.target sm_60
.address_size 64
.visible .entry a() { L: bra L; }
.visible .entry b() { .reg .b32 %r<3>; L: mov.u32 %r1, 5; bra L; }
.visible .entry c() { .reg .pred %p; .reg .b32 %r<3>; mov.u32 %r1,%tid.x; setp.eq.u32 %p,%r1,3; @%p bra L; ret; L: bra L; }
.visible .entry d(.param .u64 flag) {
  .reg .pred %p; .reg .b32 %r<3>; .reg .b64 %d<3>;
  ld.param.u64 %d1, [flag];
L:
  mov.u32 %r1, %tid.x;
  mad.wide.u32 %d2, %r1, 4, %d1;
  ld.volatile.global.u32 %r2, [%d2];
  setp.eq.u32 %p, %r2, 0;
  @%p bra L;
  ret;
}
.visible .entry e() {
  .reg .pred %p; .reg .b32 %r<3>; .shared .b32 s;
  mov.u32 %r1, 0;
  st.shared.u32 [s], %r1;
L:
  atom.shared.add.u32 %r2, [s], 0;
  setp.eq.u32 %p, %r2, 0;
  @%p bra L;
  ret;
}
)";
  for (const char* kernel : {"a", "b", "c", "d", "e"})
    for (const char* gpu : {"gtx1080", "v100"}) {
      json job = {
          {"module", (place_ / "self.ptx").string()},
          {"buffers", {{"flag", {{"bytes", 4096}}}}},
          {"outputs", json::array()},
          {"launches", {{{"kernel", kernel}, {"grid", {3, 1, 1}}, {"block", {64, 1, 1}}, {"args", json::array()}}}}};
      if (*kernel == 'd') job["launches"][0]["args"].push_back({{"buffer", "flag"}});
      const result r = run(job, std::string("--gpu ") + gpu +
                                    " --set gpu.sm_count=2 --set gpu.watchdog_cycles=20000 --max-cycles 1000000");
      EXPECT_EQ(1, r.code) << kernel << " on " << gpu << r.log;
      EXPECT_NE(std::string::npos, r.log.find("error: deadlock: since cycle "))
          << kernel << " on " << gpu << ": " << r.log;
      EXPECT_NE(std::string::npos, r.log.find("loops at ")) << r.log;
    }
}

// Block 0 computes for a long time before it sets the flag; block 1 polls it, with or without sleep; block 2 waits for
// the clock.
TEST_F(livelock, is_not_reported_for_loops_that_wait_for_pending_work) {
  std::ofstream(place_ / "wait.ptx") << R"(.version 7.0
.target sm_70
.address_size 64
.visible .entry w(.param .u64 flag, .param .u32 turns, .param .u32 sleeps) {
  .reg .pred %p, %q; .reg .b32 %r<8>; .reg .b64 %d<3>;
  ld.param.u64 %d1, [flag];
  ld.param.u32 %r1, [turns];
  ld.param.u32 %r6, [sleeps];
  setp.ne.u32 %q, %r6, 0;
  mov.u32 %r2, %ctaid.x;
  setp.eq.u32 %p, %r2, 2;
  @%p bra timed;
  setp.eq.u32 %p, %r2, 1;
  @%p bra look;
work:
  sub.u32 %r1, %r1, 1;
  setp.ne.u32 %p, %r1, 0;
  @%p bra work;
  st.volatile.global.u32 [%d1], 1;
  ret;
look:
  @%q nanosleep.u32 300;
  ld.volatile.global.u32 %r3, [%d1];
  setp.eq.u32 %p, %r3, 0;
  @%p bra look;
  ret;
timed:
  mov.u32 %r4, %clock;
still:
  mov.u32 %r5, %clock;
  sub.u32 %r5, %r5, %r4;
  setp.lt.u32 %p, %r5, 90000;
  ld.volatile.global.u32 %r5, [%d1+64];
  @%p bra still;
  ret;
}
)";
  for (const unsigned sleeps : {0u, 1u})
    for (const unsigned turns : {1u, 15000u}) {
      const json job = {{"module", (place_ / "wait.ptx").string()},
                        {"buffers", {{"flag", {{"bytes", 128}}}}},
                        {"outputs", json::array()},
                        {"launches",
                         {{{"kernel", "w"},
                           {"grid", {3, 1, 1}},
                           {"block", {32, 1, 1}},
                           {"args", {{{"buffer", "flag"}}, {{"u32", turns}}, {{"u32", sleeps}}}}}}}};
      const result r = run(job, "--gpu v100 --set gpu.sm_count=2 --set gpu.watchdog_cycles=2000 --max-cycles 5000000");
      EXPECT_EQ(0, r.code) << turns << " " << sleeps << r.log;
    }
}

// Long waits, and loops that count while they spin, are not reported.
TEST_F(livelock, is_not_reported_for_programs_that_may_end) {
  const json job = {{"module", HEDDLE_SOURCE "/testbench/occupancy/turning.ptx"},
                    {"buffers", json::object()},
                    {"outputs", json::array()},
                    {"launches",
                     {{{"kernel", "turning"},
                       {"grid", {2, 1, 1}},
                       {"block", {64, 1, 1}},
                       {"args", {{{"u32", 20000}}, {{"u32", 7}}, {{"u32", 11}}}}}}}};
  const result r = run(job, "--gpu gtx1080 --set gpu.sm_count=1 --set gpu.watchdog_cycles=2000");
  EXPECT_EQ(0, r.code) << r.log;
}

// All threads but one poll a flag, and that one's block is among the oldest, which come last under cggty.
TEST_F(livelock, warps_that_poll_let_the_one_issue_that_they_wait_for) {
  std::ofstream(place_ / "await.ptx") << R"(.version 7.0
.target sm_70
.address_size 64
.visible .entry await(.param .u64 flag)
{
  .reg .b32 %r<4>;
  .reg .b64 %rd<2>;
  .reg .pred %p<2>;
  ld.param.u64 %rd1, [flag];
  mov.u32 %r1, %ctaid.x;
  setp.ne.u32 %p1, %r1, 0;
  @%p1 bra poll;
  mov.u32 %r2, 1;
  st.volatile.global.u32 [%rd1], %r2;
  ret;
poll:
  ld.volatile.global.u32 %r3, [%rd1];
  setp.eq.u32 %p1, %r3, 0;
  @%p1 bra poll;
  ret;
}
)";
  const json job = {
      {"module", "await.ptx"},
      {"buffers", {{"flag", {{"bytes", 4}}}}},
      {"launches",
       {{{"kernel", "await"}, {"grid", {1056, 1, 1}}, {"block", {256, 1, 1}}, {"args", {{{"buffer", "flag"}}}}}}}};
  const result never = run(job, "--gpu h100 --max-cycles 60000 --set sub_partition.starvation_cycles=0");
  EXPECT_EQ(1, never.code);
  EXPECT_NE(std::string::npos, never.log.find("the limit of 60,000 cycles")) << never.log;
  EXPECT_EQ(0, run(job, "--gpu h100 --max-cycles 60000").code);
}

}  // namespace livelock_test
