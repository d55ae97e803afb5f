// SPDX-License-Identifier: MIT
// Runs that signals stop or sample: the results up to that cycle are written, complete and marked, and a snapshot does
// not change the run.
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

#include "tests/system/common/json_text.h"
#include "tests/system/common/sanitizer_remark.h"
#include "tests/system/common/text_file.h"

namespace cut_run_test {

namespace fs = std::filesystem;
using json = nlohmann::ordered_json;
using words = std::vector<std::string>;

// Each thread sums loaded values `turns` times and stores the sum.
const char* const long_kernel = R"(.version 7.0
.target sm_60
.address_size 64
.visible .entry adds(.param .u64 data, .param .u32 turns)
{
  .reg .pred %p;
  .reg .b32 %r<8>;
  .reg .b64 %rd<4>;
  ld.param.u64 %rd1, [data];
  ld.param.u32 %r1, [turns];
  mov.u32 %r2, %ctaid.x;
  mov.u32 %r3, %ntid.x;
  mov.u32 %r4, %tid.x;
  mad.lo.u32 %r2, %r2, %r3, %r4;
again:
  and.b32 %r5, %r2, 16383;
  mul.wide.u32 %rd2, %r5, 4;
  add.u64 %rd3, %rd1, %rd2;
  ld.global.u32 %r6, [%rd3];
  add.u32 %r2, %r2, %r6;
  add.u32 %r2, %r2, 67;
  st.global.u32 [%rd3], %r2;
  sub.u32 %r1, %r1, 1;
  setp.ne.u32 %p, %r1, 0;
  @%p bra again;
  ret;
}
)";

struct outcome {
  int code = -1;  // 128 plus the signal's number if a signal ended it
  bool by_signal = false;
  std::string out;
  std::string err;
};

class cut_run : public ::testing::Test {
 protected:
  cut_run()
      : place_(fs::path(HEDDLE_SCRATCH "/cut_run") /
               (std::string("cut_") + ::testing::UnitTest::GetInstance()->current_test_info()->name())) {
    fs::remove_all(place_);
    fs::create_directories(place_ / "run");
    write("k.ptx", long_kernel);
  }

  void write(const std::string& name, const std::string& text) {
    std::ofstream(place_ / "run" / name, std::ios::binary) << text;
  }
  std::string read(const std::string& name) { return heddle::test::content(place_ / "run" / name); }
  bool exists(const std::string& name) { return fs::exists(place_ / "run" / name); }
  json metrics(const std::string& name) {
    json m = json::parse(read(name));
    m.erase("host");
    return m;
  }
  /// The files in the run's folder except the kernel.
  std::vector<std::string> files() {
    std::vector<std::string> names;
    for (const auto& entry : fs::directory_iterator(place_ / "run"))
      if (entry.path().filename() != "k.ptx") names.push_back(entry.path().filename());
    return names;
  }

  pid_t start(const words& arguments, int ignored = 0) {
    const pid_t child = fork();
    if (child != 0) return child;
    std::vector<char*> argv{const_cast<char*>(HEDDLE_PROGRAM)};
    for (const auto& a : arguments) argv.push_back(const_cast<char*>(a.c_str()));
    argv.push_back(nullptr);
    if (chdir((place_ / "run").c_str()) != 0 || !freopen("../out", "w", stdout) || !freopen("../err", "w", stderr))
      _exit(126);
    if (ignored != 0) signal(ignored, SIG_IGN);
    alarm(300);
    execv(HEDDLE_PROGRAM, argv.data());
    _exit(127);
  }
  outcome finish(pid_t child) {
    int status = 0;
    waitpid(child, &status, 0);
    outcome o;
    o.by_signal = WIFSIGNALED(status);
    o.code = o.by_signal ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
    const auto content = [&](const char* name) { return heddle::test::content(place_ / name); };
    o.out = content("out");
    o.err = without_sanitizer_remark(content("err"));
    return o;
  }
  outcome run(const words& arguments) { return finish(start(arguments)); }

