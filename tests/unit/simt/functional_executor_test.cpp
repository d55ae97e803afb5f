// SPDX-License-Identifier: MIT
// Functionally executed launches: the shipped workloads, the same faults and printed text as in detailed simulation,
// blocks that wait for each other, and memory shared by functional launches, simulated ones and the host.
#include <algorithm>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <iterator>
#include <numeric>

#include "functional_bench.h"
#include "heddle/functional/functional_observer.h"
#include "testbench/job/compare.h"
#include "testbench/job/job_parser.h"
#include "testbench/run/device_job.h"

namespace heddle {
namespace functional_executor_test {

using testbench::operation;
using u32 = std::uint32_t;

class functional_executor_test : public functional_bench {
 protected:
  void carry_out(const testbench::device_job& device, const operation& op, bool functionally) {
    switch (op.what) {
      case operation::kind::kernel:
        ASSERT_EQ(run(device.request(op), functionally), "");
        total += instructions;
        break;
      case operation::kind::memset: driver().fill(device.address(op.buffer) + op.offset, op.byte, op.bytes); break;
      case operation::kind::copy: {
        std::vector<std::uint8_t> bytes(op.bytes);
        driver().read(device.address(op.from) + op.from_offset, bytes.data(), bytes.size());
        driver().write(device.address(op.buffer) + op.offset, bytes.data(), bytes.size());
        break;
      }
      case operation::kind::repeat:
        for (std::uint64_t round = 0; round < op.max; ++round) {
          for (const operation& inner : op.body) carry_out(device, inner, functionally);
          if (!op.while_nonzero.empty() && read<u32>(device.address(op.while_nonzero), 1)[0] == 0) break;
        }
        break;
      case operation::kind::synchronise: break;
    }
  }

  void run_job(const std::string& file, const std::string& gpu) {
    SCOPED_TRACE(file + " on " + gpu);
    make(gpu);
    const testbench::job j = testbench::load_job(file);
    const testbench::device_job device(j, driver(), chip().config());
    total = 0;
    const auto begin = std::chrono::steady_clock::now();
    for (const operation& op : j.operations) carry_out(device, op, true);
    const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
    std::cout << file.substr(file.find("workloads/") + 10) << " on " << gpu << ": " << static_cast<double>(total) / 1e6
              << " M warp instructions, " << static_cast<double>(total) / 1e6 / seconds << " M/s\n";
    for (const testbench::output& o : j.outputs) {
      if (o.expect.empty()) continue;
      std::vector<std::uint8_t> got(device.size(o));
      device.read(o, 0, got.data(), got.size());
      std::ifstream in(o.expect, std::ios::binary);
      const std::vector<std::uint8_t> expected{std::istreambuf_iterator<char>(in), {}};
      EXPECT_EQ(testbench::compare(o, got, expected).differing, 0u) << o.name;
    }
  }

  /// Compares the fault of a kernel in detailed and in functional execution.
  void expect_same_fault(const std::string& ptx, const std::vector<std::string>& parts, u32 grid = 2, u32 block = 64) {
    for (const char* gpu : {"gtx1080", "v100"}) {
      std::string message[2];
      for (const bool functionally : {false, true}) {
        make(gpu);
        launch_request r = request(ptx, "k", grid, block);
        if (r.parameters.empty() && ptx.find("k(.param") != std::string::npos)
          r.argument(buffer(std::vector<u32>(256)));
        message[functionally] = run(r, functionally);
      }
      EXPECT_EQ(message[0], message[1]) << gpu;
      for (const std::string& part : parts) EXPECT_NE(message[1].find(part), std::string::npos) << message[1];
    }
  }

