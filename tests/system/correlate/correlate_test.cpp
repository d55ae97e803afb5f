// SPDX-License-Identifier: MIT
// Suites of measurements: what is compared, what is written, what is refused.
#include <sstream>

#include "tests/system/common/json_text.h"
#include "tests/system/correlate/correlate_fixture.h"

namespace correlate_test {

using namespace correlate_tests;

const std::string one_sm = " --set gpu.sm_count=1";

// Two rows of two chips; the second identifies a parameter.
const std::string suite =
    "# two launches\n"
    "gpu,kernel,run,label,use,launch_cycles,cycles,inst_executed,l1_hit_rate,dram_bytes,origin,licence\n"
    ",,,,,,cycle,inst,%,Kbyte,,\n"
    "v100,first,tiny.json" +
    one_sm +
    ",,compared,1000,3000,288,10,1,here,MIT\n"
    "p100,second,--kernel k.ptx:tiny --grid 8 --block 128 --arg buf:8192" +
    one_sm + ",,identifies l1.latency_cycles,,900,,,,here,MIT\n";

TEST_F(correlations, a_suite_is_run_compared_and_written) {
  write("s.csv", suite);
  good({"s.csv", "--csv", "p.csv", "--json", "p.json", "--output", "p.html"});
  EXPECT_EQ(number("p.csv", "cycles", "hardware", "first"), 2000) << "without the launch cost";
  EXPECT_EQ(number("p.csv", "inst_executed", "heddle"), 288) << "9 instructions of 32 warps";
  EXPECT_EQ(number("p.csv", "inst_executed", "error_pct"), 0);
  EXPECT_EQ(number("p.csv", "dram_bytes", "hardware"), 1000) << "the unit of the second row";
  EXPECT_NEAR(number("p.csv", "l1_hit_rate", "hardware"), 0.1, 1e-12);
  const double cycles = number("p.csv", "cycles", "heddle", "first");
  EXPECT_GT(cycles, 100);
  EXPECT_NEAR(number("p.csv", "cycles", "error_pct", "first"), 100 * (cycles / 2000 - 1), 1e-6);
  EXPECT_EQ(row_of("p.csv", "cycles", "second").at("use"), "identifies l1.latency_cycles");
  const auto chips = nlohmann::json::parse(read("p.json"))["chips"];
  ASSERT_EQ(chips.size(), 2u);
  EXPECT_EQ(chips[0]["gpu"], "v100");
  EXPECT_EQ(chips[0]["counted"], 1);
  EXPECT_EQ(chips[0]["rows"][0]["heddle_cycles"], cycles);
  EXPECT_EQ(chips[0]["rows"][0]["hardware_cycles"], 2000);
  EXPECT_EQ(chips[1]["rows"][0]["identifies"], "l1.latency_cycles");
  EXPECT_TRUE(printed("v100")) << read("stdout");
  EXPECT_TRUE(printed("1 compared row")) << "a row to which a parameter was fitted does not count";
  EXPECT_TRUE(printed("identifies l1.latency_cycles"));

  // The cycles are those of the same run by heddle run.
  const std::string command = "cd '" + place_.string() + "' && '" HEDDLE_PROGRAM "' run tiny.json --gpu v100" + one_sm +
                              " --quiet --metrics m.json";
  ASSERT_EQ(std::system(command.c_str()), 0);
  EXPECT_EQ(nlohmann::json::parse(read("m.json"))["kernels"][0]["cycles"], cycles);
}

// Two warps load one sector and store one each: the second load joins the first one's fetch.
TEST_F(correlations, a_load_that_joins_an_outstanding_fetch_hits_as_for_a_profiler) {
  write("joined.ptx",
        ".version 8.0\n.target sm_70\n.address_size 64\n"
        ".visible .entry joined(.param .u64 p) {\n.reg .b64 %d<2>; .reg .b32 %r<2>;\nld.param.u64 %d0, [p];\n"
        "ld.global.u32 %r0, [%d0];\nst.global.u32 [%d0+1024], %r0;\nret;\n}\n");
  write("s.csv",
        "gpu,kernel,run,use,cycles,l1_hit_rate,origin,licence\n"
        "v100,joined,--kernel joined.ptx:joined --grid 1 --block 64 --arg buf:8192" +
            one_sm + ",compared,1000,0.25,here,MIT\n");
  good({"s.csv", "--csv", "p.csv"});
  EXPECT_NEAR(number("p.csv", "l1_hit_rate", "heddle"), 0.25, 1e-12);
}

TEST_F(correlations, of_a_suite_only_the_rows_of_the_named_chip_are_run) {
  write("s.csv", suite);
  good({"s.csv", "--gpu", "p100", "--csv", "p.csv"});
  EXPECT_EQ(row_of("p.csv", "cycles").at("kernel"), "second");
  EXPECT_FALSE(printed("first"));
}

// A profiler's elapsed cycles hold the launch, too: a figure of the row, or what the GPU's file says.
TEST_F(correlations, the_launch_cost_of_the_gpu_is_taken_off_times_but_not_off_counts) {
  write("s.csv", "gpu,kernel,run,use,launch_cycles,cycles,inst_executed,origin\nv100,of the GPU,tiny.json" + one_sm +
                     ",compared,gpu,5000,288,x\nv100,of the row,tiny.json" + one_sm +
                     ",compared,0,5000,288,x\nv100,other,tiny.json" + one_sm +
                     " --set cwd.launch_overhead_cycles=700,compared,gpu,5000,288,x\n");
  good({"s.csv", "--csv", "p.csv"});
  EXPECT_EQ(number("p.csv", "cycles", "hardware", "of the GPU"), 5000 - 2249);
  EXPECT_EQ(number("p.csv", "cycles", "hardware", "of the row"), 5000);
  EXPECT_EQ(number("p.csv", "cycles", "hardware", "other"), 5000 - 700);
  EXPECT_EQ(number("p.csv", "inst_executed", "hardware", "of the GPU"), 288);
  EXPECT_EQ(number("p.csv", "cycles", "heddle", "other"), number("p.csv", "cycles", "heddle", "of the GPU"))
      << "kernel cycles do not change";
}

TEST_F(correlations, the_metric_that_departs_first_is_named) {
  write("s.csv",
        "gpu,kernel,run,use,cycles,inst_executed,dram_bytes,origin\n"
        "v100,same instructions,tiny.json" +
            one_sm + ",compared,100,288,77,here\nv100,other instructions,tiny.json" + one_sm +
            ",compared,100,100,77,here\n");
  good({"s.csv"});
  EXPECT_TRUE(printed("same instructions")) << read("stdout");
  EXPECT_NE(read("stdout").find("dram_bytes 1,280 B (77 B on the chip)"), std::string::npos) << "the kernel's code\n"
                                                                                             << read("stdout");
  EXPECT_NE(read("stdout").find("inst_executed 288 (100 on the chip)"), std::string::npos) << read("stdout");
}

TEST_F(correlations, a_former_name_of_a_parameter_gets_one_warning_for_all_rows) {
  write("s.csv", suite);
  good({"s.csv", "--csv", "p.csv", "--set", "sm.warp_dealing=by_id"});
  EXPECT_EQ(read("stderr"),
            "heddle: warning: former names of parameters are used: sm.warp_dealing (now sm.warp_assignment)\n");
}

TEST_F(correlations, pages_hold_all_rows_and_their_origins) {
  write("s.csv", suite);
  good({"--jobs", "1", "s.csv", "--output", "p.md", "--quiet"});
  EXPECT_EQ(read("stdout"), "");
  const std::string page = read("p.md");
  for (const char* part : {"heddle correlate s.csv --output p.md", "| first | cycles | 2,000 |", "second (i)",
                           "* here; licence: MIT", "1000 cycles (here)", "smsp__inst_executed.sum", "| v100 | 1 |"})
    EXPECT_NE(page.find(part), std::string::npos) << part << "\n" << page;
  good({"s.csv", "--output", "p.html", "--quiet"});
  const std::string html = read("p.html");
  const auto begin = html.find("id=\"heddle-data\"");
  ASSERT_NE(begin, std::string::npos);
  const auto from = html.find('{', begin), end = html.find("</script>", begin);
  const auto data = nlohmann::json::parse(html.substr(from, end - from));
  EXPECT_EQ(data["kind"], "correlation");
  ASSERT_EQ(data["chips"].size(), 2u);
  EXPECT_EQ(data["chips"][0]["rows"][0]["hardware_cycles"], 2000);
  EXPECT_EQ(data["chips"][1]["counted"], 0);
}

TEST_F(correlations, rows_labelled_long_wait_for_their_option) {
  write("s.csv", "gpu,kernel,run,label,use,cycles,origin\nv100,a,tiny.json" + one_sm +
                     ",,compared,100,x\nv100,b,tiny.json" + one_sm + ",long,compared,100,x\n");
  good({"s.csv", "--csv", "p.csv"});
  EXPECT_EQ(rows("p.csv").size(), 1u);
  EXPECT_TRUE(printed("1 row is labelled long"));
  good({"s.csv", "--csv", "p.csv", "--long"});
  EXPECT_EQ(rows("p.csv").size(), 2u);
  write("l.csv", "gpu,kernel,run,label,use,cycles,origin\nv100,b,tiny.json,long,compared,100,x\n");
  EXPECT_EQ(run({"l.csv"}), 2);
  EXPECT_NE(read("stderr").find("labelled long"), std::string::npos);
}

TEST_F(correlations, a_store_keeps_runs_and_a_changed_kernel_is_another_run) {
  const auto points = [&] {
    std::size_t count = 0;
    for (const auto& e : fs::recursive_directory_iterator(place_ / "kept.points"))
      count += e.path().extension() == ".json" && e.path().filename() != "store.json";
    return count;
  };
  write("s.csv", suite);
  good({"s.csv", "--store", "kept", "--csv", "a.csv"});
  EXPECT_EQ(points(), 2u);
  good({"s.csv", "--store", "kept", "--csv", "b.csv", "--jobs", "1"});
  EXPECT_EQ(points(), 2u);
  EXPECT_EQ(read("a.csv"), read("b.csv"));
  std::string text = read("k.ptx");
  text.insert(text.find("	mul.wide"), "	add.u32 %r1, %r1, %r3;\n	add.u32 %r1, %r1, %r3;\n");
  write("k.ptx", text);
  good({"s.csv", "--store", "kept", "--csv", "b.csv"});
  EXPECT_EQ(points(), 4u);
}

TEST_F(correlations, failures_and_a_required_error_are_exit_code_1) {
  write("s.csv", "gpu,kernel,run,use,cycles,origin\nv100,good,tiny.json" + one_sm +
                     ",compared,100,x\nv100,bad,wild.json" + one_sm +
                     ",compared,100,x\nv100,huge,--kernel k.ptx:tiny --grid 8 --block 2048 --arg buf:8192" + one_sm +
                     ",compared,100,x\n");
  EXPECT_EQ(run({"s.csv", "--csv", "p.csv"}), 1);
  EXPECT_NE(read("stderr").find("s.csv:3: bad: failed: "), std::string::npos) << read("stderr");
  EXPECT_NE(read("stderr").find("s.csv:4: huge: refused: "), std::string::npos) << read("stderr");
  EXPECT_EQ(row_of("p.csv", "cycles").at("kernel"), "good");

  write("g.csv", "gpu,kernel,run,use,cycles,origin\nv100,good,tiny.json" + one_sm + ",compared,100,x\n");
  good({"g.csv", "--require", "100000"});
  EXPECT_EQ(run({"g.csv", "--require", "5"}), 1);
  EXPECT_NE(read("stderr").find("--require"), std::string::npos);
}

TEST_F(correlations, launches_are_selected_by_number_and_name) {
  write("two.json", R"({"module": "k.ptx", "buffers": {"out": {"bytes": 8192}}, "launches": [
    {"kernel": "tiny", "grid": [8], "block": [128], "args": [{"buffer": "out"}]},
    {"kernel": "tiny", "grid": [2], "block": [128], "args": [{"buffer": "out"}]}]})");
  const std::string head = "gpu,kernel,run,launch,use,inst_executed,origin\n";
  const std::string run_cell = "two.json" + one_sm;
  write("s.csv", head + "v100,a," + run_cell + ",1,compared,72,x\nv100,b," + run_cell +
                     ",tiny,compared,288,x\nv100,c," + run_cell + ",tiny:1,compared,72,x\n");
  good({"s.csv", "--csv", "p.csv"});
  for (const char* kernel : {"a", "b", "c"})
    EXPECT_EQ(number("p.csv", "inst_executed", "error_pct", kernel), 0) << kernel;
  write("t.csv", head + "v100,a," + run_cell + ",7,compared,72,x\n");
  EXPECT_EQ(run({"t.csv"}), 1);
  EXPECT_NE(read("stderr").find("the run has 2 launches, expected number 7"), std::string::npos) << read("stderr");
}

