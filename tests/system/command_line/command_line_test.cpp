// SPDX-License-Identifier: MIT
// The built program through its command line: accepted and rejected input, exit codes, messages and files.
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <string>
#include <vector>

#include "command_line_fixture.h"
#include "tests/system/common/json_text.h"

namespace command_line_test {

using namespace command_line_fixture;
using json = nlohmann::json;

// ---- the command line itself ----

TEST_F(command_line, help_and_version_go_to_stdout) {
  for (const std::vector<std::string>& arguments : std::vector<std::vector<std::string>>{{"--help"},
                                                                                         {"--version"},
                                                                                         {"run", "--help"},
                                                                                         {"gpus", "--help"},
                                                                                         {"config", "--help"},
                                                                                         {"disasm", "--help"},
                                                                                         {"sweep", "--help"},
                                                                                         {"occupancy", "--help"}}) {
    const outcome o = run(arguments);
    EXPECT_EQ(o.code, 0);
    EXPECT_FALSE(o.out.empty());
    EXPECT_EQ(o.err, "");
  }
}

TEST_F(command_line, wrong_options_are_refused) {
  expect_error(run({}), 2, "expected a command");
  expect_error(run({"frobnicate"}), 2, "unknown command 'frobnicate', expected one of run");
  expect_error(run({"rnu"}), 2, "did you mean 'run'?");
  expect_error(run({"run", "job.json", "--nonsense"}), 2, "unknown option '--nonsense'");
  expect_error(run({"run", "job.json", "--met", "x"}), 2, "unknown option '--met'");
  expect_error(run({"run", "job.json", "--gpu"}), 2, "option '--gpu' needs a value");
  expect_error(run({"run", "job.json", "other.json"}), 2, "unexpected argument 'other.json'");
  expect_error(run({"run"}), 2, "expected either a job file or --kernel");
  expect_error(run({"gpus", "x"}), 2, "unexpected argument 'x'");
  expect_error(run({"occupancy", "--threads", "32"}), 2, "expected --registers-per-thread");
  expect_error(run({"run", "job.json"}), 2, "cannot read 'job.json': No such file or directory");
}

TEST_F(command_line, gpus_config_and_occupancy_tell_figures) {
  outcome o = run({"gpus", "--json"});
  ASSERT_EQ(o.code, 0) << o.err;
  const json gpus = json::parse(o.out);
  ASSERT_GE(gpus.size(), 2u);
  EXPECT_NE(run({"gpus"}).out.find("gtx1080"), std::string::npos);
  o = run({"config", "--gpu", "gtx1080", "--set", "gpu.sm_count=3"});
  EXPECT_EQ(o.code, 0);
  EXPECT_NE(o.out.find("sm_count = 3"), std::string::npos);
  write("own.ini", o.out);
  EXPECT_EQ(run({"config", "--gpu", "own.ini"}).out, o.out) << "what config prints, it reads";
  o = run({"occupancy", "--gpu", "v100", "--threads", "128", "--regs", "48", "--json"});
  EXPECT_EQ(json::parse(o.out)["theoretical_occupancy"], 0.625);
  o = run({"occupancy", "--gpu", "gtx1080", "--threads", "4096", "--regs", "48", "--json"});
  EXPECT_EQ(o.code, 0) << "a block that fits no SM is an answer here";
  EXPECT_EQ(json::parse(o.out)["blocks_per_sm"], 0);
  expect_error(run({"config", "--gpu", "nosuch"}), 2, "nosuch");
  expect_error(run({"config", "--gpu", "gtx1080", "--set", "sm.frob=1"}), 2, "frob");
}

TEST_F(command_line, disasm_lists_the_machine_program) {
  const outcome o = run({"disasm", "k.ptx:store"});
  EXPECT_EQ(o.code, 0) << o.err;
  EXPECT_NE(o.out.find("EXIT"), std::string::npos);
  expect_error(run({"disasm", "k.ptx:nosuch"}), 2, "nosuch");
  expect_error(run({"disasm", "none.ptx"}), 2, "cannot read 'none.ptx'");
}

TEST_F(command_line, a_full_standard_output_is_an_error) {
  if (access("/dev/full", W_OK) != 0) GTEST_SKIP();
  const int status = std::system("'" HEDDLE_PROGRAM "' gpus >/dev/full 2>/dev/null");
  EXPECT_EQ(WEXITSTATUS(status), 2);
}

// ---- a launch that works ----

TEST_F(command_line, one_launch_writes_its_output_and_metrics) {
  const outcome o =
      run(store + std::vector<std::string>{"--arg", "out:512:o.bin", "--arg", "u32:100", "--metrics", "m.json"});
  ASSERT_EQ(o.code, 0) << o.err;
  EXPECT_EQ(o.err, "");
  std::vector<std::uint32_t> expected(128, 0);
  for (std::uint32_t i = 0; i < 100; ++i) expected[i] = i;
  EXPECT_TRUE(read("o.bin") == words(expected));
  const json m = json::parse(read("m.json"));
  EXPECT_EQ(m["schema"], "heddle.metrics/1");
  const json& k = m["kernels"].at(0);
  EXPECT_EQ(k["name"], "store");
  EXPECT_EQ(k["grid"], json({2, 1, 1}));
  EXPECT_EQ(k["blocks"], 2);
  EXPECT_EQ(k["warps"], 4);
  EXPECT_EQ(k["cycles"], k["end_cycle"].get<std::uint64_t>() - k["start_cycle"].get<std::uint64_t>());
  EXPECT_GT(m["cycles"], k["cycles"]);
  std::uint64_t sum = 0;
  for (const auto& [name, n] : k["warp_cycles"].items()) sum += name == "active" ? 0 : n.get<std::uint64_t>();
  EXPECT_EQ(sum, k["warp_cycles"]["active"]);
  EXPECT_EQ(m["gpu"]["config"]["gpu.sm_count"], 20);
  std::size_t at = 0;
  for (std::size_t end; (end = o.out.find('\n', at)) != std::string::npos; at = end + 1)
    EXPECT_LE(end - at, 80u) << o.out.substr(at, end - at);
  EXPECT_EQ(o.out.find('\033'), std::string::npos) << "no colours in a file";
}

TEST_F(command_line, two_runs_are_the_same_but_for_the_host) {
  json metrics[2];
  for (json& m : metrics) {
    ASSERT_EQ(run(store + std::vector<std::string>{"--arg", "buf:512:random:5", "--arg", "u32:128", "--metrics",
                                                   "m.json", "--quiet"})
                  .code,
              0);
    m = json::parse(read("m.json"));
    m.erase("host");
  }
  EXPECT_EQ(metrics[0], metrics[1]);
}

TEST_F(command_line, quiet_prints_nothing_and_progress_prints_a_line) {
  outcome o = run(store + std::vector<std::string>{"--arg", "buf:512", "--arg", "u32:9", "--quiet"});
  EXPECT_EQ(o.out + o.err, "");
  o = run(store + std::vector<std::string>{"--arg", "buf:512", "--arg", "u32:9", "--quiet", "--progress", "always"});
  EXPECT_NE(o.err.find("blocks 2/2"), std::string::npos) << o.err;
}

TEST_F(command_line, inout_reads_and_writes) {
  write("in.bin", words({9, 9, 9, 9}));
  const outcome o = run(store + std::vector<std::string>{"--arg", "inout:in.bin:out.bin", "--arg", "u32:2", "--quiet"});
  EXPECT_EQ(o.code, 0) << o.err;
  EXPECT_TRUE(read("out.bin") == words({0, 1, 9, 9}));
  EXPECT_TRUE(read("in.bin") == words({9, 9, 9, 9}));
}

TEST_F(command_line, a_job_with_streams_copies_repeats_and_symbols) {
  write("five.bin", words({5}));
  write("start.bin", words({4}));
  write("sum.ref", words({20}));
  write("total.ref", words({20, 0, 0, 0}));
  const outcome o = run_job(R"({"module": "k.ptx",
    "buffers": {"flag": {"file": "start.bin"}, "sum": {"bytes": 4}, "copy": {"bytes": 8}, "a": {"bytes": 256}, "b": {"bytes": 256}},
    "symbols": [{"symbol": "factor", "file": "five.bin"}],
    "launches": [
      {"kernel": "store", "grid": [1], "block": [64], "stream": 1, "args": [{"buffer": "a"}, {"u32": 64}]},
      {"kernel": "store", "grid": [1], "block": [64], "stream": 2, "at_cycle": 3000, "args": [{"buffer": "b"}, {"u32": 64}]},
      {"repeat": [{"kernel": "countdown", "grid": [1], "block": [1], "args": [{"buffer": "flag"}, {"buffer": "sum"}]}],
       "while_nonzero": "flag", "max": 100},
      {"memset": "copy", "byte": 255},
      {"copy": {"from": "sum", "to": "copy", "bytes": 4}}],
    "outputs": [{"buffer": "sum", "expect": "sum.ref", "type": "u32"}, {"symbol": "total", "expect": "total.ref"},
                {"buffer": "copy", "file": "copy.bin"}]})",
                            {"--metrics", "m.json"});
  ASSERT_EQ(o.code, 0) << o.err;
  EXPECT_TRUE(read("copy.bin") == words({20, 0xffffffff}));
  const json m = json::parse(read("m.json"));
  ASSERT_EQ(m["kernels"].size(), 6u);
  int rounds = 0;
  for (const json& k : m["kernels"]) {
    if (k["stream"] == 2) {
      EXPECT_GE(k["start_cycle"], 3000);
      EXPECT_EQ(k["launch"], 1);
    }
    rounds += k["name"] == "countdown" && k["launch"] == 2;
  }
  EXPECT_EQ(rounds, 4);
}

