// SPDX-License-Identifier: MIT
// Options that are misused, inputs of exec, report and sweep that are damaged, and signals at the wrong time.
#include <sqlite3.h>

#include <utility>

#include "tests/system/common/files_fixture.h"

namespace misuse_test {

using namespace file_tests;

class misuse : public files {
 protected:
  void put_sweep() { put("s.ini", "[sweep]\njob = in/job.json\nstore = s.sqlite\n[axes]\ngpu.sm_count = 1, 2\n"); }

  void sql(const std::string& file, const std::string& statement) {
    sqlite3* database = nullptr;
    ASSERT_EQ(SQLITE_OK, sqlite3_open((place_ / file).c_str(), &database));
    EXPECT_EQ(SQLITE_OK, sqlite3_exec(database, statement.c_str(), nullptr, nullptr, nullptr))
        << sqlite3_errmsg(database);
    sqlite3_close(database);
  }
};

// ---- options ----

TEST_F(misuse, a_usage_error_is_one_line_with_its_hint) {
  EXPECT_EQ("heddle: error: expected either a job file or --kernel (see heddle run --help)\n", shell("heddle run").err);
  refused("heddle nothing", " (see heddle --help)\n");
  refused("heddle sweep", "expected a sweep file (see heddle sweep --help)\n");
}

TEST_F(misuse, an_option_is_not_taken_for_a_forgotten_value) {
  refused("heddle run in/job.json --metrics --quiet", "option '--metrics' needs a value, got '--quiet'");
  refused("heddle run in/job.json --gpu --quiet", "option '--gpu' needs a value");
  refused("heddle exec --metrics -- true", "option '--metrics' needs a value, got '--'");
  good("heddle run in/job.json --metrics=--quiet");
  EXPECT_TRUE(exists("--quiet"));
}

TEST_F(misuse, options_of_a_view_need_one) {
  refused("heddle run in/job.json --trace-window 1:2", "--trace-window belongs to --vcd, --timeline or --pipeline");
  refused("heddle run in/job.json --trace-scope gpu.cwd", "--trace-scope belongs to --vcd or --pipeline");
  refused("heddle run in/job.json --timeline t --trace-scope gpu.cwd", "--trace-scope belongs to --vcd or --pipeline");
  refused("heddle run in/job.json --vcd w.vcd --trace-scope gpu.cwd,", "none of them empty");
}

TEST_F(misuse, suggestions_prefer_what_was_begun) {
  refused("heddle run in/job.json --metr m", "did you mean '--metrics'?");
}

TEST_F(misuse, too_many_files_are_told_with_the_limit) {
  refused("heddle report a a a a a a a a a a a a a a a a b -o r.html", "unexpected argument 'b': at most 16 are taken");
  refused("heddle disasm in/k.ptx --kernel in/k.ptx", "the kernel is given twice");
}

TEST_F(misuse, messages_name_the_role_of_a_file_and_each_key_once) {
  refused("heddle run --kernel in/k.ptx --grid 1 --block 32 --arg out:128:in/k.ptx",
          "is read by this run (the module)");
  put("in/bad.json", job_with("/preempt", json::array({{{"at_cycle", 1}, {"nothing", 1}}})));
  const std::string err = shell("heddle run in/bad.json").err;
  EXPECT_NE(err.find("(known: at_cycle, "), std::string::npos) << err;
  EXPECT_EQ(err.find("at_cycle", err.find("at_cycle") + 1), std::string::npos) << err;
}

TEST_F(misuse, a_folder_is_answered_with_a_file_of_the_command) {
  put_sweep();
  fs::copy(place_ / "in", place_ / "all");
  fs::copy(place_ / "s.ini", place_ / "all/s.ini");
  refused("heddle sweep all", "'all' is a directory: heddle sweep all/s.ini (expected a sweep file)");
  refused("heddle run --kernel all:twice --grid 1 --block 1", "heddle run --kernel all/k.ptx (expected a PTX module)");
  refused("heddle run all", "heddle run all/job.json");
}

}  // namespace misuse_test