TEST_F(correlations, rates_need_the_bytes_and_rank_by_time) {
  const std::string head = "gpu,kernel,run,use,bytes,bytes_per_second,origin\n,,,,,GB/s,\n";
  write("s.csv", head + "v100,a,tiny.json" + one_sm + ",compared,4096,1,x\n");
  good({"s.csv", "--csv", "p.csv"});
  EXPECT_EQ(number("p.csv", "bytes_per_second", "hardware"), 1e9);
  EXPECT_GT(number("p.csv", "bytes_per_second", "heddle"), 1e9);
  EXPECT_TRUE(printed("bias -")) << "a higher rate is a shorter time\n" << read("stdout");
  write("s.csv", head + "v100,a,tiny.json,compared,,1,x\n");
  EXPECT_EQ(run({"s.csv"}), 2);
  EXPECT_NE(read("stderr").find("needs a value in column 'bytes'"), std::string::npos);
}

TEST_F(correlations, bad_suites_are_refused_with_their_line) {
  const auto bad = [&](const std::string& text, const std::string& part, words options = {}) {
    write("s.csv", text);
    options.insert(options.begin(), {"s.csv", "--output", "p.html", "--csv", "p.csv", "--store", "s"});
    refused(options, part);
  };
  const std::string head = "gpu,kernel,run,use,cycles,origin\n";
  bad("", "s.csv:1: expected a suite");
  bad("a,b\n1,2\n", "s.csv:1: expected a suite");
  bad(head, "the suite has no row");
  bad("gpu,kernel,run,use,cylces,origin\n", "s.csv:1: unknown column 'cylces'");
  bad("gpu,kernel,run,use,cylces,origin\n", "did you mean 'cycles'?");
  bad("gpu,kernel,run,use,cycles,cycles,origin\n", "given twice");
  bad(head + "v100,a,tiny.json,compared,fast,x\n", "s.csv:2: cycles: got 'fast'");
  bad(head + "v100,a,tiny.json,compared,,x\n", "s.csv:2: the row has no measured value");
  bad(head + "v100,a,tiny.json,fitted,1,x\n", "s.csv:2: use: got 'fitted'");
  bad(head + "v100,a,tiny.json,identifies l1.speed,1,x\n", "unknown parameter 'l1.speed'");
  bad(head + "v100,a,tiny.json,compared,1,x,y\n", "s.csv:2: expected 6 cells, got 7");
  bad(head + "v100,a,tiny.json,compared,1,\n", "expected a value in column 'origin'");
  bad(head + "v100,a,\"tiny.json,compared,1,x\n", "a quotation mark is not closed");
  bad(head + ",,,,hours,\n", "the unit 'hours'");
  bad(head + "v101,a,tiny.json,compared,1,x\n", "v101");
  bad(head + "v100,a,none.json,compared,1,x\n", "s.csv:2: ");
  bad(head + "v100,a,--kernel k.ptx:none --grid 1,compared,1,x\n", "s.csv:2: ");
  bad(head + "v100,a,tiny.json --metrics m.json,compared,1,x\n", "--metrics cannot be given here");
  bad(head + "v100,a,tiny.json --gpu p100,compared,1,x\n", "--gpu cannot be given here");
  bad(head + "v100,a,tiny.json 'x,compared,1,x\n", "s.csv:2: ");
  bad(head + "v100,a,tiny.json,compared,-3000,x\n", "s.csv:2: cycles: got '-3000', expected a number of 0 or more");
  bad(head + "v100,a,tiny.json,compared,0,x\n", "s.csv:2: cycles: got '0', expected a number above 0");
  bad(head + "v100,a,tiny.json,compared,0x10,x\n", "s.csv:2: cycles: got '0x10', expected a number");
  bad(head + "v100,a,tiny.json,compared,3 ms,x\n", "s.csv:2: cycles: got '3 ms', expected a unit that fits it");
  bad("gpu,kernel,run,launch,use,cycles,origin\nv100,a,tiny.json,-1,compared,1,x\n", "s.csv:2: launch: got '-1'");
  bad("gpu,kernel,run,use,launch_cycles,cycles,origin\nv100,a,tiny.json,compared,3000,2000,x\n",
      "s.csv:2: cycles: the launch has 2,000, expected more than the 3,000");
  bad(head + "v100,a\x1b[2J,tiny.json,compared,1,x\n", "s.csv:2: a control character in 'a\\x1b[2J', expected text");
  bad(head + "v100,\xe9,tiny.json,compared,1,x\n", "s.csv:2: a byte that is not UTF-8 in '\\xe9', expected text");
  for (const words& option : {words{"--run", "tiny.json"}, words{"--launch-cycles", "7"}})
    bad(head + "v100,a,tiny.json,compared,1,x\n", "'s.csv' is a suite, which says this itself", option);
  bad(head + "v100,a,tiny.json,compared,1,x\n", "'s.csv' has no row of 'p100'", {"--gpu", "p100"});
  refused({"none.csv"}, "none.csv");
  refused({"."}, "");
  write("s.csv", suite);
  refused({"s.csv", "--output", "p.pdf"}, "expected PAGE.html or PAGE.md");
  refused({"s.csv", "--csv", "tiny.json"}, "is read by this run");
  refused({"s.csv", "--csv", "s.csv"}, "is read by this run");
  refused({"s.csv", "--require", "much"}, "--require: got 'much'");
  refused({"s.csv", "--output", "none/p.html"}, "none");
}

