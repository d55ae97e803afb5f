// SPDX-License-Identifier: MIT
// The built program through its command line: accepted and rejected input, exit codes, messages and files.
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "tests/system/common/sanitizer_remark.h"

namespace command_line_test {

namespace fs = std::filesystem;
using json = nlohmann::json;

const char* const module_text = R"(.version 7.0
.target sm_60
.address_size 64
.const .align 4 .u32 factor = 3;
.global .align 4 .u32 total[4];
.visible .entry store(.param .u64 out, .param .u32 n)
{
	.reg .pred %p<2>;
	.reg .b32 %r<6>;
	.reg .b64 %rd<4>;
	ld.param.u64 %rd1, [out];
	ld.param.u32 %r5, [n];
	cvta.to.global.u64 %rd1, %rd1;
	mov.u32 %r1, %ctaid.x;
	mov.u32 %r2, %ntid.x;
	mov.u32 %r3, %tid.x;
	mad.lo.s32 %r1, %r1, %r2, %r3;
	setp.ge.u32 %p1, %r1, %r5;
	@%p1 bra done;
	mul.wide.u32 %rd2, %r1, 4;
	add.s64 %rd3, %rd1, %rd2;
	st.global.u32 [%rd3], %r1;
done:
	ret;
}
.visible .entry wild()
{
	.reg .b32 %r<3>;
	.reg .b64 %rd<2>;
	mov.u64 %rd1, 30064771072;
	mov.u32 %r1, 7;
	st.global.u32 [%rd1], %r1;
	ret;
}
.visible .entry spin()
{
again:
	bra.uni again;
}
.visible .entry dead()
{
	.reg .pred %p<2>;
	.reg .b32 %r<2>;
	mov.u32 %r1, %tid.x;
	setp.lt.u32 %p1, %r1, 32;
	@%p1 bra other;
	bar.sync 1;
	ret;
other:
	bar.sync 0;
	ret;
}
.visible .entry countdown(.param .u64 flag, .param .u64 sum)
{
	.reg .b32 %r<5>;
	.reg .b64 %rd<3>;
	ld.param.u64 %rd1, [flag];
	ld.param.u64 %rd2, [sum];
	ld.global.u32 %r1, [%rd1];
	ld.global.u32 %r2, [%rd2];
	ld.const.u32 %r3, [factor];
	add.u32 %r1, %r1, -1;
	add.u32 %r2, %r2, %r3;
	st.global.u32 [%rd1], %r1;
	st.global.u32 [%rd2], %r2;
	st.global.u32 [total], %r2;
	ret;
}
)";

struct outcome {
  int code = -1;
  std::string out;
  std::string err;
  std::string first_line() const { return err.substr(0, err.find('\n')); }
};