  std::uint64_t total = 0;
};

std::string module_of(const std::string& body, const std::string& parameters = ".param .u64 out") {
  return ".version 7.0\n.target sm_60\n.address_size 64\n.visible .entry k(" + parameters +
         ")\n{\n.reg .b64 %rd<20>; .reg .b32 %r<20>; .reg .f32 %f<4>; .reg .pred %p<4>;\n" +
         (parameters.empty() ? "" : "ld.param.u64 %rd1, [out]; cvta.to.global.u64 %rd2, %rd1;\n") +
         "mov.u32 %r1, %tid.x; mov.u32 %r2, %ctaid.x; mov.u32 %r3, %ntid.x; mad.lo.u32 %r4, %r2, %r3, %r1; mul.wide.u32 %rd3, %r4, 4; add.u64 %rd4, %rd2, %rd3;\n" +
         body + "\nret;\n}\n";
}

TEST_F(functional_executor_test, shipped_workloads_have_their_results) {
  std::vector<std::string> files;
  for (const auto& folder : std::filesystem::directory_iterator(HEDDLE_SOURCE "/testbench/workloads"))
    if (std::filesystem::exists(folder.path() / "job.json")) files.push_back((folder.path() / "job.json").string());
  std::sort(files.begin(), files.end());
  EXPECT_GE(files.size(), 20u);
  for (const std::string& file : files)
    for (const char* gpu : {"gtx1080", "v100"}) {
      if (file.find("wmma") != std::string::npos && gpu == std::string("gtx1080")) continue;  // no tensor cores
      if (file.find("intra_warp_lock") != std::string::npos && gpu == std::string("gtx1080"))
        continue;  // needs independent lanes
      run_job(file, gpu);
    }
}

TEST_F(functional_executor_test, a_fault_is_reported_as_by_the_cycle_model) {
  expect_same_fault(module_of("add.u64 %rd5, %rd4, 1048576; setp.eq.u32 %p1, %r4, 37; @%p1 st.global.u32 [%rd5], %r1;"),
                    {"illegal address", "(4-byte store)", "thread (37,0,0)"});
  expect_same_fault(
      module_of(
          "add.u64 %rd5, %rd4, 2; setp.eq.u32 %p1, %r4, 70; @%p1 ld.u32 %r5, [%rd5]; @%p1 st.global.u32 [%rd4], %r5;"),
      {"misaligned address", "(4-byte load)", "block (1,0,0), thread (6,0,0)"});
  expect_same_fault(
      module_of("add.u64 %rd5, %rd4, 1048576; setp.eq.u32 %p1, %r4, 3; @%p1 red.global.add.u32 [%rd5], 1;"),
      {"(4-byte atomic)"});
  expect_same_fault(
      module_of(
          ".shared .b32 s[4]; mul.lo.u32 %r5, %r1, 4; setp.eq.u32 %p1, %r4, 5; @%p1 ld.shared.u32 %r6, [%r5+64]; @%p1 st.global.u32 [%rd4], %r6;"),
      {"outside the block's"});
  expect_same_fault(module_of("setp.eq.u32 %p1, %r4, 9; @%p1 trap;"),
                    {"trap in kernel 'k', block (0,0,0), thread (9,0,0)"});
  expect_same_fault(module_of("setp.eq.u32 %p1, %r4, 9; mov.u32 %r6, 17; @%p1 bar.sync %r6;"),
                    {"barrier 17 does not exist"});
}

TEST_F(functional_executor_test, a_barrier_that_no_one_completes_is_reported_as_by_the_cycle_model) {
  const std::string ptx =
      module_of("setp.lt.u32 %p1, %r1, 32; @%p1 bra one; bar.sync 1, 96; bra end; one: bar.sync 2, 96; end:");
  expect_same_fault(ptx, {"deadlock at a barrier in kernel 'k', block (0,0,0)"}, 1);
}

TEST_F(functional_executor_test, assertions_report_what_failed) {
  const std::string ptx = R"(.version 7.0
.target sm_60
.address_size 64
.global .align 1 .b8 text[6] = {105, 32, 60, 32, 51, 0};
.global .align 1 .b8 file[5] = {97, 46, 99, 117, 0};
.global .align 1 .b8 name[4] = {107, 40, 41, 0};
.extern .func __assertfail(.param .b64 a, .param .b64 b, .param .b32 c, .param .b64 d, .param .b64 e);
.visible .entry k()
{
  .reg .b64 %rd<8>; .reg .b32 %r<3>; .reg .pred %p;
  mov.u32 %r1, %tid.x; setp.lt.u32 %p, %r1, 3; @%p bra end;
  mov.u64 %rd1, text; cvta.global.u64 %rd1, %rd1;
  mov.u64 %rd2, file; cvta.global.u64 %rd2, %rd2;
  mov.u64 %rd3, name; cvta.global.u64 %rd3, %rd3;
  mov.u32 %r2, 7; mov.u64 %rd4, 1;
  { .param .b64 p0; .param .b64 p1; .param .b32 p2; .param .b64 p3; .param .b64 p4;
    st.param.b64 [p0], %rd1; st.param.b64 [p1], %rd2; st.param.b32 [p2], %r2; st.param.b64 [p3], %rd3; st.param.b64 [p4], %rd4;
    call.uni __assertfail, (p0, p1, p2, p3, p4); }
end:
  ret;
}
)";
  expect_same_fault(ptx, {"assertion failed: i < 3 (a.cu:7, k())", "thread (3,0,0)"}, 1, 32);
}

// All blocks of the grid increment a counter and wait for it to reach their number, so each SM must hold several
// blocks.
constexpr const char* barrier_kernel = R"(
  mov.u64 %rd6, %rd2; setp.ne.u32 %p1, %r1, 0; @%p1 bra wait;
  add.u64 %rd7, %rd2, 4096; atom.global.add.u32 %r6, [%rd7], 1;
  mov.u32 %r7, %nctaid.x;
turn:
  ld.volatile.global.u32 %r6, [%rd7]; setp.lt.u32 %p1, %r6, %r7; @%p1 bra turn;
wait:
  bar.sync 0; add.u64 %rd8, %rd2, 4100; @!%p1 red.global.add.u32 [%rd8], 1; red.global.add.u32 [%rd8], 1;
)";

