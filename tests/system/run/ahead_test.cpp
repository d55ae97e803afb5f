// SPDX-License-Identifier: MIT
// SMs are simulated ahead of the rest of the GPU where no observer samples them, on one host thread or several, and in
// step with it while a timeline is written: all metrics are equal.
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <random>
#include <set>
#include <string>

#include "tests/system/common/json_text.h"

namespace ahead_test {

namespace fs = std::filesystem;
using json = nlohmann::json;

/// Chips whose SMs have a large lookahead, a small one, and clocks whose edges rarely coincide.
constexpr const char* machines[] = {
    "--gpu gtx480",
    "--gpu v100",
    "--gpu h100 --set gpu.sm_count=16",
    "--gpu gtx1080 --set gpu.core_clock_mhz=1733 --set interconnect.clock_mhz=1201 --set dram.clock_mhz=1353",
    "--gpu v100 --set gpu.core_clock_mhz=900 --set interconnect.latency_cycles=1 --set interconnect.input_queue_entries=1",
    "--gpu v100 --set cwd.launch_latency_cycles=0 --set cwd.dispatch_latency_cycles=1 --set memory.model=fixed"};

class ahead : public ::testing::Test {
 protected:
  ahead() : place_(fs::path(HEDDLE_SCRATCH "/ahead") / std::to_string(::getpid())) { fs::create_directories(place_); }
  ~ahead() override {
    std::error_code ignored;
    if (!HasFailure()) fs::remove_all(place_, ignored);
  }

  void same(const std::string& what, int code = 0) {
    SCOPED_TRACE(what);
    const json alone = metrics(what, code),
               watched = metrics(what + " --timeline '" + (place_ / "t.json").string() + "'", code);
    EXPECT_TRUE(alone == watched) << json::diff(alone, watched).dump(1).substr(0, 2000);
    static constexpr unsigned threads[] = {2, 3, 5, 8};
    const std::string several = " --threads " + std::to_string(threads[compared_++ % std::size(threads)]);
    const json shared = metrics(what + several, code);
    EXPECT_TRUE(alone == shared) << several << json::diff(alone, shared).dump(1).substr(0, 2000);
  }

  /// The workload's job merged with `what`.
  std::string job(const std::string& workload, const json& what) {
    const fs::path folder = fs::path(HEDDLE_WORKLOADS) / workload;
    for (const auto& entry : fs::directory_iterator(folder))
      fs::copy(entry.path(), place_ / entry.path().filename(),
               fs::copy_options::skip_existing | fs::copy_options::recursive);
    std::ifstream in(folder / "job.json");
    json j = json::parse(in);
    j.update(what);
    std::ofstream(place_ / "job.json") << j;
    return "run '" + (place_ / "job.json").string() + "'";
  }

  const fs::path place_;

