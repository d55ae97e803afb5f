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
  refused("heddle exec --metrics -- true", "option '--metrics' needs a value");
  good("heddle run in/job.json --metrics=--quiet");
  EXPECT_TRUE(exists("--quiet"));
}

TEST_F(misuse, options_of_a_view_need_one) {
  refused("heddle run in/job.json --trace-window 1:2", "--trace-window belongs to --vcd, --timeline or --pipeline");
  refused("heddle run in/job.json --trace-scope gpu.cwd", "--trace-scope belongs to --vcd or --pipeline");
  refused("heddle run in/job.json --timeline t --trace-scope gpu.cwd", "--trace-scope belongs to --vcd or --pipeline");
  refused("heddle run in/job.json --vcd w.vcd --trace-scope gpu.cwd,", "none of them empty");
}

TEST_F(misuse, suggestions_prefer_names_with_the_same_beginning) {
  refused("heddle run in/job.json --metr m", "did you mean '--metrics'?");
}

TEST_F(misuse, too_many_files_are_refused_with_the_limit) {
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

// ---- outputs ----

TEST_F(misuse, two_outputs_do_not_share_a_stream) {
  refused("heddle run in/job.json --metrics - --report -", "is written by something else already (--metrics)");
  refused("heddle run in/job.json --metrics - --report /dev/stdout", "is written by something else already");
  refused("heddle run in/job.json --metrics - --report both 3>&1 >> both; rm both; exit 2", "");
  refused("heddle run in/job.json --metrics /dev/zero", "it is a device");
}

TEST_F(misuse, a_failed_output_is_named_with_its_option) {
  const auto fails = [&](const std::string& command, const std::string& with) {
    const outcome o = shell(command);
    EXPECT_EQ(o.code, 2) << command;
    EXPECT_EQ(o.err.rfind("heddle: error: " + with, 0), 0u) << command << o.err;
  };
  fails("heddle run in/job.json --metrics /dev/full", "--metrics: cannot write '/dev/full': No space");
  fails("heddle run in/job.json --report /dev/full", "--report: cannot write '/dev/full': No space");
  put("in/full.json", job_with("/outputs/0/file", "/dev/full"));
  fails("heddle run in/full.json", "in/full.json:1:");
}

TEST_F(misuse, a_closed_standard_output_is_reported_before_the_run) {
  refused("heddle run in/job.json --metrics m.json >&-", "standard output is closed");
  good("heddle run in/job.json --metrics m.json --quiet >&-");
  EXPECT_TRUE(exists("m.json"));
}

// ---- programs under exec ----

TEST_F(misuse, exec_keeps_the_program_that_it_runs) {
  fs::copy("/bin/true", place_ / "p");
  put("s.sh", "#!/bin/sh\ntrue\n");
  fs::permissions(place_ / "s.sh", fs::perms::owner_all);
  refused("heddle exec --quiet --metrics p -- ./p", "'p' is read by this run (the program)");
  refused("heddle exec --quiet --vcd p -- ./p", "'p' is read by this run (the program)");
  refused("heddle exec --quiet --report s.sh -- ./s.sh", "'s.sh' is read by this run (the program)");
  refused("PATH=$PWD:$PATH; heddle exec --quiet --report p -- p", "'p' is read by this run (the program)");
}

TEST_F(misuse, exec_checks_its_options_before_the_program_starts) {
  refused("heddle exec --vcd o.vcd --trace-scope nope -- touch started", "--trace-scope: 'nope' fits no module");
  refused("heddle exec --pipeline o --trace-scope nope -- touch started", "--trace-scope: 'nope' fits no module");
  refused("heddle exec --kernel-name '' -- touch started", "option '--kernel-name' needs a value");
  refused("heddle exec --kernel-name $'\\xff' -- touch started", "--kernel-name: got '\\xff'");
  refused("heddle exec --environment --metrics .", "--metrics: cannot write '.': it is a directory");
  good("heddle exec --environment --metrics %n/m.json");
  good("heddle exec --vcd o.vcd -- true");
  EXPECT_FALSE(exists("o.vcd")) << "the program calls nothing of CUDA";
}

// ---- the report's inputs ----

TEST_F(misuse, a_report_refuses_numbers_that_no_run_has) {
  good("heddle run in/job.json --metrics m.json");
  const json whole = json::parse(get("m.json"));
  const auto with = [&](const char* pointer, const json& value) {
    json j = whole;
    j[json::json_pointer(pointer)] = value;
    put("bad.json", j.dump());
  };
  for (const auto& [pointer, value] : std::vector<std::pair<const char*, json>>{{"/cycles", -5},
                                                                                {"/cycles", 1e308},
                                                                                {"/kernels/0/cycles", nullptr},
                                                                                {"/kernels/0/grid/0", nullptr},
                                                                                {"/kernels/0/metrics/ipc", -0.5}}) {
    with(pointer, value);
    refused("heddle report bad.json -o r.html", "expected a number from 0 to 18446744073709551615");
  }
  put("empty.sqlite", "");
  refused("heddle report empty.sqlite -o r.html", "'empty.sqlite' is empty");
}

TEST_F(misuse, a_report_refuses_a_store_with_damaged_points) {
  put_sweep();
  good("heddle sweep s.ini");
  good("heddle report s.sqlite -o r.html");
  good("cp s.sqlite whole");
  for (const char* damage : {"UPDATE points SET id = NULL WHERE position = 1",
                             "UPDATE results SET status = x'646f6e65'", "UPDATE results SET status = 'nothing'"}) {
    good("cp whole s.sqlite");
    sql("s.sqlite", damage);
    refused("heddle report s.sqlite -o other.html", "it is damaged");
  }
}

TEST_F(misuse, a_locked_store_is_said_to_be_locked) {
  put_sweep();
  good("heddle sweep s.ini");
  sqlite3* database = nullptr;
  ASSERT_EQ(SQLITE_OK, sqlite3_open((place_ / "s.sqlite").c_str(), &database));
  ASSERT_EQ(SQLITE_OK, sqlite3_exec(database, "BEGIN EXCLUSIVE", nullptr, nullptr, nullptr));
  const std::pair<const char*, const char*> commands[] = {
      {"heddle sweep s.ini", "heddle: error: s.ini:3:9: store: '"},
      {"heddle report s.sqlite -o r.html", "heddle: error: store: '"}};
  for (const auto& [command, begin] : commands) {
    const outcome o = shell(command);
    EXPECT_EQ(2, o.code);
    EXPECT_EQ(o.err.rfind(begin, 0), 0u) << o.err;
    EXPECT_NE(o.err.find("' is locked by another process"), std::string::npos) << o.err;
  }
  sqlite3_close(database);
}

// ---- sweeps that cannot run ----

TEST_F(misuse, a_sweep_without_slurm_leaves_nothing) {
  put_sweep();
  refused("PATH=/nowhere; heddle sweep s.ini --engine slurm", "there is no sbatch on this machine");
}

TEST_F(misuse, a_sweep_keeps_folders_of_others) {
  put_sweep();
  fs::create_directory(place_ / "s.sqlite.points");
  put("s.sqlite.points/mine.txt", "mine\n");
  refused("heddle sweep s.ini", "holds something else than results of sweeps");
  fs::rename(place_ / "s.sqlite.points", place_ / "mine");
  fs::create_directory_symlink("mine", place_ / "s.sqlite.points");
  refused("heddle sweep s.ini", "holds something else than results of sweeps");
  fs::remove(place_ / "mine/mine.txt");
  good("heddle sweep s.ini");
}

// ---- the shipped GPUs ----

TEST_F(misuse, gpus_without_configurations_are_an_error) {
  refused("HEDDLE_CONFIGS=/nonexistent heddle gpus", "no configurations in /nonexistent");
  fs::create_directory(place_ / "configs");
  put("configs/\x1b[31m.ini", content(HEDDLE_SOURCE "/configs/gtx1080.ini"));
  const outcome o = shell("HEDDLE_CONFIGS=$PWD/configs heddle gpus");
  EXPECT_EQ(0, o.code) << o.err;
  EXPECT_NE(o.out.find("\\x1b[31m"), std::string::npos) << o.out;
  EXPECT_EQ(o.out.find('\x1b'), std::string::npos) << o.out;
}

// ---- signals ----

TEST_F(misuse, a_request_for_a_snapshot_ends_nothing) {
  put_sweep();
  // A writer that delivers its text late lets the program wait within its first step; SIGUSR1 is bit 9.
  const auto signalled = [&](const std::string& command, const std::string& text) {
    put("text", text);
    fs::remove(place_ / "sent");
    return shell("(while [ ! -e sent ]; do sleep 0.02; done; cat text) | " HEDDLE_PROGRAM " " + command +
                 " & until grep -Eq '^SigCgt:.*[2367abef]..$' /proc/$!/status; do sleep 0.02; done; kill -USR1 $!; "
                 "sleep 0.1; touch sent; wait $!");
  };
  EXPECT_EQ(0, signalled("config --gpu /dev/stdin", content(HEDDLE_SOURCE "/configs/gtx1080.ini")).code);
  put("in/here.json", job_text);
  EXPECT_EQ(2, signalled("run -", "{}").code);
  const outcome o = shell("heddle exec -- sh -c 'kill -USR1 $$; sleep 1'");
  EXPECT_EQ(138, o.code) << "the program has the usual effect: " << o.err;
}

TEST_F(misuse, children_are_heard_of_where_a_parent_ignores_them) {
  EXPECT_EQ(3, shell("trap '' CHLD; timeout 60 " HEDDLE_PROGRAM " exec -- sh -c 'exit 3'").code);
  put_sweep();
  EXPECT_EQ(0, shell("trap '' CHLD; timeout 60 " HEDDLE_PROGRAM " sweep s.ini").code);
}

TEST_F(misuse, exec_passes_on_a_hang_up) {
  const outcome o =
      shell(HEDDLE_PROGRAM
            " exec -- sh -c 'echo $$ > pid; exec sleep 20' & p=$!; while [ ! -s pid ]; do sleep 0.05; done; "
            "sleep 0.2; kill -HUP $p; wait $p; echo $?; kill -0 $(cat pid) 2> kill && echo lives");
  EXPECT_EQ("129\n", o.out) << o.err;
}

}  // namespace misuse_test