std::string content(const fs::path& file) {
  std::ifstream in(file, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

std::string words(std::vector<std::uint32_t> values) {
  std::string bytes(4 * values.size(), '\0');
  std::memcpy(bytes.data(), values.data(), bytes.size());
  return bytes;
}

class command_line : public ::testing::Test {
 protected:
  command_line() {
    const auto* info = ::testing::UnitTest::GetInstance()->current_test_info();
    place_ = fs::path(HEDDLE_SCRATCH "/command_line") / info->name();
    fs::remove_all(place_);
    fs::create_directories(place_);
    write("k.ptx", module_text);
  }

  void write(const std::string& name, const std::string& text) {
    std::ofstream(place_ / name, std::ios::binary) << text;
  }
  std::string read(const std::string& name) { return content(place_ / name); }
  bool exists(const std::string& name) { return fs::exists(place_ / name); }

  /// Starts the program in the test's folder.
  pid_t start(const std::vector<std::string>& arguments) {
    const pid_t child = fork();
    if (child != 0) return child;
    std::vector<char*> argv{const_cast<char*>(HEDDLE_PROGRAM)};
    for (const auto& a : arguments) argv.push_back(const_cast<char*>(a.c_str()));
    argv.push_back(nullptr);
    if (chdir(place_.c_str()) != 0 || !freopen(stream("stdout").c_str(), "w", stdout) ||
        !freopen(stream("stderr").c_str(), "w", stderr))
      _exit(126);
    alarm(60);
    execv(HEDDLE_PROGRAM, argv.data());
    _exit(127);
  }

  /// Waits for its end. A signal counts as code 128 + its number.
  outcome finish(pid_t child) {
    int status = 0;
    waitpid(child, &status, 0);
    return {WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status), content(stream("stdout")),
            without_sanitizer_remark(content(stream("stderr")))};
  }

  outcome run(const std::vector<std::string>& arguments) { return finish(start(arguments)); }

  outcome run_job(const std::string& text, std::vector<std::string> options = {}) {
    write("job.json", text);
    options.insert(options.begin(), {"run", "job.json"});
    return run(options);
  }

  /// Expects the exit code, an error as the first line on stderr and `part` somewhere in stderr; with code 2 no new
  /// files.
  void expect_error(const outcome& o, int code, const std::string& part) {
    EXPECT_EQ(o.code, code) << o.err;
    EXPECT_EQ(o.err.rfind("heddle: error: ", 0), 0u) << o.err;
    EXPECT_NE(o.err.find(part), std::string::npos) << "wanted '" << part << "' in\n" << o.err;
    EXPECT_FALSE(has_temporary_file());
  }

  bool has_temporary_file() {
    for (const auto& entry : fs::directory_iterator(place_))
      if (entry.path().filename().string().rfind(".heddle-", 0) == 0) return true;
    return false;
  }

  fs::path stream(const std::string& name) {
    return fs::path(HEDDLE_SCRATCH "/command_line") / (place_.filename().string() + "." + name);
  }

  fs::path place_;
};

const std::vector<std::string> store = {"run", "--kernel", "k.ptx:store", "--grid", "2", "--block", "64"};

std::vector<std::string> operator+(std::vector<std::string> a, const std::vector<std::string>& b) {
  a.insert(a.end(), b.begin(), b.end());
  return a;
}

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

TEST_F(command_line, quiet_is_silent_and_progress_speaks) {
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

// The data of a report page.
json page_data(const std::string& page) {
  const std::string begin = "id=\"heddle-data\">";
  const std::size_t at = page.find(begin) + begin.size();
  return json::parse(page.substr(at, page.find("</script>", at) - at));
}

// The text of a summary without its line breaks.
std::string in_one_line(const std::string& text) {
  std::string out;
  for (const char c : text)
    if (c != '\n' && c != ' ') out += c;
    else if (!out.empty() && out.back() != ' ') out += ' ';
  return out;
}

TEST_F(command_line, the_summary_ends_with_the_verdict_of_the_report) {
  const outcome o = run(store + std::vector<std::string>{"--arg", "buf:512", "--arg", "u32:8", "--report", "r.html"});
  ASSERT_EQ(o.code, 0) << o.err;
  const json judged = page_data(read("r.html"))["files"][0]["judged"][0];
  const json first = judged["changes"][0];
  const std::string wanted = " verdict " + judged["headline"].get<std::string>() + " try " +
                             first["options"].get<std::string>() + " instead of " + first["from"].get<std::string>() +
                             ": " + first["why"].get<std::string>() + " ";
  const std::string said = in_one_line(o.out);
  ASSERT_GE(said.size(), wanted.size());
  EXPECT_EQ(said.substr(said.size() - wanted.size()), wanted) << o.out;
  EXPECT_NE(o.out.find("\n  kernel cycles   "), std::string::npos) << o.out;
  EXPECT_NE(o.out.find("\n  job cycles      "), std::string::npos) << o.out;
  EXPECT_EQ(o.out.find("\n  preemptions"), std::string::npos) << "there was none";
  EXPECT_EQ(o.out.find("\n  failed"), std::string::npos) << o.out;
}

TEST_F(command_line, of_several_kernels_the_verdict_is_of_the_longest) {
  const outcome o = run_job(R"({"module": "k.ptx", "buffers": {"y": {"bytes": 65536}}, "launches": [
    {"kernel": "store", "grid": [1,1,1], "block": [32,1,1], "args": [{"buffer": "y"}, {"u32": 32}]},
    {"kernel": "store", "grid": [64,1,1], "block": [256,1,1], "args": [{"buffer": "y"}, {"u32": 16384}]}]})");
  ASSERT_EQ(o.code, 0) << o.err;
  EXPECT_NE(o.out.find("\n  verdict         store (launch 1, "), std::string::npos) << o.out;
  EXPECT_NE(in_one_line(o.out).find("% of all kernel cycles): Bound by "), std::string::npos) << o.out;
}

