// SPDX-License-Identifier: MIT
// How many blocks a launch's estimate needs, and whether its bound holds: blocks with known times on a machine that
// holds so many at a time.
#include "heddle/gpu/cwd/block_sampler.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <queue>
#include <random>
#include <utility>
#include <vector>

namespace block_sampler_test {

using heddle::block_sample;
using heddle::block_sampler;
using heddle::cache_use;
using heddle::cycle_t;

struct block {
  cycle_t cycles = 0;
  std::uint64_t instructions = 0;
};

/// An L2 whose lines the launch has touched, all of them: nothing of what was before the launch is left.
class test_cache : public heddle::sampled_cache {
 public:
  /// `more` lines are touched from one question to the next.
  explicit test_cache(double touched = 1, double more = 0) : touched_(touched), more_(more) {}
  void launch_begins() override {}
  [[nodiscard]] cache_use use_now() const override { return {touched_ = std::min(1.0, touched_ + more_), 0}; }

 private:
  mutable double touched_;
  const double more_;
};

const test_cache full;

struct outcome {
  cycle_t cycles = 0;
  std::uint64_t left_out = 0;
  block_sample sample;
};

/// Each block begins when one before it ends, `wave` at a time. Without a sampler all run.
outcome run(const std::vector<block>& blocks, std::uint64_t wave, block_sampler* sampler) {
  struct running {
    cycle_t end;
    std::size_t number;
    bool operator<(const running& o) const { return end != o.end ? end > o.end : number > o.number; }
  };
  std::priority_queue<running> on;
  outcome o;
  std::size_t next = 0, limit = blocks.size();
  const auto start = [&](cycle_t now) { on.push({now + blocks[next].cycles, next}), ++next; };
  while (next < std::min<std::size_t>(wave, limit)) start(0);
  for (; !on.empty(); on.pop()) {
    const running r = on.top();
    o.cycles = r.end;
    if (sampler != nullptr) {
      sampler->block_ended(r.end, blocks[r.number].cycles, blocks[r.number].instructions);
      if (next == limit) sampler->close();
      else if (o.left_out == 0) limit -= o.left_out = sampler->needless(next);
    }
    if (next < limit) start(r.end);
  }
  heddle::executed_blocks rest;
  for (std::size_t k = limit; k < blocks.size(); ++k) {
    rest.instructions += blocks[k].instructions;
    rest.most = std::max(rest.most, blocks[k].instructions);
  }
  if (sampler != nullptr) o.sample = sampler->estimate(o.left_out, rest, o.cycles, false);
  return o;
}

struct series {
  unsigned stopped = 0;
  unsigned within = 0;
};

/// 40 launches of 4,000 blocks, 40 at a time.
series launches(double error, const std::function<block(unsigned, std::mt19937&)>& make) {
  std::mt19937 random(5);
  series s;
  for (unsigned launch = 0; launch < 40; ++launch) {
    std::vector<block> blocks;
    for (unsigned k = 0; k < 4000; ++k) blocks.push_back(make(k, random));
    block_sampler sampler(error, blocks.size(), 40, full);
    const double whole = static_cast<double>(run(blocks, 40, nullptr).cycles);
    const outcome o = run(blocks, 40, &sampler);
    EXPECT_EQ(0u, o.left_out % 40);
    EXPECT_EQ(4000 - o.left_out, o.sample.simulated_blocks);
    if (o.left_out == 0) {
      EXPECT_EQ(whole, o.sample.cycles);
      continue;
    }
    ++s.stopped;
    s.within += std::fabs(o.sample.cycles - whole) <= o.sample.error * o.sample.cycles;
  }
  return s;
}

cycle_t varied(double cycles, double deviation, std::mt19937& random) {
  return static_cast<cycle_t>(std::lround(cycles * std::lognormal_distribution<double>(0, deviation)(random)));
}

TEST(block_sampler, doubts_whole_launches_behind_others_that_were_not) {
  block_sampler sampler(0.02, 4000, 40, full);
  EXPECT_EQ(0, sampler.estimate(0, {}, 12345, false).error);
  EXPECT_EQ(0.02, sampler.estimate(0, {}, 12345, true).error);
  EXPECT_EQ(12345, sampler.estimate(0, {}, 12345, true).cycles);
}

TEST(block_sampler, stops_at_equal_blocks_soon) {
  const series s = launches(0.02, [](unsigned, std::mt19937& r) { return block{varied(1000, 0.001, r), 100}; });
  EXPECT_EQ(40u, s.stopped);
  EXPECT_GE(s.within, 38u);
}

TEST(block_sampler, keeps_its_bound_for_blocks_that_differ_by_chance) {
  const series s = launches(0.02, [](unsigned, std::mt19937& r) { return block{varied(1000, 0.3, r), 100}; });
  EXPECT_GE(s.stopped, 20u);
  EXPECT_GE(s.within * 20, s.stopped * 18);
}

// 0.7 % a wave, in noise of 0.8 %.
TEST(block_sampler, sees_a_trend) {
  const series s = launches(0.02, [](unsigned k, std::mt19937& r) {
    return block{varied(500 + k * 0.375, 0.05, r), 9};
  });
  EXPECT_EQ(s.stopped, s.within);
}

TEST(block_sampler, goes_by_the_instructions_of_unequal_blocks) {
  const series s = launches(0.02, [](unsigned k, std::mt19937& r) {
    const std::uint64_t instructions = 500 + k * 3 / 8;
    return block{200 + varied(static_cast<double>(instructions), 0.02, r), instructions};
  });
  EXPECT_GE(s.stopped, 30u);
  EXPECT_GE(s.within * 20, s.stopped * 19);
}

// Blocks behind those that are simulated have twice the instructions: nothing has shown how long these take.
TEST(block_sampler, says_that_it_does_not_know) {
  const series s = launches(0.02, [](unsigned k, std::mt19937& r) {
    return k < 3000 ? block{varied(1000, 0.001, r), 100} : block{varied(1500, 0.001, r), 200};
  });
  EXPECT_EQ(40u, s.stopped);
  EXPECT_EQ(40u, s.within);
}

TEST(block_sampler, waits_until_the_cache_is_full) {
  const std::vector<block> blocks(4000, block{1000, 100});
  const test_cache slowly(0, 0.03), halfway(0.5);
  block_sampler filling(0.02, blocks.size(), 40, slowly);
  EXPECT_GE(run(blocks, 40, &filling).sample.steady_from, 33 * 40u);
  // It stays as it is.
  block_sampler half(0.02, blocks.size(), 40, halfway);
  const outcome o = run(blocks, 40, &half);
  EXPECT_EQ(40u, o.sample.steady_from);
  EXPECT_LE(o.sample.simulated_blocks, 400u);
}

TEST(block_sampler, needs_some_waves) {
  std::vector<block> blocks(7 * 40, block{1000, 100});
  block_sampler sampler(0.02, blocks.size(), 40, full);
  const outcome o = run(blocks, 40, &sampler);
  EXPECT_EQ(0u, o.left_out);
  EXPECT_EQ(0, o.sample.error);
  EXPECT_EQ(7000, o.sample.cycles);
}

}  // namespace block_sampler_test