// A kernel that copies word 0 of what its parameter points to into its module's variable `value`, plus `more`.
std::string module_with_value(const std::string& kernel, const std::string& more) {
  return ".version 7.0\n.target sm_60\n.address_size 64\n.global .align 4 .u32 value = " + more +
         ";\n.visible .entry " + kernel +
         "(.param .u64 p)\n{\n\t.reg .b32 %r<4>;\n\t.reg .b64 %rd<2>;\n\tld.param.u64 %rd1, [p];\n" +
         "\tld.global.u32 %r1, [%rd1];\n\tld.global.u32 %r2, [value];\n\tadd.u32 %r3, %r1, %r2;\n" +
         "\tst.global.u32 [value], %r3;\n\tret;\n}\n";
}

TEST_F(command_line, a_symbol_that_several_modules_have_is_that_of_the_named_module) {
  write("a.ptx", module_with_value("first", "1"));
  write("b.ptx", module_with_value("second", "2"));
  write("ten.bin", words({10}));
  write("hundred.bin", words({100}));
  const auto job = [](const std::string& symbols, const std::string& argument, const std::string& outputs) {
    return R"({"modules": ["a.ptx", {"name": "b", "text": )" + json(module_with_value("second", "2")).dump() +
           "}],\n \"symbols\": [" + symbols +
           "],\n \"launches\": [{\"kernel\": \"second\", \"grid\": [1], \"block\": [1], \"args\": [" + argument +
           "]}],\n \"outputs\": [" + outputs + "]}";
  };
  const std::string ten = R"({"symbol": "value", "module": "b", "file": "ten.bin"})";
  const std::string hundred = R"({"symbol": "value", "module": "a.ptx", "file": "hundred.bin"})";
  const std::string both = R"({"symbol": "value", "module": "a.ptx", "file": "a.bin"},
    {"module": "b", "symbol": "value", "file": "b.bin"})";
  // Without a module an argument is the kernel's own.
  outcome o = run_job(job(ten + ", " + hundred, R"({"symbol": "value"})", both), {"--quiet"});
  ASSERT_EQ(o.code, 0) << o.err;
  EXPECT_TRUE(read("a.bin") == words({100}));
  EXPECT_TRUE(read("b.bin") == words({20}));
  o = run_job(job(ten + ", " + hundred, R"({"symbol": "value", "module": "a.ptx"})", both), {"--quiet"});
  ASSERT_EQ(o.code, 0) << o.err;
  EXPECT_TRUE(read("b.bin") == words({110}));
  const std::string named = R"({"symbol": "value", "file": "ten.bin"})", own = R"({"symbol": "value"})";
  expect_error(run_job(job(named, own, both)), 2,
               "heddle: error: job.json:2:14: module variable 'value' is in 'a.ptx' and in 'b', expected a 'module' "
               "beside 'symbol'");
  expect_error(run_job(job(ten, own, R"({"symbol": "value", "file": "c.bin"})")), 2, "is in 'a.ptx' and in 'b'");
  expect_error(run_job(job(ten, R"({"symbol": "values", "module": "b"})", "")), 2,
               "no module variable 'values' in 'b', did you mean 'value'?");
  expect_error(run_job(job(R"({"symbol": "value", "module": "c.ptx", "file": "ten.bin"})", own, both)), 2,
               "the job has no module 'c.ptx', expected one of: a.ptx, b");
  expect_error(
      run_job(R"({"module": "k.ptx", "buffers": {"y": {"bytes": 4}}, "launches": [{"kernel": "wild", "grid": [1],
    "block": [1]}], "outputs": [{"buffer": "y", "module": "k.ptx", "file": "c.bin"}]})"),
      2, "'module' has no meaning without 'symbol'");
  EXPECT_FALSE(exists("c.bin"));
}