TEST_F(functional_executor_test, blocks_that_wait_for_each_other_make_progress) {
  for (const char* gpu : {"gtx1080", "v100", "h100"}) {
    make(gpu);
    launch_request r = request(module_of(barrier_kernel), "k", 4 * 8, 128);
    const std::uint64_t at = buffer(std::vector<u32>(2048));
    r.argument(at);
    ASSERT_EQ(run(r, true), "") << gpu;
    EXPECT_EQ(read<u32>(at + 4096, 1)[0], 32u);
    EXPECT_LT(instructions, 1'000'000u) << gpu;
  }
}

TEST_F(functional_executor_test, a_deadlock_is_reported) {
  for (const char* gpu : {"gtx1080", "v100"}) {
    make(gpu);
    launch_request r = request(
        module_of("turn: ld.volatile.global.u32 %r6, [%rd2]; setp.eq.u32 %p1, %r6, 0; @%p1 bra turn;"), "k", 3, 64);
    r.argument(buffer(std::vector<u32>(64)));
    const std::string fault = run(r, true);
    EXPECT_NE(fault.find("deadlock: no block has begun or ended"), std::string::npos) << fault;
    EXPECT_NE(fault.find("block (2,0,0) of kernel 'k', warp 1, is at "), std::string::npos) << fault;
  }
  // More blocks than the chip holds cannot wait for each other.
  make("gtx1080", {"gpu.sm_count=1"});
  launch_request r = request(module_of(barrier_kernel), "k", 64, 128);
  r.argument(buffer(std::vector<u32>(2048)));
  EXPECT_NE(run(r, true).find("deadlock"), std::string::npos);
}

