// SPDX-License-Identifier: MIT
// `heddle replay` through its command line, on traces written here: counts, rejected input, exit codes and messages.
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "tests/system/common/sanitizer_remark.h"

namespace replay_test {

namespace fs = std::filesystem;
using json = nlohmann::json;

constexpr unsigned full = 0xffffffffu;

std::string hex(unsigned value, unsigned digits) {
  char text[16];
  std::snprintf(text, sizeof text, "%0*x", static_cast<int>(digits), value);
  return text;
}

/// The lines of one warp, version 5.
class warp_lines {
 public:
  warp_lines& alu(const std::string& opcode, int result, std::vector<int> operands, unsigned mask = full) {
    return line(mask, opcode, result, operands, "0 0");
  }
  /// Addresses base + lane * stride.
  warp_lines& mem(const std::string& opcode, int result, std::vector<int> operands, unsigned bytes,
                  const std::string& base, int stride, unsigned mask = full) {
    return line(mask, opcode, result, operands,
                std::to_string(bytes) + " 1 " + base + " " + std::to_string(stride) + " 0");
  }
  warp_lines& exit(unsigned mask = full) { return alu("EXIT", -1, {}, mask); }
  std::string text(unsigned number) const {
    return "warp = " + std::to_string(number) + "\ninsts = " + std::to_string(count_) + "\n" + lines_ + "\n";
  }
  warp_lines& at(unsigned pc) {
    pc_ = pc;
    return *this;
  }

 private:
  warp_lines& line(unsigned mask, const std::string& opcode, int result, const std::vector<int>& operands,
                   const std::string& rest) {
    lines_ += hex(pc_, 4) + " " + hex(mask, 8) + (result < 0 ? " 0 " : " 1 R" + std::to_string(result) + " ") + opcode +
              " " + std::to_string(operands.size());
    for (const int r : operands) lines_ += " R" + std::to_string(r);
    lines_ += " " + rest + "\n";
    pc_ += 16;
    ++count_;
    return *this;
  }
  std::string lines_;
  unsigned pc_ = 0;
  unsigned count_ = 0;
};

struct kernel {
  unsigned blocks = 1;
  unsigned threads = 64;
  unsigned registers = 32;
  unsigned shared = 1024;
  unsigned binary = 70;
  unsigned stream = 0;
  std::string name = "_Z4testPf";
  std::string body;

  kernel& block(const std::vector<warp_lines>& warps) {
    body += "#BEGIN_TB\n\nthread block = " + std::to_string(written_++) + ",0,0\n\n";
    for (std::size_t w = 0; w < warps.size(); ++w) body += warps[w].text(static_cast<unsigned>(w));
    body += "#END_TB\n\n";
    return *this;
  }
  std::string text() const {
    return "-kernel name = " + name + "\n-kernel id = 1\n-grid dim = (" + std::to_string(blocks) +
           ",1,1)\n-block dim = (" + std::to_string(threads) + ",1,1)\n-shmem = " + std::to_string(shared) +
           "\n-nregs = " + std::to_string(registers) + "\n-binary version = " + std::to_string(binary) +
           "\n-cuda stream id = " + std::to_string(stream) +
           "\n-shmem base_addr = 0x00007f5000000000\n-local mem base_addr = 0x00007f4e00000000\n-nvbit version = 1.7\n"
           "-accelsim tracer version = 5\n-enable lineinfo = 0\n\n#traces format = [line_num] PC mask dest_num [reg_dests] opcode "
           "src_num [reg_srcs] mem_width [adrrescompress?] [mem_addresses] immediate\n\n" +
           body;
  }

