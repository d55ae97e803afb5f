// SPDX-License-Identifier: MIT
#pragma once

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "tests/system/common/program_run.h"
#include "tests/system/common/sanitizer_remark.h"
#include "tests/system/common/text_file.h"

namespace command_line_fixture {

namespace fs = std::filesystem;
using heddle::test::content;
using heddle::test::outcome;

inline const char* const module_text = R"(.version 7.0
.target sm_60
.address_size 64
.const .align 4 .u32 factor = 3;
.global .align 4 .u32 total[4];
.visible .entry store(.param .u64 out, .param .u32 n)
{
	.reg .pred %p<2>;
	.reg .b32 %r<6>;
	.reg .b64 %rd<4>;
	ld.param.u64 %rd1, [out];
	ld.param.u32 %r5, [n];
	cvta.to.global.u64 %rd1, %rd1;
	mov.u32 %r1, %ctaid.x;
	mov.u32 %r2, %ntid.x;
	mov.u32 %r3, %tid.x;
	mad.lo.s32 %r1, %r1, %r2, %r3;
	setp.ge.u32 %p1, %r1, %r5;
	@%p1 bra done;
	mul.wide.u32 %rd2, %r1, 4;
	add.s64 %rd3, %rd1, %rd2;
	st.global.u32 [%rd3], %r1;
done:
	ret;
}
.visible .entry wild()
{
	.reg .b32 %r<3>;
	.reg .b64 %rd<2>;
	mov.u64 %rd1, 30064771072;
	mov.u32 %r1, 7;
	st.global.u32 [%rd1], %r1;
	ret;
}
.visible .entry spin()
{
again:
	bra.uni again;
}
.visible .entry dead()
{
	.reg .pred %p<2>;
	.reg .b32 %r<2>;
	mov.u32 %r1, %tid.x;
	setp.lt.u32 %p1, %r1, 32;
	@%p1 bra other;
	bar.sync 1;
	ret;
other:
	bar.sync 0;
	ret;
}
.visible .entry countdown(.param .u64 flag, .param .u64 sum)
{
	.reg .b32 %r<5>;
	.reg .b64 %rd<3>;
	ld.param.u64 %rd1, [flag];
	ld.param.u64 %rd2, [sum];
	ld.global.u32 %r1, [%rd1];
	ld.global.u32 %r2, [%rd2];
	ld.const.u32 %r3, [factor];
	add.u32 %r1, %r1, -1;
	add.u32 %r2, %r2, %r3;
	st.global.u32 [%rd1], %r1;
	st.global.u32 [%rd2], %r2;
	st.global.u32 [total], %r2;
	ret;
}
)";

inline std::string words(std::vector<std::uint32_t> values) {
  std::string bytes(4 * values.size(), '\0');
  std::memcpy(bytes.data(), values.data(), bytes.size());
  return bytes;
}

class command_line : public ::testing::Test {
 protected:
  command_line() {
    const auto* info = ::testing::UnitTest::GetInstance()->current_test_info();
    place_ = fs::path(HEDDLE_SCRATCH "/command_line") / info->name();
    fs::remove_all(place_);
    fs::create_directories(place_);
    write("k.ptx", module_text);
  }

  void write(const std::string& name, const std::string& text) {
    std::ofstream(place_ / name, std::ios::binary) << text;
  }
  std::string read(const std::string& name) { return content(place_ / name); }
  bool exists(const std::string& name) { return fs::exists(place_ / name); }

  /// Starts the program in the test's folder.
  pid_t start(const std::vector<std::string>& arguments) {
    std::vector<std::string> command{HEDDLE_PROGRAM};
    command.insert(command.end(), arguments.begin(), arguments.end());
    return heddle::test::start_program(command, {place_, stream("stdout"), stream("stderr")});
  }

  /// Waits for its end. A signal counts as code 128 + its number.
  outcome finish(pid_t child) {
    const int code = heddle::test::exit_code_of(child);
    return {code, content(stream("stdout")), without_sanitizer_remark(content(stream("stderr")))};
  }

  outcome run(const std::vector<std::string>& arguments) { return finish(start(arguments)); }

  outcome run_job(const std::string& text, std::vector<std::string> options = {}) {
    write("job.json", text);
    options.insert(options.begin(), {"run", "job.json"});
    return run(options);
  }

  /// Expects the exit code, an error as the first line on stderr and `part` somewhere in stderr; with code 2 no new
  /// files.
  void expect_error(const outcome& o, int code, const std::string& part) {
    EXPECT_EQ(o.code, code) << o.err;
    EXPECT_EQ(o.err.rfind("heddle: error: ", 0), 0u) << o.err;
    EXPECT_NE(o.err.find(part), std::string::npos) << "wanted '" << part << "' in\n" << o.err;
    EXPECT_FALSE(has_temporary_file());
  }

  bool has_temporary_file() {
    for (const auto& entry : fs::directory_iterator(place_))
      if (entry.path().filename().string().rfind(".heddle-", 0) == 0) return true;
    return false;
  }

  fs::path stream(const std::string& name) {
    return fs::path(HEDDLE_SCRATCH "/command_line") / (place_.filename().string() + "." + name);
  }

  fs::path place_;
};

inline const std::vector<std::string> store = {"run", "--kernel", "k.ptx:store", "--grid", "2", "--block", "64"};

inline std::vector<std::string> operator+(std::vector<std::string> a, const std::vector<std::string>& b) {
  a.insert(a.end(), b.begin(), b.end());
  return a;
}

}  // namespace command_line_fixture
