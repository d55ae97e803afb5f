// SPDX-License-Identifier: MIT
// Processes of CUDA programs that share a GPU, as clients of it.
#include <gtest/gtest.h>

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