// ---- bad input: code 2 and nothing written ----

TEST_F(command_line, bad_launches_are_refused_before_anything_runs) {
  const std::vector<std::string> results = {"--metrics", "m.json"};
  write("bad.ptx", ".version 7.0\n.target sm_60\n.address_size 64\n.visible .entry k()\n{\n\tret ret\n}\n");
  expect_error(run({"run", "--kernel", "bad.ptx:k", "--grid", "1", "--block", "32", "--metrics", "m.json"}), 2,
               "heddle: error: bad.ptx:7:1: unexpected '}'");
  write("cut.ptx", std::string(module_text).substr(0, 700));
  expect_error(run({"run", "--kernel", "cut.ptx:store", "--grid", "1", "--block", "32", "--metrics", "m.json"}), 2,
               "cut.ptx:");
  expect_error(run({"run", "--kernel", "none.ptx:store", "--grid", "1", "--block", "32"}), 2, "cannot read 'none.ptx'");
  outcome o = run({"run", "--kernel", "k.ptx:nosuch", "--grid", "1", "--block", "32", "--metrics", "m.json"});
  expect_error(o, 2, "nosuch");
  for (const char* name : {"store", "wild", "spin", "countdown"})
    EXPECT_NE(o.err.find(name), std::string::npos) << "the kernels there are";
  expect_error(run(store + std::vector<std::string>{"--arg", "buf:16"} + results), 2,
               "takes 2 arguments (out: 8 bytes, n: 4 bytes), got 1");
  expect_error(run(store + std::vector<std::string>{"--arg", "buf:16", "--arg", "u64:1"} + results), 2,
               "argument 2 of kernel 'store' ('n') has 4 bytes, got 8 bytes");
  expect_error(
      run(store + std::vector<std::string>{"--arg", "buf:16", "--arg", "u32:1", "--shared-bytes", "1000000"} + results),
      2, "shared");
  expect_error(run({"run", "--kernel", "k.ptx:spin", "--grid", "1", "--block", "2048", "--metrics", "m.json"}), 2,
               "1024");
  expect_error(run({"run", "--kernel", "k.ptx:spin", "--grid", "1", "--block", "1,1,65", "--metrics", "m.json"}), 2,
               "at most 64 in z");
  expect_error(
      run({"run", "--kernel", "k.ptx:spin", "--grid", "1", "--block", "32", "--metrics", "/nonexistent/m.json"}), 2,
      "cannot write '/nonexistent/m.json'");
  expect_error(run({"run", "--kernel", "k.ptx:spin", "--grid", "1", "--block", "32", "--metrics", "m", "--gpu", "g7"}),
               2, "g7");
  EXPECT_FALSE(exists("m.json"));
}