// A wait for a time ends; one for what never comes does not, whether it reads the time or not.
TEST_F(functional_executor_test, waits_for_a_time_end_and_others_are_a_deadlock) {
  make("v100");
  const std::string clock = "mov.u64 %rd7, %clock64; add.u64 %rd7, %rd7, 20000000000; turn: mov.u64 %rd8, %clock64; ";
  launch_request waits =
      request(module_of(clock + "setp.lt.u64 %p1, %rd8, %rd7; @%p1 bra turn; st.global.u32 [%rd2], 1;"), "k", 1, 64);
  const std::uint64_t at = buffer(std::vector<u32>(64));
  waits.argument(at);
  EXPECT_EQ(run(waits, true), "");
  EXPECT_EQ(read<u32>(at, 1)[0], 1u);
  launch_request spins = request(
      module_of(clock + "ld.volatile.global.u32 %r6, [%rd2]; setp.eq.u32 %p1, %r6, 0; @%p1 bra turn;"), "k", 1, 64);
  spins.argument(buffer(std::vector<u32>(64)));
  const std::string fault = run(spins, true);
  EXPECT_NE(fault.find("deadlock: no block has begun or ended"), std::string::npos) << fault;
}

TEST_F(functional_executor_test, a_launch_is_cancelled_on_request) {
  make("v100");
  launch_request r = request(
      module_of("turn: add.u32 %r6, %r6, 1; red.global.add.u32 [%rd2], 1; setp.ne.u32 %p1, %r6, 0; @%p1 bra turn;"),
      "k", 3, 64);
  r.argument(buffer(std::vector<u32>(64)));
  struct : functional_observer {
    unsigned asked = 0;
    bool wants_stop() override { return ++asked == 20; }
  } observer;
  chip().observe(observer);
  EXPECT_THROW(run(r, true), input_error);
  EXPECT_EQ(driver().fault(), "");
}

TEST_F(functional_executor_test, clocks_advance) {
  make("v100");
  launch_request r = request(
      module_of(
          "mov.u64 %rd5, %clock64; turn: mov.u64 %rd6, %clock64; sub.u64 %rd7, %rd6, %rd5; setp.lt.u64 %p1, %rd7, 5000; @%p1 bra turn; "
          "mov.u64 %rd8, %globaltimer; setp.eq.u64 %p1, %rd8, 0; selp.u32 %r6, 0, 1, %p1; st.global.u32 [%rd4], %r6;"),
      "k", 2, 64);
  const std::uint64_t at = buffer(std::vector<u32>(128));
  r.argument(at);
  EXPECT_EQ(run(r, true), "");
  EXPECT_EQ(read<u32>(at, 128), std::vector<u32>(128, 1));
}

// Results do not depend on which launches are executed functionally, nor on host accesses in between.
TEST_F(functional_executor_test, memory_is_shared_with_the_cycle_model_and_the_host) {
  const std::string ptx =
      module_of("ld.global.u32 %r5, [%rd4]; mad.lo.u32 %r5, %r5, 3, %r4; st.global.u32 [%rd4], %r5;");
  for (const char* model : {"memory.model=fixed", "memory.model=dram"}) {
    make("gtx1080", {model});
    constexpr u32 n = 40'000 / 128 * 128;
    std::vector<u32> expected(n);
    std::iota(expected.begin(), expected.end(), 7u);
    launch_request r = request(ptx, "k", n / 128, 128);
    const std::uint64_t at = buffer(expected);
    r.argument(at);
    for (unsigned round = 0; round < 12; ++round) {
      ASSERT_EQ(run(r, round % 3 != 2), "");
      for (u32 k = 0; k < n; ++k) expected[k] = expected[k] * 3 + k;
      if (round % 4 == 1) {
        EXPECT_EQ(read<u32>(at, n), expected);
        expected[round * 1000] = round;
        driver().write(at + round * 4000, &expected[round * 1000], 4);
      }
    }
    EXPECT_EQ(read<u32>(at, n), expected);
  }
}

