// SPDX-License-Identifier: MIT
// Functionally executed launches on several host threads: which kernels they take part in, and that results, counts and
// faults do not depend on them.
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <iterator>
#include <numeric>
#include <thread>

#include "functional_bench.h"
#include "heddle/functional/block_independence.h"
#include "heddle/functional/functional_observer.h"
#include "testbench/job/job_parser.h"
#include "testbench/run/device_job.h"

namespace heddle {
namespace functional_threads_test {

using u32 = std::uint32_t;

/// Threads of this process.
std::size_t host_threads() {
  const std::filesystem::directory_iterator tasks("/proc/self/task");
  return static_cast<std::size_t>(std::distance(begin(tasks), end(tasks)));
}

std::string module_of(const std::string& body, const std::string& before = "") {
  return ".version 7.8\n.target sm_60\n.address_size 64\n" + before +
         ".visible .entry k(.param .u64 out)\n{\n.reg .b64 %rd<20>; .reg .b32 %r<20>; .reg .f32 %f<4>; .reg .pred %p<4>;\n"
         ".shared .align 8 .b32 s[1024];\n"
         "ld.param.u64 %rd1, [out]; cvta.to.global.u64 %rd2, %rd1; mov.u32 %r1, %tid.x; mov.u32 %r2, %ctaid.x; "
         "mov.u32 %r3, %ntid.x; mad.lo.u32 %r4, %r2, %r3, %r1; mul.wide.u32 %rd3, %r4, 4; add.u64 %rd4, %rd2, %rd3;\n" +
         body + "\nret;\n}\n";
}

/// A loop of as many turns as `count` says, an operand.
std::string loop(const std::string& count, const std::string& body) {
  return "mov.u32 %r10, " + count + "; turn: " + body +
         " sub.u32 %r10, %r10, 1; setp.ne.u32 %p3, %r10, 0; @%p3 bra turn;\n";
}

class functional_threads_test : public functional_bench {
 protected:
  static constexpr u32 blocks = 300, threads = 128, words = blocks * threads + 1024;

  void make_with(unsigned host, const std::string& gpu = "v100") {
    make(gpu);
    chip().use_threads(host);
    before_ = host_threads();
  }
  [[nodiscard]] bool threads_were_started() const { return host_threads() != before_; }

  /// What a kernel leaves in memory, with its fault and its count, on a number of host threads. Every third launch is
  /// simulated in detail if `mixed`.
  struct result {
    std::vector<u32> memory;
    std::string fault;
    std::uint64_t instructions = 0;
    bool started = false;
    bool operator==(const result& o) const {
      return memory == o.memory && fault == o.fault && instructions == o.instructions;
    }
  };
  result run_on(unsigned host, const std::string& ptx, const std::string& gpu = "v100", bool mixed = false) {
    make_with(host, gpu);
    launch_request r = request(ptx, "k", blocks, threads);
    std::vector<u32> data(words);
    std::iota(data.begin(), data.end(), 1u);
    const std::uint64_t at = buffer(data);
    r.argument(at);
    result o;
    for (unsigned round = 0; round < (mixed ? 4 : 1) && o.fault.empty(); ++round) {
      instructions = 0;
      o.fault = run(r, round % 3 != 1);
      if (o.fault.empty()) o.instructions += instructions;
    }
    o.started = threads_were_started();
    o.memory = read<u32>(at, words);
    return o;
  }

  void expect_same(const std::string& ptx, const std::string& gpu, bool on_threads, bool mixed = false) {
    SCOPED_TRACE(gpu);
    const result one = run_on(1, ptx, gpu, mixed);
    EXPECT_EQ(one.fault, "");
    EXPECT_FALSE(one.started);
    for (const unsigned host : {2u, 3u}) {
      const result more = run_on(host, ptx, gpu, mixed);
      EXPECT_TRUE(one == more) << host << " threads";
      EXPECT_EQ(more.started, on_threads) << host << " threads";
    }
  }

