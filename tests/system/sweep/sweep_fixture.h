// SPDX-License-Identifier: MIT
// `heddle sweep` as users run it, in a folder with small jobs.
#pragma once

#include <gtest/gtest.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>
#include <string>
#include <vector>

#include "tests/system/common/program_run.h"
#include "tests/system/common/text_file.h"

namespace sweep_tests {

namespace fs = std::filesystem;
using words = std::vector<std::string>;
using heddle::test::content;

// A kernel of some hundred cycles, one that never ends, one with an illegal access.
inline const char* const module_text = R"(.version 7.0
.target sm_60
.address_size 64
.visible .entry tiny(.param .u64 out)
{
	.reg .b32 %r<5>;
	.reg .b64 %rd<4>;
	ld.param.u64 %rd1, [out];
	mov.u32 %r1, %ctaid.x;
	mov.u32 %r2, %ntid.x;
	mov.u32 %r3, %tid.x;
	mad.lo.s32 %r1, %r1, %r2, %r3;
	mul.wide.u32 %rd2, %r1, 4;
	add.s64 %rd3, %rd1, %rd2;
	st.global.u32 [%rd3], %r1;
	ret;
}
.visible .entry spin()
{
	.reg .pred %p;
	.reg .b32 %r<2>;
	mov.u32 %r1, 0;
again:
	add.u32 %r1, %r1, 1;
	setp.ne.u32 %p, %r1, 0;
	@%p bra again;
	ret;
}
.visible .entry wild()
{
	.reg .b64 %rd<2>;
	.reg .b32 %r<2>;
	mov.u64 %rd1, 30064771072;
	mov.u32 %r1, 7;
	st.global.u32 [%rd1], %r1;
	ret;
}
)";

inline std::string job_text(const std::string& kernel) {
  const std::string arguments = kernel == "tiny" ? R"([{"buffer": "out"}])" : "[]";
  return R"({"module": "k.ptx", "buffers": {"out": {"bytes": 8192}}, "launches": [{"kernel": ")" + kernel +
         R"(", "grid": [8, 1, 1], "block": [128, 1, 1], "args": )" + arguments + "}]}";
}

class sweeps : public ::testing::Test {
 protected:
  sweeps() {
    place_ = fs::path(HEDDLE_SCRATCH "/sweeps") / ::testing::UnitTest::GetInstance()->current_test_info()->name();
    fs::remove_all(place_);
    fs::create_directories(place_);
    write("k.ptx", module_text);
    for (const char* kernel : {"tiny", "spin", "wild"}) write(kernel + std::string(".json"), job_text(kernel));
  }

  void write(const std::string& name, const std::string& text) {
    std::ofstream(place_ / name, std::ios::binary) << text;
  }
  [[nodiscard]] std::string read(const std::string& name) const { return content(place_ / name); }

  /// A sweep of `points` points, one SM each.
  std::string sweep_of(unsigned points, const std::string& store) {
    return "[sweep]\njob = tiny.json\nstore = " + store +
           "\n[axes]\ngpu.sm_count = 1\nl1.latency_cycles = 30:" + std::to_string(29 + points) + ":1\n";
  }

  /// The number of point files in the store s.sqlite.
  [[nodiscard]] std::size_t finished_points() const {
    std::size_t count = 0;
    if (!fs::exists(place_ / "s.sqlite.points")) return 0;
    for (const auto& e : fs::recursive_directory_iterator(place_ / "s.sqlite.points"))
      count += e.path().extension() == ".json" && e.path().filename() != "store.json";
    return count;
  }

  pid_t start(const words& arguments, const char* out = "stdout") {
    words command = {HEDDLE_PROGRAM, command_};
    command.insert(command.end(), arguments.begin(), arguments.end());
    return heddle::test::start_program(command, {place_, out, "stderr", 500, file_limit_, true});
  }

  static int finish(pid_t child) { return heddle::test::exit_code_of(child); }

  int run(const words& arguments) { return finish(start(arguments)); }

  void expect_refused(const std::string& sweep, const std::string& part, const words& options = {}) {
    write("bad.ini", sweep);
    words arguments = {"bad.ini"};
    arguments.insert(arguments.end(), options.begin(), options.end());
    EXPECT_EQ(run(arguments), 2) << sweep;
    const std::string err = read("stderr");
    EXPECT_EQ(err.rfind("heddle: error: ", 0), 0u) << err;
    EXPECT_NE(err.find(part), std::string::npos) << "wanted '" << part << "' in\n" << err;
    EXPECT_FALSE(fs::exists(place_ / "s.sqlite.points")) << "something was begun";
  }

  /// Columns of a CSV without quoted fields, by name, of each row.
  [[nodiscard]] std::vector<std::map<std::string, std::string>> rows(const std::string& csv) const {
    std::vector<std::map<std::string, std::string>> result;
    std::ifstream in(place_ / csv);
    words names;
    for (std::string line; std::getline(in, line);) {
      words fields(1);
      for (const char c : line) {
        if (c == ',') {
          fields.emplace_back();
        } else {
          fields.back() += c;
        }
      }
      if (names.empty()) {
        names = fields;
        continue;
      }
      result.emplace_back();
      for (std::size_t i = 0; i < fields.size() && i < names.size(); ++i) result.back()[names[i]] = fields[i];
    }
    return result;
  }

  fs::path place_;
  std::string command_ = "sweep";
  rlim_t file_limit_ = 0;  // 0: none
};

}  // namespace sweep_tests
