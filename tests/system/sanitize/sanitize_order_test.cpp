// SPDX-License-Identifier: MIT
// heddle run --sanitize: what orders threads as CUDA programmers write it, by cooperative groups, libcu++, named
// barriers and malloc. Each kernel of groups.cu and orders.cu with a race or a leak is told from the one beside it.
#include <gtest/gtest.h>

#include "tests/system/sanitize/sanitize_fixture.h"

namespace sanitize_order_test {

using sanitize_runs::launch;
using sanitize_runs::outcome;
using sanitize_runs::run;

struct pair_of_kernels {
  const char* file;
  const char* name;
  unsigned buffers;  // arguments
  unsigned blocks, threads;
  const char* line = nullptr;  // of the later access; null: there is no kernel with a race
  const char* said = nullptr;
  const char* other = nullptr;  // the line of the other access
};

constexpr pair_of_kernels pairs[] = {
    {"groups", "two_buffers", 1, 2, 128, "groups.cu:29", "race: write of shared memory",
     "read, value 0x0, at groups.cu:34"},
    {"groups", "own_barriers", 1, 2, 128, "groups.cu:48", "race: read of shared memory", "at groups.cu:46"},
    {"groups", "counting_barrier", 1, 2, 128, "groups.cu:59", "race: read of shared memory", "at groups.cu:56"},
    {"groups", "longer_chain", 1, 2, 128},
    {"groups", "late_write", 1, 2, 128, "groups.cu:100", "race: read of shared memory", "at groups.cu:96"},
    {"groups", "stages", 2, 2, 64, "groups.cu:120", "and an asynchronous copy that nothing orders", "at groups.cu:124"},
    {"groups", "copy_with_zeros", 2, 2, 64, "groups.cu:142", "the copy has not been waited for (cp.async.wait_group)",
     "at groups.cu:137"},
    {"groups", "memcpy_of_group", 2, 2, 64, "groups.cu:153", "the copy has not been waited for (cp.async.wait_group)",
     "called at groups.cu:150"},
    {"groups", "barrier_of_library", 1, 2, 64, "groups.cu:169", "race: read of shared memory", "at groups.cu:166"},
    {"groups", "some_drop_out", 1, 2, 64, "groups.cu:193", "race: read of shared memory", "at groups.cu:187"},
    {"groups", "copies_at_barrier", 2, 2, 64, "groups.cu:206", "and an asynchronous copy that nothing orders",
     "called at groups.cu:203"},
    {"groups", "pipeline_of_library", 2, 2, 64, "groups.cu:222", "race: asynchronous copy of shared memory",
     "at groups.cu:227"},
    {"groups", "tile_of_group", 1, 2, 64},
    {"groups", "tiles_of_warp", 1, 2, 64, "groups.cu:252", "race: read of shared memory", "at groups.cu:250"},
    {"groups", "coalesced", 1, 2, 64, "groups.cu:265", "race: read of shared memory", "at groups.cu:263"},
    {"groups", "cluster_histogram", 2, 2, 64, "groups.cu:276", "of block (1,0,0) and an atomic that nothing orders",
     "called at groups.cu:280"},
    {"groups", "cluster_halo", 1, 2, 64, "groups.cu:295", "of block (0,0,0) and a write that nothing orders",
     "at groups.cu:295"},
    {"groups", "shared_list", 1, 2, 64, "groups.cu:312", "race: free of global memory at 0x100000000000",
     "at groups.cu:310"},
    {"groups", "list_of_nodes", 1, 2, 64, "groups.cu:323", "leak: 16 bytes of malloc", "block (0,0,0), thread (5,0,0)"},
    {"groups", "freed_by_others", 2, 1, 64, "groups.cu:338", "leak: 69 bytes of malloc",
     "block (0,0,0), thread (61,0,0)"},
    {"groups", "last_frees", 3, 2, 64, "groups.cu:365", "race: free of global memory at 0x1000000000000",
     "at groups.cu:361"},
    {"signals/tiles", "tile_of_two_warps", 1, 2, 128, "tiles.cu:20", "race: read of shared memory", "at tiles.cu:18"},
    {"signals/tiles", "eight_lanes", 1, 2, 64, "tiles.cu:31", "race: write of shared memory", "at tiles.cu:37"},
    {"signals/tiles", "eight_or_sixteen_lanes", 1, 2, 64, "tiles.cu:53", "race: read of shared memory",
     "at tiles.cu:49"},
    {"orders", "release_and_acquire", 3, 2, 64, "orders.cu:30", "race: read of global memory", "at orders.cu:25"},
    {"orders", "release_sequence", 3, 3, 64},
    {"orders", "fences_around", 3, 2, 64, "orders.cu:67", "race: read of global memory", "at orders.cu:60"},
    {"orders", "chain", 3, 3, 64, "orders.cu:79", "race: read of global memory", "at orders.cu:76"},
    {"orders", "ticket_lock", 3, 2, 64, "orders.cu:93", "race: read of global memory", "at orders.cu:93"},
    {"orders", "latch_of_block", 1, 2, 64, "orders.cu:107", "race: write of shared memory", "at orders.cu:110"},
    {"orders", "semaphore", 1, 2, 64},
    {"orders", "sequence_lock", 3, 2, 64},
    {"orders", "scope", 3, 2, 64, "orders.cu:169", "race: read of global memory", "at orders.cu:163"},
    {"orders", "full_and_empty", 1, 2, 64},
    {"orders", "flag_of_cluster", 1, 2, 64, "orders.cu:216", "of block (0,0,0) and a write that nothing orders",
     "at orders.cu:207"},
    {"orders", "last_of_grid", 3, 3, 64, "orders.cu:232", "race: read of global memory", "at orders.cu:225"},
    {"orders", "polled_by_all", 2, 20, 64, "orders.cu:246", "race: write of global memory",
     "volatile read, value 0x0, at orders.cu:243"},
    {"orders", "read_among_polls", 2, 20, 64, "orders.cu:258", "race: volatile write of global memory",
     "block (12,0,0), thread (7,0,0): read"},
    {"orders", "rewritten_table", 3, 20, 64, "orders.cu:287", "race: write of global memory", "at orders.cu:285"},
    {"orders", "set_and_counted", 1, 2, 64, "orders.cu:298", "race: atomic of shared memory", "at orders.cu:296"},
    {"orders", "set_by_a_block", 2, 2, 64, "orders.cu:309", "race: atomic of global memory", "at orders.cu:307"},
    {"orders", "set_and_published", 2, 2, 64, "orders.cu:318", "race: volatile read of global memory",
     "at orders.cu:321"},
    {"orders", "set_and_counted_twice", 1, 2, 64, "orders.cu:332", "race: atomic of shared memory", "at orders.cu:330"},
    {"orders", "left_behind", 1, 2, 64, "orders.cu:347", "race: read of shared memory", "at orders.cu:343"},
};

launch launch_of(const pair_of_kernels& p, const std::string& kind) {
  launch l{p.file + std::string(".ptx"), kind + p.name, p.blocks, p.threads, {"out:8192:o.bin"}};
  for (unsigned k = 1; k < p.buffers; ++k) l.arguments.emplace_back("buf:2048");
  return l;
}

class sanitize_order : public testing::TestWithParam<pair_of_kernels> {};

TEST_P(sanitize_order, kernels_that_lack_it_are_told_from_those_that_have_it) {
  const pair_of_kernels& p = GetParam();
  if (p.line != nullptr) {
    const outcome race = run(launch_of(p, "race_"), "h100");
    EXPECT_EQ(race.code, 1) << race.err;
    for (const char* text : {p.line, p.said, p.other})
      EXPECT_NE(race.err.find(text), std::string::npos) << text << "\n" << race.err;
  }
  const outcome none = run(launch_of(p, "free_"), "h100");
  EXPECT_EQ(none.code, 0) << none.err;
  EXPECT_EQ(none.err, "");
}

INSTANTIATE_TEST_SUITE_P(all, sanitize_order, testing::ValuesIn(pairs), [](const auto& p) {
  const std::string file = p.param.file;
  return file.substr(file.find('/') + 1) + "_" + p.param.name;
});

}  // namespace sanitize_order_test