TEST_F(functional_executor_test, refuses_what_it_cannot_do) {
  make("gtx1080");
  const std::string ptx = module_of("st.global.u32 [%rd4], %r4;");
  launch_request r = request(ptx, "k", 64, 128);
  r.argument(buffer(std::vector<u32>(64 * 128)));
  const unsigned number = driver().launch(r);
  EXPECT_THROW(driver().execute(r), input_error) << "while another launch runs";
  while (!driver().finished(number))
    sc_core::sc_start(sc_core::sc_time(20, sc_core::SC_US), sc_core::SC_EXIT_ON_STARVATION);
  EXPECT_EQ(driver().execute(r), 64u * 4 * 11);
}

// A bulk copy is complete at once; waits at mbarriers let other lanes and warps run.
TEST_F(functional_executor_test, bulk_copies_and_mbarriers) {
  std::ifstream in(HEDDLE_SOURCE "/tests/system/memory/bulk_copy.ptx");
  const std::string ptx{std::istreambuf_iterator<char>(in), {}};
  make("h100");
  std::vector<u32> data(4 * 4 * 256);
  std::iota(data.begin(), data.end(), 0u);
  launch_request stream = request(ptx, "stream", 4, 32);
  stream.dynamic_shared_bytes = 1024;
  const std::uint64_t out = buffer(std::vector<u32>(32));
  stream.argument(buffer(data)).argument(u32{1024}).argument(u32{4}).argument(out);
  ASSERT_EQ(run(stream, true), "");
  EXPECT_EQ(read<u32>(out, 4), (std::vector<u32>{12 * 256, 13 * 256, 14 * 256, 15 * 256}));
  launch_request lanes = request(ptx, "lanes", 1, 32);
  lanes.argument(out);
  ASSERT_EQ(run(lanes, true), "");
  std::vector<u32> order(32);
  for (u32 k = 0; k < 32; ++k) order[k] = k / 8;
  EXPECT_EQ(read<u32>(out, 32), order);
  EXPECT_NE(run(request(ptx, "never", 1, 64), true).find("deadlock"), std::string::npos);
}

// Each cell is a count, and what follows from it.
TEST_F(functional_executor_test, atomics_of_16_bytes) {
  using quads = std::vector<std::array<std::uint64_t, 2>>;
  constexpr std::uint64_t factor = 0x9e3779b97f4a7c15u;
  std::ifstream in(HEDDLE_SOURCE "/tests/system/atomics/wide_atomics.ptx");
  const std::string ptx{std::istreambuf_iterator<char>(in), {}};
  const u32 blocks = 4, threads = 64, size = 8, rounds = 3;
  for (const char* kernel : {"count_global", "count_shared", "count_cluster", "count_generic", "exchange_global"}) {
    make("h100");
    launch_request r = request(ptx, kernel, blocks, threads);
    if (kernel == std::string("count_cluster")) r.cluster = {{2, 1, 1}};
    r.dynamic_shared_bytes = size * 16;
    const bool exchanges = kernel == std::string("exchange_global");
    quads cells(size + blocks * threads);
    for (u32 k = 0; exchanges && k < size; ++k) cells[k] = {k, k * factor};
    const std::uint64_t at = buffer(cells), torn = buffer(std::vector<u32>(1));
    r.argument(at).argument(torn).argument(size).argument(rounds);
    ASSERT_EQ(run(r, true), "") << kernel;
    EXPECT_EQ(read<u32>(torn, 1)[0], 0u);
    quads found = read<std::array<std::uint64_t, 2>>(at, cells.size());
    std::uint64_t sum = 0;
    std::sort(found.begin(), found.end());
    for (std::size_t k = 0; k < found.size(); ++k) {
      EXPECT_EQ(found[k][1], found[k][0] * factor) << kernel;
      sum += found[k][0];
      if (exchanges) {
        EXPECT_EQ(found[k][0], k);
      }
    }
    if (!exchanges) {
      EXPECT_EQ(sum, std::uint64_t{blocks} * threads * rounds) << kernel;
    }
  }
}

}  // namespace functional_executor_test
}  // namespace heddle