TEST_F(command_line, bad_jobs_are_refused_before_anything_runs) {
  const auto job = [](const std::string& buffers, const std::string& outputs) {
    return "{\"module\": \"k.ptx\",\n \"buffers\": {" + buffers +
           "},\n \"launches\": [{\"kernel\": \"store\", \"grid\": [1], \"block\": [32], \"args\": [{\"buffer\": "
           "\"y\"}, {\"u32\": 8}]}],\n \"outputs\": [" +
           outputs + "]}";
  };
  write("three.bin", "123");
  expect_error(run_job("{\"module\": \"k.ptx\",\n \"launches\": [,]}", {"--metrics", "m.json"}), 2,
               "heddle: error: job.json:2:15: not valid JSON");
  expect_error(run_job("{\"module\": \"k.ptx\", \"lunches\": []}"), 2, "job.json:1:1: key 'launches' is missing");
  expect_error(run_job(job("\"y\": {\"bytes\": 32, \"colour\": 1}", "")), 2,
               "heddle: error: job.json:2:33: unknown key 'colour' in buffers.y");
  expect_error(run_job(job("\"y\": {\"bytes\": 32, \"file\": \"three.bin\"}", "")), 2,
               "'three.bin' has 3 bytes, the buffer has 32");
  expect_error(run_job(job("\"y\": {\"file\": \"none.bin\"}", "")), 2, "cannot read");
  expect_error(run_job(job("\"y\": {\"bytes\": 32}", "{\"buffer\": \"y\", \"expect\": \"three.bin\"}")), 2,
               "has 3 bytes, expected 32 bytes");
  expect_error(run_job(job("\"y\": {\"bytes\": 32}", "{\"symbol\": \"nosuch\", \"file\": \"o.bin\"}")), 2, "nosuch");
  expect_error(run_job(job("\"y\": {\"bytes\": 32}", "{\"buffer\": \"z\", \"file\": \"o.bin\"}")), 2,
               "there is no buffer 'z'");
  EXPECT_FALSE(exists("m.json"));
  EXPECT_FALSE(exists("o.bin"));
}

