// SPDX-License-Identifier: MIT
// --sample-blocks: launches of which only some blocks are simulated.
#include <algorithm>
#include <cmath>
#include <iterator>
#include <string>

#include "tests/system/record/record_fixture.h"

namespace sample_blocks_test {

using record_fixture::content;
using record_fixture::json;
using record_fixture::outcome;
using record_fixture::words;

constexpr unsigned blocks = 1920, threads = 256;  // 60 waves of the small chip

class block_samples : public record_fixture::record {
 protected:
  static words joined(words all, const words& more) {
    all.insert(all.end(), more.begin(), more.end());
    return all;
  }
  /// On a chip of 4 SMs, whose L2 is full soon.
  [[nodiscard]] outcome small(const words& command, const std::string& file, const words& more = {}) const {
    return heddle(joined(joined(command, {"--gpu", "gtx1080", "--set", "gpu.sm_count=4", "--set",
                                          "l2.size_bytes=262144", "--quiet", "--metrics", file}),
                         more));
  }
  static words vector_add(const std::string& out) {
    const std::string bytes = std::to_string(4 * blocks * threads);
    return {"run",
            "--kernel",
            HEDDLE_WORKLOADS "/vector_add/vector_add.ptx",
            "--grid",
            std::to_string(blocks),
            "--block",
            std::to_string(threads),
            "--arg",
            "buf:" + bytes + ":iotaf",
            "--arg",
            "buf:" + bytes + ":iotaf",
            "--arg",
            "out:" + bytes + ":" + out,
            "--arg",
            "s32:" + std::to_string(blocks * threads)};
  }
  static words unequal(const words& numbers, const std::string& out) {
    words all{"run",
              "--kernel",
              HEDDLE_SOURCE "/tests/sampling/unequal_blocks.ptx",
              "--grid",
              std::to_string(blocks),
              "--block",
              "128",
              "--arg",
              "out:" + std::to_string(512 * blocks) + ":" + out};
    for (const std::string& n : numbers) all.insert(all.end(), {"--arg", "s32:" + n});
    return all;
  }
  [[nodiscard]] json of_kernel(const std::string& file, std::size_t k = 0) const {
    return json::parse(content(place_ / file)).at("kernels").at(k);
  }
  /// The estimate of the first launch holds, with the bound that it names.
  void expect_within(const std::string& whole, const std::string& part) const {
    const json s = of_kernel(part).at("sampled");
    const double cycles = of_kernel(whole).at("cycles"), estimate = s.at("cycles"), error = s.at("error");
    EXPECT_LE(std::fabs(estimate - cycles), error * estimate + 0.5) << s << " of " << cycles;
    EXPECT_EQ(0.95, s.at("confidence"));
    EXPECT_EQ(of_kernel(whole).at("blocks"), s.at("blocks"));
  }
};

TEST_F(block_samples, of_a_stream_tell_its_cycles) {
  ASSERT_EQ(0, small(vector_add("whole.bin"), "whole.json").code);
  const outcome o = small(vector_add("part.bin"), "part.json", {"--sample-blocks", "3", "--threads", "1"});
  ASSERT_EQ(0, o.code) << o.err;
  EXPECT_FALSE(of_kernel("whole.json").contains("sampled"));
  expect_within("whole.json", "part.json");
  const json k = of_kernel("part.json");
  EXPECT_LT(k.at("sampled").at("simulated_blocks"), blocks * 3 / 4);
  EXPECT_LE(k.at("sampled").at("error"), 0.03);
  EXPECT_LT(k.at("cycles"), k.at("sampled").at("cycles"));
  EXPECT_TRUE(content(place_ / "whole.bin") == content(place_ / "part.bin"));
  // The same with several threads, and with another launch behind it.
  ASSERT_EQ(0, small(vector_add("part.bin"), "again.json", {"--sample-blocks", "3%", "--threads", "3"}).code);
  EXPECT_EQ(metrics("part.json"), metrics("again.json"));
}

TEST_F(block_samples, of_unequal_blocks_tell_what_their_instructions_are) {
  const std::vector<words> kinds = {{"10", "50", "0", "9999", "0"},  // ever longer
                                    {"110", "-50", "0", "9999", "0"},
                                    {"20", "0", "63", "9999", "0"},   // by chance
                                    {"30", "0", "7", "1400", "40"}};  // the last ones
  for (const words& kind : kinds) {
    SCOPED_TRACE(kind[1] + " " + kind[2]);
    ASSERT_EQ(0, small(unequal(kind, "whole.bin"), "whole.json").code);
    ASSERT_EQ(0, small(unequal(kind, "part.bin"), "part.json", {"--sample-blocks", "3"}).code);
    expect_within("whole.json", "part.json");
    EXPECT_TRUE(content(place_ / "whole.bin") == content(place_ / "part.bin"));
  }
}

// Local memory fills the L2 with what the next launch finds and must write back.
TEST_F(block_samples, of_local_arrays_tell_their_cycles) {
  const std::string launch = R"({"kernel": "local_arrays", "grid": [480, 1, 1], "block": [128, 1, 1], )"
                             R"("args": [{"buffer": "o"}]})";
  write("job.json", R"({"module": ")" HEDDLE_SOURCE R"(/tests/sampling/local_arrays.ptx", "buffers": {"o": {"bytes": )"
                    R"(245760}}, "launches": [)" +
                        launch + ", " + launch + "]}");
  const words one = {"--set", "gpu.sm_count=1"};
  ASSERT_EQ(0, small({"run", "job.json"}, "whole.json", one).code);
  ASSERT_EQ(0, small({"run", "job.json"}, "part.json", joined(one, {"--sample-blocks", "3"})).code);
  for (const std::size_t k : {0, 1}) {
    const json s = of_kernel("part.json", k).at("sampled");
    const double cycles = of_kernel("whole.json", k).at("cycles"), estimate = s.at("cycles"), error = s.at("error");
    EXPECT_LT(s.at("simulated_blocks"), 480);
    EXPECT_LE(std::fabs(estimate - cycles), error * estimate + 0.5) << s << " of " << cycles;
  }
}

TEST_F(block_samples, of_a_trace_tell_its_cycles) {
  ASSERT_EQ(0, small(vector_add("whole.bin"), "whole.json", {"--record", "d"}).code);
  const outcome o = small({"replay", "d/kernelslist.g"}, "part.json", {"--sample-blocks", "3"});
  ASSERT_EQ(0, o.code) << o.err;
  expect_within("whole.json", "part.json");
  EXPECT_LT(of_kernel("part.json").at("sampled").at("simulated_blocks"), blocks * 3 / 4);
  // With blocks that have no room in memory.
  ASSERT_EQ(0,
            small({"replay", "d/kernelslist.g"}, "again.json", {"--sample-blocks", "3", "--trace-memory", "0"}).code);
  EXPECT_EQ(metrics("part.json"), metrics("again.json"));
}

// A launch adds two vectors, the next one reads the sum. In another stream nothing is left out.
std::string two_launches(const std::string& second_stream) {
  const std::string n = std::to_string(blocks * threads), bytes = std::to_string(4 * blocks * threads);
  const std::string launch = R"({"kernel": "vector_add", "grid": [1920, 1, 1], "block": [256, 1, 1], "stream": )";
  return R"({"module": ")" HEDDLE_WORKLOADS R"(/vector_add/vector_add.ptx", "buffers": {"a": {"bytes": )" + bytes +
         R"(, "fill": "iotaf"}, "b": {"bytes": )" + bytes + R"(}, "c": {"bytes": )" + bytes + R"(}}, "launches": [)" +
         launch + R"(0, "args": [{"buffer": "a"}, {"buffer": "a"}, {"buffer": "b"}, {"s32": )" + n + "}]}, " + launch +
         second_stream + R"(, "args": [{"buffer": "a"}, {"buffer": ")" + (second_stream == "0" ? "b" : "a") +
         R"("}, {"buffer": "c"}, {"s32": )" + n + R"(}]}], "outputs": [{"buffer": "c", "file": "c.bin"}]})";
}