TEST_F(command_line, the_summary_repeats_a_failure_last) {
  outcome o = run({"run", "--kernel", "k.ptx:wild", "--grid", "1", "--block", "32"});
  EXPECT_EQ(o.code, 1);
  const std::string prefix = "heddle: error: ";
  ASSERT_EQ(o.err.rfind(prefix, 0), 0u) << o.err;
  std::string wanted = in_one_line(" failed " + o.err.substr(prefix.size(), o.err.find('\n') - prefix.size()) + " ");
  std::string said = in_one_line(o.out);
  ASSERT_GE(said.size(), wanted.size());
  EXPECT_EQ(said.substr(said.size() - wanted.size()), wanted) << o.out;
  // The failure names the outputs that differ; their elements are listed above.
  write("zero.bin", std::string(64, '\0'));
  o = run_job(R"({"module": "k.ptx", "buffers": {"y": {"bytes": 64}, "z": {"bytes": 64}}, "launches": [
    {"kernel": "store", "grid": [1,1,1], "block": [32,1,1], "args": [{"buffer": "y"}, {"u32": 16}]},
    {"kernel": "store", "grid": [1,1,1], "block": [32,1,1], "args": [{"buffer": "z"}, {"u32": 3}]}],
    "outputs": [{"buffer": "y", "expect": "zero.bin", "type": "u32"}, {"buffer": "z", "expect": "zero.bin", "type": "u32"}]})");
  EXPECT_EQ(o.code, 1);
  wanted = " failed zero.bin: 15 of 16 elements of 'y' differ zero.bin: 2 of 16 elements of 'z' differ ";
  said = in_one_line(o.out);
  ASSERT_GE(said.size(), wanted.size());
  EXPECT_EQ(said.substr(said.size() - wanted.size()), wanted) << o.out;
}

TEST_F(command_line, the_summary_tells_of_preemptions) {
  const std::string job = R"({"module": "k.ptx", "buffers": {"y": {"bytes": 4194304}}, "launches": [
    {"kernel": "store", "grid": [4096,1,1], "block": [256,1,1], "args": [{"buffer": "y"}, {"u32": 1048576}]}],
    "preempt": [{"at_cycle": 900, "sm": [0, 1], "mode": "switch", "resume_after": 500}, {"at_cycle": 100, "sm": 3, "mode": "drain", "resume_after": 50}]})";
  const outcome o = run_job(job, {"--metrics", "m.json"});
  ASSERT_EQ(o.code, 0) << o.err;
  const json m = json::parse(read("m.json"));
  std::uint64_t saved = 0, restored = 0, blocks = 0, longest = 0;
  for (const json& c : m["context_switches"]) {
    ASSERT_EQ(c["mode"], "switch");
    saved += c["bytes_saved"].get<std::uint64_t>();
    restored += c["bytes_restored"].get<std::uint64_t>();
    blocks += c["blocks"].size();
    longest = std::max(longest, c["saved_cycle"].get<std::uint64_t>() - c["request_cycle"].get<std::uint64_t>());
  }
  ASSERT_EQ(m["context_switches"].size(), 2u);
  ASSERT_GT(saved, 1000u);
  EXPECT_EQ(saved, restored);
  const std::string said = in_one_line(o.out);
  EXPECT_NE(said.find(" preemptions 2 by switch, " + std::to_string(blocks) + " blocks; "), std::string::npos) << o.out;
  EXPECT_NE(said.find("B saved, "), std::string::npos) << o.out;
  EXPECT_NE(said.find(" request to saved "), std::string::npos) << o.out;
  std::string most = std::to_string(longest);
  if (most.size() > 3) most.insert(most.size() - 3, ",");
  EXPECT_NE(said.find(", at most " + most + " restore to resumed "), std::string::npos) << o.out;
  EXPECT_NE(said.find(" 1 of 3 requests found no blocks on their SM "), std::string::npos) << o.out;
}

