// SPDX-License-Identifier: MIT
// Energy and traffic by source line: each level's energy belongs to the lines whose accesses reach it, by hand-computed
// counts of sectors, flits and passes.
#include <filesystem>
#include <fstream>
#include <string>

#include "energy_fixture.h"

namespace line_energy_test {

using namespace energy_fixture;
namespace fs = std::filesystem;

// One warp. Each address depends on the load before, so nothing is in flight when it is used. The buffer holds zeros.
constexpr const char* kernel = R"(.version 7.8
.target sm_80
.address_size 64
.visible .entry k(.param .u64 p, .param .u64 q) {
  .reg .b32 %r<12>;
  .reg .b64 %rd<20>;
  .shared .align 16 .b8 tile[4096];
  ld.param.u64 %rd1, [p];
  ld.param.u64 %rd9, [q];
  mov.u32 %r1, %tid.x;
  mul.wide.u32 %rd2, %r1, 4;
  add.s64 %rd3, %rd1, %rd2;
  ld.global.u32 %r2, [%rd3];
  mul.wide.u32 %rd4, %r2, 4;
  add.s64 %rd5, %rd3, %rd4;
  ld.global.u32 %r3, [%rd5];
  mul.wide.u32 %rd6, %r1, 32;
  add.s64 %rd7, %rd9, %rd6;
  mul.wide.u32 %rd8, %r3, 4;
  add.s64 %rd7, %rd7, %rd8;
  ld.global.u32 %r4, [%rd7];
  mul.wide.u32 %rd10, %r4, 4;
  add.s64 %rd11, %rd3, %rd10;
  st.global.u32 [%rd11], %r1;
  mov.u32 %r6, tile;
  shl.b32 %r7, %r1, 3;
  add.u32 %r8, %r6, %r7;
  st.shared.u32 [%r8], %r4;
  red.global.add.u32 [%rd9], %r4;
  ret;
}
)";

// A warp in each of two blocks, which accesses the shared memory of the other one.
constexpr const char* cluster_kernel = R"(.version 7.8
.target sm_90
.address_size 64
.visible .entry c(.param .u64 p) .reqnctapercluster 2, 1, 1 {
  .reg .b32 %r<12>;
  .reg .b64 %rd<4>;
  .shared .align 16 .b8 tile[256];
  mov.u32 %r1, %tid.x;
  mov.u32 %r2, tile;
  shl.b32 %r3, %r1, 3;
  add.u32 %r4, %r2, %r3;
  mov.u32 %r5, %cluster_ctarank;
  xor.b32 %r6, %r5, 1;
  mapa.shared::cluster.u32 %r7, %r4, %r6;
  barrier.cluster.arrive;
  barrier.cluster.wait;
  st.shared::cluster.u32 [%r7], %r1;
  ld.shared::cluster.u32 %r8, [%r7];
  atom.shared::cluster.add.u32 %r9, [%r7], %r8;
  barrier.cluster.arrive;
  barrier.cluster.wait;
  ld.param.u64 %rd1, [p];
  st.global.u32 [%rd1], %r9;
  ret;
}
)";

class energy_by_line : public ::testing::Test {
 protected:
  energy_by_line()
      : place_(fs::path(HEDDLE_SCRATCH "/line_energy") /
               ::testing::UnitTest::GetInstance()->current_test_info()->name()) {
    fs::remove_all(place_);
    fs::create_directories(place_);
    std::ofstream(place_ / "k.ptx") << kernel;
    std::ofstream(place_ / "c.ptx") << cluster_kernel;
  }
  /// Of the kernel with these figures, pJ; all other figures of events are 0. Code costs no traffic.
  void run(const std::string& gpu, const words& figures,
           const std::string& what = "k.ptx:k --grid 1 --block 32 --arg buf:4096 --arg buf:4096") {
    words settings = {"instruction_cache.second_level_misses=fixed", "energy.volts=1"};
    for (const char* key :
         {"instruction", "fp32",       "int",         "int_multiply", "fp64",          "half",
          "sfu",         "ldst",       "branch",      "texture",      "register_read", "register_write",
          "shared",      "constant",   "l1_read_hit", "l1_read_miss", "l1_write_hit",  "l1_write_miss",
          "tlb",         "flit",       "l2_read_hit", "l2_read_miss", "l2_write_hit",  "l2_write_miss",
          "dram_read",   "dram_write", "cluster_flit"})
      settings.push_back("energy." + std::string(key) + "_pj=0");
    for (const std::string& f : figures) settings.push_back("energy." + f);
    const json m = metrics_of(place_, "run --kernel " + what + " --gpu " + gpu, settings);
    kernel_ = m["kernels"][0];
  }
  /// pJ of the line that begins with this text.
  double pj(const std::string& text) const { return line(text, kernel_["energy"]["by_line"]) * 1e12; }
  double line(const std::string& text, const json& by_line) const {
    return by_line[std::to_string(of(text)["line"].get<int>())];
  }
  json of(const std::string& text) const {
    for (const json& l : kernel_["lines"])
      if (l["text"].get<std::string>().find(text) != std::string::npos) return l;
    ADD_FAILURE() << text;
    return {};
  }

  const fs::path place_;
  json kernel_;
};

const std::string first = "%r2, [%rd3]", again = "%r3, [%rd5]", scattered = "%r4, [%rd7]", store = "st.global",
                  shared = "st.shared", reduction = "red.global";