TEST_F(correlations, files_given_to_the_wrong_command_are_named) {
  write("s.csv", "gpu,kernel,run,use,cycles,origin\nv100,a,tiny.json,compared,1,x\n");
  write("e.csv", "==PROF== Connected\n\"ID\",\"Kernel Name\",\"dram__bytes.sum\"\n");
  refused({"tiny.json"}, "is a job: heddle run tiny.json (expected a suite");
  refused({"k.ptx"}, "is PTX");
  command_ = "run";
  refused({"s.csv"}, "a suite of measurements: heddle correlate s.csv");
  command_ = "report";
  refused({"e.csv", "-o", "p.html"}, "exported: heddle correlate e.csv --gpu NAME --run JOB.json");
}

TEST_F(correlations, a_program_is_run_as_exec_runs_it) {
  write("s.csv", "gpu,kernel,run,use,cycles,inst_executed,origin\nv100,a,-- " HEDDLE_CUDA_PROGRAMS " " HEDDLE_SOURCE
                 "/tests/system/cuda/kernels.fatbin vectors,compared,1000,100,x\n");
  const int code = run({"s.csv", "--csv", "p.csv"});
  if (code != 0) FAIL() << read("stderr");
  EXPECT_GT(number("p.csv", "inst_executed", "heddle"), 0);
  write("s.csv", "gpu,kernel,run,use,cycles,origin\nv100,a,-- /bin/false,compared,1000,x\n");
  EXPECT_EQ(run({"s.csv"}), 1);
  EXPECT_NE(read("stderr").find("ended with exit code 1"), std::string::npos) << read("stderr");
}