// An override without effect is reported, with the setting that it would need.
TEST_F(command_line, a_parameter_that_cannot_act_is_named) {
  const std::vector<std::string> run_it =
      store + std::vector<std::string>{"--arg", "buf:512", "--arg", "u32:8", "--quiet"};
  const std::string warning =
      "heddle: warning: --set l1.size_bytes may change nothing: it acts only on read-only, texture and local memory accesses: "
      "plain global loads bypass the L1 of this GPU; l1.cache_global_loads is false\n";
  EXPECT_EQ(run(run_it + std::vector<std::string>{"--gpu", "gtx1080", "--set", "l1.size_bytes=49152"}).err, warning);
  EXPECT_EQ(run(run_it + std::vector<std::string>{"--gpu", "gtx1080", "--set", "l1.size_bytes=49152", "--set",
                                                  "l1.cache_global_loads=true"})
                .err,
            "");
  EXPECT_EQ(
      run(run_it + std::vector<std::string>{"--gpu", "gtx1080", "--set", "l1.size_bytes=49152", "--log-level", "error"})
          .err,
      "");
  EXPECT_EQ(run(run_it + std::vector<std::string>{"--gpu", "gtx1080", "--set", "l2.size_bytes=4194304"}).err, "");
  EXPECT_EQ(
      run(run_it + std::vector<std::string>{"--set", "sub_partition.ccws_throttle=9"}).err,
      "heddle: warning: --set sub_partition.ccws_throttle may change nothing: it acts only with sub_partition.scheduler = ccws; "
      "sub_partition.scheduler is gto\n");
  EXPECT_EQ(run(run_it + std::vector<std::string>{"--set", "sub_partition.ccws_throttle=9", "--set",
                                                  "sub_partition.scheduler=ccws"})
                .err,
            "");
  EXPECT_EQ(
      run(run_it + std::vector<std::string>{"--set", "memory.model=fixed", "--set", "dram.t_cl_cycles=40"}).err,
      "heddle: warning: --set dram.t_cl_cycles may change nothing: it acts only with memory.model = dram; memory.model is fixed\n");
  EXPECT_EQ(
      run(run_it + std::vector<std::string>{"--gpu", "v100", "--set", "sub_partition.issue_width=2"}).err,
      "heddle: warning: --set sub_partition.issue_width may change nothing: it acts only with a pairing rule, sub_partition.dual_issue = any or "
      "maxwell; sub_partition.dual_issue is none\n");
  // A former name of a parameter is read, with one warning.
  const std::string former =
      "heddle: warning: former names of parameters are used: sm.warp_dealing (now sm.warp_assignment)\n";
  EXPECT_EQ(run(run_it + std::vector<std::string>{"--set", "sm.warp_dealing=by_id"}).err, former);
  const auto shown = run({"config", "--gpu", "v100", "--set", "sm.warp_dealing=by_id"});
  EXPECT_EQ(shown.err, former);
  EXPECT_NE(shown.out.find("\nwarp_assignment = by_id\n"), std::string::npos);
  // An error is still the first line.
  expect_error(
      run({"run", "--kernel", "k.ptx:wild", "--grid", "1", "--block", "32", "--quiet", "--set", "l1.size_bytes=49152"}),
      1, warning);
}