  /// Waits until the process has a handler for the signal according to the system, or, if `yes` is false, has ended.
  static void wait_for_handler(pid_t child, int number) {
    for (;;) {
      std::ifstream in("/proc/" + std::to_string(child) + "/status");
      for (std::string line; std::getline(in, line);)
        if (line.rfind("SigCgt:", 0) == 0 && (std::stoull(line.substr(7), nullptr, 16) >> (number - 1) & 1) != 0)
          return;
      int status = 0;
      ASSERT_EQ(0, waitpid(child, &status, WNOHANG)) << "the run has ended";
      usleep(1000);
    }
  }
  /// Waits until the file contains metrics in which `key` is greater than `least`; returns the value.
  std::uint64_t wait_for(const std::string& file, const char* key, std::uint64_t least) {
    for (unsigned i = 0; i < 100000; ++i, usleep(1000)) {
      if (!exists(file)) continue;
      const json m = json::parse(read(file));  // the file is always complete
      if (m.contains(key) && m[key].get<std::uint64_t>() > least) return m[key];
    }
    ADD_FAILURE() << file << " does not come";
    return 0;
  }

  static words kernel(const std::string& turns) {
    return {"run",   "--kernel",         "k.ptx", "--grid",       "200",   "--block", "128",
            "--arg", "buf:65536:iota32", "--arg", "u32:" + turns, "--gpu", "v100"};
  }

  const fs::path place_;
};

words operator+(words a, const words& b) {
  a.insert(a.end(), b.begin(), b.end());
  return a;
}

// At any cycle, the metrics equal those of a run that was limited to that cycle.
TEST_F(cut_run, a_stopped_run_leaves_the_metrics_of_what_ran) {
  for (const int number : {SIGINT, SIGTERM}) {
    const pid_t child = start(kernel("100000000") + words{"--metrics", "m.json"});
    wait_for_handler(child, number);
    kill(child, number);
    const outcome o = finish(child);
    const std::string name = number == SIGINT ? "SIGINT" : "SIGTERM";
    EXPECT_EQ(o.code, 128 + number) << o.err;
    EXPECT_FALSE(o.by_signal) << "an exit code, as of a program that has ended in order";
    json m = metrics("m.json");
    ASSERT_EQ(m["stopped"], name);
    const std::string cycle = std::to_string(m["stopped_cycle"].get<std::uint64_t>());
    m.erase("stopped");
    m.erase("stopped_cycle");
    EXPECT_NE(o.out.find("by " + name + " in cycle "), std::string::npos) << o.out;
    EXPECT_EQ(o.err.rfind("heddle: warning: stopped by " + name + " in cycle ", 0), 0u) << o.err;
    ASSERT_EQ(run(kernel("100000000") + words{"--metrics", "l.json", "--max-cycles", cycle}).code, 1);
    EXPECT_TRUE(m == metrics("l.json")) << json::diff(m, metrics("l.json")).dump(1).substr(0, 2000);
    EXPECT_EQ(files().size(), 2u);
  }
}

// The only energy is that of reads of code, and no line has executed anything.
TEST_F(cut_run, before_the_first_instruction_it_has_metrics) {
  ASSERT_EQ(run(kernel("60") + words{"--metrics", "m.json", "--max-cycles", "1200"}).code, 1);
  const json m = metrics("m.json")["kernels"][0];
  EXPECT_EQ(m["metrics"]["inst_executed"], 0);
  EXPECT_GT(m["memory"]["l2"]["read_bytes"], 0);
  const json& energy = m["energy"];
  double lines = 0;
  for (const json& joules : energy["by_line"]) lines += joules.get<double>();
  EXPECT_GT(lines, 0);
  EXPECT_NEAR(lines, energy["total_joules"].get<double>() - energy["static_joules"].get<double>(), 1e-9 * lines);
}

