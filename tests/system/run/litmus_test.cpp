// SPDX-License-Identifier: MIT
// Memory ordering between blocks, as litmus tests: a message (data, then a flag) is passed in every lane of 12 pairs
// of blocks, with random delays of the memory path's phases. Guarantees of fences, scopes, volatile and cache
// operators must hold in every run; orderings that are not guaranteed must be seen to fail, or the tests would prove
// nothing.
#include <gtest/gtest.h>
#include <sys/wait.h>

#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>

namespace litmus_test {

namespace fs = std::filesystem;

constexpr unsigned pairs = 12;

struct message {
  const char* release = "";  // the writer, between data and flag
  const char* acquire = "";  // the reader, between flag and data
  const char* store_flag = "st.volatile.global.u32";
  const char* load_flag = "ld.volatile.global.u32";
  const char* load = "ld.global.u32";  // of the data, by the reader
  unsigned noise = 0;                  // preceding stores to the slice of the data
  bool read_before = false;            // the reader has read the data before they were written
  bool same_block = false;             // writer and reader are warps of one block
};

std::string module_of(const message& m) {
  // 2048 bytes for each lane: data, flag and ready are in separate slices.
  std::string text = ".version 8.0\n.target sm_80\n.address_size 64\n.global .align 256 .b8 cells[" +
                     std::to_string(pairs * 32 * 2048) + "];\n";
  text += R"(.visible .entry k(.param .u64 out) {
  .reg .b32 %r<12>; .reg .b64 %d<8>; .reg .pred %p<4>;
  mov.u32 %r0, %tid.x; mov.u32 %r1, %ctaid.x; mov.u32 %r2, %ntid.x;
  mad.lo.u32 %r3, %r1, %r2, %r0;
  ld.param.u64 %d0, [out]; mad.wide.u32 %d0, %r3, 4, %d0;
  and.b32 %r4, %r3, 31; shr.u32 %r5, %r3, 6;
  mad.lo.u32 %r5, %r5, 32, %r4;
  mul.wide.u32 %d1, %r5, 2048;
  mov.u64 %d2, cells; add.u64 %d2, %d2, %d1;
  add.u64 %d3, %d2, 256;
  add.u64 %d4, %d2, 512;
  and.b32 %r6, %r3, 32; setp.ne.u32 %p0, %r6, 0;
  @%p0 bra reader;
writer:
  ld.volatile.global.u32 %r7, [%d4]; setp.eq.u32 %p1, %r7, 0;
  @%p1 bra writer;
  NOISE
  st.global.u32 [%d2], 1;
  RELEASE
  STORE_FLAG [%d3], 1;
  st.global.u32 [%d0], 1;
  ret;
reader:
  mov.u32 %r8, 0;
  READ_BEFORE
  add.u32 %r8, %r8, 1;
  st.volatile.global.u32 [%d4], %r8;
wait:
  LOAD_FLAG %r7, [%d3]; setp.eq.u32 %p1, %r7, 0;
  @%p1 bra wait;
  ACQUIRE
  LOAD %r9, [%d2];
  st.global.u32 [%d0], %r9;
  ret;
}
)";
  const auto put = [&text](const std::string& name, const std::string& value) {
    for (std::size_t at; (at = text.find(name)) != std::string::npos;) text.replace(at, name.size(), value);
  };
  std::string noise;
  for (unsigned i = 1; i <= m.noise; ++i) noise += "st.volatile.global.u32 [%d2+" + std::to_string(4 * i) + "], 1;\n";
  put("NOISE", noise);
  put("READ_BEFORE", m.read_before ? "ld.global.u32 %r8, [%d2];" : "");
  put("STORE_FLAG", m.store_flag);
  put("LOAD_FLAG", m.load_flag);
  put("LOAD", m.load);
  put("RELEASE", m.release);
  put("ACQUIRE", m.acquire);
  return text;
}