TEST_F(command_line, external_memory_needs_a_program_of_its_own) {
  expect_error(
      run(store + std::vector<std::string>{"--arg", "buf:512", "--arg", "u32:8", "--set", "memory.model=external"}), 2,
      "memory.model = external");
}

TEST_F(command_line, kernels_of_32_bit_addresses_take_buffers) {
  std::ofstream(place_ / "narrow.ptx")
      << ".version 2.3\n.target sm_20\n.address_size 32\n.visible .entry k(.param .u32 p, .param .u32 n) {\n"
         "  .reg .b32 %a, %n, %t;\n  ld.param.u32 %a, [p];\n  ld.param.u32 %n, [n];\n  mov.u32 %t, %tid.x;\n"
         "  mad.lo.u32 %a, %t, 4, %a;\n  add.u32 %t, %t, %n;\n  st.global.u32 [%a], %t;\n  ret;\n}\n";
  const outcome o = run({"run", "--kernel", "narrow.ptx:k", "--grid", "1", "--block", "4", "--arg", "out:16:narrow.bin",
                         "--arg", "u32:7", "--quiet"});
  EXPECT_EQ(o.code, 0) << o.err;
  EXPECT_EQ(read("narrow.bin"), std::string("\7\0\0\0\10\0\0\0\11\0\0\0\12\0\0\0", 16));
}

// Only the size is checked, so a number of another type is passed as its bits, which is most likely unintended.
TEST_F(command_line, an_argument_of_another_kind_than_the_parameter_is_warned_of) {
  write(
      "t.ptx",
      ".version 7.0\n.target sm_60\n.address_size 64\n.visible .entry t(.param .u32 n, .param .f32 x, .param .u64 p, .param .b32 any, .param .f64 y, .param .s32 s)\n"
      "{ ret; }\n");
  const std::vector<std::string> launch = {"run", "--kernel", "t.ptx:t", "--grid", "1", "--block", "32", "--quiet"};
  const auto with = [&](const std::vector<std::string>& types) {
    std::vector<std::string> all = launch;
    for (const std::string& t : types) all = all + std::vector<std::string>{"--arg", t};
    return run(all);
  };
  outcome o = with({"s32:-1", "f32:2", "u64:4096", "f32:1", "f64:1", "u32:7"});
  EXPECT_EQ(o.code, 0);
  EXPECT_EQ(o.err, "") << "signed and unsigned, addresses as numbers, and what the PTX leaves open";
  o = with({"f32:1", "u32:2", "f64:1", "u32:1", "buf:64", "s32:7"});
  EXPECT_EQ(o.code, 0);
  for (const char* text : {"heddle: warning: --arg 'f32:1': argument 1 of kernel 't' ('n') is .u32 in the PTX, got f32",
                           "heddle: warning: --arg 'u32:2': argument 2 of kernel 't' ('x') is .f32 in the PTX, got u32",
                           "argument 3 of kernel 't' ('p') is .u64 in the PTX, got f64",
                           "argument 5 of kernel 't' ('y') is .f64 in the PTX, got buf"})
    EXPECT_NE(o.err.find(text), std::string::npos) << text << " in\n" << o.err;
  EXPECT_EQ(std::count(o.err.begin(), o.err.end(), '\n'), 4);
  o = run_job(R"({"module": "t.ptx", "buffers": {"b": {"bytes": 64}}, "launches": [
    {"repeat": [{"kernel": "t", "grid": [1], "block": [32], "args": [{"u32": 1}, {"bytes_hex": "00000000"}, {"buffer": "b"}, {"u32": 1}, {"bytes_hex": "0000000000000000"}, {"f32": 1}]}],
     "max": 3}]})",
              {"--quiet"});
  EXPECT_EQ(o.code, 0) << o.err;
  EXPECT_EQ(o.err.rfind("heddle: warning: job.json:2:", 0), 0u) << o.err;
  EXPECT_EQ(std::count(o.err.begin(), o.err.end(), '\n'), 1) << "once, however often: " << o.err;
}

