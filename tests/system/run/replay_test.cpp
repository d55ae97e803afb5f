// SPDX-License-Identifier: MIT
// `heddle replay` through its command line, on traces written here: counts, rejected input, exit codes and messages.
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "replay_fixture.h"
#include "tests/unit/trace/tracez_files.h"

namespace replay_test {

using namespace replay_fixture;

TEST_F(replay, counts_what_the_trace_holds_on_every_generation) {
  kernel k;
  k.blocks = 2;
  k.block({exchange(), exchange()}).block({exchange(), exchange()});
  for (const char* gpu : {"gtx1080", "v100", "h100"}) {
    SCOPED_TRACE(gpu);
    const outcome o = run_kernel(k, gpu);
    ASSERT_EQ(o.code, 0) << o.err;
    EXPECT_EQ(o.err.empty(), std::string(gpu) == "v100") << o.err;
    const json m = metrics()["kernels"][0];
    EXPECT_EQ(m["name"], "_Z4testPf");
    EXPECT_EQ(m["blocks"], 2);
    EXPECT_EQ(m["warps"], 4);
    EXPECT_EQ(m["registers_per_thread"], 32);
    EXPECT_EQ(m["shared_bytes_per_block"], 1024);
    // Four warps of 9: load, store to shared, load from it, store, reduction; MOV; FADD; BAR, EXIT.
    EXPECT_EQ(m["metrics"]["inst_executed"], 36);
    EXPECT_EQ(m["instructions"]["ldst"], 20);
    EXPECT_EQ(m["instructions"]["int"], 4);
    EXPECT_EQ(m["instructions"]["fp32"], 4);
    EXPECT_EQ(m["instructions"]["branch"], 8);
    // 128 bytes of a warp are four sectors.
    EXPECT_EQ(m["metrics"]["gld_transactions"], 16);
    EXPECT_EQ(m["metrics"]["gst_transactions"], 16);
    EXPECT_EQ(m["metrics"]["gld_efficiency"], 1.0);
    EXPECT_EQ(m["metrics"]["shared_load_transactions"], 4);
    EXPECT_EQ(m["metrics"]["shared_store_transactions"], 4);
    EXPECT_EQ(m["metrics"]["warp_execution_efficiency"], 1.0);
  }
}

TEST_F(replay, addresses_and_masks_make_the_transactions) {
  kernel k;
  k.threads = 32;
  k.block({warp_lines()
               .mem("LDG.E.64.SYS", 2, {4}, 8, "0x7f4000000000", 8)           // 256 bytes: 8 sectors
               .mem("LDG.E.SYS", 8, {4}, 4, "0x7f4000010000", 128)            // 32 sectors
               .mem("LDG.E.SYS", 9, {4}, 4, "0x7f4000020000", 4, 0x000000ff)  // 1 sector
               .mem("LDG.E.SYS", 9, {4}, 4, "0x0", 0, 0)                      // no lanes
               .mem("LDG.E.U8.SYS", 9, {4}, 1, "0xffffffffffffffff", 0)       // any address is accepted
               .mem("LDS.U", 10, {6}, 4, "0x0", 8)                            // 2 lanes a bank: 2 passes
               .mem("STL", -1, {6, 2}, 4, "0x7f4e00000010", 0)                // local memory is interleaved: 4 sectors
               .exit()});
  ASSERT_EQ(run_kernel(k).code, 0);
  const json m = metrics()["kernels"][0];
  EXPECT_EQ(m["metrics"]["gld_transactions"], 8 + 32 + 1 + 1);
  EXPECT_EQ(m["metrics"]["shared_load_transactions"], 2);
  EXPECT_EQ(m["memory"]["shared"]["bank_conflicts"], 1);
  EXPECT_EQ(m["metrics"]["inst_executed"], 8);
}

TEST_F(replay, resources_of_the_header_decide_occupancy) {
  kernel k;
  k.threads = 128;
  k.registers = 128;
  const warp_lines w = warp_lines().exit();
  k.block({w, w, w, w});
  ASSERT_EQ(run_kernel(k).code, 0);
  json m = metrics()["kernels"][0];
  EXPECT_EQ(m["blocks_per_sm"], 4);  // 65536 registers / (128 * 128)
  EXPECT_EQ(m["occupancy_limiters"], json::array({"registers"}));
  fs::remove(place_ / "m.json");
  k.shared = 200000;
  expect_refused(run_kernel(k), "kernelslist.g:1:1: kernel '_Z4testPf': a block of 128 threads");
}

TEST_F(replay, warps_wait_for_each_other_at_barriers) {
  warp_lines slow;
  for (int n = 0; n < 100; ++n) slow.at(0x10).alu("FADD", 2, {2, 2});
  slow.at(0x20).alu("BAR.SYNC", -1, {}).exit();
  const warp_lines fast = warp_lines().at(0x20).alu("BAR.SYNC", -1, {}).exit();
  for (const char* gpu : {"gtx1080", "v100"}) {
    SCOPED_TRACE(gpu);
    kernel k;
    k.block({slow, fast});
    ASSERT_EQ(run_kernel(k, gpu).code, 0);
    const json cycles = metrics()["kernels"][0]["warp_cycles"];
    EXPECT_GT(cycles["sync"], 350);  // barriers do not wait for ended warps
    kernel alone;
    alone.block({slow, warp_lines().exit()});  // who has ended is not waited for
    ASSERT_EQ(run_kernel(alone, gpu).code, 0);
    EXPECT_LT(metrics()["kernels"][0]["warp_cycles"]["sync"], 100);
  }
}

TEST_F(replay, halves_of_a_warp_arrive_at_a_barrier_separately) {
  kernel k;
  k.threads = 32;
  k.block({warp_lines()
               .alu("BAR.SYNC", -1, {}, 0x0000ffff)
               .alu("FADD", 2, {3, 4}, 0xffff0000)
               .alu("BAR.SYNC", -1, {}, 0xffff0000)
               .alu("FADD", 5, {2, 2})
               .exit()});
  EXPECT_EQ(run_kernel(k, "v100").code, 0);
  EXPECT_EQ(metrics()["kernels"][0]["metrics"]["inst_executed"], 5);
}

// The second warp has one thread, the first 32: each waits for the other.
TEST_F(replay, a_warp_of_one_thread_arrives_at_barriers) {
  warp_lines slow;
  for (int n = 0; n < 100; ++n) slow.at(0x10).alu("FADD", 2, {2, 2});
  slow.at(0x20).alu("BAR.SYNC", -1, {}).exit();
  warp_lines slow_thread;
  for (int n = 0; n < 100; ++n) slow_thread.at(0x10).alu("FADD", 2, {2, 2}, 1);
  slow_thread.at(0x20).alu("BAR.SYNC", -1, {}, 1).exit(1);
  for (const char* gpu : {"gtx1080", "v100"}) {
    SCOPED_TRACE(gpu);
    kernel k;
    k.threads = 33;
    k.block({slow, warp_lines().at(0x20).alu("BAR.SYNC", -1, {}, 1).exit(1)});
    ASSERT_EQ(run_kernel(k, gpu).code, 0);
    EXPECT_GT(metrics()["kernels"][0]["warp_cycles"]["sync"], 350);
    kernel turned;
    turned.threads = 33;
    turned.block({warp_lines().at(0x20).alu("BAR.SYNC", -1, {}).exit(), slow_thread});
    ASSERT_EQ(run_kernel(turned, gpu).code, 0);
    EXPECT_GT(metrics()["kernels"][0]["warp_cycles"]["sync"], 350);
  }
}

TEST_F(replay, disagreement_about_a_barrier_is_a_deadlock) {
  kernel k;
  const warp_lines half = warp_lines().alu("BAR.SYNC", -1, {}, 0x0000ffff).alu("FADD", 5, {2, 2}).exit();
  k.block({half, half});
  const outcome o = run_kernel(k, "v100");
  EXPECT_EQ(o.code, 1);
  EXPECT_EQ(o.err.rfind("heddle: error: ", 0), 0u) << o.err;
  EXPECT_NE(o.err.find("deadlock"), std::string::npos) << o.err;
  EXPECT_NE(o.err.find("kernel-1.traceg, at 0x0"), std::string::npos) << o.err;
  EXPECT_TRUE(exists("m.json"));
}

TEST_F(replay, divergence_shows_at_branches) {
  kernel k;
  k.threads = 32;
  k.block({warp_lines()
               .alu("ISETP.GE.AND", -1, {2})
               .alu("BRA", -1, {}, 0xff000000)  // these lanes branch, the others continue
               .alu("FADD", 2, {2, 2}, 0x00ffffff)
               .alu("BRA", -1, {}, 0)  // no lane branches
               .alu("FADD", 2, {2, 2}, 0x00ffffff)
               .exit()});
  ASSERT_EQ(run_kernel(k).code, 0);
  EXPECT_EQ(metrics()["kernels"][0]["metrics"]["branch_efficiency"], 0.5);
}

// Metrics and views use the names of the trace, with the registers that are tracked.
TEST_F(replay, instructions_have_their_recorded_names) {
  kernel k;
  k.threads = 32;
  k.block({warp_lines().alu("IMAD.WIDE.U32", 4, {2, 3}).alu("FADD.FTZ", 2, {4, 2}).exit()});
  ASSERT_EQ(run_kernel(k, "v100", {"--pipeline", "p.kanata"}).code, 0);
  const json m = metrics();
  std::vector<std::string> texts;
  for (const json& line : m["kernels"][0]["lines"])
    if (line["executed"] != 0) texts.push_back(line["text"]);
  EXPECT_EQ(texts, (std::vector<std::string>{"IMAD.WIDE.U32 R4.64, R2, R3", "FADD.FTZ R2, R4, R2", "EXIT"}));
  const std::string view = content(place_ / "p.kanata");
  for (const std::string& text : texts) EXPECT_NE(view.find(": " + text + "\n"), std::string::npos) << text;
}

TEST_F(replay, streams_overlap_and_copies_wait) {
  kernel k;
  k.threads = 32;
  warp_lines w;
  for (int n = 0; n < 200; ++n) w.at(0).alu("FADD", 2, {2, 2});
  k.block({w.exit()});
  write("kernel-1.traceg", k.text());
  k.stream = 7;
  k.name = "second";
  write("kernel-2.traceg", k.text());
  const auto starts_before_the_other_ends = [this](const std::string& list) {
    write("list.g", list);
    const outcome o = run({"list.g", "--gpu", "v100", "--metrics", "m.json"});
    EXPECT_EQ(o.code, 0) << o.err;
    const json m = metrics();
    EXPECT_EQ(m["kernels"].size(), 2u);
    EXPECT_EQ(m["kernels"][0]["launch"], 0);
    EXPECT_EQ(m["kernels"][1]["launch"], 1);
    EXPECT_NE(m["kernels"][0]["stream"], m["kernels"][1]["stream"]);
    return m["kernels"][1]["start_cycle"] < m["kernels"][0]["end_cycle"];
  };
  EXPECT_TRUE(starts_before_the_other_ends("kernel-2.traceg\nkernel-1.traceg\n"));
  EXPECT_FALSE(starts_before_the_other_ends("kernel-2.traceg\nMemcpyHtoD,0x00007f4000000000,4096\nkernel-1.traceg\n"));
  write("list.g", "kernel-1.traceg\nkernel-1.traceg\n");
  ASSERT_EQ(run({"list.g", "--gpu", "v100", "--metrics", "m.json"}).code, 0);
  EXPECT_GE(metrics()["kernels"][1]["start_cycle"], metrics()["kernels"][0]["end_cycle"]);
}

TEST_F(replay, recorded_warps_resume_after_a_switch) {
  // Two streams alternate on one SM with room for one block: arithmetic, memory accesses and a barrier before and
  // after the switches.
  kernel k;
  k.threads = 64;
  std::vector<warp_lines> warps(2);
  for (warp_lines& w : warps) {
    for (int n = 0; n < 120; ++n) {
      w.at(0).alu("FADD", 2, {2, 2});
      if (n % 10 == 0) w.at(16).mem("LDG.E.SYS", 4, {2}, 4, "0x00007f4000000000", 4);
      if (n % 30 == 0) w.at(32).alu("BAR.SYNC", -1, {});
    }
    w.exit();
  }
  k.block(warps);
  write("kernel-1.traceg", k.text());
  k.stream = 7;
  k.name = "second";
  write("kernel-2.traceg", k.text());
  write("list.g", "kernel-1.traceg\nkernel-2.traceg\n");
  std::vector<std::string> options = {"list.g", "--gpu",          "v100",  "--metrics",      "m.json",
                                      "--set",  "gpu.sm_count=1", "--set", "sm.max_blocks=1"};
  ASSERT_EQ(run(options).code, 0);
  const json undisturbed = metrics();
  EXPECT_TRUE(undisturbed["context_switches"].empty());
  options.insert(options.end(), {"--set", "context.time_slice_cycles=200"});
  const outcome o = run(options);
  ASSERT_EQ(o.code, 0) << o.err;
  const json m = metrics();
  EXPECT_GE(m["context_switches"].size(), 3u);
  for (const json& s : m["context_switches"]) EXPECT_EQ(s["warp_ids"], s["restored_warp_ids"]);
  for (unsigned n = 0; n < 2; ++n) {
    EXPECT_EQ(m["kernels"][n]["instructions"], undisturbed["kernels"][n]["instructions"]);
    EXPECT_EQ(m["kernels"][n]["metrics"]["gld_transactions"], undisturbed["kernels"][n]["metrics"]["gld_transactions"]);
  }
  // From a file, one segment at a time in memory.
  options.insert(options.end(), {"--trace-memory", "0"});
  ASSERT_EQ(run(options).code, 0);
  json from_file = metrics();
  json from_memory = m;
  from_file.erase("host");
  from_memory.erase("host");
  EXPECT_EQ(from_file, from_memory);
}

TEST_F(replay, options_of_run_hold) {
  kernel k;
  k.block({exchange(), exchange()});
  outcome o = run_kernel(k, "v100", {"--vcd", "w.vcd", "--quiet"});
  EXPECT_EQ(o.code, 0) << o.err;
  EXPECT_EQ(o.out, "");
  EXPECT_TRUE(exists("w.vcd"));
  o = run_kernel(k, "v100", {"--max-cycles", "50"});
  EXPECT_EQ(o.code, 1);
  EXPECT_NE(o.err.find("--max-cycles"), std::string::npos);
  expect_refused(
      [&] {
        fs::remove(place_ / "m.json");
        return run_kernel(k, "v100", {"--metrics", "no/where.json"});
      }(),
      "");
  o = run({"--help"});
  EXPECT_EQ(o.code, 0);
  EXPECT_NE(o.out.find("--strict"), std::string::npos);
}

TEST_F(replay, a_packed_trace_gives_the_same_metrics) {
  kernel k;
  k.blocks = 2;
  k.block({exchange(), exchange()}).block({exchange(), exchange()});
  ASSERT_EQ(run_kernel(k).code, 0);
  json text = metrics();
  const std::string head = k.text().substr(0, k.text().find("#BEGIN_TB"));
  const std::vector<std::string> lines = exchange().lines();
  const std::string packed =
      sass_trace_test::tracez(head, {{{0, 0, 0}, {lines, lines}}, {{1, 0, 0}, {lines, lines}}}, 4, "");
  write("kernel-1.tracez", packed);
  write("kernelslist.g", "kernel-1.tracez\n");
  const std::vector<std::string> arguments{"kernelslist.g", "--gpu", "v100",          "--metrics",
                                           "m.json",        "--set", "tlm.check=true"};
  const outcome o = run(arguments);
  ASSERT_EQ(o.code, 0) << o.err;
  json same = metrics();
  EXPECT_EQ("kernel-1.traceg", text["kernels"][0]["file"]);
  EXPECT_EQ("kernel-1.tracez", same["kernels"][0]["file"]);
  text["kernels"][0].erase("file");
  same["kernels"][0].erase("file");
  EXPECT_TRUE(text["kernels"] == same["kernels"]);
  fs::remove(place_ / "m.json");
  write("kernel-1.tracez", packed.substr(0, packed.size() - 1));
  expect_refused(run(arguments), "kernel-1.tracez: tracez: the index does not lie within the file");
}

TEST_F(replay, bulk_copies_issue_and_are_counted_in_a_warning) {
  kernel k;
  k.threads = 32;
  k.binary = 90;
  k.block({warp_lines()
               .raw("UTMALDG.2D", "0 4 0x400 0 8192 0 4 0x7f00 2 128 0", 1)
               .raw("UBLKCP.S.G", "0 4 0x400 0 512 0 3 1 0x7f00 0", 1)
               .exit()});
  const outcome o = run_kernel(k, "h100");
  ASSERT_EQ(o.code, 0) << o.err;
  EXPECT_NE(o.err.find("has 2 bulk copies: they are replayed as instructions that move no data"), std::string::npos)
      << o.err;
  EXPECT_EQ(metrics()["kernels"][0]["metrics"]["inst_executed"], 3);
}

// Of a list, as long as the machine stands still: what each further line takes, and each further file.
TEST_F(replay, a_long_list_takes_little_memory) {
  kernel k;
  k.threads = 32;
  warp_lines lines;
  for (unsigned n = 0; n < 40; ++n) lines.alu("FFMA", 4, {4, 5, 6});
  k.block({lines.exit()});
  const auto peak = [&](unsigned count, bool distinct) {
    std::string list;
    for (unsigned n = 1; n <= count; ++n) {
      const std::string name = "kernel-" + std::to_string(distinct ? n : 1) + ".traceg";
      if (n == 1 || distinct) write(name, k.text());
      list += name + "\n";
    }
    write("kernelslist.g", list);
    const outcome o = run({"kernelslist.g", "--gpu", "gtx1080", "--metrics", "m.json", "--max-cycles", "1"});
    EXPECT_EQ(1, o.code) << o.err;
    return metrics()["host"]["peak_rss_bytes"].get<double>();
  };
#if !defined(__SANITIZE_ADDRESS__)  // it surrounds what is allocated
  EXPECT_LT((peak(60000, false) - peak(10000, false)) / 50000, 850) << "bytes for a line";
  // Beyond those that stay open while there is room.
  EXPECT_LT((peak(14000, true) - peak(8000, true)) / 6000, 1200) << "bytes for a file";
#else
  EXPECT_GT(peak(14000, true), peak(8000, true));
#endif
}

TEST_F(replay, two_runs_are_identical) {
  kernel k;
  k.block({exchange(), exchange()});
  ASSERT_EQ(run_kernel(k).code, 0);
  json first = metrics();
  ASSERT_EQ(run_kernel(k).code, 0);
  json second = metrics();
  first.erase("host");
  second.erase("host");
  EXPECT_EQ(first, second);
}

}  // namespace replay_test