 private:
  unsigned written_ = 0;
};

struct outcome {
  int code = -1;
  std::string out;
  std::string err;
};

std::string content(const fs::path& file) {
  std::ifstream in(file, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

class replay : public ::testing::Test {
 protected:
  replay() {
    place_ = fs::path(HEDDLE_SCRATCH "/replay") / ::testing::UnitTest::GetInstance()->current_test_info()->name();
    fs::remove_all(place_);
    fs::create_directories(place_);
  }
  void write(const std::string& name, const std::string& text) {
    std::ofstream(place_ / name, std::ios::binary) << text;
  }
  bool exists(const std::string& name) const { return fs::exists(place_ / name); }

  /// Runs the program in the test's folder. A signal counts as code 128 + its number.
  outcome run(const std::vector<std::string>& arguments) {
    const fs::path out = fs::path(HEDDLE_SCRATCH "/replay") / (place_.filename().string() + ".stdout");
    const fs::path err = fs::path(HEDDLE_SCRATCH "/replay") / (place_.filename().string() + ".stderr");
    const pid_t child = fork();
    if (child == 0) {
      std::vector<char*> argv{const_cast<char*>(HEDDLE_PROGRAM), const_cast<char*>("replay")};
      for (const auto& a : arguments) argv.push_back(const_cast<char*>(a.c_str()));
      argv.push_back(nullptr);
      if (chdir(place_.c_str()) != 0 || !freopen(out.c_str(), "w", stdout) || !freopen(err.c_str(), "w", stderr))
        _exit(126);
      alarm(60);
      execv(HEDDLE_PROGRAM, argv.data());
      _exit(127);
    }
    int status = 0;
    waitpid(child, &status, 0);
    return {WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status), content(out),
            without_sanitizer_remark(content(err))};
  }
  /// Replays one kernel on a GPU with checks enabled.
  outcome run_kernel(const kernel& k, const std::string& gpu = "v100", std::vector<std::string> more = {}) {
    write("kernel-1.traceg", k.text());
    write("kernelslist.g", "kernel-1.traceg\n");
    std::vector<std::string> a{"kernelslist.g", "--gpu", gpu, "--metrics", "m.json", "--set", "tlm.check=true"};
    a.insert(a.end(), more.begin(), more.end());
    return run(a);
  }
  json metrics() { return json::parse(content(place_ / "m.json")); }

  void expect_refused(const outcome& o, const std::string& part) {
    EXPECT_EQ(o.code, 2) << o.err;
    EXPECT_EQ(o.err.rfind("heddle: error: ", 0), 0u) << o.err;
    EXPECT_NE(o.err.substr(0, o.err.find('\n')).find(part), std::string::npos) << "wanted '" << part << "' in\n"
                                                                               << o.err;
    EXPECT_FALSE(exists("m.json"));
  }

  fs::path place_;
};

/// Each lane loads a word, passes it through shared memory, stores it, and adds to one address: 9 instructions.
warp_lines exchange() {
  return warp_lines()
      .alu("MOV", 1, {})
      .mem("LDG.E.SYS", 2, {4}, 4, "0x7f4000000000", 4)
      .mem("STS", -1, {6, 2}, 4, "0x0", 4)
      .alu("BAR.SYNC", -1, {})
      .mem("LDS.U", 3, {6}, 4, "0x0", 4)
      .alu("FADD", 5, {3, 2})
      .mem("STG.E.SYS", -1, {8, 5}, 4, "0x7f4200000000", 4)
      .mem("RED.E.ADD.STRONG.GPU", -1, {8, 5}, 4, "0x7f4300000000", 0)
      .exit();
}

TEST_F(replay, counts_what_the_trace_holds_on_every_generation) {
  kernel k;
  k.blocks = 2;
  k.block({exchange(), exchange()}).block({exchange(), exchange()});
  for (const char* gpu : {"gtx1080", "v100", "h100"}) {
    SCOPED_TRACE(gpu);
    const outcome o = run_kernel(k, gpu);
    ASSERT_EQ(o.code, 0) << o.err;
    EXPECT_EQ(o.err.empty(), std::string(gpu) == "v100") << o.err;
    const json m = metrics()["kernels"][0];
    EXPECT_EQ(m["name"], "_Z4testPf");
    EXPECT_EQ(m["blocks"], 2);
    EXPECT_EQ(m["warps"], 4);
    EXPECT_EQ(m["registers_per_thread"], 32);
    EXPECT_EQ(m["shared_bytes_per_block"], 1024);
    // Four warps of 9: load, store to shared, load from it, store, reduction; MOV; FADD; BAR, EXIT.
    EXPECT_EQ(m["metrics"]["inst_executed"], 36);
    EXPECT_EQ(m["instructions"]["ldst"], 20);
    EXPECT_EQ(m["instructions"]["int"], 4);
    EXPECT_EQ(m["instructions"]["fp32"], 4);
    EXPECT_EQ(m["instructions"]["branch"], 8);
    // 128 bytes of a warp are four sectors.
    EXPECT_EQ(m["metrics"]["gld_transactions"], 16);
    EXPECT_EQ(m["metrics"]["gst_transactions"], 16);
    EXPECT_EQ(m["metrics"]["gld_efficiency"], 1.0);
    EXPECT_EQ(m["metrics"]["shared_load_transactions"], 4);
    EXPECT_EQ(m["metrics"]["shared_store_transactions"], 4);
    EXPECT_EQ(m["metrics"]["warp_execution_efficiency"], 1.0);
  }
}

TEST_F(replay, addresses_and_masks_make_the_transactions) {
  kernel k;
  k.threads = 32;
  k.block({warp_lines()
               .mem("LDG.E.64.SYS", 2, {4}, 8, "0x7f4000000000", 8)           // 256 bytes: 8 sectors
               .mem("LDG.E.SYS", 8, {4}, 4, "0x7f4000010000", 128)            // 32 sectors
               .mem("LDG.E.SYS", 9, {4}, 4, "0x7f4000020000", 4, 0x000000ff)  // 1 sector
               .mem("LDG.E.SYS", 9, {4}, 4, "0x0", 0, 0)                      // no lanes
               .mem("LDG.E.U8.SYS", 9, {4}, 1, "0xffffffffffffffff", 0)       // any address is accepted
               .mem("LDS.U", 10, {6}, 4, "0x0", 8)                            // 2 lanes a bank: 2 passes
               .mem("STL", -1, {6, 2}, 4, "0x7f4e00000010", 0)                // local memory is interleaved: 4 sectors
               .exit()});
  ASSERT_EQ(run_kernel(k).code, 0);
  const json m = metrics()["kernels"][0];
  EXPECT_EQ(m["metrics"]["gld_transactions"], 8 + 32 + 1 + 1);
  EXPECT_EQ(m["metrics"]["shared_load_transactions"], 2);
  EXPECT_EQ(m["memory"]["shared"]["bank_conflicts"], 1);
  EXPECT_EQ(m["metrics"]["inst_executed"], 8);
}

TEST_F(replay, resources_of_the_header_decide_occupancy) {
  kernel k;
  k.threads = 128;
  k.registers = 128;
  const warp_lines w = warp_lines().exit();
  k.block({w, w, w, w});
  ASSERT_EQ(run_kernel(k).code, 0);
  json m = metrics()["kernels"][0];
  EXPECT_EQ(m["blocks_per_sm"], 4);  // 65536 registers / (128 * 128)
  EXPECT_EQ(m["occupancy_limiters"], json::array({"registers"}));
  fs::remove(place_ / "m.json");
  k.shared = 200000;
  expect_refused(run_kernel(k), "kernelslist.g:1:1: kernel '_Z4testPf': a block of 128 threads");
}

TEST_F(replay, warps_wait_for_each_other_at_barriers) {
  warp_lines slow;
  for (int n = 0; n < 100; ++n) slow.at(0x10).alu("FADD", 2, {2, 2});
  slow.at(0x20).alu("BAR.SYNC", -1, {}).exit();
  const warp_lines fast = warp_lines().at(0x20).alu("BAR.SYNC", -1, {}).exit();
  for (const char* gpu : {"gtx1080", "v100"}) {
    SCOPED_TRACE(gpu);
    kernel k;
    k.block({slow, fast});
    ASSERT_EQ(run_kernel(k, gpu).code, 0);
    const json cycles = metrics()["kernels"][0]["warp_cycles"];
    EXPECT_GT(cycles["sync"], 350);  // barriers do not wait for ended warps
    kernel alone;
    alone.block({slow, warp_lines().exit()});  // who has ended is not waited for
    ASSERT_EQ(run_kernel(alone, gpu).code, 0);
    EXPECT_LT(metrics()["kernels"][0]["warp_cycles"]["sync"], 100);
  }
}

TEST_F(replay, halves_of_a_warp_come_to_a_barrier_apart) {
  kernel k;
  k.threads = 32;
  k.block({warp_lines()
               .alu("BAR.SYNC", -1, {}, 0x0000ffff)
               .alu("FADD", 2, {3, 4}, 0xffff0000)
               .alu("BAR.SYNC", -1, {}, 0xffff0000)
               .alu("FADD", 5, {2, 2})
               .exit()});
  EXPECT_EQ(run_kernel(k, "v100").code, 0);
  EXPECT_EQ(metrics()["kernels"][0]["metrics"]["inst_executed"], 5);
}

// The second warp has one thread, the first 32: each waits for the other.
TEST_F(replay, a_warp_of_one_thread_comes_to_barriers) {
  warp_lines slow;
  for (int n = 0; n < 100; ++n) slow.at(0x10).alu("FADD", 2, {2, 2});
  slow.at(0x20).alu("BAR.SYNC", -1, {}).exit();
  warp_lines slow_thread;
  for (int n = 0; n < 100; ++n) slow_thread.at(0x10).alu("FADD", 2, {2, 2}, 1);
  slow_thread.at(0x20).alu("BAR.SYNC", -1, {}, 1).exit(1);
  for (const char* gpu : {"gtx1080", "v100"}) {
    SCOPED_TRACE(gpu);
    kernel k;
    k.threads = 33;
    k.block({slow, warp_lines().at(0x20).alu("BAR.SYNC", -1, {}, 1).exit(1)});
    ASSERT_EQ(run_kernel(k, gpu).code, 0);
    EXPECT_GT(metrics()["kernels"][0]["warp_cycles"]["sync"], 350);
    kernel turned;
    turned.threads = 33;
    turned.block({warp_lines().at(0x20).alu("BAR.SYNC", -1, {}).exit(), slow_thread});
    ASSERT_EQ(run_kernel(turned, gpu).code, 0);
    EXPECT_GT(metrics()["kernels"][0]["warp_cycles"]["sync"], 350);
  }
}

TEST_F(replay, disagreement_about_a_barrier_is_a_deadlock) {
  kernel k;
  const warp_lines half = warp_lines().alu("BAR.SYNC", -1, {}, 0x0000ffff).alu("FADD", 5, {2, 2}).exit();
  k.block({half, half});
  const outcome o = run_kernel(k, "v100");
  EXPECT_EQ(o.code, 1);
  EXPECT_EQ(o.err.rfind("heddle: error: ", 0), 0u) << o.err;
  EXPECT_NE(o.err.find("deadlock"), std::string::npos) << o.err;
  EXPECT_NE(o.err.find("kernel-1.traceg, at 0x0"), std::string::npos) << o.err;
  EXPECT_TRUE(exists("m.json"));
}

TEST_F(replay, divergence_shows_at_branches) {
  kernel k;
  k.threads = 32;
  k.block({warp_lines()
               .alu("ISETP.GE.AND", -1, {2})
               .alu("BRA", -1, {}, 0xff000000)  // these lanes branch, the others continue
               .alu("FADD", 2, {2, 2}, 0x00ffffff)
               .alu("BRA", -1, {}, 0)  // no lane branches
               .alu("FADD", 2, {2, 2}, 0x00ffffff)
               .exit()});
  ASSERT_EQ(run_kernel(k).code, 0);
  EXPECT_EQ(metrics()["kernels"][0]["metrics"]["branch_efficiency"], 0.5);
}

// Metrics and views use the names of the trace, with the registers that are tracked.
TEST_F(replay, instructions_have_their_recorded_names) {
  kernel k;
  k.threads = 32;
  k.block({warp_lines().alu("IMAD.WIDE.U32", 4, {2, 3}).alu("FADD.FTZ", 2, {4, 2}).exit()});
  ASSERT_EQ(run_kernel(k, "v100", {"--pipeline", "p.kanata"}).code, 0);
  const json m = metrics();
  std::vector<std::string> texts;
  for (const json& line : m["kernels"][0]["lines"])
    if (line["executed"] != 0) texts.push_back(line["text"]);
  EXPECT_EQ(texts, (std::vector<std::string>{"IMAD.WIDE.U32 R4.64, R2, R3", "FADD.FTZ R2, R4, R2", "EXIT"}));
  const std::string view = content(place_ / "p.kanata");
  for (const std::string& text : texts) EXPECT_NE(view.find(": " + text + "\n"), std::string::npos) << text;
}

TEST_F(replay, streams_overlap_and_copies_wait) {
  kernel k;
  k.threads = 32;
  warp_lines w;
  for (int n = 0; n < 200; ++n) w.at(0).alu("FADD", 2, {2, 2});
  k.block({w.exit()});
  write("kernel-1.traceg", k.text());
  k.stream = 7;
  k.name = "second";
  write("kernel-2.traceg", k.text());
  const auto starts_before_the_other_ends = [this](const std::string& list) {
    write("list.g", list);
    const outcome o = run({"list.g", "--gpu", "v100", "--metrics", "m.json"});
    EXPECT_EQ(o.code, 0) << o.err;
    const json m = metrics();
    EXPECT_EQ(m["kernels"].size(), 2u);
    EXPECT_EQ(m["kernels"][0]["launch"], 0);
    EXPECT_EQ(m["kernels"][1]["launch"], 1);
    EXPECT_NE(m["kernels"][0]["stream"], m["kernels"][1]["stream"]);
    return m["kernels"][1]["start_cycle"] < m["kernels"][0]["end_cycle"];
  };
  EXPECT_TRUE(starts_before_the_other_ends("kernel-2.traceg\nkernel-1.traceg\n"));
  EXPECT_FALSE(starts_before_the_other_ends("kernel-2.traceg\nMemcpyHtoD,0x00007f4000000000,4096\nkernel-1.traceg\n"));
  write("list.g", "kernel-1.traceg\nkernel-1.traceg\n");
  ASSERT_EQ(run({"list.g", "--gpu", "v100", "--metrics", "m.json"}).code, 0);
  EXPECT_GE(metrics()["kernels"][1]["start_cycle"], metrics()["kernels"][0]["end_cycle"]);
}

TEST_F(replay, recorded_warps_go_on_where_they_were_after_a_switch) {
  // Two streams alternate on one SM with room for one block: arithmetic, memory accesses and a barrier before and
  // after the switches.
  kernel k;
  k.threads = 64;
  std::vector<warp_lines> warps(2);
  for (warp_lines& w : warps) {
    for (int n = 0; n < 120; ++n) {
      w.at(0).alu("FADD", 2, {2, 2});
      if (n % 10 == 0) w.at(16).mem("LDG.E.SYS", 4, {2}, 4, "0x00007f4000000000", 4);
      if (n % 30 == 0) w.at(32).alu("BAR.SYNC", -1, {});
    }
    w.exit();
  }
  k.block(warps);
  write("kernel-1.traceg", k.text());
  k.stream = 7;
  k.name = "second";
  write("kernel-2.traceg", k.text());
  write("list.g", "kernel-1.traceg\nkernel-2.traceg\n");
  std::vector<std::string> options = {"list.g", "--gpu",          "v100",  "--metrics",      "m.json",
                                      "--set",  "gpu.sm_count=1", "--set", "sm.max_blocks=1"};
  ASSERT_EQ(run(options).code, 0);
  const json undisturbed = metrics();
  EXPECT_TRUE(undisturbed["context_switches"].empty());
  options.insert(options.end(), {"--set", "context.time_slice_cycles=200"});
  const outcome o = run(options);
  ASSERT_EQ(o.code, 0) << o.err;
  const json m = metrics();
  EXPECT_GE(m["context_switches"].size(), 3u);
  for (const json& s : m["context_switches"]) EXPECT_EQ(s["warp_ids"], s["restored_warp_ids"]);
  for (unsigned n = 0; n < 2; ++n) {
    EXPECT_EQ(m["kernels"][n]["instructions"], undisturbed["kernels"][n]["instructions"]);
    EXPECT_EQ(m["kernels"][n]["metrics"]["gld_transactions"], undisturbed["kernels"][n]["metrics"]["gld_transactions"]);
  }
  // From a file, one segment at a time in memory.
  options.insert(options.end(), {"--trace-memory", "0"});
  ASSERT_EQ(run(options).code, 0);
  json from_file = metrics();
  json from_memory = m;
  from_file.erase("host");
  from_memory.erase("host");
  EXPECT_EQ(from_file, from_memory);
}

TEST_F(replay, blocks_that_the_file_leaves_out_are_not_run) {
  kernel k;
  k.blocks = 2000000000;
  k.threads = 32;
  k.block({warp_lines().exit()});
  const outcome o = run_kernel(k);
  ASSERT_EQ(o.code, 0);
  EXPECT_EQ(
      o.err,
      "heddle: warning: kernel-1.traceg: 1 of the 2,000,000,000 blocks of kernel '_Z4testPf' are in the trace: the others did "
      "nothing, or it was cut off\n");
  EXPECT_EQ(metrics()["kernels"][0]["blocks"], 1);
  k.body.clear();
  ASSERT_EQ(run_kernel(k).code, 0);
}

TEST_F(replay, foreign_and_unknown_things_are_warned_of_once_or_refused) {
  kernel k;
  k.threads = 32;
  k.block({warp_lines()
               .alu("FROBNICATE.X", 2, {2})
               .alu("FROBNICATE.X", 2, {2})
               .alu("HMMA.884.F32.F32.STEP0", 2, {4, 6, 8})
               .exit()});
  outcome o = run_kernel(k, "gtx1080");  // gtx1080 has no tensor unit
  EXPECT_EQ(o.code, 0) << o.err;
  EXPECT_EQ(
      o.err,
      "heddle: warning: traces of binary version 70 on gtx1080 (compute capability 6.1), which is of another generation: they "
      "are replayed with their own opcodes\nheddle: warning: opcodes that are not known, replayed as what their names resemble: "
      "FROBNICATE (2 times)\n");
  fs::remove(place_ / "m.json");
  expect_refused(run_kernel(k, "v100", {"--strict"}), "opcode 'FROBNICATE' of kernel '_Z4testPf' is not known");
  kernel fine;
  fine.threads = 32;
  fine.block({warp_lines().exit()});
  expect_refused(run_kernel(fine, "gtx1080", {"--strict"}), "binary version 70 on gtx1080");
  o = run_kernel(fine, "v100", {"--strict"});
  EXPECT_EQ(o.code, 0);
  EXPECT_EQ(o.err, "");
}

TEST_F(replay, what_no_real_trace_has_is_warned_of_once) {
  kernel k;
  k.block({warp_lines().alu("MOV", 1, {}).exit(0x1).alu("MOV", 2, {}, 0xfffffffe).exit(0xfffffffe),
           warp_lines().alu("MOV", 1, {}).exit()});
  EXPECT_EQ(run_kernel(k).err, "");
  kernel odd;
  odd.blocks = 2;
  odd.threads = 96;
  odd.block({warp_lines().alu("MOV", 1, {}).exit().alu("MOV", 2, {}).exit(), warp_lines().alu("MOV", 1, {})});
  odd.block({warp_lines().exit(), warp_lines().exit(), warp_lines().exit()});
  outcome o = run_kernel(odd);
  EXPECT_EQ(o.code, 0);
  EXPECT_EQ(
      o.err,
      "heddle: warning: kernel-1.traceg: kernel '_Z4testPf' has 1 warp without instructions, 1 warp without EXIT at the "
      "end, 1 warp with lanes that continue after EXIT: they are replayed as recorded, and each ends with its last "
      "instruction\n");
  write("kernel-1.traceg", "-foo bar = 5\n" + k.text());
  o = run({"kernelslist.g", "--gpu", "v100"});
  EXPECT_EQ(o.code, 0);
  EXPECT_EQ(o.err, "heddle: warning: kernel-1.traceg: keys of the head that are not known are ignored: -foo bar\n");
}

TEST_F(replay, a_list_hides_no_kernel) {
  kernel k;
  k.threads = 32;
  k.block({warp_lines().exit()});
  run_kernel(k);
  write("kernelslist.g", "\xEF\xBB\xBFkernel-1.traceg\nkernel-1.traceg\n");
  EXPECT_EQ(run({"kernelslist.g", "--gpu", "v100", "--metrics", "m.json"}).code, 0);
  EXPECT_EQ(metrics()["kernels"].size(), 2u);
  fs::remove(place_ / "m.json");
  write("kernelslist.g", "kernel-1.traceg\nKernel-1.traceg\n");
  expect_refused(run({"kernelslist.g", "--metrics", "m.json"}), "kernelslist.g:2:1: got 'Kernel-1.traceg'");
}

TEST_F(replay, broken_traces_are_refused_before_anything_runs) {
  kernel k;
  k.block({exchange(), exchange()});
  const std::string text = k.text();
  write("kernelslist.g", "kernel-1.traceg\n");
  // A truncated trace is rejected, unless it is cut between blocks.
  for (std::size_t cut = 10; cut < text.size(); cut += 97) {
    SCOPED_TRACE(cut);
    write("kernel-1.traceg", text.substr(0, cut));
    const outcome o = run({"kernelslist.g", "--gpu", "v100", "--metrics", "m.json"});
    const bool whole = cut > text.find("#traces") && cut < text.find("#BEGIN_TB");
    if (!whole) expect_refused(o, "kernel-1.traceg:");
    fs::remove(place_ / "m.json");
  }
  write("kernel-1.traceg", text.substr(0, text.size() / 2));
  expect_refused(run({"kernelslist.g", "--metrics", "m.json"}), "of kernel '_Z4testPf'");
  expect_refused(run({"none.g", "--metrics", "m.json"}), "none.g");
  write("kernelslist.g", "kernel-9.traceg\n");
  expect_refused(run({"kernelslist.g", "--metrics", "m.json"}),
                 "kernelslist.g:1:1: the trace 'kernel-9.traceg' cannot be read");
  write("kernelslist.g", "MemcpyHtoD,0x0,4\n");
  expect_refused(run({"kernelslist.g", "--metrics", "m.json"}), "names no kernel");
  expect_refused(run({"--metrics", "m.json"}), "expected a list of kernels");
}

TEST_F(replay, a_folder_that_takes_no_temporary_file_is_named) {
  kernel k;
  k.block({exchange(), exchange()});
  ASSERT_EQ(::setenv("TMPDIR", "/nowhere/at all", 1), 0);
  expect_refused(run_kernel(k, "v100", {"--trace-memory", "0"}), "a temporary file in '/nowhere/at all'");
  EXPECT_EQ(run_kernel(k).code, 0);  // no temporary file is needed
  ::unsetenv("TMPDIR");
  fs::remove(place_ / "m.json");
  expect_refused(run_kernel(k, "v100", {"--trace-memory", "-1"}), "trace-memory");
}

TEST_F(replay, options_of_run_hold) {
  kernel k;
  k.block({exchange(), exchange()});
  outcome o = run_kernel(k, "v100", {"--vcd", "w.vcd", "--quiet"});
  EXPECT_EQ(o.code, 0) << o.err;
  EXPECT_EQ(o.out, "");
  EXPECT_TRUE(exists("w.vcd"));
  o = run_kernel(k, "v100", {"--max-cycles", "50"});
  EXPECT_EQ(o.code, 1);
  EXPECT_NE(o.err.find("--max-cycles"), std::string::npos);
  expect_refused(
      [&] {
        fs::remove(place_ / "m.json");
        return run_kernel(k, "v100", {"--metrics", "no/where.json"});
      }(),
      "");
  o = run({"--help"});
  EXPECT_EQ(o.code, 0);
  EXPECT_NE(o.out.find("--strict"), std::string::npos);
}

TEST_F(replay, two_runs_are_identical) {
  kernel k;
  k.block({exchange(), exchange()});
  ASSERT_EQ(run_kernel(k).code, 0);
  json first = metrics();
  ASSERT_EQ(run_kernel(k).code, 0);
  json second = metrics();
  first.erase("host");
  second.erase("host");
  EXPECT_EQ(first, second);
}

}  // namespace replay_test