class litmus : public ::testing::Test {
 protected:
  /// Lanes of all runs that saw the flag but stale data.
  unsigned stale(const message& m, const std::string& gpu, const std::string& options = "") {
    const fs::path place =
        fs::path(HEDDLE_SCRATCH "/litmus") / ::testing::UnitTest::GetInstance()->current_test_info()->name();
    fs::create_directories(place);
    std::ofstream(place / "k.ptx") << module_of(m);
    const unsigned blocks = m.same_block ? pairs : 2 * pairs, threads = m.same_block ? 64 : 32;
    unsigned count = 0;
    for (const unsigned seed : {1u, 2u}) {
      fs::remove(place / "o.bin");
      const std::string command =
          "cd '" + place.string() + "' && timeout 60 '" HEDDLE_PROGRAM "' run --kernel k.ptx:k --grid " +
          std::to_string(blocks) + " --block " + std::to_string(threads) +
          " --arg out:" + std::to_string(4 * blocks * threads) + ":o.bin --quiet --gpu " + gpu +
          " --set tlm.random_delay_cycles=10 --set tlm.random_delay_seed=" + std::to_string(seed) + " " + options +
          " >log.txt 2>&1";
      const int status = std::system(command.c_str());
      EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0) << command;
      std::ifstream in(place / "o.bin", std::ios::binary);
      const std::string bytes{std::istreambuf_iterator<char>(in), {}};
      EXPECT_EQ(bytes.size(), std::size_t{4} * blocks * threads);
      for (std::size_t at = 0; at + 4 <= bytes.size(); at += 4) {
        std::uint32_t word = 0;
        std::memcpy(&word, bytes.data() + at, 4);
        count += word == 0;
      }
    }
    return count;
  }
  static message fenced(const char* fence) {
    message m;
    m.release = m.acquire = fence;
    return m;
  }
};

const char* const chips[] = {"gtx480", "gtxtitan", "gtx1080", "v100"};

TEST_F(litmus, stores_to_different_lines_may_be_seen_out_of_order) {
  // All data are in one slice with a congested path, all flags in another.
  message m;
  m.noise = 16;
  const std::string with_traffic =
      "--set l2.hash=none --set interconnect.input_queue_entries=64 --set interconnect.request_bytes_per_cycle=4"
      " --set tlm.random_delay_cycles=0";
  EXPECT_GT(stale(m, "gtx1080", with_traffic), 0u);
  m.release = m.acquire = "membar.gl;";
  EXPECT_EQ(stale(m, "gtx1080", with_traffic), 0u);
}

TEST_F(litmus, fences_of_the_gpu_order_a_message) {
  for (const char* gpu : chips) EXPECT_EQ(stale(fenced("membar.gl;"), gpu), 0u) << gpu;
  EXPECT_EQ(stale(fenced("fence.acq_rel.gpu;"), "v100"), 0u);
  EXPECT_EQ(stale(fenced("membar.sys;"), "v100"), 0u);
}

TEST_F(litmus, release_and_acquire_order_a_message) {
  message m;
  m.store_flag = "st.release.gpu.global.u32";
  m.load_flag = "ld.acquire.gpu.global.u32";
  for (const char* gpu : chips) EXPECT_EQ(stale(m, gpu), 0u) << gpu;
}

TEST_F(litmus, a_fence_of_the_block_orders_within_it) {
  message m = fenced("membar.cta;");
  m.same_block = true;
  for (const char* gpu : chips) EXPECT_EQ(stale(m, gpu), 0u) << gpu;
}

// The reader's L1 still holds the old line: L1s are not coherent.
TEST_F(litmus, a_line_in_l1_stays_stale_where_fences_leave_it) {
  message m = fenced("membar.gl;");
  m.read_before = true;
  EXPECT_GT(stale(m, "gtx480"), 0u) << "Fermi caches plain loads; some lines have given way to others";
  EXPECT_EQ(stale(m, "v100", "--set l1.fence_invalidates=false"), 2 * pairs * 32);
  EXPECT_EQ(stale(m, "v100"), 0u) << "from 7.0 on a fence empties the L1";
  EXPECT_EQ(stale(m, "gtx1080"), 0u) << "plain loads pass its L1 by";
}

TEST_F(litmus, the_scope_of_a_fence_counts) {
  message m = fenced("membar.gl;");
  m.read_before = true;
  m.acquire = "membar.cta;";
  EXPECT_EQ(stale(m, "v100"), 2 * pairs * 32) << "within the block nothing in its L1 is stale";
}

TEST_F(litmus, cache_operators_bypass_the_l1) {
  message m = fenced("membar.gl;");
  m.read_before = true;
  for (const char* load :
       {"ld.global.cg.u32", "ld.global.cv.u32", "ld.volatile.global.u32", "ld.relaxed.gpu.global.u32"}) {
    m.load = load;
    EXPECT_EQ(stale(m, "gtx480"), 0u) << load;
    EXPECT_EQ(stale(m, "v100", "--set l1.fence_invalidates=false"), 0u) << load;
  }
  m.load = "ld.global.ca.u32";
  EXPECT_GT(stale(m, "gtx480"), 0u);
}

}  // namespace litmus_test
