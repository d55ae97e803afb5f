// SPDX-License-Identifier: MIT
// The program in a folder with a small job, a kernel and a trace, for tests of its files.
#pragma once

#include <fcntl.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "tests/system/common/json_text.h"
#include "tests/system/common/program_run.h"
#include "tests/system/common/text_file.h"

namespace file_tests {

namespace fs = std::filesystem;
using json = nlohmann::json;
using words = std::vector<std::string>;
using heddle::test::content;
using heddle::test::outcome;

inline const char* const kernel_text = R"(.version 7.0
.target sm_60
.address_size 64
.visible .entry twice(.param .u64 data)
{
	.reg .b32 %r<3>;
	.reg .b64 %rd<4>;
	ld.param.u64 %rd1, [data];
	mov.u32 %r1, %tid.x;
	mul.wide.u32 %rd2, %r1, 4;
	add.s64 %rd3, %rd1, %rd2;
	ld.global.u32 %r2, [%rd3];
	add.u32 %r2, %r2, %r2;
	st.global.u32 [%rd3], %r2;
	ret;
}
)";

inline const char* const job_text = R"({
  "module": "k.ptx",
  "buffers": {"x": {"file": "x.bin"}},
  "launches": [{"kernel": "twice", "grid": [1], "block": [32], "args": [{"buffer": "x"}]}],
  "outputs": [{"buffer": "x", "file": "o.bin"}]
})";

inline const char* const trace_text = R"(-kernel name = k
-kernel id = 1
-grid dim = (2,1,1)
-block dim = (32,1,1)
-shmem = 0
-nregs = 8
-binary version = 70
-cuda stream id = 0
-shmem base_addr = 0x00007f0000000000
-local mem base_addr = 0x00007f1000000000
-nvbit version = 1.5.5
-accelsim tracer version = 5

#traces format = PC mask dest_num [reg_dests] opcode src_num [reg_srcs] mem_width [adrrescompress?] [mem_addresses] immediate

)";

inline std::string block_of(const std::string& place, const std::string& width) {
  return "#BEGIN_TB\n\nthread block = " + place + "\n\nwarp = 0\ninsts = 2\n0000 ffffffff 1 R1 LDG.E 1 R2 " + width +
         (width == "0" ? "" : " 1 0x7f2000000000 4") + " 0\n0010 ffffffff 0 EXIT 0 0 0\n\n#END_TB\n\n";
}

class files : public ::testing::Test {
 protected:
  files() {
    place_ = fs::path(HEDDLE_SCRATCH "/files") /
             ("files_" + std::string(::testing::UnitTest::GetInstance()->current_test_info()->name()));
    fs::remove_all(place_);
    fs::create_directories(place_ / "in");
    put("in/k.ptx", kernel_text);
    put("in/x.bin", std::string(128, '\1'));
    put("in/job.json", job_text);
  }

  void put(const std::string& name, const std::string& text) { std::ofstream(place_ / name, std::ios::binary) << text; }
  [[nodiscard]] std::string get(const std::string& name) const { return content(place_ / name); }
  [[nodiscard]] bool exists(const std::string& name) const { return fs::exists(place_ / name); }

  std::string job_with(const std::string& pointer, const json& value) {
    json j = json::parse(job_text);
    j[json::json_pointer(pointer)] = value;
    return j.dump();
  }

  /// Runs a shell command in the test's folder; `heddle` is the program. A command that hangs is killed, which is code
  /// 142.
  outcome shell(const std::string& command) {
    const std::string all =
        "cd '" + place_.string() + "' || exit; ulimit -c 0; heddle() { '" HEDDLE_PROGRAM "' \"$@\"; }; " + command;
    return heddle::test::run_program({"timeout", "-s", "KILL", "100", "bash", "-c", all},
                                     {place_, "stdout", "stderr", 0});
  }

  /// All files with content and permissions, except those of the test's shell.
  [[nodiscard]] std::vector<std::string> everything() const {
    std::vector<std::string> all;
    for (const auto& e : fs::recursive_directory_iterator(place_)) {
      const std::string name = e.path().lexically_relative(place_).string();
      if (name == "stdout" || name == "stderr") continue;
      struct stat status {};
      ::lstat(e.path().c_str(), &status);
      all.push_back(name + " " + std::to_string(status.st_mode) +
                    (e.is_regular_file() && !e.is_symlink() ? " " + content(e.path()) : ""));
    }
    std::sort(all.begin(), all.end());
    return all;
  }

  /// Expects exit code 2, a one-line message, and unchanged files.
  void refused(const std::string& command, const std::string& part) {
    const auto before = everything();
    const outcome o = shell(command);
    EXPECT_EQ(o.code, 2) << command << "\n" << o.err;
    EXPECT_EQ(o.err.rfind("heddle: error: ", 0), 0u) << command << "\n" << o.err;
    EXPECT_NE(o.err.find(part), std::string::npos) << command << ": wanted '" << part << "' in\n" << o.err;
    EXPECT_EQ(std::count(o.err.begin(), o.err.end(), '\n'), 1) << command << "\n" << o.err;
    EXPECT_EQ(everything(), before) << command;
    for (const char c : o.err)
      EXPECT_TRUE(c == '\n' || (static_cast<unsigned char>(c) >= ' ' && c != 0x7f))
          << command << ": character " << int(c);
  }

  void good(const std::string& command) {
    const outcome o = shell(command);
    EXPECT_EQ(o.code, 0) << command << "\n" << o.err;
  }

  fs::path place_;
};

}  // namespace file_tests
