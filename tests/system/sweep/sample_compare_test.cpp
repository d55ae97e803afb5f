// SPDX-License-Identifier: MIT
// heddle sample --compare: what STEM, Sieve and PKA choose, by hand, and what a file lacks for them. Tables of others'
// durations.
#include <map>

#include "sample_fixture.h"

namespace sample_test {

// Of a method's launches: weights by number.
std::map<unsigned, double> weights(const json& method) {
  std::map<unsigned, double> all;
  for (const json& l : method["launches"]) all[l["launch"].get<unsigned>()] = l["weight"].get<double>();
  return all;
}

// Tiers of kernels whose instructions do not vary, vary little, and vary much.
TEST_F(samples, of_sieve_are_the_first_of_the_commonest_block_size) {
  write(
      "d.csv",
      "\"ID\",\"Kernel Name\",\"Block Size\",\"gpu__time_duration.sum\",\"smsp__inst_executed.sum\"\n"
      "\"\",\"\",\"\",\"us\",\"inst\"\n"
      "0,a,\"(128, 1, 1)\",10,100\n1,a,\"(128, 1, 1)\",10,100\n2,a,\"(128, 1, 1)\",10,100\n3,a,\"(64, 1, 1)\",10,100\n"
      "4,b,\"(64, 1, 1)\",5,100\n5,b,\"(128, 1, 1)\",8,120\n6,b,\"(32, 4, 1)\",6,110\n"
      "7,c,\"(64, 1, 1)\",1,100\n8,c,\"(64, 1, 1)\",90,\"10,000\"\n9,c,\"(64, 1, 1)\",1,100\n"
      "10,c,\"(64, 1, 1)\",110,\"10,000\"\n");
  const auto o = run({"d.csv", "--compare", "--json", "c.json"});
  ASSERT_EQ(0, o.code) << o.err;
  const json sieve = read("c.json")["methods"][2];
  EXPECT_EQ("Sieve", sieve["method"]);
  const std::map<unsigned, double> expected = {{0, 4}, {5, 330 / 120.0}, {7, 2}, {8, 2}};
  EXPECT_EQ(expected, weights(sieve));
  EXPECT_NEAR(1 - (40 + 22 + 182) / 261.0, sieve["error"].get<double>(), 1e-12);
  EXPECT_NEAR(261 / 109.0, sieve["speedup"].get<double>(), 1e-12);
  EXPECT_NE(std::string::npos, o.out.find("4         2.4    6.5 %  Sieve: 4 strata by kernel and instructions\n"))
      << o.out;
}

// Two kinds of launches, told apart by two counters; the others do not vary.
TEST_F(samples, of_pka_are_the_first_of_each_cluster) {
  std::string csv =
      "kernel,duration,GrdX,GrdY,GrdZ,smsp__inst_executed.sum,gld_transactions,gst_transactions,"
      "l1tex__t_sectors_pipe_lsu_mem_local_op_ld.sum,smsp__inst_executed_op_global_ld.sum,"
      "smsp__inst_executed_op_global_st.sum,inst_executed_local_loads,inst_executed_shared_loads,"
      "inst_executed_shared_stores,inst_executed_global_atomics,threads_per_inst\n";
  for (int k = 0; k < 100; ++k)
    csv += std::string("a,") + (k % 4 == 0 ? "10,8,2,1,1000,640," : "30,64,2,1,1000,5120,") + "64,0,0,0,0,0,0,0,32\n";
  write("d.csv", csv);
  const auto o = run({"d.csv", "--compare", "--repeat", "50", "--json", "c.json"});
  ASSERT_EQ(0, o.code) << o.err;
  const json c = read("c.json");
  const json& pka = c["methods"][3];
  EXPECT_EQ("PKA", pka["method"]);
  const std::map<unsigned, double> expected = {{0, 25}, {1, 75}};
  EXPECT_EQ(expected, weights(pka));
  EXPECT_NEAR(0, pka["error"].get<double>(), 1e-12);
  EXPECT_NEAR(2500 / 40.0, pka["speedup"].get<double>(), 1e-12);
  EXPECT_TRUE(pka["missing_counters"].empty());
  EXPECT_NE(std::string::npos, o.out.find("PKA: 2 clusters by 1 components of 12 counters\n")) << o.out;
  EXPECT_EQ(std::string::npos, o.out.find("were not given")) << o.out;
  EXPECT_EQ("heddle sample", c["methods"][0]["method"]);
  EXPECT_EQ("STEM", c["methods"][1]["method"]);
  EXPECT_NE(std::string::npos, o.out.find("mean of 50 samples, 50 of which within 2.0 %")) << o.out;
  EXPECT_EQ(o.out, run({"d.csv", "--compare", "--repeat", "50"}).out);
}

// (1.96 CV / error)^2 launches of a kernel, or of its halves if these take no more time. Halves that do not vary need
// none, and get one.
TEST_F(samples, of_stem_are_drawn_by_its_published_rules) {
  std::string csv = "kernel,duration\n";
  for (int k = 0; k < 100; ++k) csv += k % 2 == 0 ? "a,10\n" : "a,14\n";
  for (int k = 0; k < 7; ++k) csv += "b,20\n";
  for (int k = 0; k < 100; ++k) csv += k % 2 == 0 ? "c,100\n" : "c,104\n";
  write("d.csv", csv);
  ASSERT_EQ(0, run({"d.csv", "--compare", "--error", "5", "--json", "c.json"}).code);
  const json stem = read("c.json")["methods"][1];
  EXPECT_EQ(5u, stem["simulated"].get<unsigned>());
  EXPECT_NEAR((1200 + 140 + 10200) / (10 + 14 + 20 + 100 + 104.0), stem["speedup"].get<double>(), 1e-9);
  EXPECT_NEAR(0, stem["error"].get<double>(), 1e-12);
}

TEST_F(samples, tell_which_counters_a_file_lacks) {
  write("d.csv", "kernel,duration,GrdX,GrdY,GrdZ,gld_transactions\na,10,1,1,1,4\na,11,2,1,1,8\n");
  const auto some = run({"d.csv", "--compare", "--json", "c.json"});
  ASSERT_EQ(0, some.code) << some.err;
  EXPECT_NE(std::string::npos, some.out.find("Sieve: not estimated without smsp__inst_executed.sum or inst_executed\n"))
      << some.out;
  EXPECT_NE(std::string::npos,
            some.out.find("of 2 counters\ncounters that were not given:\n  l1tex__t_sectors_pipe_lsu"))
      << some.out;
  EXPECT_EQ(10u, read("c.json")["methods"][3]["missing_counters"].size());
  write("d.csv", "kernel,duration\na,10\na,11\n");
  const auto none = run({"d.csv", "--compare", "--json", "c.json"});
  ASSERT_EQ(0, none.code) << none.err;
  EXPECT_NE(std::string::npos, none.out.find("PKA: not estimated without counters\n")) << none.out;
  for (const char* name : {"smsp__inst_executed.sum", "launch__grid_size", "smsp__inst_executed_op_shared_st.sum"})
    EXPECT_NE(std::string::npos, none.out.find(std::string("\n  ") + name + "\n")) << none.out;
  EXPECT_EQ("not estimated without counters", read("c.json")["methods"][3]["why_not"]);
}

TEST_F(samples, with_counters_come_from_whole_runs) {
  write_traces(40);
  ASSERT_EQ(0, run({"traces/kernelslist.g", "--gpu", "h100", "-o", "all", "--least", "40", "--quiet"}).code);
  const auto of_traces = script("durations_of.py", {"traces/kernelslist.g", "all/results.csv"});
  ASSERT_EQ(0, of_traces.code) << of_traces.err;
  write("d.csv", of_traces.out);
  // layer_norm: 4 blocks of 4 warps, 8 loads of 4 sectors each and 4 operations after each, a store, the end.
  const std::string first = of_traces.out.substr(of_traces.out.find('\n') + 1);
  EXPECT_EQ(0u, first.rfind("layer_norm,", 0)) << first;
  EXPECT_NE(std::string::npos, first.find(",512,64,0,128,16,0,0,0,0,672,32.0,4,\"(128, 1, 1)\"\n")) << first;
  const auto compared = run({"d.csv", "--compare"});
  EXPECT_EQ(0, compared.code) << compared.err;
  EXPECT_NE(std::string::npos, compared.out.find("of 12 counters\n")) << compared.out;
  // Metrics of a program's launches.
  ASSERT_EQ(0, script("many_launches.py", {"many/job.json", "--rounds", "1"}).code);
  const auto whole = heddle::test::run_program(
      {HEDDLE_PROGRAM, "run", "many/job.json", "--gpu", "v100", "--quiet", "--metrics", "m.json"}, {place_});
  ASSERT_EQ(0, whole.code) << whole.err;
  const auto of_metrics = script("durations_of.py", {"m.json"});
  ASSERT_EQ(0, of_metrics.code) << of_metrics.err;
  write("m.csv", of_metrics.out);
  const std::size_t launches = read("m.json")["kernels"].size();
  EXPECT_GT(launches, 100u);
  const auto o = run({"m.csv", "--compare", "--json", "c.json"});
  ASSERT_EQ(0, o.code) << o.err;
  EXPECT_EQ(launches, read("c.json")["launches"].get<std::size_t>());
  EXPECT_NE(std::string::npos, o.out.find("of 12 counters\n")) << o.out;
  EXPECT_NE(std::string::npos, o.out.find("Sieve: ")) << o.out;
  write("m.json", "{}");
  const auto bad = script("durations_of.py", {"m.json"});
  EXPECT_EQ(1, bad.code);
  EXPECT_NE(std::string::npos, bad.err.find("m.json: KeyError('kernels'); expected")) << bad.err;
}

TEST_F(samples, of_published_tables_come_in_the_order_of_rows) {
  write("t.csv",
        "\xef\xbb\xbf"
        "pool,gemm f,norm\n10,200,3.5\n11,,4\n,201,\n");
  const auto o = script("published_durations.py", {"t.csv"});
  ASSERT_EQ(0, o.code) << o.err;
  EXPECT_EQ("kernel,duration\npool,10\ngemm f,200\nnorm,3.5\npool,11\nnorm,4\ngemm f,201\n", o.out);
  write("d.csv", o.out);
  const auto sample = run({"d.csv", "--repeat", "20"});
  EXPECT_EQ(0, sample.code) << sample.err;
  EXPECT_NE(std::string::npos, sample.out.find("20 of 20 samples are within")) << sample.out;
  const std::vector<std::pair<std::string, std::string>> bad = {
      {"a,b\n1,x\n", "t.csv:2: got 'x' as a duration of 'b', expected a number above 0"},
      {"a,b\n1,0\n", "t.csv:2: got '0' as a duration of 'b', expected a number above 0"},
      {"a\n1\n1,2\n", "t.csv:3: got '2' in column 2, which has no name"},
      {"a,b\n", "t.csv: no launch is in it"},
      {"", "t.csv:1: no column has a name"}};
  for (const auto& [table, why] : bad) {
    write("t.csv", table);
    const auto refused = script("published_durations.py", {"t.csv"});
    EXPECT_EQ(1, refused.code) << table;
    EXPECT_EQ("", refused.out);
    EXPECT_NE(std::string::npos, refused.err.find(why)) << refused.err;
  }
}

TEST_F(samples, to_compare_need_durations_and_counters_that_are_numbers) {
  write("d.csv", "kernel,duration,smsp__inst_executed.sum\na,10,100\na,11,many\n");
  write("block.csv", "kernel,duration,smsp__inst_executed.sum,Block Size\na,10,100,\"(128, one, 1)\"\n");
  write("negative.csv", "kernel,duration,smsp__inst_executed.sum\na,10,-1\n");
  write_traces(20);
  expect_refused({"d.csv", "--compare"},
                 "d.csv:3: got 'many' as smsp__inst_executed.sum of 'a', expected a number of 0 or more");
  expect_refused({"block.csv", "--compare"}, "block.csv:2: got '(128, one, 1)' as Block Size of 'a'");
  expect_refused({"negative.csv", "--compare"}, "negative.csv:2: got '-1'");
  expect_refused({"traces/kernelslist.g", "--compare"}, "--compare: expected durations");
  EXPECT_EQ(0, run({"d.csv", "--dry-run"}).code) << "counters that are not asked for";
}

}  // namespace sample_test
