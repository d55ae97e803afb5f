// SPDX-License-Identifier: MIT
#pragma once

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "tests/system/common/json_text.h"
#include "tests/system/common/program_run.h"
#include "tests/system/common/sanitizer_remark.h"
#include "tests/system/common/text_file.h"

namespace replay_fixture {

namespace fs = std::filesystem;
using json = nlohmann::json;
using heddle::test::content;
using heddle::test::outcome;

inline constexpr unsigned full = 0xffffffffu;

inline std::string hex(unsigned value, unsigned digits) {
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
  [[nodiscard]] std::string text(unsigned number) const {
    return "warp = " + std::to_string(number) + "\ninsts = " + std::to_string(count_) + "\n" + lines_ + "\n";
  }
  /// `rest`: the fields behind the opcode.
  warp_lines& raw(const std::string& opcode, const std::string& rest, unsigned mask = full) {
    lines_ += hex(pc_, 4) + " " + hex(mask, 8) + " 0 " + opcode + " " + rest + "\n";
    pc_ += 16;
    ++count_;
    return *this;
  }
  [[nodiscard]] std::vector<std::string> lines() const {
    std::vector<std::string> all;
    for (std::size_t from = 0; from < lines_.size(); from = lines_.find('\n', from) + 1)
      all.push_back(lines_.substr(from, lines_.find('\n', from) - from));
    return all;
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
  [[nodiscard]] std::string text() const {
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
  [[nodiscard]] bool exists(const std::string& name) const { return fs::exists(place_ / name); }

  /// Runs the program in the test's folder. A signal counts as code 128 + its number.
  outcome run(const std::vector<std::string>& arguments) {
    std::vector<std::string> command{HEDDLE_PROGRAM, "replay"};
    command.insert(command.end(), arguments.begin(), arguments.end());
    return heddle::test::run_program(command, {place_, place_.string() + ".stdout", place_.string() + ".stderr"});
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
inline warp_lines exchange() {
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

}  // namespace replay_fixture