 private:
  std::size_t before_ = 0;
};

// Lanes that diverge, shared memory behind barriers, and reductions whose order does not show.
const std::string mixture = module_of(
    "ld.global.u32 %r5, [%rd4]; rem.u32 %r6, %r4, 7; add.u32 %r6, %r6, 3;\n" +
    loop("%r6", "mad.lo.u32 %r5, %r5, 1664525, 1013904223;") +
    "mul.lo.u32 %r7, %r1, 4; mov.u32 %r8, s; add.u32 %r7, %r7, %r8; st.shared.u32 [%r7], %r5; bar.sync 0;\n"
    "xor.b32 %r9, %r1, 77; mul.lo.u32 %r9, %r9, 4; add.u32 %r9, %r9, %r8; ld.shared.u32 %r11, [%r9]; bar.sync 0;\n"
    "atom.shared.add.u32 %r12, [%r8], 1; add.u32 %r5, %r5, %r11; st.global.u32 [%rd4], %r5;\n"
    "and.b32 %r13, %r5, 63; mul.wide.u32 %rd5, %r13, 8; add.u64 %rd5, %rd5, %rd2; add.u64 %rd5, %rd5, 153600;\n"
    "red.global.add.u32 [%rd5], %r5; red.global.max.u32 [%rd5+512], %r5; red.global.min.s32 [%rd5+1024], %r5;\n"
    "cvt.u64.u32 %rd6, %r5; red.global.add.u64 [%rd5+1536], %rd6; red.global.xor.b32 [%rd5+2048], %r5;\n"
    "red.global.and.b32 [%rd5+2560], %r5; atom.global.or.b32 %r14, [%rd5+3072], %r5; red.add.u32 [%rd5+3584], 3;");

TEST_F(functional_threads_test, results_and_counts_do_not_depend_on_threads) {
  for (const char* gpu : {"gtx1080", "v100", "h100"}) expect_same(mixture, gpu, true, true);
  // Clusters whose blocks read each other's shared memory.
  std::string clusters = module_of(
      "mul.lo.u32 %r7, %r1, 4; mov.u32 %r8, s; add.u32 %r7, %r7, %r8; ld.global.u32 %r5, [%rd4]; st.shared.u32 [%r7], %r5;\n"
      "barrier.cluster.arrive; barrier.cluster.wait; mov.u32 %r9, %cluster_ctarank; xor.b32 %r9, %r9, 1;\n"
      "mapa.shared::cluster.u32 %r11, %r7, %r9; ld.shared::cluster.u32 %r12, [%r11]; barrier.cluster.arrive; barrier.cluster.wait;\n" +
      loop("20", "mad.lo.u32 %r12, %r12, 1664525, %r5;") + "st.global.u32 [%rd4], %r12;");
  clusters.replace(clusters.find(".target sm_60"), 13, ".target sm_90");
  clusters.replace(clusters.find("k(.param .u64 out)"), 18, "k(.param .u64 out) .reqnctapercluster 4");
  expect_same(clusters, "h100", true);
}

TEST_F(functional_threads_test, kernels_whose_blocks_may_see_each_other_stay_on_one_thread) {
  expect_same(module_of("cvt.rn.f32.u32 %f1, %r4; mul.f32 %f1, %f1, 0f3DCCCCCD;" +
                        loop("10", "red.global.add.f32 [%rd2], %f1;")),
              "v100", false);
  expect_same(module_of(loop("10", "atom.global.add.u32 %r6, [%rd2], 1;") + "st.global.u32 [%rd4+64], %r6;"), "v100",
              false);
  // Small launches of others, too.
  make_with(3);
  launch_request r = request(module_of("st.global.u32 [%rd4], %r4;"), "k", 100, 64);
  r.argument(buffer(std::vector<u32>(6400)));
  EXPECT_EQ(run(r, true), "");
  EXPECT_FALSE(threads_were_started());

  const auto independent = [this](const std::string& body) {
    const unsigned module = driver().load_module(
        module_of(body, ".extern .func (.param .b32 r) vprintf(.param .b64 f, .param .b64 a);\n"), "test.ptx");
    return has_independent_blocks(driver().program(module, "k"));
  };
  for (const char* body :
       {"st.global.u32 [%rd4], %r4;", "ld.volatile.shared.u32 %r5, [s]; st.global.u32 [%rd4], %r5;",
        "red.global.add.u32 [%rd2], 1;", "red.global.max.s64 [%rd2], %rd3;", "atom.global.and.b32 %r5, [%rd2], %r4;",
        "atom.shared.exch.b32 %r5, [s], %r4; st.global.u32 [%rd4], %r5;", "membar.gl; st.global.u32 [%rd4], %r4;",
        "mov.u32 %r5, %nsmid; st.global.u32 [%rd4], %r5;", "setp.eq.u32 %p1, %r4, 9; @%p1 trap;"})
    EXPECT_TRUE(independent(body)) << body;
  for (
      const char* body :
      {"ld.volatile.global.u32 %r5, [%rd2]; st.global.u32 [%rd4], %r5;",
       "ld.relaxed.gpu.u32 %r5, [%rd2]; st.global.u32 [%rd4], %r5;",
       "ld.global.cv.u32 %r5, [%rd2]; st.global.u32 [%rd4], %r5;", "st.volatile.global.u32 [%rd2], %r4;",
       "st.release.gpu.global.u32 [%rd2], %r4;", "red.global.add.f32 [%rd2], %f1;",
       "red.global.add.f64 [%rd2], 0d3FF0000000000000;", "red.global.inc.u32 [%rd2], %r4;",
       "atom.global.exch.b32 %r5, [%rd2], %r4;", "atom.global.cas.b32 %r5, [%rd2], %r4, %r1;",
       "atom.global.add.u32 %r5, [%rd2], 1; st.global.u32 [%rd4], %r5;",
       "atom.add.u32 %r5, [%rd2], 1; @%p1 st.global.u32 [%rd4], %r5;",
       "mov.u64 %rd5, %clock64; st.global.u64 [%rd4], %rd5;", "mov.u32 %r5, %smid; st.global.u32 [%rd4], %r5;",
       "mov.u32 %r5, %warpid; st.global.u32 [%rd4], %r5;", "mov.u64 %rd5, %globaltimer; st.global.u64 [%rd4], %rd5;",
       "{ .param .b64 a; .param .b64 b; .param .b32 c; st.param.b64 [a], %rd1; st.param.b64 [b], %rd1; call.uni (c), vprintf, (a, b); }"})
    EXPECT_FALSE(independent(body)) << body;
}

TEST_F(functional_threads_test, shipped_workloads_leave_the_same_bytes) {
  for (const char* name :
       {"bfs", "fft", "hotspot", "kmeans", "lu_decomposition", "scan", "sgemm_register_tiled", "spmv", "transpose"}) {
    const testbench::job j =
        testbench::load_job(std::string(HEDDLE_SOURCE "/testbench/workloads/") + name + "/job.json");
    std::vector<std::vector<std::uint8_t>> first;
    std::uint64_t counted = 0;
    for (const unsigned host : {1u, 2u, 3u}) {
      make_with(host);
      const testbench::device_job device(j, driver(), chip().config());
      std::uint64_t count = 0;
      for (const testbench::operation& op : j.operations)
        if (op.what == testbench::operation::kind::kernel) {
          ASSERT_EQ(run(device.request(op), true), "") << name;
          count += instructions;
        }
      std::vector<std::vector<std::uint8_t>> outputs;
      for (const testbench::output& o : j.outputs) {
        outputs.emplace_back(device.size(o));
        device.read(o, 0, outputs.back().data(), outputs.back().size());
      }
      if (host == 1) first = outputs, counted = count;
      EXPECT_TRUE(outputs == first) << name << ", " << host << " threads";
      EXPECT_EQ(count, counted) << name << ", " << host << " threads";
    }
  }
}

// Blocks 40, 47, ... fail, and the first of them last.
TEST_F(functional_threads_test, the_fault_of_the_lowest_block_is_reported_and_all_blocks_before_it_end) {
  const std::string ptx = module_of(
      "setp.lt.u32 %p1, %r2, 41; selp.u32 %r5, 20000, 20, %p1; setp.lt.u32 %p2, %r2, 30; selp.u32 %r5, 20, %r5, %p2;\n" +
      loop("%r5", "add.u32 %r6, %r6, 3;") +
      "st.global.u32 [%rd4], %r6; add.u64 %rd5, %rd4, 268435456; rem.u32 %r7, %r2, 7; setp.eq.u32 %p1, %r7, 5;\n"
      "setp.gt.and.u32 %p1, %r2, 39, %p1; setp.eq.and.u32 %p1, %r1, 70, %p1; @%p1 st.global.u32 [%rd5], %r1;");
  for (const unsigned host : {1u, 2u, 3u})
    for (unsigned again = 0; again < 4; ++again) {
      const result r = run_on(host, ptx);
      EXPECT_NE(r.fault.find("block (40,0,0), thread (70,0,0)"), std::string::npos) << host << " threads: " << r.fault;
      for (u32 k = 0; k < 40 * threads; ++k)
        ASSERT_EQ(r.memory[k], 3u * (k / threads < 30 ? 20 : 20000)) << host << " threads, word " << k;
    }
}

TEST_F(functional_threads_test, a_deadlock_within_a_block_is_reported_alike) {
  const std::string ptx = module_of(
      loop("50", "add.u32 %r6, %r6, 3;") +
      "rem.u32 %r7, %r2, 100; setp.ne.u32 %p1, %r7, 99; @%p1 bra end;\n"
      "wait: ld.volatile.shared.u32 %r8, [s]; setp.eq.u32 %p1, %r8, 0; @%p1 bra wait; end: st.global.u32 [%rd4], %r6;");
  const std::string one = run_on(1, ptx).fault;
  EXPECT_NE(one.find("deadlock: no block has begun or ended"), std::string::npos) << one;
  EXPECT_NE(one.find("block (99,0,0) of kernel 'k', warp 3"), std::string::npos) << one;
  EXPECT_EQ(one.find("block (199,0,0)"), std::string::npos) << one;
  for (const unsigned host : {2u, 3u}) EXPECT_EQ(run_on(host, ptx).fault, one);
}

// Nothing tells that these blocks wait for each other, with plain loads, the lower ones for the higher ones. They end
// all the same.
TEST_F(functional_threads_test, blocks_that_race_make_progress) {
  const std::string ptx = module_of(
      "setp.gt.u32 %p1, %r2, 5; @%p1 bra set; mul.wide.u32 %rd5, %r3, 4; add.u64 %rd5, %rd4, %rd5;\n"
      "wait: ld.global.u32 %r5, [%rd5]; setp.ne.u32 %p1, %r5, 7; @%p1 bra wait;\n"
      "set:" +
      loop("40", "add.u32 %r6, %r6, 1;") + "st.global.u32 [%rd4], 7;");
  for (const unsigned host : {1u, 3u}) {
    const result r = run_on(host, ptx);
    EXPECT_EQ(r.fault, "");
    EXPECT_EQ(std::count(r.memory.begin(), r.memory.begin() + blocks * threads, 7u), blocks * threads);
  }
}

TEST_F(functional_threads_test, a_launch_on_threads_is_cancelled_by_the_thread_that_began_it) {
  make_with(3);
  launch_request r =
      request(module_of(loop("0", "add.u32 %r6, %r6, 3;") + "st.global.u32 [%rd4], %r6;"), "k", blocks, threads);
  r.argument(buffer(std::vector<u32>(words)));
  struct : functional_observer {
    const std::thread::id own = std::this_thread::get_id();
    unsigned asked = 0, elsewhere = 0;
    bool wants_stop() override {
      elsewhere += std::this_thread::get_id() != own;
      return ++asked >= 30;
    }
  } observer;
  chip().observe(observer);
  EXPECT_THROW(run(r, true), input_error);
  EXPECT_TRUE(threads_were_started());
  EXPECT_EQ(observer.elsewhere, 0u);
  EXPECT_EQ(driver().fault(), "");
  launch_request next = request(mixture, "k", blocks, threads);
  next.argument(buffer(std::vector<u32>(words)));
  observer.asked = 0;
  chip().use_threads(2);
  EXPECT_THROW(
      {
        for (unsigned turn = 0; turn < 1000; ++turn) run(next, true);
      },
      input_error);
}

}  // namespace functional_threads_test
}  // namespace heddle