 private:
  unsigned compared_ = 0;
  json metrics(const std::string& what, int code) {
    const fs::path file = place_ / "m.json";
    const std::string command = "'" HEDDLE_PROGRAM "' " + what + " --quiet --metrics '" + file.string() + "' >'" +
                                (place_ / "log.txt").string() + "' 2>&1";
    const int status = std::system(command.c_str());
    EXPECT_EQ(code, WIFEXITED(status) ? WEXITSTATUS(status) : -1) << command;
    std::ifstream in(file);
    json m = json::parse(in);
    m.erase("host");
    return m;
  }
};

class ahead_on : public ahead, public ::testing::WithParamInterface<const char*> {};

TEST_P(ahead_on, workloads) {
  for (const char* workload : {"saxpy", "histogram", "reduction", "spin_lock"})
    same("run '" HEDDLE_WORKLOADS "/" + std::string(workload) + "/job.json' " + GetParam());
}

INSTANTIATE_TEST_SUITE_P(machine, ahead_on, ::testing::ValuesIn(machines));

// Lines that the L2 writes back and immediately reads again, with clocks whose edges coincide now and then. The order
// of two units at one edge must not matter, and an observer changes just that order.
TEST_F(ahead, lines_that_are_written_back_and_read_again) {
  std::mt19937_64 random(1);
  const auto below = [&](std::uint64_t n) { return random() % n; };
  std::ofstream(place_ / "kernelslist.g") << "kernel-1.traceg\n";
  for (const char* machine : {"--gpu g80", "--gpu rtx3070 --set gpu.sm_count=16 --set l2.size_bytes=524288"}) {
    std::ofstream out(place_ / "kernel-1.traceg");
    out << "-kernel name = k\n-kernel id = 1\n-grid dim = (64,1,1)\n-block dim = (32,1,1)\n-shmem = 0\n-nregs = 32\n-binary version = 70\n"
           "-cuda stream id = 0\n-shmem base_addr = 0x00007f5000000000\n-local mem base_addr = 0x00007f4e00000000\n-nvbit version = 1.7\n"
           "-accelsim tracer version = 3\n\n#traces format = PC mask dest_num [reg_dests] opcode src_num [reg_srcs] mem_width "
           "[adrrescompress?] [mem_addresses]\n\n";
    out << std::hex;
    for (unsigned block = 0; block < 64; ++block) {
      out << "#BEGIN_TB\n\nthread block = " << std::dec << block << ",0,0\n\nwarp = 0\ninsts = 25\n" << std::hex;
      for (unsigned k = 0; k < 24; ++k) {
        const bool load = k % 3 != 2;
        out << "0" << 0x100 + 16 * k << " ffffffff "
            << (load ? "1 R8 LDG.E.128.SYS 1 R2 16 0" : "0 STG.E.SYS 2 R2 R8 4 0");
        for (unsigned lane = 0; lane < 32; ++lane) out << " 0x7f40000" << 0x10000 + 16 * below(0x10000 / 16);
        out << " \n";
      }
      out << "0300 ffffffff 0 EXIT 0 0 \n\n#END_TB\n\n";
    }
    out.close();
    same("replay '" + (place_ / "kernelslist.g").string() + "' " + machine);
  }
}

TEST_F(ahead, blocks_that_are_saved_and_restored) {
  for (const char* mode : {"switch", "drain", "auto"})
    for (const unsigned at : {1500u, 2211u})
      same(job("reduction", {{"preempt", {{{"at_cycle", at}, {"mode", mode}, {"resume_after", 300}}}}}) +
           " --gpu v100 --set gpu.sm_count=4");
}

TEST_F(ahead, streams_that_preempt_each_other) {
  std::ifstream in(HEDDLE_WORKLOADS "/reduction/job.json");
  json launches = json::parse(in).at("launches");
  json second = launches[1];
  second["stream"] = 1;
  second["priority"] = 1;
  launches.push_back(second);
  const std::string two = job("reduction", {{"launches", launches}}) + " --gpu v100 --set gpu.sm_count=2";
  for (const char* rule : {"", " --set context.time_slice_cycles=900", " --set context.priority_preemption=switch",
                           " --set cwd.max_resident_grids=1"})
    same(two + rule);
}

// All SMs stop in the same cycle.
TEST_F(ahead, programs_that_fail_and_runs_that_are_cut_short) {
  std::ofstream(place_ / "k.ptx") << R"(.version 7.0
.target sm_60
.address_size 64
.visible .entry k(.param .u64 p) {
  .reg .pred %q;
  .reg .b32 %r<4>;
  .reg .b64 %d<4>;
  ld.param.u64 %d1, [p];
  mov.u32 %r1, %ctaid.x;
  mov.u32 %r2, 0;
again:
  mul.wide.u32 %d2, %r2, 128;
  add.u64 %d3, %d1, %d2;
  atom.global.add.u32 %r3, [%d3], %r1;
  add.u32 %r2, %r2, 1;
  setp.lt.u32 %q, %r2, 20;
  @%q bra again;
  setp.eq.u32 %q, %r1, 37;
  @%q trap;
  ret;
}
)";
  const std::string kernel =
      "run --kernel '" + (place_ / "k.ptx").string() + ":k' --grid 400 --block 96 --arg buf:4096";
  same(kernel + " --gpu v100", 1);
  same(kernel + " --gpu gtx1080 --set gpu.sm_count=3", 1);
  for (const unsigned limit : {900u, 1777u, 2500u})
    same(kernel + " --gpu v100 --max-cycles " + std::to_string(limit), 1);
}