TEST_F(block_samples, leave_memory_as_all_blocks_do) {
  write("job.json", two_launches("0"));
  ASSERT_EQ(0, small({"run", "job.json"}, "whole.json").code);
  const std::string whole = content(place_ / "c.bin");
  ASSERT_EQ(0, small({"run", "job.json"}, "part.json", {"--sample-blocks", "3"}).code);
  EXPECT_TRUE(whole == content(place_ / "c.bin"));
  double cycles = 0, estimate = 0;
  for (const std::size_t k : {0, 1}) {
    EXPECT_LT(of_kernel("part.json", k).at("sampled").at("simulated_blocks"), blocks);
    cycles += of_kernel("part.json", k).at("cycles").get<double>();
    estimate += of_kernel("part.json", k).at("sampled").at("cycles").get<double>();
  }
  const json part = json::parse(content(place_ / "part.json"));
  EXPECT_NEAR(part.at("sampled").at("cycles").get<double>() - part.at("cycles").get<double>(), estimate - cycles, 1.5);
}

TEST_F(block_samples, are_not_taken_of_launches_beside_others) {
  write("job.json", two_launches("1"));
  ASSERT_EQ(0, small({"run", "job.json"}, "whole.json").code);
  ASSERT_EQ(0, small({"run", "job.json"}, "part.json", {"--sample-blocks", "3"}).code);
  for (const std::size_t k : {0, 1}) {
    json s = of_kernel("part.json", k);
    EXPECT_EQ(blocks, s.at("sampled").at("simulated_blocks"));
    EXPECT_EQ(0, s.at("sampled").at("error"));
    EXPECT_EQ(s.at("cycles"), s.at("sampled").at("cycles"));
    s.erase("sampled");
    EXPECT_EQ(of_kernel("whole.json", k), s);
  }
}

