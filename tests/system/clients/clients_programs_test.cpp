// SPDX-License-Identifier: MIT
// Processes of CUDA programs that share a GPU, as clients of it.
#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <string>
#include <utility>
#include <vector>

#include "tests/system/common/json_text.h"
#include "tests/system/cuda/cuda_program.h"

namespace clients_programs_test {

using json = nlohmann::json;

/// Of a part of tests/system/cuda/programs/programs.cpp on a V100. `prefix`: words before the program.
json metrics_of(const std::string& part, const std::string& prefix = "") {
  const std::string program = HEDDLE_CUDA_PROGRAMS " " HEDDLE_SOURCE "/tests/system/cuda/kernels.fatbin " + part;
  const auto o = cuda_runs::exec(prefix + program, "--quiet --gpu v100 --metrics m.json");
  EXPECT_EQ(o.code, 0) << o.err;
  return json::parse(cuda_runs::content(cuda_runs::place_of_test() / "m.json"));
}

TEST(client_programs, processes_are_clients) {
  const json m = metrics_of("forks");
  ASSERT_EQ(m.at("clients").size(), 3u);
  std::uint64_t instructions = 0, launches = 0;
  for (const json& c : m["clients"]) {
    instructions += c["inst_executed"].get<std::uint64_t>();
    launches += c["launches"].get<std::uint64_t>();
    EXPECT_EQ(c["sms"], 80);
  }
  std::uint64_t of_sms = 0;
  for (const json& sm : m["sms"]) of_sms += sm["inst_executed"].get<std::uint64_t>();
  EXPECT_EQ(instructions, of_sms);
  EXPECT_EQ(launches, m["kernels"].size());
}

TEST(client_programs, one_process_has_no_share_and_no_entry) {
  EXPECT_FALSE(metrics_of("vectors").contains("clients"));
}

TEST(client_programs, have_the_share_that_their_environment_gives) {
  const json m = metrics_of("vectors", "env CUDA_MPS_ACTIVE_THREAD_PERCENTAGE=2 ");
  ASSERT_EQ(m.at("clients").size(), 1u);
  EXPECT_EQ(m["clients"][0]["sms"], 2);  // 1.6 of 80, rounded up
  EXPECT_LE(m["clients"][0]["most_sms"], 2);
  EXPECT_GE(m["clients"][0]["most_sms"], 1);
}

TEST(client_programs, print_what_their_own_kernels_print) {
  const std::string program = HEDDLE_CUDA_PROGRAMS " " HEDDLE_SOURCE "/tests/system/cuda/kernels.fatbin ";
  const auto printed = [&](const std::string& script) {
    const auto o = cuda_runs::exec("sh -c \"" + script + "\"");
    EXPECT_EQ(0, o.code) << o.err;
    return o.out;
  };
  EXPECT_EQ("right\n", printed(program + "prints_and_leaves >first; " + program + "vectors"));
  const std::string own =
      "before\nkernel 1, thread 0\nkernel 1, thread 1\nbetween\nkernel 2, thread 0\nbehind\nright\n";
  std::string together, wanted;
  for (const char* file : {"a", "b", "c", "d"}) {
    together += program + "prints >" + file + " & ";
    wanted += own;
  }
  EXPECT_EQ(wanted, printed(together + "wait; cat a b c d"));
}

const std::string program = HEDDLE_CUDA_PROGRAMS " " HEDDLE_SOURCE "/tests/system/cuda/kernels.fatbin ";

cuda_runs::outcome script(const std::string& commands, const std::string& options) {
  return cuda_runs::exec("sh -c \"" + commands + "\"", "--quiet --metrics m.json " + options);
}

json metrics_here() { return json::parse(cuda_runs::content(cuda_runs::place_of_test() / "m.json")); }

// As clients of MPS: those that use the GPU see the fault, later ones have it anew.
TEST(client_programs, come_after_a_fault_of_another_one) {
  const std::string bad = program + "fails_assertion >bad; ";
  const auto o = script(program + "vectors; " + bad + program + "vectors; " + bad + program + "managed", "--gpu v100");
  EXPECT_EQ(0, o.code) << o.err;
  EXPECT_EQ("right\nright\nright\n", o.out);
  const json m = metrics_here();
  std::string kernels;
  for (const json& k : m.at("kernels")) {
    const std::string failed = k.value("failed", "");
    kernels += failed.find("assertion failed") != std::string::npos ? 'f' : failed.empty() ? '.' : '?';
  }
  EXPECT_EQ("..f..f", kernels.substr(0, 6)) << "one launch of a right program, two of a wrong one";
  EXPECT_EQ(std::string::npos, kernels.find_first_not_of('.', 6));
}

TEST(client_programs, share_a_fault_with_those_that_stay) {
  const auto o =
      script(program + "never_asks >other & other=\\$!; while ! grep -q started other; do sleep 0.05; done; " +
                 program + "fails_assertion >bad; " + program + "vectors; kill -KILL \\$other; " + program + "vectors",
             "--gpu v100");
  EXPECT_EQ(0, o.code) << o.err;
  EXPECT_NE(std::string::npos, o.out.find(": 710\nright\n")) << o.out << "the first one waits in vain";
}

TEST(client_programs, leave_kernels_that_never_end) {
  const auto o =
      script(program + "leaves_endless_blocks; " + program + "vectors", "--gpu rtx2060 --set gpu.sm_count=1");
  EXPECT_EQ("right\nright\n", o.out);
  EXPECT_EQ(0, o.code);
  EXPECT_EQ(
      "heddle: warning: cuda_programs: 1 launch that it had not waited for had not ended 1,000,000 cycles after the "
      "program, and was dropped (--max-cycles sets another limit)\n",
      o.err);
  const json m = metrics_here();
  EXPECT_EQ("the host has ended it", m.at("kernels").at(0).at("failed"));
  EXPECT_FALSE(m["kernels"][1].contains("failed"));
  const auto last =
      script(program + "vectors; " + program + "leaves_endless_blocks", "--gpu rtx2060 --set gpu.sm_count=1");
  EXPECT_EQ(0, last.code);
  EXPECT_EQ(o.err, last.err);
  EXPECT_EQ("the end of its program", metrics_here().at("stopped"));
}

// A host function that can run no more holds neither its own simulator nor another process.
TEST(client_programs, leave_host_functions) {
  for (const char* part :
       {"leaves_a_host_function", "leaves_in_a_host_function", "leaves_while_a_host_function_runs"}) {
    EXPECT_EQ(3, cuda_runs::exec("timeout 60 " + program + part, "--quiet --gpu rtx2060").code) << part;
    const auto o =
        cuda_runs::shell("eval \"$(\"$HEDDLE\" exec " +
                         std::string("--quiet --gpu rtx2060 --environment)\"; timeout 60 ") + program + part);
    EXPECT_EQ(3, o.code) << part << o.err;
  }
  EXPECT_EQ("right\nright\n", script(program + "leaves_a_host_function; " + program + "vectors; " + program +
                                         "child_leaves_a_host_function",
                                     "--gpu rtx2060")
                                  .out);
}

TEST(client_programs, that_lose_their_connection_are_ended_in_one_line) {
  const auto o = cuda_runs::exec(program + "closes_descriptors", "--quiet --gpu rtx2060");
  EXPECT_EQ(2, o.code);
  EXPECT_EQ("heddle: error: the program has closed a descriptor of its CUDA library, as if it were its own\n", o.err);
}

TEST(client_programs, may_clear_their_environment) {
  EXPECT_EQ(metrics_of("clears_its_environment").at("gpu").at("name"), "v100");
}

TEST(client_programs, of_another_user_are_refused_in_one_line) {
  if (::geteuid() != 0) GTEST_SKIP() << "needs root";
  const auto o = cuda_runs::exec(program + "becomes_another_user", "--quiet");
  EXPECT_EQ(2, o.code);
  EXPECT_EQ(0u, o.err.find("heddle: error: a process of user 65534 calls CUDA, expected one of user 0")) << o.err;
}

// Process numbers of a container are not the host's.
TEST(client_programs, may_have_numbers_of_their_own) {
  if (std::system("unshare --map-root-user --pid --fork --mount-proc true 2>/dev/null") != 0)
    GTEST_SKIP() << "needs unshare(1) and name spaces of users";
  const auto o = cuda_runs::exec("unshare --map-root-user --pid --fork --mount-proc " + program + "vectors");
  EXPECT_EQ(0, o.code) << o.err;
  EXPECT_EQ("right\n", o.out);
}

// Its time is its own program's alone, and it does not stop that for ever.
TEST(client_programs, have_host_functions_that_wait) {
  for (const char* part :
       {"host_function_waits_for_a_child", "host_function_waits_for_a_thread", "host_function_waits_for_a_query"}) {
    const auto o = cuda_runs::exec("timeout 60 " + program + part, "--quiet --gpu gtx480");
    EXPECT_EQ(0, o.code) << part << o.err;
    EXPECT_EQ("right\n", o.out) << part;
  }
}

TEST(client_programs, have_one_sm_at_least) {
  const json m = metrics_of("vectors", "env CUDA_MPS_ACTIVE_THREAD_PERCENTAGE=1e-12 ");
  EXPECT_EQ(m.at("clients").at(0)["sms"], 1);
  EXPECT_EQ(m["clients"][0]["most_sms"], 1);
}

TEST(client_programs, have_names_of_their_own_that_can_be_printed) {
  for (const char* name : {"odd\xff\nname", "a", "a 2"}) {
    const auto copy = cuda_runs::place_of_test() / name;
    std::filesystem::copy_file(HEDDLE_CUDA_PROGRAMS, copy, std::filesystem::copy_options::overwrite_existing);
  }
  const auto o = cuda_runs::shell(
      "\"$HEDDLE\" exec --quiet --gpu v100 --metrics m.json -- sh -c \"for p in ./odd* ./a\\ 2 ./a ./a; do \\\"\\$p\\\" " HEDDLE_SOURCE
      "/tests/system/cuda/kernels.fatbin vectors; done\"");
  EXPECT_EQ(o.code, 0) << o.err;
  const json m = json::parse(cuda_runs::content(cuda_runs::place_of_test() / "m.json"));
  std::vector<std::string> names;
  for (const json& c : m.at("clients")) names.push_back(c["name"]);
  EXPECT_EQ(names, (std::vector<std::string>{"odd\\xff\\nname", "a 2", "a", "a 3"}));
}

// The attribute of the multiprocessors, and what follows from it.
TEST(client_programs, see_the_sms_of_their_share) {
  for (const auto& [prefix, sms] : {std::pair<std::string, unsigned>{"", 80},
                                    {"env CUDA_MPS_ACTIVE_THREAD_PERCENTAGE=10 ", 8},
                                    {"env CUDA_MPS_ACTIVE_THREAD_PERCENTAGE=100 ", 80}}) {
    const json m = metrics_of("share", prefix);
    EXPECT_NE(cuda_runs::content(cuda_runs::place_of_test() / "stdout").find(std::to_string(sms) + " SMs\n"),
              std::string::npos)
        << prefix;
    if (sms == 8) EXPECT_EQ(m.at("clients")[0]["most_sms"], 8);
  }
}

}  // namespace clients_programs_test
