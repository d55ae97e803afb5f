// SPDX-License-Identifier: MIT
// Policies of the user's in a whole GPU: for which places they are created, and that they decide.
#include <array>
#include <map>
#include <memory>
#include <set>

#include "heddle/gpu/cwd/grid_distributor.h"
#include "heddle/gpu/gpu_blocks.h"
#include "heddle/memory/common/policies/replacement_policy.h"
#include "heddle/sub_partition/policies/scheduling_policy.h"
#include "tests/unit/common/fresh_simulation.h"
#include "tests/unit/memory/memory_stress.h"

namespace heddle::test {
namespace gpu_blocks_test {

constexpr stress_size size{8, 128, 8};

gpu_config small_caches(std::vector<std::string> more = {}) {
  std::vector<std::string> settings{
      "gpu.sm_count=2",     "memory.channels=2", "memory.model=fixed",        "l2.size_bytes=32768",
      "l1.size_bytes=4096", "l1.ways=4",         "l1.cache_global_loads=true"};
  settings.insert(settings.end(), more.begin(), more.end());
  return load_config("gtx1080", settings);
}

class own_policies : public fresh_simulation {
 protected:
  /// Cycles of a run, whose result must be right.
  cycle_t run(const gpu_config& config, const gpu_blocks& own = {}) {
    stressed_gpu g("gpu", config, own);
    sc_core::sc_start(sc_core::SC_ZERO_TIME);
    g.start(size);
    sc_core::sc_start();
    EXPECT_TRUE(g.finished());
    EXPECT_TRUE(g.result() == stress_expected(size));
    g.gpu.check_invariants();
    return g.gpu.cwd().grids()[0].end_cycle;
  }
};

/// Loose round robin from the slot that it is given.
struct from_slot : scheduling_policy {
  explicit from_slot(unsigned first) : last(first) {}
  unsigned select(const warp_view& view) override {
    do last = (last + 1) % 64;
    while ((view.eligible >> last & 1) == 0);
    return last;
  }
  unsigned last;
};

TEST_F(own_policies, schedulers_are_given_their_sm_sub_partition_and_slots) {
  std::set<std::array<unsigned, 3>> places;
  gpu_blocks own;
  own.scheduler = [&](const gpu_config&, const scheduler_place& place) {
    places.insert({place.sm, place.sub_partition, place.slots});
    return std::make_unique<from_slot>(place.slots - 1);
  };
  const gpu_config config = small_caches();
  run(config, own);
  std::set<std::array<unsigned, 3>> expected;
  for (unsigned s = 0; s < 2; ++s)
    for (unsigned k = 0; k < config.sm.sub_partitions; ++k)
      expected.insert({s, k, config.sm.max_warps / config.sm.sub_partitions});
  EXPECT_EQ(places, expected);
}

/// Counts its questions, and answers with the highest or the lowest way.
struct one_end : replacement_policy {
  one_end(unsigned& asked, bool highest) : asked(asked), highest(highest) {}
  [[nodiscard]] bool renews() const override { return false; }
  [[nodiscard]] bool in_order() const override { return false; }
  unsigned choose(unsigned candidates) override {
    ++asked;
    return highest ? candidates - 1 : 0;
  }
  unsigned& asked;
  bool highest;
};

TEST_F(own_policies, replacement_decides_in_each_l1_and_l2_slice) {
  const gpu_config config = small_caches();
  const cycle_t plain = run(config);
  std::set<cycle_t> cycles{plain};
  for (const bool highest : {false, true}) {
    restart();
    std::map<std::pair<int, unsigned>, unsigned> asked;
    gpu_blocks own;
    own.replacement = [&](const gpu_config&, const cache_place& place) {
      return std::make_unique<one_end>(asked[{place.level, place.index}], highest);
    };
    cycles.insert(run(config, own));
    EXPECT_EQ(asked.size(), 2u + slices_of(config));
    for (const auto& [place, times] : asked) EXPECT_GT(times, 10u) << place.first << ", " << place.second;
  }
  EXPECT_EQ(cycles.size(), 3u) << "each policy takes its own time";
}

/// What `lru` does.
struct own_lru : replacement_policy {
  [[nodiscard]] bool renews() const override { return true; }
};

TEST_F(own_policies, replacement_like_a_shipped_one_gives_its_cycles) {
  const cycle_t shipped = run(small_caches({"l1.replacement=lru", "l2.replacement=lru"}));
  restart();
  const cycle_t fifo = run(small_caches({"l1.replacement=fifo", "l2.replacement=fifo"}));
  restart();
  gpu_blocks own;
  own.replacement = [](const gpu_config&, const cache_place&) { return std::make_unique<own_lru>(); };
  EXPECT_EQ(run(small_caches({"l1.replacement=fifo", "l2.replacement=fifo"}), own), shipped);
  EXPECT_NE(fifo, shipped);
}

}  // namespace gpu_blocks_test
}  // namespace heddle::test
