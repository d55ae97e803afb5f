// SPDX-License-Identifier: MIT
// Complete CUDA programs under `heddle exec`: their results, messages and files.
#include <gtest/gtest.h>

#include <set>
#include <sstream>
#include <string>

#include "cuda_program.h"
#include "tests/system/common/json_text.h"

namespace cuda_programs_test {

using cuda_runs::content;
using cuda_runs::exec;
using cuda_runs::outcome;
using cuda_runs::place_of_test;
using cuda_runs::shell;

const std::string kernels = HEDDLE_SOURCE "/tests/system/cuda/kernels.fatbin";

std::string part(const std::string& name) { return std::string(HEDDLE_CUDA_PROGRAMS) + " " + kernels + " " + name; }

class family : public ::testing::TestWithParam<const char*> {};

TEST_P(family, of_functions_behaves_as_in_cuda) {
  for (const std::string gpu : {"gtx1080", "h100"}) {
    const outcome o = exec(part(GetParam()), "--quiet --log-level error --gpu " + gpu);
    EXPECT_EQ(0, o.code) << gpu << "\n" << o.out << o.err;
    EXPECT_NE(std::string::npos, o.out.find("right\n")) << gpu << o.out << o.err;
  }
}

INSTANTIATE_TEST_SUITE_P(
    cuda, family,
    ::testing::Values("vectors", "arguments", "memory", "large_copies", "managed", "pinned", "pinned_and_written",
                      "forks_behind_a_kernel", "streams", "host_functions", "errors", "null_arguments", "unknown_flags",
                      "argument_rules", "pinned_rules", "managed_rules", "function_rules", "pool_and_stream_rules",
                      "calls_in_host_functions", "object_rules", "memory_words", "device_rules", "driver_rules",
                      "batches", "resets", "threads_that_call_at_their_end", "ends_its_first_thread", "texture_rules",
                      "graph_rules", "capture_rules", "calls_in_a_capture", "outside_allocations",
                      "calls_after_a_fault", "fails_assertion", "prints", "threads", "threads_that_ask", "forks",
                      "forks_after_launches", "registers_one_address", "forks_for_memory", "flag_of_the_host",
                      "flag_by_a_copy", "memory_in_place", "registered_in_order", "forks_with_memory_in_place",
                      "registered_memory", "interrupted", "forks_among_threads", "literals", "managed_variables"));

// Except `streams`, which expects kernels to take simulated time.
TEST(cuda_programs, are_right_when_launches_are_executed_functionally) {
  for (const std::string name :
       {"vectors", "arguments", "memory", "managed", "pinned", "pinned_and_written", "host_functions", "errors",
        "fails_assertion", "prints", "threads", "threads_that_ask", "forks", "memory_in_place", "registered_in_order",
        "forks_with_memory_in_place", "registered_memory", "interrupted", "managed_variables"})
    for (const std::string which : {"--skip-functional", "--launches 1,4-5 --threads 3"}) {
      const outcome o = exec(part(name), "--quiet --log-level error --gpu v100 " + which);
      EXPECT_EQ(0, o.code) << name << which << "\n" << o.out << o.err;
      EXPECT_NE(std::string::npos, o.out.find("right\n")) << name << which << o.out << o.err;
    }
}

TEST(cuda_programs, have_the_launches_simulated_that_are_chosen) {
  const auto simulated = [](const std::string& options) {
    const outcome o = exec(part("threads"), "--gpu v100 --metrics m.json " + options);
    EXPECT_EQ(0, o.code) << o.out << o.err;
    EXPECT_NE(std::string::npos, o.err.find(" executed functionally: ")) << o.err;
    std::vector<unsigned> numbers;
    const auto metrics = nlohmann::json::parse(content(place_of_test() / "m.json"));
    for (const auto& k : metrics["kernels"]) numbers.push_back(k["launch"].get<unsigned>());
    return numbers;
  };
  EXPECT_EQ((std::vector<unsigned>{1, 3, 4}), simulated("--launches 1,3-4"));
  EXPECT_EQ(std::vector<unsigned>{}, simulated("--skip-functional"));
  EXPECT_EQ(std::vector<unsigned>{}, simulated("--kernel-name no_such_kernel"));
  EXPECT_EQ(std::vector<unsigned>{2}, simulated("--launches 2 --kernel-name \"*\""));
  const outcome o = exec(part("threads"), "--launches 4-2");
  EXPECT_EQ(2, o.code);
  EXPECT_NE(std::string::npos, o.err.find("--launches: got ")) << o.err;
}

TEST(cuda_programs, keep_their_output_and_their_exit_code) {
  const outcome o = exec(part("prints"));
  EXPECT_EQ("before\nkernel 1, thread 0\nkernel 1, thread 1\nbetween\nkernel 2, thread 0\nbehind\nright\n", o.out);
  EXPECT_EQ(9, exec(part("leaves_early")).code);
  EXPECT_EQ(134, exec(part("crashes")).code);
  EXPECT_EQ(7, exec(part("ends_in_a_copy")).code);
  EXPECT_EQ(3, exec("sh -c \"exit 3\"").code);
  EXPECT_EQ("37::--gpu:", exec("printf %s: 37 \"\" --gpu").out) << "arguments may be empty";
  EXPECT_EQ(2, exec("\"\"").code);
}

TEST(cuda_programs, leave_metrics_of_each_launch_in_their_order) {
  const outcome o = exec(part("streams"), "--gpu v100 --metrics m.json --report r.html --timeline t.json --vcd w.vcd");
  ASSERT_EQ(0, o.code) << o.err;
  EXPECT_NE(std::string::npos, o.err.find("kernel cycles")) << "the summary stands on stderr";
  const auto m = nlohmann::json::parse(content(place_of_test() / "m.json"));
  ASSERT_EQ(25u, m["kernels"].size());
  for (std::size_t k = 0; k < m["kernels"].size(); ++k) {
    EXPECT_EQ(k, m["kernels"][k]["launch"]);
    EXPECT_EQ("linger", m["kernels"][k]["name"]);
  }
  for (const char* file : {"r.html", "t.json", "w.vcd", "w.gtkw"})
    EXPECT_GT(content(place_of_test() / file).size(), 100u) << file;
}

TEST(cuda_programs, give_the_same_results_whatever_the_host_does) {
  const auto run = [](const std::string& with) {
    EXPECT_EQ(
        0, shell("exec " + with + " \"$HEDDLE\" exec --quiet --gpu v100 --metrics m.json -- " + part("streams")).code);
    auto m = nlohmann::json::parse(content(place_of_test() / "m.json"));
    m.erase("host");
    return m;
  };
  EXPECT_TRUE(run("") == run("nice -n 19")) << "the metrics differ";
}

TEST(cuda_programs, that_are_not_waited_for_are_simulated_to_their_end) {
  const outcome o = exec(part("leaves_early"), "--quiet --gpu v100 --metrics m.json");
  EXPECT_EQ(9, o.code);
  const auto m = nlohmann::json::parse(content(place_of_test() / "m.json"));
  ASSERT_EQ(1u, m["kernels"].size());
  EXPECT_GT(m["kernels"][0]["cycles"].get<double>(), 1000);
}

// The least and the largest value of each: a faster link or a shorter latency ends the copies, and with them the run,
// earlier.
TEST(cuda_programs, have_the_time_of_the_host_link_and_the_memory_of_the_chip) {
  const auto cycles = [](const std::string& setting) {
    const outcome o = exec(part("arguments"), "--quiet --log-level error --gpu v100 --metrics m.json" + setting);
    EXPECT_EQ(0, o.code) << setting << o.err;
    return nlohmann::json::parse(content(place_of_test() / "m.json"))["cycles"].get<std::uint64_t>();
  };
  const std::uint64_t usual = cycles("");
  EXPECT_GT(cycles(" --set host_link.bandwidth_gbs=0.001"), usual);
  EXPECT_LT(cycles(" --set host_link.bandwidth_gbs=100000"), usual);
  EXPECT_GT(cycles(" --set host_link.latency_us=1000000"), usual);
  EXPECT_LT(cycles(" --set host_link.latency_us=0"), usual);
  const auto memory = [](const std::string& mebibytes) {
    return exec(part("prints_memory"), "--quiet --gpu v100 --set memory.capacity_mib=" + mebibytes).out;
  };
  EXPECT_EQ(memory("16"), "16777216 bytes; an allocation of 16777217 is refused\nright\n");
  EXPECT_EQ(memory("16777216"), "17592186044416 bytes; an allocation of 17592186044417 is refused\nright\n");
}

TEST(cuda_programs, give_their_memory_back_when_they_end) {
  const std::string one = part("keeps_memory");
  const outcome o = exec("sh -c \"" + one + " && " + one + " && " + one + "\"");
  EXPECT_EQ(0, o.code) << o.err;
  EXPECT_EQ("right\nright\nright\n", o.out);
}

TEST(cuda_programs, started_by_exec_inherit_no_state) {
  const outcome o = exec(part("replaces_itself"));
  EXPECT_EQ(0, o.code) << o.out << o.err;
  EXPECT_EQ("right\n", o.out);
}

TEST(cuda_programs, may_call_until_they_have_ended) { EXPECT_EQ(0, exec(part("frees_at_exit")).code); }

TEST(cuda_programs, that_call_a_missing_function_end_with_its_name) {
  const outcome o = exec(part("unknown_name"));
  EXPECT_EQ(2, o.code);
  EXPECT_NE(std::string::npos,
            o.err.find("heddle: the program calls cudaGraphicsGLRegisterBuffer, which Heddle does not have\n"))
      << o.err;
}

TEST(cuda_programs, that_fail_end_with_the_place) {
  const outcome o = exec(part("fails_assertion"), "--quiet --log-level error --gpu v100");
  EXPECT_NE(std::string::npos, o.err.find("assertion failed: value == 1")) << o.err;
}

// A GPU's pages are large: an access a little outside an allocation is not detected, except with --exact-bounds.
TEST(cuda_programs, may_access_what_is_next_to_an_allocation) {
  EXPECT_EQ(exec(part("writes_around")).out, "before 0\nfar behind 700\nright\n");
  EXPECT_EQ(exec(part("writes_around"), "--quiet --gpu v100 --exact-bounds").out, "before 700\nright\n");
}

TEST(cuda_programs, that_do_not_exist_are_refused) {
  outcome o = exec("./not_there");
  EXPECT_EQ(2, o.code);
  EXPECT_EQ("heddle: error: './not_there' cannot be started: No such file or directory\n", o.err);
  o = exec("", "--quiet");
  EXPECT_EQ(2, o.code);
  EXPECT_NE(std::string::npos, o.err.find("heddle exec [options] -- PROGRAM ARGUMENTS")) << o.err;
  o = shell("exec \"$HEDDLE\" exec ./program --gpu v100");
  EXPECT_EQ(2, o.code);
  // Options are checked before the program starts.
  o = exec("touch ran", "--gpu not_a_gpu");
  EXPECT_EQ(2, o.code);
  EXPECT_FALSE(std::filesystem::exists(place_of_test() / "ran"));
}

TEST(cuda_programs, that_are_stopped_leave_what_ran) {
  const std::string run =
      "\"$HEDDLE\" exec --quiet --gpu v100 --metrics m.json -- " + part("endless") +
      " > out & p=$!; while ! grep -q started out; do sleep 0.1; done; sleep 1; kill -TERM $p; wait $p";
  const outcome o = shell(run);
  EXPECT_EQ(143, o.code) << o.err;
  const auto m = nlohmann::json::parse(content(place_of_test() / "m.json"));
  EXPECT_EQ("SIGTERM", m["stopped"]);
  EXPECT_GE(m["kernels"].size(), 1u);
}

// The shell, which receives the signal, too, waits for a program that asks for no errors.
TEST(cuda_programs, that_a_shell_has_started_are_stopped) {
  const outcome o = shell(
      "rm -f out; \"$HEDDLE\" exec --quiet --gpu v100 --metrics m.json -- sh -c \"" + part("never_asks") +
      " > out; true\" & p=$!; while ! grep -q started out; do sleep 0.1; done; sleep 0.5; kill -TERM $p; wait $p");
  EXPECT_EQ(143, o.code) << o.err;
  EXPECT_EQ("SIGTERM", nlohmann::json::parse(content(place_of_test() / "m.json"))["stopped"]);
}

/// Starts a program that waits for an endless kernel, and kills it by a signal that it cannot see.
std::string killed() {
  return part("endless_kernel") +
         " > out & p=\\$!; while ! grep -q started out; do sleep 0.1; done; sleep 0.5; kill -KILL \\$p; wait \\$p";
}

std::set<std::string> ended_by_the_host() {
  std::set<std::string> names;
  const auto m = nlohmann::json::parse(content(place_of_test() / "m.json"));
  for (const auto& k : m["kernels"])
    if (k.contains("failed") && k["failed"] == "the host has ended it") names.insert(k["name"]);
  return names;
}

TEST(cuda_programs, that_are_killed_leave_the_gpu_to_others) {
  const outcome o =
      exec("sh -c \"" + killed() + "; echo \\$?; " + part("vectors") + "\"", "--quiet --gpu v100 --metrics m.json");
  EXPECT_EQ(0, o.code) << o.err;
  EXPECT_EQ("137\nright\n", o.out) << o.err;
  EXPECT_EQ(std::set<std::string>{"linger"}, ended_by_the_host());

  // The processor executes the kernel then, or checks it when it begins.
  const outcome checked =
      exec("sh -c \"" + killed() + "; " + part("vectors") + "\"", "--quiet --gpu v100 --sanitize init");
  EXPECT_EQ("right\n", checked.out) << checked.err;
  const outcome functional = exec("sh -c \"" + killed() + "; " + part("vectors") + "\"",
                                  "--quiet --gpu v100 --skip-functional --kernel-name none");
  EXPECT_EQ(0, functional.code) << functional.err;
  EXPECT_EQ("right\n", functional.out) << functional.err;
}

// Each has its own default stream and managed memory, and cudaDeviceSynchronize waits for its own kernels.
TEST(cuda_programs, that_run_together_do_not_wait_for_each_other) {
  const outcome o =
      exec("sh -c \"" + part("endless_block") + " > out & p=\\$!; while ! grep -q started out; do sleep 0.1; done; " +
               part("vectors") + "; " + part("vectors") + "; kill -KILL \\$p; wait \\$p; echo \\$?\"",
           "--quiet --gpu v100 --metrics m.json");
  EXPECT_EQ(0, o.code) << o.err;
  EXPECT_EQ("right\nright\n137\n", o.out) << o.err;
  EXPECT_EQ(std::set<std::string>{"linger"}, ended_by_the_host());
}

TEST(cuda_programs, that_are_killed_in_a_host_function_leave_the_gpu_to_others) {
  const outcome o =
      exec("sh -c \"" + part("leaves_a_child_behind") + " | cat; " + part("vectors") + "\"", "--quiet --gpu v100");
  EXPECT_EQ(0, o.code) << o.err;
  EXPECT_EQ("right\nright\n", o.out) << o.err;
}

TEST(cuda_programs, that_are_killed_alone_end_the_run) {
  const outcome o =
      shell("rm -f out; \"$HEDDLE\" exec --quiet --gpu v100 --metrics m.json -- sh -c \"echo \\$\\$ > pid; exec " +
            part("endless_kernel") +
            " > out\" & while ! grep -q started out; do sleep 0.1; done; sleep 0.5; "
            "kill -KILL $(cat pid); wait $!");
  EXPECT_EQ(137, o.code) << o.err;
  EXPECT_EQ(std::set<std::string>{"linger"}, ended_by_the_host());
}

TEST(cuda_programs, end_at_the_limit_of_cycles) {
  const outcome o = exec(part("endless"), "--quiet --gpu v100 --max-cycles 20000");
  EXPECT_EQ(1, o.code);
  EXPECT_NE(std::string::npos, o.err.find("the limit of 20,000 cycles (--max-cycles) was reached")) << o.err;
  EXPECT_NE(std::string::npos, o.err.find(" warps of kernel 'linger', at ")) << o.err;
  EXPECT_NE(std::string::npos, o.out.find("702")) << o.out;
  const outcome ended = exec(part("endless"), "--quiet --gpu v100 --end-after 20000 --metrics m.json");
  EXPECT_EQ(1, ended.code);
  EXPECT_EQ(std::string::npos, ended.out.find("702")) << "the program saw an error: " << ended.out;
  const auto m = nlohmann::json::parse(content(place_of_test() / "m.json"));
  EXPECT_EQ("--end-after", m["stopped"]);
  EXPECT_LE(m["cycles"], 20000);
  EXPECT_GT(m["cycles"], 19000);
}

// Programs compiled by nvcc, with a static and with a shared runtime.
TEST(cuda_programs, as_nvcc_builds_them) {
  if (cuda_runs::nvcc().empty()) GTEST_SKIP() << "nvcc is not on this machine";
  const std::string source = HEDDLE_SOURCE "/tests/system/cuda/whole.cu";
  for (const std::string how :
       {"-arch=sm_80", "-cudart shared", "-rdc=true -default-stream per-thread", "-rdc=true -arch=compute_80"}) {
    const outcome built = shell(cuda_runs::nvcc() + " " + how + " -o whole " + source);
    ASSERT_EQ(0, built.code) << how << built.err;
    const outcome o = exec("./whole", "--quiet --log-level error --gpu a100");
    EXPECT_EQ(0, o.code) << how << "\n" << o.out << o.err;
  }
  // nvcc links its device library, too, which is for a newer chip; told once.
  ASSERT_EQ(0, shell(cuda_runs::nvcc() + " -rdc=true -arch=compute_90 -o whole " + source).code);
  const std::string warnings = exec("./whole", "--quiet --gpu a100").err, told = "where CUDA would refuse it";
  EXPECT_NE(std::string::npos, warnings.find(told)) << warnings;
  EXPECT_EQ(warnings.find(told), warnings.rfind(told)) << warnings;
  ASSERT_EQ(0, shell(cuda_runs::nvcc() + " -Xcompiler -fsanitize=address -o checked " + source).code);
  EXPECT_EQ(0, exec("./checked", "--quiet --log-level error --gpu a100").code) << "built with AddressSanitizer";
  ASSERT_EQ(0, shell(cuda_runs::nvcc() + " -o whole " + source + " && strip whole").code);
  outcome o = exec("./whole");
  EXPECT_EQ(2, o.code);
  EXPECT_NE(std::string::npos, o.err.find("link it with nvcc -cudart shared")) << o.err;
  ASSERT_EQ(0, shell(cuda_runs::nvcc() + " -gencode arch=compute_80,code=sm_80 -o whole " + source).code);
  o = exec("./whole");
  EXPECT_NE(std::string::npos, o.err.find("nvcc -gencode arch=compute_80,code=compute_80")) << o.err;
}

// No library can be put under a program without a dynamic linker. Those of other kinds may start CUDA programs.
TEST(cuda_programs, find_only_names_of_cuda_in_the_library) {
  const outcome o = shell("nm -D --defined-only \"$(dirname \"$HEDDLE\")/cuda/libheddle_cuda.so\" | cut -d\" \" -f3");
  ASSERT_EQ(0, o.code) << o.err;
  std::istringstream names(o.out);
  unsigned found = 0;
  for (std::string name; std::getline(names, name); ++found)
    EXPECT_TRUE(name.rfind("cu", 0) == 0 || name.rfind("__cuda", 0) == 0) << name;
  EXPECT_GT(found, 1000u);
}

// A preloaded library cannot be named with spaces.
TEST(cuda_programs, run_from_a_folder_with_spaces) {
  const auto copied_to = [](const std::string& folder) {
    return "rm -rf \"" + folder + "\"; mkdir \"" + folder + "\"; cp -l \"$HEDDLE\" \"" + folder +
           "\"; cp -lr \"$(dirname \"$HEDDLE\")/cuda\" \"" + folder + "\"; \"" + folder +
           "/heddle\" exec --quiet --log-level error --gpu v100 -- " + part("vectors");
  };
  const outcome o = shell(copied_to("a b  c"));
  EXPECT_EQ("right\n", o.out) << o.err;
  EXPECT_EQ("", o.err);
  const outcome refused = shell(copied_to("a:b"));
  EXPECT_EQ(2, refused.code);
  EXPECT_NE(std::string::npos, refused.err.find("has a ':' or ';' in its name")) << refused.err;
}

TEST(cuda_programs, linked_statically_as_a_whole_are_refused) {
  const auto build = [](const std::string& of_cuda) {
    return shell("echo \"int main() { return 3; } int x __attribute__((section(\\\"" + of_cuda +
                 "\\\"))) = 1;\" | cc -static -o program -x c -");
  };
  if (build(".data").code != 0) GTEST_SKIP() << "no static C library is on this machine";
  EXPECT_EQ(3, exec("./program").code);
  ASSERT_EQ(0, build(".nvFatBinSegment").code);
  outcome o = exec("./program");
  EXPECT_EQ(2, o.code);
  EXPECT_EQ(
      "heddle: error: './program' is linked with -static, so that no library can be put under it; link it without "
      "-static (nvcc's static CUDA runtime may stay)\n",
      o.err);
}

// Such a file ends within a segment, within its symbols, or just before its end.
TEST(cuda_programs, cut_off_are_refused) {
  ASSERT_EQ(0, shell("echo \"int main() { return 3; } char x[200000] = {1};\" | cc -o program -x c -").code);
  EXPECT_EQ(3, exec("./program").code);
  const auto whole = static_cast<long>(std::filesystem::file_size(place_of_test() / "program"));
  for (const long bytes : {5000L, 100000L, whole - 100000, whole - 1}) {
    ASSERT_EQ(0, shell("head -c " + std::to_string(bytes) + " program > part; chmod +x part").code);
    const outcome o = exec("./part");
    EXPECT_EQ(2, o.code) << bytes;
    EXPECT_EQ("heddle: error: './part' is cut off: the file ends before the program does\n", o.err) << bytes;
  }
}

// nvcc links the runtime into libraries, too: one that the program is linked with, one that it opens.
TEST(cuda_programs, in_libraries_as_nvcc_builds_them) {
  if (cuda_runs::nvcc().empty()) GTEST_SKIP() << "nvcc is not on this machine";
  const std::string folder = HEDDLE_SOURCE "/tests/system/cuda/";
  ASSERT_EQ(0, shell("cc -o opens " + folder + "loads_library.c -ldl").code);
  for (const std::string how : {"", "-rdc=true"}) {
    const outcome built = shell(cuda_runs::nvcc() + " -shared -Xcompiler -fPIC " + how + " -o libwhole.so " + folder +
                                "whole.cu && cc -o linked -Wl,--no-as-needed ./libwhole.so");
    ASSERT_EQ(0, built.code) << how << built.err;
    for (const std::string program : {"./linked", "./opens ./libwhole.so"}) {
      const outcome o = exec(program, "--quiet --log-level error --gpu a100");
      EXPECT_EQ(0, o.code) << program << how << "\n" << o.out << o.err;
    }
  }
  ASSERT_EQ(0, shell("strip libwhole.so").code);
  const outcome o = exec("./opens ./libwhole.so", "--quiet --gpu a100");
  EXPECT_NE(std::string::npos, o.err.find("libwhole.so has a CUDA runtime within it whose functions")) << o.err;
}

void run_on_h100(const std::string& program, const std::vector<std::string>& ways = {""}) {
  if (cuda_runs::nvcc().empty()) GTEST_SKIP() << "nvcc is not on this machine";
  const outcome built = shell(cuda_runs::nvcc() + " -arch=sm_90 -cudart shared -o " + program +
                              " " HEDDLE_SOURCE "/tests/system/cuda/" + program + ".cu");
  ASSERT_EQ(0, built.code) << built.err;
  for (const std::string& how : ways)
    EXPECT_EQ(0, exec("./" + program, "--quiet --log-level error --gpu h100" + how).code) << how;
}

TEST(cuda_programs, launch_clusters) { run_on_h100("clusters_program", {"", " --skip-functional"}); }
TEST(cuda_programs, launch_dependents_early) { run_on_h100("dependent_program"); }

}  // namespace cuda_programs_test