TEST_F(command_line, preemptions_that_come_too_late_are_named) {
  const char* const job = R"({"module": "k.ptx", "buffers": {"y": {"bytes": 32}},
    "launches": [{"kernel": "store", "grid": [1], "block": [32], "args": [{"buffer": "y"}, {"u32": 8}]}],
    "preempt": [{"at_cycle": 900000, "mode": "drain"},
                {"at_cycle": 100, "mode": "drain"}]})";
  const outcome o = run_job(job, {"--metrics", "m.json"});
  EXPECT_EQ(o.code, 0);
  EXPECT_EQ(
      o.err.rfind(
          "heddle: warning: job.json:3:17: nothing was preempted in cycle 900,000: the job had ended by then, in cycle ",
          0),
      0u)
      << o.err;
  EXPECT_EQ(std::count(o.err.begin(), o.err.end(), '\n'), 1) << o.err;
  EXPECT_EQ(json::parse(read("m.json"))["preempt_requests"]["after_the_end"], 1);
  // A run cut short did not reach the preemption either, but that is not reported.
  EXPECT_EQ(run_job(job, {"--max-cycles", "300"}).err.find("preempted"), std::string::npos);
}

// ---- the simulated program fails: code 1, metrics written ----

TEST_F(command_line, an_illegal_address_names_the_culprit) {
  const outcome o = run({"run", "--kernel", "k.ptx:wild", "--grid", "3", "--block", "64", "--metrics", "m.json"});
  expect_error(o, 1, "k.ptx:32:");
  for (const char* part : {"illegal address", "0x700000000", "'wild'", "block (0,0,0)", "thread (0,0,0)"}) {
    EXPECT_NE(o.err.find(part), std::string::npos) << part << " in\n" << o.err;
  }
  EXPECT_EQ(json::parse(read("m.json"))["schema"], "heddle.metrics/1");
}

TEST_F(command_line, a_fault_found_at_issue_names_the_culprit_too) {
  const std::vector<std::pair<std::string, std::string>> faults = {
      {"trap;", "trap"},
      {"setp.gt.u32 %p, %r, 4; @%p trap;", "thread (5,0,0)"},
      {"setp.eq.u32 %p, %r, 6; @%p brkpt;", "breakpoint in kernel 'k', block (0,0,0), thread (6,0,0)"},
      {"sub.u32 %r, 9, %r; setp.eq.u32 %p, %r, 0; @%p trap; div.u32 %r, 100, %r;",
       "trap in kernel 'k', block (0,0,0), thread (9,0,0)"},  // compilers check divisors this way
      {"mov.u32 %r, 1000000; ld.shared.u32 %r, [%r];", "outside the block's"},
      {"mul.lo.u32 %r, %r, 4; st.shared.u32 [%r], %r;", "thread (4,0,0)"},
      {"mad.lo.u32 %r, %r, 4, 1; ld.shared.u32 %r, [%r];", "misaligned"},
      {"mul.lo.u32 %r, %r, 4096; ld.local.u32 %r, [%r];", "beyond the thread's local memory"},
      {"mul.lo.u32 %r, %r, 4; ld.const.u32 %r, [%r];",
       "illegal constant address 0x8 (4-byte load, the bank has 8 bytes) in kernel 'k', block (0,0,0), thread (2,0,0)"},
      {"ld.const.u32 %r, [two+70000];", "illegal constant address"}};
  for (const auto& [code, part] : faults) {
    write(
        "f.ptx",
        ".version 7.0\n.target sm_60\n.address_size 64\n.const .align 4 .u32 two[2] = {1, 2};\n.visible .entry k()\n{\n"
        ".shared .align 4 .u32 s[4]; .local .align 4 .u32 l[4]; .reg .pred %p; .reg .b32 %r;\nmov.u32 %r, %tid.x;\n" +
            code + "\nst.shared.u32 [s], %r; ret;\n}\n");
    for (const char* gpu : {"gtx1080", "v100"}) {
      for (const char* threads : {"32", "96"}) {
        const outcome o =
            run({"run", "--kernel", "f.ptx:k", "--grid", "2", "--block", threads, "--gpu", gpu, "--metrics", "m.json"});
        expect_error(o, 1, part);
        EXPECT_NE(o.err.find("f.ptx:9:"), std::string::npos) << o.err;
        EXPECT_TRUE(exists("m.json"));
        fs::remove(place_ / "m.json");
      }
    }
  }
}