TEST_F(energy_by_line, of_the_l1_belongs_to_what_its_accesses_do_there) {
  for (const char* gpu : {"a100", "h100", "v100"}) {
    run(gpu, {"l1_read_hit_pj=1", "l1_read_miss_pj=100"});
    EXPECT_NEAR(pj(first), 400, 1e-6) << gpu;
    EXPECT_NEAR(pj(again), 4, 1e-6) << gpu << ": four sectors";
    EXPECT_NEAR(pj(scattered), 3200, 1e-6) << gpu << ": 32 sectors";
    EXPECT_NEAR(pj(store), 0, 1e-6) << gpu;
    run(gpu, {"l1_write_hit_pj=1", "l1_write_miss_pj=100"});
    EXPECT_NEAR(pj(store), 4, 1e-6) << gpu << ": the line was loaded";
    EXPECT_NEAR(pj(first) + pj(again) + pj(scattered), 0, 1e-6) << gpu;
  }
}

TEST_F(energy_by_line, beyond_the_l1_belongs_to_the_lines_that_get_there) {
  run("h100", {"flit_pj=1"});
  EXPECT_NEAR(pj(first), 5, 1e-6) << "a header, four sectors";
  EXPECT_NEAR(pj(again), 0, 1e-6);
  EXPECT_NEAR(pj(scattered), 8 * 5, 1e-6) << "eight lines";
  EXPECT_NEAR(pj(store), 5, 1e-6);
  EXPECT_NEAR(pj(reduction), 3, 1e-6);
  run("h100", {"l2_read_hit_pj=1", "l2_read_miss_pj=100", "l2_write_hit_pj=10000"});
  EXPECT_NEAR(pj(first), 400, 1e-6);
  EXPECT_NEAR(pj(again), 0, 1e-6);
  EXPECT_NEAR(pj(scattered), 3200, 1e-6);
  EXPECT_NEAR(pj(store), 40000, 1e-6) << "the line is in the L2";
  EXPECT_NEAR(pj(reduction), 10001, 1e-6) << "reads a sector that is there";
  run("h100", {"dram_read_pj=1"});
  EXPECT_NEAR(pj(first), 4, 1e-6);
  EXPECT_NEAR(pj(scattered), 32, 1e-6);
  EXPECT_NEAR(pj(again) + pj(store) + pj(reduction), 0, 1e-6);
}

TEST_F(energy_by_line, of_shared_memory_counts_passes) {
  run("h100", {"shared_pj=1"});
  EXPECT_NEAR(pj(shared), 2, 1e-6) << "lanes two words apart";
  EXPECT_NEAR(pj(first) + pj(store), 0, 1e-6);
}

TEST_F(energy_by_line, of_other_sms_shared_memory_is_that_of_the_network_and_of_passes_there) {
  const std::string cluster = "c.ptx:c --grid 2 --block 32 --arg buf:4", store_there = "st.shared", load = "ld.shared",
                    atomic = "atom.shared";
  run("h100", {"cluster_flit_pj=1"}, cluster);
  const double barriers = 2 * (2 * 2 + 1);  // of each block: two arrivals with their releases, and its end
  double executed = 0;
  for (const json& l : kernel_["lines"]) executed += l["executed"].get<double>();
  const auto share = [&](const std::string& text) { return barriers * of(text)["executed"].get<double>() / executed; };
  EXPECT_NEAR(pj(load), 2 * 6 + share(load), 1e-6) << "a header; a header and 128 bytes";
  EXPECT_NEAR(pj(store_there), 2 * 6 + share(store_there), 1e-6);
  EXPECT_NEAR(pj(atomic), 2 * 10 + share(atomic), 1e-6) << "data in both directions";
  EXPECT_NEAR(dynamic(kernel_) * 1e12, 44 + barriers, 1e-3);
  EXPECT_NEAR(kernel_["energy"]["by_unit"]["interconnect"].get<double>() * 1e12, 44 + barriers, 1e-6);
  run("h100", {"shared_pj=1"}, cluster);
  EXPECT_NEAR(pj(load), 2 * 2, 1e-6) << "lanes two words apart";
  EXPECT_NEAR(pj(store_there), 2 * 2, 1e-6);
  EXPECT_NEAR(pj(atomic), 2 * 2, 1e-6);
}

TEST_F(energy_by_line, has_the_traffic_beside_it) {
  run("h100", {"l1_read_hit_pj=1"});
  const auto count = [this](const std::string& text, const char* key) { return of(text)["memory"][key].get<int>(); };
  EXPECT_EQ(count(scattered, "accesses"), 1);
  EXPECT_EQ(count(scattered, "requested_bytes"), 128);
  EXPECT_EQ(count(scattered, "l1_requests"), 8);
  EXPECT_EQ(count(scattered, "l1_sectors"), 32);
  EXPECT_EQ(count(scattered, "l1_hits"), 0);
  EXPECT_EQ(count(scattered, "l2_sectors"), 32);
  EXPECT_EQ(count(scattered, "dram_sectors"), 32);
  EXPECT_EQ(count(again, "l1_hits"), 4);
  EXPECT_EQ(count(again, "l2_sectors"), 0);
  EXPECT_EQ(count(store, "l2_hits"), 4);
  EXPECT_EQ(count(shared, "shared_passes"), 2);
  EXPECT_FALSE(of("mov.u32 %r1").contains("memory")) << "it accesses none";
}

}  // namespace line_energy_test