TEST_F(command_line, a_full_disk_leaves_no_result_at_all) {
  if (access("/dev/full", W_OK) != 0) GTEST_SKIP();
  expect_error(
      run(store + std::vector<std::string>{"--arg", "out:512:/dev/full", "--arg", "u32:8", "--metrics", "m.json"}), 2,
      "cannot write '/dev/full': No space left on device");
  EXPECT_FALSE(exists("m.json"));
  expect_error(
      run(store + std::vector<std::string>{"--arg", "out:512:o.bin", "--arg", "u32:8", "--metrics", "/dev/full"}), 2,
      "cannot write '/dev/full'");
  EXPECT_FALSE(exists("o.bin"));
  expect_error(run(store + std::vector<std::string>{"--arg", "out:512:o.bin", "--arg", "u32:8", "--vcd", "/dev/full"}),
               2, "cannot write '/dev/full'");
  EXPECT_FALSE(exists("o.bin"));
}

TEST_F(command_line, a_waveform_and_its_layout_appear_together) {
  const outcome o = run(store + std::vector<std::string>{"--arg", "buf:512", "--arg", "u32:8", "--vcd", "w.vcd",
                                                         "--trace-window", "0:2000"});
  EXPECT_EQ(o.code, 0) << o.err;
  EXPECT_NE(read("w.vcd").find("$enddefinitions"), std::string::npos);
  EXPECT_TRUE(exists("w.gtkw"));
  expect_error(run(store + std::vector<std::string>{"--arg", "buf:512", "--arg", "u32:8", "--vcd", "x.vcd",
                                                    "--trace-scope", "nothing"}),
               2, "nothing");
  EXPECT_FALSE(exists("x.vcd"));
}

}  // namespace command_line_test