// The order of printed texts and of allocations depends on all SMs.
TEST_F(ahead, calls_of_the_device_runtime) {
  std::ofstream(place_ / "m.ptx") << R"(.version 7.0
.target sm_60
.address_size 64
.extern .func (.param .b64 result) malloc (.param .b64 size);
.visible .entry m(.param .u64 p) {
  .reg .b32 %r<4>;
  .reg .b64 %d<5>;
  ld.param.u64 %d1, [p];
  mov.u32 %r1, %ctaid.x;
  mad.wide.u32 %d2, %r1, 8, %d1;
  { .param .b64 s; .param .b64 a;
    st.param.b64 [s], 64;
    call.uni (a), malloc, (s);
    ld.param.b64 %d3, [a]; }
  st.global.u64 [%d2], %d3;
  ret;
}
)";
  const fs::path j = place_ / "m.json.job";
  std::ofstream(j) << json{
      {"module", "m.ptx"},
      {"buffers", {{"p", {{"bytes", 8000}}}}},
      {"launches", {{{"kernel", "m"}, {"grid", {1000, 1, 1}}, {"block", {1, 1, 1}}, {"args", {{{"buffer", "p"}}}}}}},
      {"outputs", {{{"buffer", "p"}, {"file", "p.bin"}}}}};
  const auto bytes = [&] {
    std::ifstream in(place_ / "p.bin", std::ios::binary);
    return std::string(std::istreambuf_iterator<char>(in), {});
  };
  const std::string what = "run '" + j.string() + "' --gpu v100 --quiet";
  ASSERT_EQ(0, std::system(("'" HEDDLE_PROGRAM "' " + what).c_str()));
  const std::string alone = bytes();
  ASSERT_EQ(
      0, std::system(("'" HEDDLE_PROGRAM "' " + what + " --timeline '" + (place_ / "t.json").string() + "'").c_str()));
  EXPECT_EQ(8000u, alone.size());
  EXPECT_TRUE(alone == bytes()) << "blocks got other addresses";
  const fs::path log = place_ / "log.txt";
  ASSERT_EQ(0, std::system(("'" HEDDLE_PROGRAM "' " + what + " --threads 3 2>'" + log.string() + "'").c_str()));
  EXPECT_TRUE(alone == bytes()) << "blocks got other addresses with threads";
  std::ifstream in(log);
  const std::string printed(std::istreambuf_iterator<char>(in), {});
  EXPECT_NE(std::string::npos, printed.find("kernel 'm' calls the device runtime")) << printed;
}

// The message of an assertion is read from memory that other SMs may still write before the time of the asserting SM.
TEST_F(ahead, the_text_of_an_assertion_that_failed) {
  std::ofstream(place_ / "a.ptx") << R"(.version 7.0
.target sm_60
.address_size 64
.extern .func __assertfail(.param .b64 m, .param .b64 f, .param .b32 l, .param .b64 n, .param .b64 s);
.global .align 4 .b8 message[8] = {65, 65, 65, 65, 0};
.global .align 1 .b8 file[2] = {70, 0};
.visible .entry a(.param .u32 turns) {
  .reg .pred %p, %q;
  .reg .b32 %r<6>;
  .reg .b64 %d<6>;
  mov.u64 %d1, message;
  mov.u64 %d2, file;
  cvta.global.u64 %d3, %d1;
  cvta.global.u64 %d4, %d2;
  ld.param.u32 %r1, [turns];
  mov.u32 %r2, %ctaid.x;
  setp.eq.u32 %p, %r2, 0;
  mov.u32 %r3, 0;
again:
  add.u32 %r3, %r3, 1;
  @%p bra next;
  and.b32 %r4, %r3, 15;
  mad.lo.u32 %r4, %r4, 0x01010101, 0x41414141;
  st.global.u32 [message], %r4;
next:
  setp.lt.u32 %q, %r3, %r1;
  @%q bra again;
  @!%p bra done;
  { .param .b64 m; .param .b64 f; .param .b32 l; .param .b64 n; .param .b64 s;
    st.param.b64 [m], %d3; st.param.b64 [f], %d4; st.param.b32 [l], 7; st.param.b64 [n], %d4; st.param.b64 [s], 1;
    call __assertfail, (m, f, l, n, s); }
done:
  ret;
}
)";
  const auto said = [&](unsigned turns, const std::string& options) {
    const fs::path log = place_ / "said.txt";
    const std::string command = "'" HEDDLE_PROGRAM "' run --kernel '" + (place_ / "a.ptx").string() +
                                "' --grid 2 --block 32 --arg u32:" + std::to_string(turns) + " --gpu v100 --quiet " +
                                options + " 2>'" + log.string() + "'";
    const int status = std::system(command.c_str());
    EXPECT_EQ(1, WIFEXITED(status) ? WEXITSTATUS(status) : -1);
    std::ifstream in(log);
    const std::string all(std::istreambuf_iterator<char>(in), {});
    // AddressSanitizer may warn of coroutines' stacks before.
    return all.substr(std::min(all.find("heddle:"), all.size()));
  };
  std::set<std::string> texts;
  for (unsigned turns = 100; turns < 112; ++turns) {
    const std::string alone = said(turns, ""),
                      watched = said(turns, "--timeline '" + (place_ / "t.json").string() + "'");
    EXPECT_NE(std::string::npos, alone.find(" (F:7, F) in kernel 'a', block (0,0,0)")) << alone;
    EXPECT_EQ(alone, watched) << turns;
    EXPECT_EQ(alone, said(turns, "--threads 3")) << turns;
    texts.insert(alone);
  }
  EXPECT_GT(texts.size(), 1u) << "the other SM wrote nothing meanwhile";
}

}  // namespace ahead_test
