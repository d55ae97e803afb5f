// SPDX-License-Identifier: MIT
#include <gtest/gtest.h>

#include "job_bench.h"
#include "testbench/options/host_cores.h"
#include "testbench/options/options.h"
#include "testbench/text/text.h"

namespace heddle::testbench {
namespace options_test {

run_options options_of(std::vector<std::string> arguments) {
  run_options o;
  std::string help;
  parse_run(arguments, o, help);
  return o;
}

TEST(options, defaults_and_all_options_of_run) {
  run_options o = options_of({"job.json"});
  EXPECT_EQ(o.job_file, "job.json");
  EXPECT_EQ(o.gpu, "gtx1080");
  EXPECT_EQ(o.trace_scope, "gpu.cwd,gpu.sm0*");
  o = options_of({"--kernel",   "a.ptx:k", "--grid",        "4,2",         "--block=32", "--shared-bytes", "0x10",
                  "--arg",      "s32:-1",  "--arg",         "buf:4",       "--gpu",      "v100",           "--set",
                  "a.b=1",      "--set",   "c.d=2",         "--metrics",   "m.json",     "--max-cycles",   "5",
                  "--progress", "never",   "--quiet",       "--log-level", "debug",      "--trace-window", "10:20",
                  "--vcd",      "w.vcd",   "--trace-scope", "gpu.*"});
  EXPECT_EQ(o.kernel_file, "a.ptx");
  EXPECT_EQ(o.kernel, "k");
  EXPECT_EQ(o.grid[1], 2u);
  EXPECT_EQ(o.block[0], 32u);
  EXPECT_EQ(o.shared_bytes, 16u);
  EXPECT_EQ(o.arguments.size(), 2u);
  EXPECT_EQ(o.overrides.size(), 2u);
  EXPECT_EQ(o.max_cycles, 5u);
  EXPECT_EQ(o.progress, progress_mode::never);
  EXPECT_TRUE(o.quiet);
  EXPECT_EQ(o.level, log_level::debug);
  EXPECT_EQ(o.trace_begin, 10u);
  EXPECT_EQ(o.trace_end, 20u);
}

TEST(options, wrong_command_lines_are_refused_with_a_message) {
  const struct {
    std::vector<std::string> arguments;
    const char* message;
  } cases[] = {
      {{}, "expected either a job file or --kernel"},
      {{"a", "b"}, "unexpected argument 'b'"},
      {{"a", "--metric", "x"}, "unknown option '--metric', did you mean '--metrics'?"},
      {{"a", "-x"}, "unknown option '-x'"},
      {{"a", "--gpu"}, "option '--gpu' needs a value"},
      {{"a", "--quiet=1"}, "option '--quiet' takes no value"},
      {{"a", "--gpu", "x", "--gpu", "y"}, "option '--gpu' is given more than once"},
      {{"a", "--max-cycles", "-1"}, "--max-cycles"},
      {{"a", "--max-cycles=-1"}, "--max-cycles: got '-1', expected a whole number from 1"},
      {{"a", "--max-cycles", "0"}, "--max-cycles: got '0'"},
      {{"a", "--progress", "maybe"}, "--progress: got 'maybe', expected auto | always | never"},
      {{"a", "--trace-window", "5:5", "--vcd", "w.vcd"}, "expected A:B"},
      {{"a", "--trace-window", "5:6"}, "--trace-window belongs to --vcd"},
      {{"a", "--gpu", "--quiet"}, "option '--gpu' needs a value, got '--quiet'"},
      {{"a", "--grid", "1"}, "--grid belongs to --kernel"},
      {{"a", "--kernel", "k"}, "expected either a job file or --kernel"},
      {{"--kernel", "k", "--grid", "1"}, "--kernel needs --block"},
      {{"--kernel", "k", "--grid", "1,0", "--block", "1"}, "--grid: got '1,0'"},
      {{"--kernel", "k", "--grid", "1,1,1,1", "--block", "1"}, "--grid: got '1,1,1,1'"},
  };
  for (const auto& c : cases) {
    const std::string message = refusal([&] { options_of(c.arguments); });
    EXPECT_NE(message.find(c.message), std::string::npos) << message;
  }
}

TEST(options, help_is_text_and_no_error) {
  run_options o;
  std::string help;
  EXPECT_TRUE(parse_run({"--help"}, o, help));
  EXPECT_NE(help.find("--trace-window A:B"), std::string::npos);
  for (const auto& line : split(help, '\n')) EXPECT_LE(line.size(), 80u) << line;
}

TEST(options, cores_follow_from_what_the_system_states) {
  EXPECT_EQ(cores_of_quota("max 100000\n"), 0u);
  EXPECT_EQ(cores_of_quota("250000 100000\n"), 2u);
  EXPECT_EQ(cores_of_quota("50000 100000\n"), 1u);
  EXPECT_EQ(cores_of_quota(""), 0u);
  EXPECT_EQ(running_processes("cpu  1 2 3\nprocesses 77\nprocs_running 5\nprocs_blocked 0\n"), 5u);
  EXPECT_EQ(running_processes("cpu  1 2 3\n"), 0u);
  EXPECT_GE(host_cores(), 1u);
}

}  // namespace options_test
}  // namespace heddle::testbench