TEST_F(cut_run, a_stopped_run_leaves_its_report_and_views) {
  write("job.json", json({{"module", "k.ptx"},
                          {"buffers", {{"b", {{"bytes", 65536}}}}},
                          {"launches",
                           {{{"kernel", "adds"},
                             {"grid", {200}},
                             {"block", {128}},
                             {"args", {{{"buffer", "b"}}, {{"u32", 100000000}}}}}}},
                          {"outputs", {{{"buffer", "b"}, {"file", "b.bin"}}}}})
                        .dump());
  const pid_t child =
      start({"run", "job.json", "--gpu", "v100", "--set", "gpu.sm_count=2", "--metrics", "m.json", "--report", "r.html",
             "--vcd", "w.vcd", "--timeline", "t.json", "--pipeline", "p.kanata", "--trace-window", "0:3000"});
  wait_for_handler(child, SIGUSR1);
  kill(child, SIGUSR1);
  EXPECT_GT(wait_for("m.json", "snapshot_cycle", 0), 0u);  // the run has started
  EXPECT_NE(read("r.html").find("(snapshot in cycle "), std::string::npos);
  kill(child, SIGINT);
  const outcome o = finish(child);
  EXPECT_EQ(o.code, 130) << o.err;
  const json m = metrics("m.json");
  EXPECT_EQ(m["stopped"], "SIGINT");
  EXPECT_FALSE(m.contains("snapshot_cycle"));
  EXPECT_GT(m["kernels"].at(0)["metrics"]["inst_executed"], 0);
  EXPECT_NE(read("r.html").find("job.json (stopped by SIGINT in cycle "), std::string::npos);
  const std::string mark = "stopped by SIGINT in cycle " + std::to_string(m["stopped_cycle"].get<std::uint64_t>());
  const std::string waveform = read("w.vcd"), comment = "$comment " + mark + " $end\n";
  EXPECT_NE(waveform.find("$enddefinitions"), std::string::npos);
  EXPECT_EQ(waveform.rfind(comment) + comment.size(), waveform.size());
  const json last = json::parse(read("t.json"))["traceEvents"].back();
  EXPECT_EQ(last["ph"], "i");
  EXPECT_EQ(last["name"], mark);
  EXPECT_EQ(read("p.kanata").rfind("Kanata", 0), 0u);
  EXPECT_NE(read("p.kanata").find("\t" + mark + "\n"), std::string::npos);
  EXPECT_TRUE(exists("w.gtkw"));
  EXPECT_FALSE(exists("b.bin")) << "a buffer in the middle of a run is no result";
  for (const std::string& name : files()) EXPECT_NE(name.rfind(".heddle-", 0), 0u) << name;
}

// timeout(1) signals its child, and then its group.
TEST_F(cut_run, the_same_signal_twice_within_a_moment_is_one_request) {
  const pid_t child = start(kernel("100000000") + words{"--metrics", "m.json"});
  wait_for_handler(child, SIGTERM);
  for (unsigned k = 0; k < 20; ++k) kill(child, SIGTERM);
  EXPECT_EQ(finish(child).code, 143);
  EXPECT_EQ(metrics("m.json")["stopped"], "SIGTERM");
}

// Both signals are pending when the program checks: it does not reach the end of a cycle.
TEST_F(cut_run, a_second_signal_exits_at_once_and_leaves_no_file) {
  const pid_t child = start(kernel("100000000") + words{"--metrics", "m.json", "--vcd", "w.vcd", "--trace-window",
                                                        "0:100", "--progress", "always"});
  wait_for_handler(child, SIGUSR1);
  kill(child, SIGUSR1);
  wait_for("m.json", "snapshot_cycle", 0);
  kill(child, SIGSTOP);
  int status = 0;
  waitpid(child, &status, WUNTRACED);
  ASSERT_TRUE(WIFSTOPPED(status));
  kill(child, SIGINT);
  kill(child, SIGTERM);
  kill(child, SIGCONT);
  const outcome o = finish(child);
  EXPECT_TRUE(o.by_signal);
  EXPECT_TRUE(o.code == 130 || o.code == 143) << o.code;
  EXPECT_EQ(files(), std::vector<std::string>{"m.json"}) << "the snapshot";
}

TEST_F(cut_run, snapshots_change_no_result) {
  ASSERT_EQ(run(kernel("60") + words{"--metrics", "alone.json", "--quiet"}).code, 0);
  const pid_t child = start(kernel("60") + words{"--metrics", "m.json", "--quiet"});
  wait_for_handler(child, SIGUSR1);
  std::uint64_t cycle = 0;
  unsigned seen = 0;
  int status = 0;
  pid_t ended = 0;
  while (ended == 0) {
    kill(child, SIGUSR1);
    usleep(10000);
    if (exists("m.json")) {
      const json m = json::parse(read("m.json"));
      if (m.contains("snapshot_cycle") && m["snapshot_cycle"] > cycle) {
        cycle = m["snapshot_cycle"];
        ++seen;
        EXPECT_LE(m["cycles"], cycle);
      }
    }
    ended = waitpid(child, &status, WNOHANG);
  }
  EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0);
  EXPECT_GT(seen, 0u);
  EXPECT_TRUE(metrics("m.json") == metrics("alone.json"))
      << json::diff(metrics("alone.json"), metrics("m.json")).dump(1).substr(0, 2000);
}

