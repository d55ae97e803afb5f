// SPDX-License-Identifier: MIT
#include "heddle/sm/load_store_unit.h"

#include "tests/unit/common/fresh_simulation.h"
#include "tests/unit/sm/sm_memory_bench.h"

namespace heddle {
namespace load_store_reexecution_test {

constexpr std::uint64_t base = sm_memory_bench::base;

using load_store_reexecution_test = fresh_simulation;

// A line that found no room is asked for again when the L1 has some, also if the L1 is still reading the sectors of the
// load's other line in that cycle, and nothing else happens.
TEST_F(load_store_reexecution_test, a_deferred_line_is_asked_for_when_the_l1_has_room) {
  for (cycle_t at = 1060; at < 1120; ++at) {
    restart();
    gpu_config config;
    config.l1.mshr_entries = 1;
    config.l1.banks = 1;  // a hit of four sectors holds the L1 for four cycles
    config.ldst.reexecution_entries = 4;
    sm_memory_bench b(config);
    lsu_transaction& warm = b.strided(lsu_kind::load, base + 128, 4);
    lsu_transaction& miss = b.strided(lsu_kind::load, base + 1024, 4);
    lsu_transaction& both = b.strided(lsu_kind::load, base, 8);  // a miss and a hit
    warm.read_only = miss.read_only = both.read_only = true;
    b.partitions.issue(warm, 10);
    b.partitions.issue(miss, 1000);
    b.partitions.issue(both, at);
    b.run();
    EXPECT_NE(b.latency(both), never) << "issued in cycle " << at;
  }
}

}  // namespace load_store_reexecution_test
}  // namespace heddle
