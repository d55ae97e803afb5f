// SPDX-License-Identifier: MIT
// CUDA programs that are not started by `heddle exec` but by a shell, make, or a debugger.
#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <utility>

#include "tests/system/common/json_text.h"
#include "tests/system/cuda/cuda_program.h"

namespace cuda_environment_test {

using cuda_runs::content;
using cuda_runs::outcome;
using cuda_runs::place_of_test;
using cuda_runs::shell;

std::string part(const std::string& name) {
  return HEDDLE_CUDA_PROGRAMS " " HEDDLE_SOURCE "/tests/system/cuda/kernels.fatbin " + name;
}

/// Runs shell commands in that environment.
outcome in_environment(const std::string& options, const std::string& commands) {
  return shell("rm -f *.json *.html; eval \"$(\"$HEDDLE\" exec " + options + " --environment)\"; " + commands);
}

/// Reads a file that may be written only after the program has ended.
nlohmann::json awaited_json(const std::string& file) {
  for (int k = 0; k < 600; ++k) {
    const auto m = nlohmann::json::parse(content(place_of_test() / file), nullptr, false);
    if (!m.is_discarded()) return m;
    ::usleep(50000);
  }
  ADD_FAILURE() << file << " has not come";
  return {};
}

// The environment of a program that the user starts without `heddle exec`.
std::string by_hand() {
  std::string variables = "LD_LIBRARY_PATH=\"$(dirname \"$HEDDLE\")/cuda\" ";
#if defined(__SANITIZE_ADDRESS__)
  variables +=
      "LD_PRELOAD=\"$(c++ -print-file-name=libasan.so)\" ASAN_OPTIONS=detect_leaks=0 ";  // not of the program's
#endif
  return variables;
}

TEST(cuda_environment, makes_each_program_a_run) {
  const outcome o = in_environment(
      "--quiet --gpu v100 --metrics m.json --report r.html",
      part("vectors") + " && ls m.json r.html && " + part("forks_late") + " && ls m.2.json && exec " + part("managed"));
  EXPECT_EQ(0, o.code) << o.out << o.err;
  EXPECT_EQ("right\nm.json\nr.html\nright\nm.2.json\nright\n", o.out) << "results are there when the program has ended";
  EXPECT_NE(std::string::npos, o.err.find("'m.json' is there already: the results of cuda_programs go to 'm.3.json'"))
      << o.err;
  const auto launches = [](const std::string& file) {
    return nlohmann::json::parse(content(place_of_test() / file))["kernels"].size();
  };
  EXPECT_EQ(1u, launches("m.json"));
  EXPECT_EQ(2u, launches("m.2.json")) << "a program and its children are one run";
  EXPECT_LT(0u, launches("m.3.json"));
}

TEST(cuda_environment, can_be_set_by_hand) {
  for (const std::string program : {"vectors", "clears_its_environment"}) {
    const outcome o = shell("rm -f *.json; " + by_hand() + "HEDDLE_OPTIONS=\"--quiet --gpu v100 --metrics %n.json\" " +
                            part(program));
    EXPECT_EQ(0, o.code) << o.err;
    const nlohmann::json m = nlohmann::json::parse(content(place_of_test() / "cuda_programs.json"));
    EXPECT_EQ("v100", m["gpu"]["name"].get<std::string>());
  }
}

TEST(cuda_environment, leaves_programs_their_exit_code_and_their_children) {
  EXPECT_EQ(0, in_environment("--quiet", part("has_no_children")).code);
  EXPECT_EQ(0, in_environment("--quiet", part("replaces_itself")).code);
  EXPECT_EQ(0, in_environment("--quiet", part("frees_at_exit")).code);
  EXPECT_EQ(0, in_environment("--quiet", "exec " + part("nothing")).code);
  EXPECT_EQ(134, in_environment("--quiet", part("crashes")).code);
  EXPECT_EQ(9, in_environment("--quiet --metrics m.json", part("leaves_early")).code);
  EXPECT_EQ("the end of its program", awaited_json("m.json")["stopped"]);
}

TEST(cuda_environment, drops_the_kernels_of_programs_that_become_others) {
  const outcome o = shell("timeout 100 \"$HEDDLE\" exec --quiet --gpu gtx1080 -- " + part("becomes_another"));
  EXPECT_EQ(0, o.code) << o.err;
  EXPECT_EQ("another\n", o.out) << o.err;
}

// A program with another name is not another program, as after exec().
TEST(cuda_environment, simulates_what_programs_leave_that_rename_themselves) {
  for (const char* name : {"leaves_with_another_name", "leaves_quickly"}) {
    const outcome o = shell("\"$HEDDLE\" exec --quiet --gpu rtx2060 --metrics m.json -- " + part(name));
    EXPECT_EQ(9, o.code) << name << o.err;
    EXPECT_EQ("", o.err) << name;
    const auto m = nlohmann::json::parse(content(place_of_test() / "m.json"));
    ASSERT_EQ(1u, m["kernels"].size()) << name;
    EXPECT_FALSE(m["kernels"][0].contains("failed")) << name;
  }
}

TEST(cuda_environment, goes_on_without_a_process_that_is_killed_within_a_call) {
  const outcome o = shell("\"$HEDDLE\" exec --quiet --gpu gtx1080 -- " + part("killed_within_a_call"));
  EXPECT_EQ(0, o.code) << o.err;
  EXPECT_EQ("right\n", o.out) << o.err;
}

TEST(cuda_environment, waits_for_processes_that_their_program_has_left) {
  const outcome o = shell("\"$HEDDLE\" exec --quiet --gpu gtx1080 --metrics m.json -- sh -c \"(sleep 0.3; " +
                          part("vectors") + ") & exit 7\"");
  EXPECT_EQ(7, o.code);
  EXPECT_EQ("right\n", o.out) << o.err;
  EXPECT_LT(0u, nlohmann::json::parse(content(place_of_test() / "m.json"))["kernels"].size());
}

TEST(cuda_environment, ends_with_programs_that_are_killed) {
  const outcome o = in_environment(
      "--quiet --metrics m.json",
      part("endless") +
          " > out & p=$!; while ! grep -q started out; do sleep 0.1; done; sleep 1.5; kill -KILL $p; wait $p");
  EXPECT_EQ(137, o.code) << o.err;
  EXPECT_GE(awaited_json("m.json")["kernels"].size(), 1u);
}

TEST(cuda_environment, with_wrong_options_ends_programs) {
  const outcome o = shell(by_hand() + "HEDDLE_OPTIONS=\"--gpu none --quiet\" " + part("vectors") + "; echo $?");
  EXPECT_EQ("2\n", o.out);
  EXPECT_NE(std::string::npos, o.err.find("none")) << o.err;
  EXPECT_EQ(2, shell("\"$HEDDLE\" exec --gpu none --environment").code);
  EXPECT_EQ(2, shell("\"$HEDDLE\" exec --environment -- ls").code);
}

TEST(cuda_environment, with_a_wrong_simulator_ends_programs_in_one_line) {
  const auto with = [](const std::string& variables) { return shell(by_hand() + variables + " " + part("vectors")); };
  const std::pair<const char*, const char*> wrong[] = {
      {"HEDDLE_PROGRAM=/nonexistent",
       "the simulator '/nonexistent', which HEDDLE_PROGRAM names, cannot be started: No such"},
      {"HEDDLE_PROGRAM=/tmp", "it is a directory"},
      {"HEDDLE_PROGRAM=/etc/passwd", "it is not an executable file"},
      {"HEDDLE_PROGRAM=/bin/true", "it is not this version of the program heddle"},
      {"HEDDLE_OPTIONS=\"-- /bin/true\"", "HEDDLE_OPTIONS: unexpected argument"},
      {"HEDDLE_OPTIONS=\"--quiet --gpu\"", "HEDDLE_OPTIONS: option '--gpu' needs a value"}};
  for (const auto& [variables, message] : wrong) {
    const outcome o = with(variables);
    EXPECT_EQ(2, o.code) << variables;
    EXPECT_EQ(0u, o.err.rfind("heddle: error: ", 0)) << o.err;
    EXPECT_NE(std::string::npos, o.err.find(message)) << o.err;
    EXPECT_EQ(1, std::count(o.err.begin(), o.err.end(), '\n')) << o.err;
  }
}

TEST(cuda_environment, with_few_descriptors_refuses_what_it_cannot_serve) {
  const std::string run = "\"$HEDDLE\" exec --quiet -- " + part("many_children");
  EXPECT_EQ("0 refused\nright\n", shell("ulimit -S -n 20; " + run).out);
  const outcome o = shell("ulimit -n 20; " + run);
  EXPECT_EQ(0, o.code) << o.out << o.err;
  EXPECT_NE(std::string::npos, o.out.find("refused\nright\n")) << o.out << o.err;
  EXPECT_NE("0 refused\nright\n", o.out);
  const std::string message = "than heddle may open files (20): raise the limit (ulimit -n)\n";
  const std::size_t at = o.err.find(message);
  EXPECT_NE(std::string::npos, at) << o.err;
  EXPECT_EQ(std::string::npos, o.err.find(message, at + 1)) << o.err;
  const outcome few = shell("ulimit -n 8; " + run);
  EXPECT_EQ(2, few.code);
  EXPECT_EQ("heddle: error: heddle may open 8 files (ulimit -n), expected at least 9\n", few.err);
}

// Reads of what is no longer there give zeros.
TEST(cuda_environment, without_registered_memory_warns_once) {
  for (const std::string option : {"", " --skip-functional"}) {
    const outcome o =
        shell("\"$HEDDLE\" exec --quiet --gpu gtx1080" + option + " -- " + part("registered_and_unmapped"));
    EXPECT_EQ(0, o.code) << o.out << o.err;
    const std::string told = "kernels access registered memory that the program has unmapped or protected: they read 0";
    const std::size_t at = o.err.find(told);
    EXPECT_TRUE(at != std::string::npos && o.err.find(told, at + 1) == std::string::npos) << o.err;
  }
}

// While another thread may set it, the kernel's wait has no end: `flag_of_the_host`.
TEST(cuda_environment, of_one_thread_has_deadlocks_told) {
  const outcome o = shell("\"$HEDDLE\" exec --quiet --gpu h100 -- " + part("unset_flag"));
  EXPECT_EQ("right\n", o.out) << o.err;
  EXPECT_NE(std::string::npos, o.err.find("deadlock: since cycle ")) << o.err;
}

// docs/use/five_minutes.md: its source, its command to compile, its first command.
TEST(cuda_environment, takes_the_program_of_the_tutorial) {
  if (cuda_runs::nvcc().empty()) GTEST_SKIP() << "nvcc is not on this machine";
  const std::string page = content(HEDDLE_SOURCE "/docs/use/five_minutes.md"), fence = "```cuda\n";
  const std::size_t begin = page.find(fence) + fence.size();
  std::ofstream(place_of_test() / "vectorAdd.cu") << page.substr(begin, page.find("```", begin) - begin);
  ASSERT_EQ(0, shell(cuda_runs::nvcc() + " -lineinfo -o vectorAdd vectorAdd.cu").code);
  const std::string command = " exec --gpu h100 --report r.html -- ./vectorAdd";
  ASSERT_NE(std::string::npos, page.find("    heddle" + command + "\n"));
  const outcome o = shell("\"$HEDDLE\"" + command);
  EXPECT_EQ(0, o.code) << o.err;
  const std::string said = o.out.substr(0, o.out.find('\n'));
  EXPECT_NE(std::string::npos, page.find("    " + said + "\n")) << said;
  for (const char* line : {"kernel cycles ", "as profiled ", "DRAM bus ", "verdict "}) {
    const std::size_t at = o.err.find(line);
    ASSERT_NE(std::string::npos, at) << o.err;
    const std::string whole = o.err.substr(at, o.err.find('\n', at) - at);
    EXPECT_NE(std::string::npos, page.find(whole)) << whole;
  }
  EXPECT_NE(std::string::npos, content(place_of_test() / "r.html").find("<html"));
  if (std::system("gdb --version > /dev/null 2>&1") != 0) return;
  const outcome debugged =
      in_environment("--quiet --gpu h100 --skip-functional",
                     "gdb -q -batch -ex \"break cudaMalloc\" -ex \"break cudaEventRecord\" -ex run -ex continue -ex "
                     "continue -ex delete -ex continue ./vectorAdd");
  EXPECT_NE(std::string::npos, debugged.out.find("Breakpoint 1")) << debugged.out << debugged.err;
  EXPECT_NE(std::string::npos, debugged.out.find("exited normally")) << debugged.out << debugged.err;
}

TEST(cuda_environment, lets_programs_be_debugged) {
  if (std::system("gdb --version > /dev/null 2>&1") != 0) GTEST_SKIP() << "gdb is not on this machine";
  const outcome o = in_environment(
      "--quiet --metrics m.json",
      "gdb -q -batch -ex \"break cudaLaunchKernel\" -ex run -ex bt -ex continue --args " + part("vectors"));
  EXPECT_NE(std::string::npos, o.out.find("right\n")) << o.out << o.err;
  EXPECT_NE(std::string::npos, o.out.find("exited normally")) << o.out << o.err;
  EXPECT_EQ(1u, awaited_json("m.json")["kernels"].size());
}

}  // namespace cuda_environment_test