// Without a metrics file, the snapshot's name contains the process number, which the sender of the signal knows.
TEST_F(cut_run, a_snapshot_without_a_metrics_file_is_named_after_the_process) {
  const pid_t child = start(kernel("100000000") + words{"--quiet", "--progress", "always"});
  wait_for_handler(child, SIGUSR1);
  kill(child, SIGUSR1);
  const std::string file = "heddle-" + std::to_string(child) + ".metrics.json";
  const std::uint64_t first = wait_for(file, "snapshot_cycle", 0);
  kill(child, SIGUSR1);
  EXPECT_GT(wait_for(file, "snapshot_cycle", first), first);
  kill(child, SIGTERM);
  const outcome o = finish(child);
  EXPECT_EQ(o.code, 143);
  EXPECT_NE(o.err.find("snapshot in cycle "), std::string::npos) << o.err;
  EXPECT_EQ(files(), std::vector<std::string>{file});
}

// Before the first launch there are no results to keep.
TEST_F(cut_run, a_signal_while_a_kernel_is_lowered_exits_at_once) {
  std::string text =
      ".version 7.0\n.target sm_60\n.address_size 64\n.visible .entry k(.param .u64 p) {\n.reg .b32 %r<8>;\n.reg .b64 "
      "%d;\nld.param.u64 %d, [p];\nmov.u32 %r1, %tid.x;\n";
  for (unsigned i = 0; i < 500000; ++i) text += "mad.lo.u32 %r1, %r1, %r1, " + std::to_string(i) + ";\n";
  write("k.ptx", text + "st.global.u32 [%d], %r1;\nret;\n}\n");
  const pid_t child =
      start({"run", "--kernel", "k.ptx", "--grid", "1", "--block", "32", "--arg", "buf:64", "--metrics", "m.json"});
  wait_for_handler(child, SIGUSR1);
  kill(child, SIGINT);
  const outcome o = finish(child);
  EXPECT_TRUE(o.by_signal);
  EXPECT_EQ(o.code, 130);
  EXPECT_TRUE(files().empty());
}

TEST_F(cut_run, a_replay_is_stopped_too) {
  std::string list;
  for (unsigned i = 0; i < 5000; ++i) list += "kernel-1.traceg\n";
  write("kernelslist.g", list);
  std::ostringstream out;
  out << "-kernel name = k\n-kernel id = 1\n-grid dim = (64,1,1)\n-block dim = (32,1,1)\n-shmem = 0\n-nregs = "
         "32\n-binary version = 70\n"
         "-cuda stream id = 0\n-shmem base_addr = 0x00007f5000000000\n-local mem base_addr = "
         "0x00007f4e00000000\n-nvbit version = 1.7\n"
         "-accelsim tracer version = 3\n\n#traces format = PC mask dest_num [reg_dests] opcode src_num [reg_srcs] "
         "mem_width "
         "[adrrescompress?] [mem_addresses]\n\n";
  for (unsigned block = 0; block < 64; ++block) {
    out << "#BEGIN_TB\n\nthread block = " << std::dec << block << ",0,0\n\nwarp = 0\ninsts = 101\n" << std::hex;
    for (unsigned k = 0; k < 100; ++k) out << "0" << 0x100 + 16 * k << " ffffffff 1 R8 FFMA 3 R8 R9 R10 0 \n";
    out << "0800 ffffffff 0 EXIT 0 0 \n\n#END_TB\n\n";
  }
  write("kernel-1.traceg", out.str());
  const pid_t child =
      start({"replay", "kernelslist.g", "--gpu", "v100", "--metrics", "m.json", "--progress", "always"});
  wait_for_handler(child, SIGINT);
  kill(child, SIGUSR1);
  EXPECT_GT(wait_for("m.json", "snapshot_cycle", 0), 0u);
  kill(child, SIGINT);
  const outcome o = finish(child);
  EXPECT_EQ(o.code, 130) << o.err;
  EXPECT_EQ(metrics("m.json")["stopped"], "SIGINT");
}

// As for a background job of a shell, or under nohup.
TEST_F(cut_run, ignored_signals_stay_ignored) {
  const pid_t child = start(kernel("100000000") + words{"--metrics", "m.json"}, SIGINT);
  wait_for_handler(child, SIGTERM);
  kill(child, SIGINT);
  kill(child, SIGTERM);
  EXPECT_EQ(finish(child).code, 143);
  EXPECT_EQ(metrics("m.json")["stopped"], "SIGTERM");
}

}  // namespace cut_run_test