TEST_F(correlations, a_fit_finds_the_value_that_a_row_identifies) {
  const std::string head = "gpu,kernel,run,use,cycles,origin\n", key = "cwd.dispatch_latency_cycles";
  write("s.csv", head + "v100,a,tiny.json --set " + key + "=171" + one_sm + ",compared,1000,x\n");
  good({"s.csv", "--csv", "a.csv"});
  const std::string measured = row_of("a.csv", "cycles").at("heddle");
  write("f.csv", head + "v100,a,tiny.json" + one_sm + ",identifies " + key + "," + measured +
                     ",x\nv100,b,tiny.json,compared,7,x\n");
  std::istringstream table(good({"f.csv", "--fit", key}));
  std::string line, chip, name;
  double now = 0, best = 0, low = 0, high = 0;
  std::getline(table, line);
  table >> chip >> name >> now >> best >> low >> line >> high;
  EXPECT_EQ(chip + " " + name, "v100 " + key) << read("stdout");
  EXPECT_EQ(now, 120);
  EXPECT_NEAR(best, 171, 3);
  EXPECT_LT(low, 171);
  EXPECT_GT(high, 171);
  refused({"f.csv", "--fit", "l1.latency_cycles", "--store", "s"},
          "no row identifies 'l1.latency_cycles'; rows identify " + key);
  refused({"f.csv", "--fit", "cwd.dispatch_latency_cycle"}, "did you mean '" + key + "'?");
  refused({"f.csv", "--fit", "sub_partition.scheduler"}, "is no number");
  refused({"f.csv", "--fit", key, "--csv", "p2.csv"}, "--csv belongs to a comparison");
}