TEST_F(command_line, max_cycles_stops_an_endless_kernel) {
  const outcome o = run(
      {"run", "--kernel", "k.ptx:spin", "--grid", "1", "--block", "32", "--metrics", "m.json", "--max-cycles", "5000"});
  expect_error(o, 1, "--max-cycles");
  const json m = json::parse(read("m.json"));
  EXPECT_LE(m["cycles"], 5000);
  EXPECT_GT(m["kernels"].at(0)["metrics"]["inst_executed"], 0);
}

TEST_F(command_line, a_deadlock_at_a_barrier_is_seen) {
  const outcome o = run({"run", "--kernel", "k.ptx:dead", "--grid", "1", "--block", "64", "--metrics", "m.json"});
  expect_error(o, 1, "deadlock");
  EXPECT_NE(o.err.find("'dead'"), std::string::npos);
  EXPECT_TRUE(exists("m.json"));
}

TEST_F(command_line, a_signal_leaves_no_half_of_a_file) {
  for (int signal_number : {SIGINT, SIGTERM, SIGHUP}) {
    const pid_t child = start({"run", "--kernel", "k.ptx:spin", "--grid", "1", "--block", "32", "--vcd", "out.vcd",
                               "--metrics", "out.json", "--set", "gpu.watchdog_cycles=0"});
    for (int k = 0; k < 4000 && !has_temporary_file(); ++k) usleep(5000);
    EXPECT_TRUE(has_temporary_file());
    kill(child, signal_number);
    EXPECT_EQ(finish(child).code, 128 + signal_number);
    EXPECT_FALSE(has_temporary_file());
    // Both files or none: SIGINT and SIGTERM end the run in order once there are results to keep (cut_run_test.cpp).
    EXPECT_EQ(exists("out.vcd"), exists("out.json"));
    EXPECT_FALSE(signal_number == SIGHUP && exists("out.json"));
    fs::remove(place_ / "out.vcd");
    fs::remove(place_ / "out.json");
  }
}

TEST_F(command_line, a_mismatch_lists_the_first_five) {
  write("y.ref", words({0, 1, 9, 9, 9, 9, 9, 9}));
  const outcome o = run_job(R"({"module": "k.ptx", "buffers": {"y": {"bytes": 32}},
    "launches": [{"kernel": "store", "grid": [1], "block": [32], "args": [{"buffer": "y"}, {"u32": 8}]}],
    "outputs": [{"buffer": "y", "file": "y.out"}, {"buffer": "y", "expect": "y.ref", "type": "u32"}]})",
                            {"--metrics", "m.json"});
  expect_error(o, 1, "6 of 8 elements of 'y' differ");
  EXPECT_NE(o.err.find("[2] 2, expected 9"), std::string::npos);
  EXPECT_NE(o.err.find("[6] 6, expected 9"), std::string::npos);
  EXPECT_EQ(o.err.find("[7]"), std::string::npos);
  EXPECT_TRUE(read("y.out") == words({0, 1, 2, 3, 4, 5, 6, 7})) << "outputs are written all the same";
  EXPECT_TRUE(exists("m.json"));
}

}  // namespace command_line_test
