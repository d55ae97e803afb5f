// SPDX-License-Identifier: MIT
// State images of single parts of the memory system, and what they refuse.
#include <gtest/gtest.h>

#include <cstring>
#include <string>
#include <vector>

#include "heddle/config/error.h"
#include "heddle/memory/common/address_ranges.h"
#include "heddle/memory/common/byte_store.h"
#include "heddle/memory/common/tlb.h"
#include "heddle/memory/dram/memory_model.h"
#include "heddle/memory/l1/constant_cache.h"
#include "heddle/memory/l1/l1_cache.h"
#include "heddle/memory/l2/l2_cache.h"
#include "heddle/memory/noc/sm_network.h"
#include "heddle/tlm/kernel/state_image.h"
#include "heddle/tlm/protocol/object_pool.h"
#include "tests/unit/common/fresh_simulation.h"
#include "tests/unit/common/random_numbers.h"

namespace heddle::test {
namespace memory_parts_state_test {

template <class T>
std::vector<std::uint8_t> written(T& part) {
  state_image image;
  image(part);
  return image.take();
}

/// Reads the state of `from` into `to`.
template <class T>
void copy_state(T& from, T& to) {
  const std::vector<std::uint8_t> bytes = written(from);
  state_image image(bytes);
  image(to);
  EXPECT_TRUE(image.at_end());
  EXPECT_TRUE(written(to) == bytes);
}

/// What reading a state reports.
template <class T>
std::string refusal(const std::vector<std::uint8_t>& bytes, T& to) {
  state_image image(bytes);
  try {
    image(to);
  } catch (const state_error& e) {
    return e.what();
  }
  return "";
}

class memory_parts_state : public fresh_simulation {};

TEST_F(memory_parts_state, a_tlb_goes_on) {
  gpu_config config;
  config.tlb.entries = 5;
  config.tlb.page_bytes = 4096;
  config.tlb.miss_latency_cycles = 300;
  tlb one(config), two(config);
  random_numbers random(1);
  cycle_t cycle = 0;
  for (unsigned k = 0; k < 1000; ++k, cycle += 40)
    one.look_up(random.below(8) * 4096, static_cast<std::uint32_t>(random.below(3)), cycle);
  copy_state(one, two);
  for (unsigned k = 0; k < 1000; ++k, ++cycle) {
    const std::uint64_t address = random.below(8) * 4096;
    const auto launch = static_cast<std::uint32_t>(random.below(5));
    ASSERT_EQ(one.look_up(address, launch, cycle), two.look_up(address, launch, cycle));
  }
  EXPECT_TRUE(written(one) == written(two));
  EXPECT_EQ(one.counters.at(2).hits, two.counters.at(2).hits);
}

TEST_F(memory_parts_state, a_constant_cache_goes_on) {
  const gpu_config config;
  std::vector<std::uint8_t> bytes;
  std::vector<unsigned> latencies;
  const auto use = [&](constant_cache& cache, std::uint64_t seed, cycle_t cycle) {
    random_numbers random(seed);
    latencies.clear();
    for (unsigned k = 0; k < 2000; ++k, cycle += random.below(30))
      latencies.push_back(cache.look_up(static_cast<unsigned>(random.below(2)), static_cast<unsigned>(random.below(3)),
                                        random.below(4096), cycle));
  };
  {
    constant_cache one("cache", config);
    use(one, 1, 0);
    bytes = written(one);
    use(one, 2, 40000);
  }
  const std::vector<unsigned> expected = latencies;
  restart();
  constant_cache two("cache", config);
  state_image image(bytes);
  image(two);
  EXPECT_TRUE(written(two) == bytes);
  use(two, 2, 40000);
  EXPECT_TRUE(latencies == expected);
  two.check_invariants();
}

// Pages of zeros are left out, whatever the order in which pages were made; pages that were there before are removed.
TEST_F(memory_parts_state, bytes_are_those_that_are_not_zero) {
  byte_store one, two, same;
  random_numbers random(3);
  for (unsigned k = 0; k < 200; ++k) {
    const std::uint64_t page = random.below(1000) * byte_store::page_bytes;
    const std::uint64_t value = random.next();
    one.write(page + 8 * (k % 512), reinterpret_cast<const std::uint8_t*>(&value), sizeof value);
  }
  const std::vector<std::uint8_t> zeros(byte_store::page_bytes, 0), ones(byte_store::page_bytes, 1);
  one.write(5000 * byte_store::page_bytes, ones.data(), ones.size());
  one.write(5000 * byte_store::page_bytes, zeros.data(), zeros.size());
  two.write(7000 * byte_store::page_bytes, ones.data(), ones.size());
  copy_state(one, two);
  std::vector<std::uint8_t> page(byte_store::page_bytes), other(byte_store::page_bytes);
  for (std::uint64_t n : {std::uint64_t{5000}, std::uint64_t{7000}}) {
    two.read(n * byte_store::page_bytes, page.data(), page.size());
    EXPECT_TRUE(page == zeros);
    EXPECT_EQ(two.page(n), nullptr);
  }
  for (std::uint64_t n = 1000; n-- > 0;) {
    one.read(n * byte_store::page_bytes, page.data(), page.size());
    two.read(n * byte_store::page_bytes, other.data(), other.size());
    ASSERT_TRUE(page == other);
    same.write(n * byte_store::page_bytes, page.data(), page.size());
  }
  EXPECT_TRUE(written(same) == written(one));
  EXPECT_EQ(two.allocated_bytes(), same.allocated_bytes());
}

TEST_F(memory_parts_state, a_pool_gives_its_objects_in_the_same_order) {
  struct item {
    unsigned number = 0;
  };
  object_pool<item> one, two;
  std::vector<item*> out;
  for (unsigned k = 0; k < 5; ++k) {
    out.push_back(&one.take());
    out.back()->number = k;
  }
  one.give_back(*out[3]);
  state_image with_some_in_use(written(one));
  object_pool<item> used;
  used.exchange(with_some_in_use);
  EXPECT_EQ(4u, used.in_use());
  EXPECT_EQ(used.all()[3].get(), &used.take());
  ASSERT_EQ(out[3], &one.take());
  for (unsigned k : {2, 0, 4, 1, 3}) one.give_back(*out[k]);
  copy_state(one, two);
  for (unsigned k = 0; k < 6; ++k) {
    item &a = one.take(), &b = two.take();
    const auto index = [](const object_pool<item>& pool, const item& i) {
      for (std::size_t n = 0;; ++n)
        if (pool.all()[n].get() == &i) return n;
    };
    EXPECT_EQ(index(one, a), index(two, b));
  }
}

TEST_F(memory_parts_state, address_ranges_make_hints_of_before_stale) {
  address_ranges one, two;
  one.add(0x8000, 0x100);
  two.add(0x4000, 0x100);
  address_ranges::hint hint;
  EXPECT_TRUE(two.find(0x4000, 4, hint));
  copy_state(one, two);
  EXPECT_FALSE(two.find(0x4000, 4, hint));
  EXPECT_TRUE(two.find(0x8000, 4, hint));
}

TEST_F(memory_parts_state, a_network_keeps_what_launches_may_send) {
  gpu_config config;
  config.gpu.sm_count = 4;
  std::vector<std::uint8_t> bytes;
  cycle_t until = 0;
  {
    clock_domain clock("clock", 1000);
    sm_network one("network", clock, config);
    EXPECT_EQ(one.nothing_arrives_until(10), never);
    one.expect(true, true);
    until = one.nothing_arrives_until(10);
    bytes = written(one);
  }
  restart();
  clock_domain clock("clock", 1000);
  sm_network two("network", clock, config);
  state_image image(bytes);
  image(two);
  EXPECT_EQ(two.nothing_arrives_until(10), until);
}

TEST_F(memory_parts_state, a_state_of_another_machine_is_refused) {
  clock_domain clock("clock", 1000);
  gpu_config config;
  l1_cache one("one", clock, config, 0);
  l1_cache two("two", clock, config, 1);
  constant_cache constants("constants", config);
  std::vector<std::uint8_t> bytes = written(one);
  EXPECT_EQ(refusal(bytes, two), "the state of '': the state of 'one' where that of 'two' was expected");
  bytes.pop_back();
  EXPECT_EQ(refusal(bytes, one), "the state of 'one': its end, too soon");
  EXPECT_NE(refusal(written(constants), one), "");
}

struct own_slice : l2_cache {
  explicit own_slice(sc_core::sc_module_name name) : l2_cache(name) {}
  [[nodiscard]] bool idle() const override { return true; }
};

TEST_F(memory_parts_state, an_own_slice_says_that_it_has_none) {
  own_slice slice("slice");
  try {
    written(slice);
    FAIL();
  } catch (const state_error& e) {
    EXPECT_STREQ(e.what(), "the L2 slice 'slice' has no state image");
  }
}

}  // namespace memory_parts_state_test
}  // namespace heddle::test