// c = a + b, again, and a = b + c, with buffers of `bytes` in all.
std::string repeated_launches(double bytes) {
  const auto n = static_cast<unsigned>(bytes / 12 / 256);  // blocks
  const std::string grid = std::to_string(n), threads_in_all = std::to_string(n * 256);
  std::string buffers, launches;
  for (const char* name : {"a", "b", "c"})
    buffers += std::string(buffers.empty() ? "\"" : ", \"") + name + R"(": {"bytes": )" + std::to_string(n * 1024) +
               R"(, "fill": "iotaf"})";
  for (const char* names : {"abc", "abc", "bca"}) {
    launches += std::string(launches.empty() ? "" : ", ") + R"({"kernel": "vector_add", "grid": [)" + grid +
                R"(, 1, 1], "block": [256, 1, 1], "args": [)";
    for (unsigned k = 0; k < 3; ++k) launches += std::string(R"({"buffer": ")") + names[k] + R"("}, )";
    launches += R"({"s32": )" + threads_in_all + "}]}";
  }
  return R"({"module": ")" HEDDLE_WORKLOADS R"(/vector_add/vector_add.ptx", "buffers": {)" + buffers +
         R"(}, "launches": [)" + launches + R"(], "outputs": [{"buffer": "a", "file": "a.bin"}]})";
}

// A launch finds data in the L2 of the launch before it, whose last blocks were not simulated.
TEST_F(block_samples, of_launches_over_the_same_data_tell_their_cycles) {
  unsigned stopped = 0, within = 0;
  constexpr double sizes[] = {0.25, 0.5, 0.75, 1.0, 1.5, 2.0, 3.0, 4.0};
  for (unsigned n = 0; n < 2 * std::size(sizes); ++n) {
    const bool larger = n >= std::size(sizes);
    const double size = sizes[n % std::size(sizes)];
    SCOPED_TRACE(std::to_string(size) + (larger ? " of 1 MiB" : " of 512 KiB"));
    write("job.json", repeated_launches(size * (larger ? 1 << 20 : 1 << 19)));
    const words job = {"run", "job.json"};
    const words chip =
        larger ? words{"--set", "gpu.sm_count=2", "--set", "memory.channels=2", "--set", "l2.size_bytes=1048576"}
               : words{"--set", "gpu.sm_count=1", "--set", "l2.size_bytes=524288"};
    ASSERT_EQ(0, small(job, "whole.json", chip).code);
    const std::string whole = content(place_ / "a.bin");
    ASSERT_EQ(0, small(job, "part.json", joined(chip, {"--sample-blocks", larger ? "2" : "3"})).code);
    EXPECT_TRUE(whole == content(place_ / "a.bin"));
    for (std::size_t k = 0; k < 3; ++k) {
      const json s = of_kernel("part.json", k).at("sampled");
      if (s.at("simulated_blocks") == s.at("blocks")) continue;
      const double cycles = of_kernel("whole.json", k).at("cycles"), estimate = s.at("cycles"), error = s.at("error");
      ++stopped;
      within += std::fabs(estimate - cycles) <= error * estimate + 0.5;
      EXPECT_NEAR(estimate, cycles, 0.1 * cycles) << k << ' ' << s;
    }
  }
  EXPECT_GE(stopped, 24u);
  EXPECT_GE(within * 20, stopped * 19) << "of " << stopped;
}

// Reads and writes of the blocks that were left out are as far apart as those of simulated ones, so that the next
// launch, which is too short for leaving out any, evicts clean and dirty lines in turn as after a whole launch.
TEST_F(block_samples, leave_lines_in_the_order_of_blocks_beside_each_other) {
  const auto launch = [](unsigned n) {
    return R"({"kernel": "scan_blocks", "grid": [)" + std::to_string(n) +
           R"(, 1, 1], "block": [256, 1, 1], "args": [{"buffer": "i"}, {"buffer": "o"}, {"buffer": "t"}, {"s32": )" +
           std::to_string(n * 256) + "}]}";
  };
  write("job.json", R"({"module": ")" HEDDLE_WORKLOADS R"(/scan/scan.ptx", "buffers": {"i": {"bytes": 2097152, )"
                    R"("fill": "random:7"}, "o": {"bytes": 2097152}, "t": {"bytes": 8192}}, "launches": [)" +
                        launch(2048) + ", " + launch(320) + "]}");
  const auto run = [this](const std::string& file, const words& more) {
    return heddle(joined({"run", "job.json", "--gpu", "a100", "--set", "gpu.sm_count=4", "--set", "gpu.gpc_count=1",
                          "--set", "memory.channels=4", "--set", "l2.size_bytes=1048576", "--quiet", "--metrics", file},
                         more));
  };
  ASSERT_EQ(0, run("whole.json", {}).code);
  ASSERT_EQ(0, run("part.json", {"--sample-blocks", "3"}).code);
  EXPECT_LT(of_kernel("part.json").at("sampled").at("simulated_blocks"), 1536);
  const json second = of_kernel("part.json", 1);
  EXPECT_EQ(320, second.at("sampled").at("simulated_blocks"));
  EXPECT_GE(second.at("sampled").at("error"), 0.03);
  const double cycles = of_kernel("whole.json", 1).at("cycles");
  EXPECT_NEAR(cycles, second.at("cycles").get<double>(), 0.015 * cycles);
}

// The last block writes outside the buffer.
TEST_F(block_samples, fail_as_all_blocks_do) {
  words run = vector_add("c.bin");
  *std::find(run.begin(), run.end(), std::to_string(blocks)) = std::to_string(blocks + 64);
  run.back() = "s32:9999999";
  const outcome whole = small(run, "whole.json"), part = small(run, "part.json", {"--sample-blocks", "3"});
  EXPECT_EQ(1, whole.code);
  EXPECT_EQ(1, part.code) << part.err;
  EXPECT_NE(std::string::npos, part.err.find("kernel 'vector_add'")) << part.err;
  EXPECT_NE(std::string::npos, part.err.find("block (1920,0,0)")) << part.err << whole.err;
}

TEST_F(block_samples, are_refused_in_one_line) {
  const auto refused = [&](const words& more, const std::string& what) {
    expect_refused(heddle(joined(vector_add("c.bin"), more)), what);
  };
  for (const char* const bad : {"0", "-1", "100", "many", "nan"}) refused({"--sample-blocks", bad}, "--sample-blocks");
  refused({"--sample-blocks", "3", "--record", "d"}, "--sample-blocks and --record exclude each other");
  refused({"--sample-blocks", "3", "--sanitize"}, "--sample-blocks and --sanitize exclude each other");
  refused({"--sample-blocks", "3", "--checkpoint", "c"}, "--sample-blocks and --checkpoint exclude each other");
  std::string job = two_launches("0");
  job.insert(job.rfind("\"outputs\""), R"("preempt": [{"at_cycle": 500, "sm": "all", "mode": "drain"}], )");
  write("job.json", job);
  expect_refused(heddle({"run", "job.json", "--sample-blocks", "3"}), "--sample-blocks: ");
}

}  // namespace sample_blocks_test