TEST_F(correlations, runs_end_with_the_command_and_with_their_limit) {
  write("s.csv", "gpu,kernel,run,use,cycles,origin\nv100,a,spin.json" + one_sm + ",compared,1000,x\n");
  EXPECT_EQ(run({"s.csv", "--timeout", "1"}), 1);
  EXPECT_NE(read("stderr").find("s.csv:2: a: timeout: it ran longer"), std::string::npos) << read("stderr");
  fs::create_directories(place_ / "passing");
  setenv("TMPDIR", (place_ / "passing").c_str(), 1);
  const pid_t child = start({"s.csv", "--csv", "p.csv"});
  for (int i = 0; i < 500 && fs::is_empty(place_ / "passing"); ++i) usleep(10'000);
  unsetenv("TMPDIR");
  EXPECT_FALSE(fs::is_empty(place_ / "passing"));
  usleep(200'000);
  kill(child, SIGTERM);
  EXPECT_EQ(finish(child), 128 + SIGTERM);
  EXPECT_TRUE(fs::is_empty(place_ / "passing")) << "its folder for results stays";
  EXPECT_FALSE(fs::exists(place_ / "p.csv"));
}

// A name that two metrics claimed would be read as the first of them.
TEST_F(correlations, a_name_of_a_profiler_belongs_to_one_metric) {
  write("s.csv", suite);
  good({"s.csv", "--output", "p.html", "--quiet"});
  const std::string html = read("p.html");
  const auto from = html.find('{', html.find("id=\"heddle-data\"")), end = html.find("</script>", from);
  std::map<std::string, std::string> owner;
  const auto data = nlohmann::json::parse(html.substr(from, end - from));
  for (const auto& row : data["names"]) {
    for (const char* profiler : {"nsight", "nvprof"}) {
      for (const auto& name : row[profiler]) {
        const auto [at, fresh] = owner.try_emplace(name, row["name"]);
        EXPECT_EQ(at->second, row["name"]) << name;
      }
    }
  }
  EXPECT_GT(owner.size(), 60u);
}

}  // namespace correlate_test
