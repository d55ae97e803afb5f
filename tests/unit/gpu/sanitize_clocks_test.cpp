// SPDX-License-Identifier: MIT
// The vector clocks of --sanitize: which accesses of a launch happen before others, and which operations of a host.
#include <gtest/gtest.h>

#include "heddle/sanitize/clocks.h"
#include "heddle/sanitize/copies/product_check.h"
#include "heddle/sanitize/host_work.h"

namespace sanitize_clocks_test {

using namespace heddle;
using namespace heddle::sanitize;

constexpr std::uint32_t warps = 4;

access_mark access(std::uint32_t warp, sequence number, unsigned lane = 0, std::uint32_t what = 0) {
  access_mark a;
  a.warp = warp;
  a.number = number;
  a.lanes = 1u << lane;
  a.what = what;
  return a;
}

class sanitize_clocks : public testing::Test {
 protected:
  block_clock block{0, warps, true}, lock_step{0, warps, false}, other{1, warps, true};
};

TEST_F(sanitize_clocks, order_a_thread_with_itself_and_lanes_in_lock_step_alone) {
  EXPECT_TRUE(block.ordered(access(1, 5, 3), 1, 3));
  EXPECT_FALSE(block.ordered(access(1, 5, 3), 1, 4));
  EXPECT_FALSE(block.ordered(access(1, 5, 3), 2, 3));
  EXPECT_TRUE(lock_step.ordered(access(1, 5, 3), 1, 4));
  EXPECT_FALSE(lock_step.ordered(access(1, 5, 3), 2, 3));
}

TEST_F(sanitize_clocks, order_by_barriers_what_came_before_them) {
  for (std::uint32_t w = 0; w < warps; ++w) block.arrives(0, w, false, 10 + w);
  block.completes(0, 0xf, 0xf, nullptr, 14);
  EXPECT_TRUE(block.ordered(access(0, 9), 3, 7));
  EXPECT_TRUE(block.ordered(access(0, 14), 3, 7));
  EXPECT_FALSE(block.ordered(access(0, 15), 3, 7));
}

// bar.arrive by warp 0, bar.sync by warp 1: warp 1 knows what warp 0 did before its arrival; the others do not.
TEST_F(sanitize_clocks, order_by_counted_barriers_the_warps_that_take_part) {
  block.arrives(1, 0, true, 10);
  block.arrives(1, 1, true, 20);
  block.completes(1, 1u << 1, 0xf, nullptr, 20);
  EXPECT_TRUE(block.ordered(access(0, 10), 1, 0));
  EXPECT_FALSE(block.ordered(access(0, 11), 1, 0));
  EXPECT_FALSE(block.ordered(access(1, 10), 0, 0));
  EXPECT_FALSE(block.ordered(access(0, 10), 2, 0));
}

// Warps do other things between arriving and waiting.
TEST_F(sanitize_clocks, order_by_split_barriers_what_came_before_the_arrival) {
  for (std::uint32_t w = 0; w < warps; ++w) block.arrives(16, w, false, 10 + 10 * w);
  sync_log of_cluster;
  of_cluster.has_phases = of_cluster.in_cluster = of_cluster.of_barrier = true;
  block.accessed(0, 11);
  block.completes(16, 0xf, 0xf, &of_cluster, 50);
  EXPECT_TRUE(block.ordered(access(0, 10), 3, 0));
  EXPECT_FALSE(block.ordered(access(0, 11), 3, 0));
  EXPECT_TRUE(block.ordered(access(3, 40), 0, 0));
  EXPECT_TRUE(block.ordered(access(0, 10, 5), 0, 6));
  EXPECT_FALSE(block.ordered(access(0, 11, 5), 0, 6));
}

TEST_F(sanitize_clocks, order_by_member_masks_the_lanes_that_they_name) {
  block.lanes_meet(0, 0xff, simt::all_lanes, 10);
  EXPECT_TRUE(block.ordered(access(0, 9, 1), 0, 2));
  EXPECT_FALSE(block.ordered(access(0, 9, 1), 0, 8));
  EXPECT_FALSE(block.ordered(access(0, 9, 8), 0, 1));
  block.lanes_meet(0, 0xff00 | 1, simt::all_lanes, 20);  // by way of lane 0
  EXPECT_TRUE(block.ordered(access(0, 9, 1), 0, 8));
  EXPECT_FALSE(block.ordered(access(0, 19, 1), 0, 8));
  block.lanes_meet(0, simt::all_lanes, simt::all_lanes, 30);
  EXPECT_TRUE(block.ordered(access(0, 29, 31), 0, 0));
}

// Tiles of a warp, in one instruction each after the other. Later others meet.
TEST_F(sanitize_clocks, order_by_tiles_the_lanes_of_each) {
  for (unsigned tile = 0; tile < 4; ++tile) block.lanes_meet(0, 0xffu << 8 * tile, simt::all_lanes, 10 + tile);
  EXPECT_EQ(block.tile(0), 8u);
  EXPECT_EQ(block.tile_sync(0), 10u);
  EXPECT_TRUE(block.ordered(access(0, 9, 1), 0, 7));
  EXPECT_TRUE(block.ordered(access(0, 13, 25), 0, 31));
  EXPECT_FALSE(block.ordered(access(0, 11, 1), 0, 7));
  EXPECT_FALSE(block.ordered(access(0, 9, 1), 0, 8));
  block.lanes_meet(0, 1u << 7 | 1u << 8, simt::all_lanes, 20);  // no tile: by way of lane 7
  EXPECT_EQ(block.tile(0), 0u);
  EXPECT_TRUE(block.ordered(access(0, 9, 1), 0, 8));
  EXPECT_TRUE(block.ordered(access(0, 9, 1), 0, 7));
  EXPECT_FALSE(block.ordered(access(0, 9, 1), 0, 9));
  block.lanes_meet(0, simt::all_lanes, simt::all_lanes, 30);
  for (unsigned tile = 0; tile < 4; ++tile) block.lanes_meet(0, 0xffu << 8 * tile, simt::all_lanes, 40 + tile);
  EXPECT_TRUE(block.ordered(access(0, 30, 1), 0, 20));
  EXPECT_FALSE(block.ordered(access(0, 35, 1), 0, 20));
}

TEST_F(sanitize_clocks, order_by_a_fence_with_a_release_and_an_acquisition) {
  sync_log log;
  EXPECT_EQ(block.releases(0, 0), nullptr);  // without a fence nothing is released
  block.fence(0, 1u << 0, false, 10);
  log.append(block.releases(0, 0), 0, 11);
  EXPECT_FALSE(other.ordered(access(0, 9), 2, 5));
  other.acquires(2, 1u << 5, log, log.size(), 1);
  EXPECT_TRUE(other.ordered(access(0, 9), 2, 5));
  EXPECT_FALSE(other.ordered(access(0, 11), 2, 5));
  EXPECT_FALSE(other.ordered(access(0, 9, 1), 2, 5));  // another lane has not fenced
  EXPECT_FALSE(other.ordered(access(0, 9), 2, 6));     // another lane has not acquired
  for (std::uint32_t w = 0; w < warps; ++w) other.arrives(0, w, false, 20);
  other.completes(0, 0xf, 0xf, nullptr, 20);
  EXPECT_TRUE(other.ordered(access(0, 9), 0, 6));  // by way of the barrier
}

TEST_F(sanitize_clocks, order_by_fences_of_blocks_threads_of_the_block_alone) {
  sync_log log;
  block.fence(0, 1, true, 10);
  log.append(block.releases(0, 0), 0, 11);
  other.acquires(0, 1u << 0, log, log.size(), 1);
  EXPECT_FALSE(other.ordered(access(0, 9), 0, 0));
  block.acquires(3, 1u << 0, log, log.size(), 1);
  EXPECT_TRUE(block.ordered(access(0, 9), 3, 0));
  log.in_cluster = true;  // at an mbarrier of a cluster
  EXPECT_TRUE(other.ordered(access(0, 9), 0, 0));
}

// Block 0 to block 1 to block 2.
TEST_F(sanitize_clocks, are_transitive) {
  block_clock third(2, warps, true);
  sync_log first, second;
  block.fence(0, 1, false, 10);
  first.append(block.releases(0, 0), 0, 11);
  other.acquires(0, 1u << 0, first, first.size(), 1);
  other.fence(0, 1, false, 20);
  second.append(other.releases(0, 0), 1, 21);
  third.acquires(0, 1u << 0, second, second.size(), 1);
  EXPECT_TRUE(third.ordered(access(0, 9), 0, 0));
  EXPECT_FALSE(third.ordered(access(0, 12), 0, 0));
}

// What was released at one location is no news at another, and lanes that acquire the same share it.
TEST_F(sanitize_clocks, learn_nothing_where_all_is_known) {
  sync_log first, second;
  block.fence(0, 1, false, 10);
  first.append(block.releases(0, 0), 0, 11);
  second.append(block.releases(0, 0), 0, 12);
  for (const unsigned lane : {0u, 1u}) other.acquires(0, 1u << lane, first, first.size(), 1);
  const void* const known = other.known_by(0, 0);
  EXPECT_EQ(other.known_by(0, 1), known);
  other.acquires(0, 1u << 0, second, second.size(), 2);
  EXPECT_EQ(other.known_by(0, 0), known);
  EXPECT_TRUE(other.ordered(access(0, 9), 0, 0));
  block.fence(0, 1, false, 20);
  second.append(block.releases(0, 0), 0, 21);
  other.acquires(0, 1u << 0, second, second.size(), 3);
  EXPECT_NE(other.known_by(0, 0), known);
  EXPECT_TRUE(other.ordered(access(0, 19), 0, 0));
  EXPECT_FALSE(other.ordered(access(0, 19), 0, 1));
}

// A fence of a block counts for others in a cluster alone: what was known of it elsewhere is news there.
TEST_F(sanitize_clocks, learn_in_a_cluster_what_fences_of_blocks_release) {
  sync_log own, of_cluster;
  of_cluster.in_cluster = true;
  block.fence(0, 1, true, 10);
  own.append(block.releases(0, 0), 0, 11);
  of_cluster.append(block.releases(0, 0), 0, 12);
  other.acquires(0, 1u << 0, own, own.size(), 1);
  EXPECT_FALSE(other.ordered(access(0, 9), 0, 0));
  other.acquires(0, 1u << 0, of_cluster, of_cluster.size(), 2);
  EXPECT_TRUE(other.ordered(access(0, 9), 0, 0));
}

// Of a location with phases only the releases before the end of the last one are known.
TEST_F(sanitize_clocks, know_of_an_mbarrier_its_completed_phases) {
  sync_log log;
  log.has_phases = true;
  block.fence(0, 1, true, 10);
  log.append(block.releases(0, 0), 0, 11);
  EXPECT_EQ(log.known_now(), 0u);
  log.ended = log.size();
  block.fence(0, 1, true, 20);
  log.append(block.releases(0, 0), 0, 21);
  block.acquires(1, 1u << 0, log, log.known_now(), 1);
  EXPECT_TRUE(block.ordered(access(0, 9), 1, 0));
  EXPECT_FALSE(block.ordered(access(0, 19), 1, 0));
}

// A copy that is in flight is ordered with nothing but its end, not even with its own thread.
TEST_F(sanitize_clocks, order_copies_by_their_end_alone) {
  const access_mark copy = access(0, 5, 0, access_mark::copying | access_mark::writes);
  EXPECT_FALSE(block.ordered(copy, 0, 0));
  for (std::uint32_t w = 0; w < warps; ++w) block.arrives(0, w, false, 10);
  block.completes(0, 0xf, 0xf, nullptr, 10);
  EXPECT_FALSE(block.ordered(copy, 1, 0));
  sync_log log;
  auto view = std::make_shared<fence_view>();
  view->copy = 5;
  log.append(std::make_shared<const fence_views>(1, view), 0, 11);
  block.acquires(1, 1u << 0, log, log.size(), 1);
  EXPECT_TRUE(block.ordered(copy, 1, 0));
  EXPECT_FALSE(block.ordered(copy, 2, 0));
  EXPECT_FALSE(block.ordered(access(0, 6, 0, access_mark::copying), 1, 0));
  EXPECT_FALSE(other.ordered(access(0, 5), 1, 0));
}

bool after(const host_work& later, const host_work& earlier) {
  const auto known = later.before.find(earlier.key);
  return known != later.before.end() && known->second >= earlier.number;
}

TEST(sanitize_host_order, is_of_streams_events_and_waits) {
  host_order h;
  const host_work a = h.add(1), b = h.add(2), c = h.add(1);
  EXPECT_TRUE(after(c, a));
  EXPECT_FALSE(after(b, a));
  EXPECT_FALSE(after(c, b));
  const work_clock event = h.of(1);  // recorded behind c
  const host_work d = h.add(1);
  h.follows(2, event);
  const host_work e = h.add(2);
  EXPECT_TRUE(after(e, c));
  EXPECT_FALSE(after(e, d));
  h.waits(h.of(1));
  const host_work f = h.add(3);
  EXPECT_TRUE(after(f, d));
  EXPECT_FALSE(after(f, e));
  h.waits_for_all();
  EXPECT_TRUE(after(h.add(4), e));
}

TEST(sanitize_products, are_known_by_their_registers) {
  isa::instruction product, use, copy;
  product.op = isa::opcode::hgmma;
  product.dst = 24;
  product.dst_count = 4;
  use.op = isa::opcode::fadd;
  use.dst = 3;
  use.dst_count = 1;
  use.src[0] = isa::make_reg(27);
  copy.op = isa::opcode::mov;
  copy.dst = 40;
  copy.dst_count = 1;
  copy.src[0] = isa::make_reg(25);
  product_check p;
  EXPECT_EQ(p.executes(product, 7), isa::no_target);
  EXPECT_EQ(p.executes(product, 8), isa::no_target);  // products add to their own results
  p.waits(0);                                         // for closed groups alone
  EXPECT_EQ(p.executes(use, 9), 7u);
  EXPECT_EQ(p.executes(copy, 10), isa::no_target);
  use.src[0] = isa::make_reg(40);
  EXPECT_EQ(p.executes(use, 11), 7u);
  p.commits();
  p.waits(1);
  EXPECT_EQ(p.executes(use, 12), 7u);
  p.waits(0);
  EXPECT_EQ(p.executes(use, 13), isa::no_target);
}

}  // namespace sanitize_clocks_test
