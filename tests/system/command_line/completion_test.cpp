// SPDX-License-Identifier: MIT
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <regex>
#include <set>
#include <string>
#include <vector>

#include "first_hour_fixture.h"

namespace completion_test {

using namespace first_hour_fixture;

bool contains(const std::vector<std::string>& all, const std::string& one) {
  return std::find(all.begin(), all.end(), one) != all.end();
}

// ---- completion ----

/// Every shell completes the same; `ask` completes a line in one of them.
template <class F>
void completes(F&& ask) {
  const std::vector<std::string> commands = ask("heddle re");
  EXPECT_TRUE(contains(commands, "replay") && contains(commands, "report")) << ::testing::PrintToString(commands);
  EXPECT_FALSE(contains(commands, "run"));
  EXPECT_TRUE(contains(ask("heddle run --met"), "--metrics"));
  EXPECT_TRUE(contains(ask("heddle occupancy --shared"), "--shared-bytes"));
  const std::vector<std::string> gpus = ask("heddle run job.json --gpu gtx");
  EXPECT_TRUE(contains(gpus, "gtx1080") && contains(gpus, "gtx480")) << ::testing::PrintToString(gpus);
  EXPECT_TRUE(contains(ask("heddle run --progress a"), "always"));
  EXPECT_TRUE(contains(ask("heddle help swe"), "sweep"));
  EXPECT_TRUE(contains(ask("heddle completion f"), "fish"));
  EXPECT_TRUE(contains(ask("heddle run jo"), "job.json"));
  EXPECT_FALSE(contains(ask("heddle run k"), "k.ptx")) << "no job";
  EXPECT_TRUE(contains(ask("heddle disasm k"), "k.ptx"));
}

TEST_F(first_hour, every_command_completes_its_options) {
  ASSERT_EQ(0, shell("heddle complete -- run --set sub_partition.sch"));
  EXPECT_EQ(0u, out_.find("sub_partition.scheduler=\t")) << out_;
  ASSERT_EQ(0, shell("heddle complete -- run --set sub_partition.scheduler="));
  for (const char* policy : {"lrr", "gto", "two_level", "ccws"})
    EXPECT_TRUE(contains(lines_of(out_), std::string("sub_partition.scheduler=") + policy)) << out_;
  ASSERT_EQ(0, shell("heddle complete -- run --set=tlm.check="));
  EXPECT_TRUE(contains(lines_of(out_), "--set=tlm.check=true")) << out_;
  ASSERT_EQ(0, shell("heddle complete -- run --set ''"));
  const std::size_t parameters = lines_of(out_).size();
  ASSERT_EQ(0, shell("heddle config --gpu gtx1080 | grep -c =")) << err_;
  EXPECT_EQ(parameters, std::stoul(out_)) << "every parameter";
  ASSERT_EQ(0, shell("heddle complete -- disasm '" HEDDLE_WORKLOADS "/bitonic_sort/bitonic_sort.ptx:m'"));
  EXPECT_NE(std::string::npos, out_.find("bitonic_sort.ptx:merge_step\n")) << out_;
  for (const std::string& c : commands()) {
    ASSERT_EQ(0, shell("heddle complete -- " + c + " --")) << c;
    std::set<std::string> completed;
    for (const std::string& line : lines_of(out_)) completed.insert(line.substr(0, line.find('\t')));
    ASSERT_EQ(0, shell("heddle " + c + " --help"));
    std::set<std::string> listed;
    const std::regex option("\n  (?:-[a-z] \\[ )?(--[a-z-]+)");
    for (std::sregex_iterator i(out_.begin(), out_.end(), option), end; i != end; ++i) listed.insert((*i)[1]);
    EXPECT_EQ(listed, completed) << c;
  }
  for (const char* odd : {"", "--", "-- nosuch ''", "-- run --gpu", "-- run --kernel none.ptx:x", "-- run --set a=b="})
    EXPECT_EQ(0, shell(std::string("heddle complete ") + odd)) << odd;
  EXPECT_EQ("", err_);
}

TEST_F(first_hour, bash_completes) {
  if (shell("command -v bash") != 0) GTEST_SKIP() << "no bash";
  write("job.json", "{}");
  write("k.ptx", "");
  const auto ask = [this](const std::string& line) {
    write("ask.sh", "source <(heddle completion bash)\nCOMP_LINE='" + line +
                        "'\nCOMP_POINT=${#COMP_LINE}\n_heddle\nprintf '%s\\n' \"${COMPREPLY[@]}\"\n");
    EXPECT_EQ(0, shell("bash ask.sh 2>errors; grep -v compopt errors >&2; true"));
    EXPECT_EQ("", err_);
    return lines_of(out_);
  };
  completes(ask);
  // Bash splits words at '=' and ':', so only the last part is completed.
  EXPECT_TRUE(contains(ask("heddle run --set sub_partition.scheduler=g"), "gto"));
  EXPECT_TRUE(contains(ask("heddle run --gpu=v1"), "v100"));
  EXPECT_TRUE(contains(ask("heddle run --set sub_partition.sched"), "sub_partition.scheduler="));
}

TEST_F(first_hour, fish_completes) {
  if (shell("command -v fish") != 0) GTEST_SKIP() << "no fish";
  write("job.json", "{}");
  write("k.ptx", "");
  const auto ask = [this](const std::string& line) {
    EXPECT_EQ(0, shell("HOME=$PWD fish -c \"heddle completion fish | source; complete -C '" + line + "'\" | cut -f1"));
    return lines_of(out_);
  };
  completes(ask);
  EXPECT_TRUE(contains(ask("heddle run --set sub_partition.scheduler=g"), "sub_partition.scheduler=gto"));
}

// Zsh completes only on a terminal: here its builtins are replaced by functions that record their arguments.
TEST_F(first_hour, zsh_completes) {
  if (shell("command -v zsh") != 0) GTEST_SKIP() << "no zsh";
  write("job.json", "{}");
  write("k.ptx", "");
  const auto ask = [this](const std::string& line) {
    write("ask.zsh",
          "setopt extended_glob null_glob\ncompdef() { :; }\n"
          "compset() { case $1 in -P) PREFIX=${PREFIX#*=} ;; esac }\n"
          "compadd() { local name=${@[-1]}; print -rl -- ${(M)${(P)name}:#$PREFIX*} }\n"
          "_files() { case $1 in -g) print -rl -- $~2 ;; esac }\n"
          "source <(heddle completion zsh)\n"
          "words=(${(z):-\"" +
              line + "\"})\nCURRENT=$#words\nPREFIX=$words[-1]\n_heddle\n");
    EXPECT_EQ(0, shell("zsh -f ask.zsh"));
    EXPECT_EQ("", err_);
    return lines_of(out_);
  };
  completes(ask);
  EXPECT_TRUE(contains(ask("heddle run --set sub_partition.scheduler=g"), "sub_partition.scheduler=gto"));
  EXPECT_TRUE(contains(ask("heddle run --set sub_partition.sched"), "sub_partition.scheduler="));
  EXPECT_TRUE(contains(ask("heddle run --gpu=v1"), "--gpu=v100"));
}

}  // namespace completion_test
