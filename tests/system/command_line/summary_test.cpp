// SPDX-License-Identifier: MIT
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <fstream>
#include <string>
#include <vector>

#include "command_line_fixture.h"
#include "tests/system/common/json_text.h"

namespace summary_test {

using namespace command_line_fixture;
using json = nlohmann::json;

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

TEST_F(command_line, the_summary_lists_preemptions) {
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

}  // namespace summary_test
