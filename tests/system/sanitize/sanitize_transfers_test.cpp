// SPDX-License-Identifier: MIT
// heddle run --sanitize: copies and products that are in flight, and clusters. Each kernel of transfers.cu,
// clusters.cu and signals.cu with a race is told from the one beside it that has none.
#include <gtest/gtest.h>

#include "tests/system/common/json_text.h"
#include "tests/system/sanitize/sanitize_fixture.h"

namespace sanitize_transfers_test {

using sanitize_runs::launch;
using sanitize_runs::outcome;
using sanitize_runs::run;

struct pair_of_kernels {
  const char* name;
  unsigned buffers;  // arguments
  unsigned threads;
  const char* line;  // of the file whose PTX is run
  const char* said;
};

constexpr pair_of_kernels pairs[] = {
    {"load_without_wait", 2, 64, "transfers.cu:16", "the copy has not been waited for (at its mbarrier)"},
    {"load_one_waits", 2, 64, "transfers.cu:29", "race: read of shared memory"},
    {"load_over_readers", 2, 64, "transfers.cu:42", "race: write by a bulk copy of shared memory"},
    {"pipeline", 2, 64, "transfers.cu:63", "race: write by a bulk copy of shared memory"},
    {"wrong_phase", 2, 64, "transfers.cu:94", "the copy has not been waited for (at its mbarrier)"},
    {"load_source_overwritten", 2, 64, "transfers.cu:108", "and a read by a bulk copy that nothing orders"},
    {"store_without_barrier", 1, 64, "transfers.cu:121", "and a read by a bulk copy that nothing orders"},
    {"store_source_overwritten", 1, 64, "transfers.cu:130",
     "the copy has not been waited for (cp.async.bulk.wait_group or wait_group.read)"},
    {"store_read_back", 2, 64, "transfers.cu:156", "the copy has not been waited for (cp.async.bulk.wait_group)"},
    {"store_and_exit", 1, 64, "transfers.cu:168", "the block exits while a bulk copy may still read its shared memory"},
    {"bulk_reduction", 1, 64, "transfers.cu:180", "race: bulk reduction of global memory"},
    {"copy_of_no_group", 2, 64, "transfers.cu:200", "the copy has not been waited for (cp.async.wait_group)"},
    {"copy_of_newest_group", 2, 64, "transfers.cu:214", "the copy has not been waited for (cp.async.wait_group)"},
    {"copy_source_overwritten", 2, 64, "transfers.cu:227", "and a read by an asynchronous copy that nothing orders"},
    {"copies_at_mbarrier", 2, 64, "transfers.cu:243", "race: read of shared memory"},
    {"accumulator_without_wait", 1, 128, "transfers.cu:286", "read of an accumulator while the product"},
    {"product_of_no_group", 1, 128, "transfers.cu:303", "read of an accumulator while the product"},
    {"newest_product", 1, 128, "transfers.cu:321", "read of an accumulator while the product"},
    {"operand_overwritten", 1, 128, "transfers.cu:333", "the product has not been waited for (wgmma.wait_group)"},
    {"operand_without_barrier", 1, 128, "transfers.cu:356", "and a read by a product of a warpgroup that nothing"},
    {"write_to_other", 1, 64, "clusters.cu:33", "race: "},
    {"write_after_arrival", 1, 64, "clusters.cu:49", "of block (0,0,0) and a write that nothing orders"},
    {"relaxed_arrival", 1, 64, "clusters.cu:61", "of block (0,0,0) and a write that nothing orders"},
    {"exit_too_early", 1, 64, "clusters.cu:72", "shared memory of a block of the cluster that has exited"},
    {"counter_of_cluster", 1, 64, "clusters.cu:86", "race: read of shared memory at 0x0 of block (0,0,0)"},
    {"message_to_other", 1, 64, "clusters.cu:106", "race: read of shared memory"},
    {"copy_to_other", 1, 64, "clusters.cu:126", "the copy has not been waited for (at its mbarrier)"},
    {"multicast", 2, 64, "clusters.cu:146", "race: write by a bulk copy of shared memory at 0x0 of block (1,0,0)"},
    {"global_of_cluster", 2, 64, "clusters.cu:158", "race: read of global memory"},
    {"flag_of_other", 1, 64, "clusters.cu:196", "race: read of shared memory"},
    {"flag_before_wait", 1, 64, "clusters.cu:221", "race: "},
    {"store_to_other", 1, 64, "signals.cu:45", "and an asynchronous write that nothing orders"},
    {"two_words_to_other", 1, 64, "signals.cu:58", "it has not been waited for (at its mbarrier)"},
    {"sum_of_other", 1, 64, "signals.cu:71", "and an asynchronous reduction that nothing orders"},
    {"messages", 1, 64, "signals.cu:85", "race: asynchronous write of shared memory"},
    {"two_barriers", 1, 64, "signals.cu:107", "and an asynchronous write that nothing orders"},
    {"exit_with_stores", 1, 64, "signals.cu:120", "and nothing keeps that block from exiting"},
    {"copies_and_barrier", 2, 64, "signals.cu:140", "the copy has not been waited for (at its mbarrier)"},
    {"copies_and_arrival", 2, 64, "signals.cu:161", "the copy has not been waited for (at its mbarrier)"},
    {"copies_in_both_ways", 2, 64, "signals.cu:178", "the copy has not been waited for (at its mbarrier)"},
};

launch launch_of(const std::string& file, const std::string& kernel, unsigned buffers, unsigned threads) {
  launch l;
  l.file = (file == "signals" ? "signals/" : "") + file + ".ptx";
  l.kernel = kernel;
  l.threads = threads;
  l.arguments.emplace_back("out:2048:o.bin");
  for (unsigned k = 1; k < buffers; ++k) l.arguments.emplace_back("buf:2048");
  return l;
}

class sanitize_transfers : public testing::TestWithParam<pair_of_kernels> {};

TEST_P(sanitize_transfers, are_told_from_kernels_without_races) {
  const pair_of_kernels& p = GetParam();
  const std::string file = std::string(p.line).substr(0, std::string(p.line).find('.'));
  const outcome race = run(launch_of(file, "race_" + std::string(p.name), p.buffers, p.threads), "h100");
  EXPECT_EQ(race.code, 1) << race.err;
  EXPECT_NE(race.err.find(p.line), std::string::npos) << race.err;
  EXPECT_NE(race.err.find(p.said), std::string::npos) << race.err;
  const outcome none = run(launch_of(file, "free_" + std::string(p.name), p.buffers, p.threads), "h100");
  EXPECT_EQ(none.code, 0) << none.err;
  EXPECT_EQ(none.err, "");
}

INSTANTIATE_TEST_SUITE_P(all, sanitize_transfers, testing::ValuesIn(pairs),
                         [](const auto& p) { return std::string(p.param.name); });

TEST(sanitize_transfers_timing, is_that_of_a_run_without_checks) {
  const launch launches[] = {
      launch_of("transfers", "free_pipeline", 2, 64), launch_of("transfers", "free_operand_overwritten", 1, 128),
      launch_of("transfers", "free_store_read_back", 2, 64), launch_of("clusters", "free_message_to_other", 1, 64),
      launch_of("clusters", "free_multicast", 2, 64)};
  for (const launch& l : launches) {
    SCOPED_TRACE(l.kernel);
    EXPECT_EQ(run(l, "h100", "--metrics plain.json").code, 0);
    EXPECT_EQ(run(l, "h100", "--sanitize --metrics checked.json").code, 0);
    const auto place = ptx_runs::place_of_test();
    nlohmann::ordered_json plain = nlohmann::ordered_json::parse(ptx_runs::content(place / "plain.json")),
                           checked = nlohmann::ordered_json::parse(ptx_runs::content(place / "checked.json"));
    plain.erase("host");
    checked.erase("host");
    EXPECT_EQ(plain.dump(), checked.dump());
  }
}

TEST(sanitize_clusters, access_to_an_exited_block_is_named) {
  const outcome o = run(launch_of("clusters", "reads_exited_block", 2, 64), "h100", "--sanitize=memory");
  EXPECT_EQ(o.code, 1) << o.err;
  EXPECT_NE(o.err.find("access to shared memory of a block of the cluster that has exited"), std::string::npos)
      << o.err;
  EXPECT_NE(o.err.find("of block (1,0,0)"), std::string::npos) << o.err;
}

}  // namespace sanitize_transfers_test
