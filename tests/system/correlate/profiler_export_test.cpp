// SPDX-License-Identifier: MIT
// What profilers have written is read as it is: both pages of Nsight Compute, both tables of nvprof.
#include "tests/system/correlate/correlate_fixture.h"

namespace profiler_export_test {

using namespace correlate_tests;

const words of_tiny = {"--gpu", "v100", "--run", "tiny.json", "--set", "gpu.sm_count=1", "--csv", "p.csv"};

words with(const std::string& file, words more = of_tiny) {
  more.insert(more.begin(), file);
  return more;
}

TEST_F(correlations, nsight_compute_raw_page) {
  write(
      "e.csv",
      "the program's own output, \"with a quotation mark\n"
      "==PROF== Connected to process 12\n==PROF== Disconnected\n"
      "\"ID\",\"Process ID\",\"Process Name\",\"Host Name\",\"Kernel Name\",\"Context\",\"Stream\",\"Block Size\","
      "\"Grid Size\",\"Device\",\"CC\",\"dram__bytes.sum\",\"gpc__cycles_elapsed.max\",\"gpu__time_duration.sum\","
      "\"l1tex__t_sector_hit_rate.pct\",\"smsp__inst_executed.sum\",\"sm__cycles_elapsed.max\",\"made__up.sum\"\n"
      "\"\",\"\",\"\",\"\",\"\",\"\",\"\",\"\",\"\",\"\",\"\",\"Kbyte\",\"cycle\",\"usecond\",\"%\",\"inst\","
      "\"cycle\",\"furlong\"\n"
      "\"0\",\"12\",\"app\",\"host\",\"tiny(unsigned int *)\",\"1\",\"7\",\"(128, 1, 1)\",\"(8, 1, 1)\",\"0\",\"7.0\","
      "\"4.10\",\"12,345\",\"9.5\",\"50.25\",\"288\",\"12,000\",\"7\"\n");
  good(with("e.csv"));
  EXPECT_EQ(number("p.csv", "cycles", "hardware"), 12345) << "the first of two names counts";
  EXPECT_EQ(number("p.csv", "inst_executed", "error_pct"), 0);
  EXPECT_NEAR(number("p.csv", "dram_bytes", "hardware"), 4100, 1e-6);
  EXPECT_NEAR(number("p.csv", "duration", "hardware"), 9.5e-6, 1e-12);
  EXPECT_NEAR(number("p.csv", "l1_hit_rate", "hardware"), 0.5025, 1e-9);
  EXPECT_TRUE(printed("1 name has no counterpart in Heddle: made__up.sum")) << read("stdout");
  EXPECT_FALSE(printed("measured with grid"));
  good(with("e.csv", {"--gpu", "v100", "--run", "tiny.json", "--set", "gpu.sm_count=1", "--csv", "p.csv",
                      "--launch-cycles", "2345"}));
  EXPECT_EQ(number("p.csv", "cycles", "hardware"), 10000);
}

TEST_F(correlations, nsight_compute_details_page) {
  const std::string head =
      "\"ID\",\"Process ID\",\"Process Name\",\"Host Name\",\"Kernel Name\",\"Context\",\"Stream\",\"Block Size\","
      "\"Grid Size\",\"Device\",\"CC\",\"Section Name\",\"Metric Name\",\"Metric Unit\",\"Metric Value\"\n";
  const auto row = [](int id, const char* kernel, const char* metric, const char* unit, const char* value) {
    return "\"" + std::to_string(id) + "\",\"1\",\"app\",\"host\",\"" + kernel +
           "\",\"1\",\"7\",\"(64, 1, 1)\",\"(16, 1, 1)\",\"0\",\"7.0\",\"Section\",\"" + metric + "\",\"" + unit +
           "\",\"" + value + "\"\n";
  };
  write("e.csv", head + row(0, "void tiny<float>(float *)", "Elapsed Cycles", "cycle", "5,000") +
                     row(0, "void tiny<float>(float *)", "Achieved Occupancy", "%", "12.5") +
                     row(0, "void tiny<float>(float *)", "Memory Throughput", "%", "3") +
                     row(1, "other(int)", "Elapsed Cycles", "cycle", "7") +
                     row(2, "void tiny<float>(float *)", "Elapsed Cycles", "cycle", "6,000"));
  good(with("e.csv", {"--gpu", "v100", "--run", "tiny=tiny.json", "--set", "gpu.sm_count=1", "--csv", "p.csv"}));
  ASSERT_EQ(rows("p.csv").size(), 3u) << "three values of two launches; the other kernel has no run";
  EXPECT_EQ(rows("p.csv")[0].at("hardware"), "5000");
  EXPECT_EQ(rows("p.csv")[0].at("kernel"), "tiny");
  EXPECT_EQ(rows("p.csv")[2].at("hardware"), "6000");
  EXPECT_EQ(number("p.csv", "achieved_occupancy", "hardware"), 0.125);
  EXPECT_TRUE(printed("kernel other(int)")) << read("stdout");
  EXPECT_TRUE(printed("measured with grid 16x1x1, simulated with 8x1x1")) << read("stdout");
}

TEST_F(correlations, nvprof_metrics_and_trace) {
  write("e.csv",
        "==7== NVPROF is profiling process 7, command: ./app\n==7== Profiling result:\n==7== Metric result:\n"
        "\"Device\",\"Kernel\",\"Invocations\",\"Metric Name\",\"Metric Description\",\"Min\",\"Max\",\"Avg\"\n"
        "\"Tesla P100 (0)\",\"tiny(unsigned int*)\",3,\"inst_executed\",\"Instructions Executed\",384,384,384\n"
        "\"Tesla P100 (0)\",\"tiny(unsigned int*)\",3,\"achieved_occupancy\",\"Achieved Occupancy\",0.2,0.3,0.250000\n"
        "\"Tesla P100 (0)\",\"tiny(unsigned int*)\",3,\"gst_efficiency\",\"Global Store\",100.00%,100.00%,100.00%\n"
        "\"Tesla P100 (0)\",\"tiny(unsigned int*)\",3,\"dram_utilization\",\"Utilization\",Low (1),Low (1),Low (1)\n");
  good(with("e.csv", {"--gpu", "p100", "--run", "tiny.json", "--set", "gpu.sm_count=1", "--csv", "p.csv"}));
  EXPECT_EQ(number("p.csv", "inst_executed", "error_pct"), 0);
  EXPECT_EQ(number("p.csv", "achieved_occupancy", "hardware"), 0.25);
  EXPECT_EQ(number("p.csv", "gst_efficiency", "error_pct"), 0);
  EXPECT_TRUE(printed("dram_utilization"));
  EXPECT_TRUE(printed("no time was measured"));

  write("t.csv",
        "==7== Profiling result:\n"
        "\"Start\",\"Duration\",\"Grid X\",\"Grid Y\",\"Grid Z\",\"Block X\",\"Block Y\",\"Block Z\",\"Registers Per "
        "Thread\",\"Static SMem\",\"Dynamic SMem\",\"Size\",\"Throughput\",\"Device\",\"Context\",\"Stream\",\"Name\"\n"
        "ms,us,,,,,,,,B,B,KB,GB/s,,,,\n"
        "1.0,2.5,,,,,,,,,,4.0,1.6,\"Tesla P100 (0)\",\"1\",\"7\",\"[CUDA memcpy HtoD]\"\n"
        "2.0,4.25,8,1,1,128,1,1,8,0,0,,,\"Tesla P100 (0)\",\"1\",\"7\",\"tiny(unsigned int*)\"\n");
  good(with("t.csv", {"--gpu", "p100", "--run", "tiny.json", "--set", "gpu.sm_count=1", "--csv", "p.csv"}));
  EXPECT_NEAR(number("p.csv", "duration", "hardware"), 4.25e-6, 1e-12);
  EXPECT_EQ(number("p.csv", "registers_per_thread", "hardware"), 8);
  EXPECT_EQ(rows("p.csv").size(), 2u) << "the copy is no launch";
}

TEST_F(correlations, exports_that_say_too_little_are_refused) {
  const std::string head = "\"ID\",\"Kernel Name\",\"sm__cycles_elapsed.max\"\n\"\",\"\",\"cycle\"\n";
  write("e.csv", head + "\"0\",\"tiny()\",\"77\"\n");
  refused({"e.csv", "--run", "tiny.json"}, "expected --gpu");
  refused({"e.csv", "--gpu", "v100"}, "expected --run");
  refused({"e.csv", "--gpu", "v100", "--run", "none*=tiny.json"}, "no launch of a kernel that --run names");
  refused({"e.csv", "--gpu", "v100", "--run", "none.json"}, "e.csv:3: ");
  write("e.csv", head + "\"0\",\"tiny()\",\"seven\"\n");
  refused({"e.csv", "--gpu", "v100", "--run", "tiny.json"}, "e.csv:3: sm__cycles_elapsed.max: got 'seven'");
  write("e.csv", head + "\"0\",\"tiny()\",\"-77\"\n");
  refused({"e.csv", "--gpu", "v100", "--run", "tiny.json"}, "got '-77', expected a number of 0 or more");
  write("e.csv", head + "\"0\",\"tiny()\",\"77\"\n\"1\",\"tiny()\"\n");
  refused({"e.csv", "--gpu", "v100", "--run", "tiny.json"}, "e.csv:4: expected 3 cells, as the header has, got 2");
  write("e.csv", head + "\"0\",\"tiny()\",\"77\"\n");
  refused({"e.csv", "--gpu", "v100", "--run", "tiny.json", "--launch-cycles", "77"}, "expected more than the 77");
  write("e.csv", "\"ID\",\"Kernel Name\",\"made__up.sum\"\n\"0\",\"tiny()\",\"7\"\n");
  refused({"e.csv", "--gpu", "v100", "--run", "tiny.json"}, "has a metric that Heddle has");
}

}  // namespace profiler_export_test
