// SPDX-License-Identifier: MIT
#include "heddle/memory/common/address_map.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <utility>
#include <vector>

#include "heddle/config/error.h"

namespace heddle::test {
namespace address_map_test {

TEST(address_map_test, is_one_to_one_for_any_number_of_channels) {
  for (const auto hash : {choice::hash::none, choice::hash::xor_}) {
    for (unsigned channels : {1u, 2u, 3u, 8u, 12u, 20u, 24u, 64u}) {
      gpu_config c;
      c.memory.channels = channels;
      c.l2.hash = hash;
      const address_map map(c);
      std::vector<unsigned> load(channels, 0);
      for (std::uint64_t base : {std::uint64_t{0}, std::uint64_t{0x7f0000000000}, std::uint64_t{1} << 33}) {
        for (std::uint64_t a = base; a < base + 3840 * 256; a += 256) {
          const unsigned channel = map.channel_of(a);
          ASSERT_LT(channel, channels);
          ++load[channel];
          ASSERT_EQ(map.global_address(channel, map.local_address(a + 77)), a + 77);
        }
      }
      const auto [low, high] = std::minmax_element(load.begin(), load.end());
      EXPECT_LE(*high - *low, 3u) << channels << " channels, hash " << static_cast<int>(hash);
    }
  }
}

TEST(address_map_test, slices_share_their_channel_and_its_addresses_are_dense) {
  for (const auto hash : {choice::hash::none, choice::hash::xor_})
    for (const unsigned channels : {1u, 3u, 8u, 20u})
      for (const unsigned each : {2u, 3u}) {
        gpu_config c;
        c.memory.channels = channels;
        c.l2.slices_per_channel = each;
        c.l2.hash = hash;
        const address_map map(c);
        ASSERT_EQ(map.slices(), channels * each);
        constexpr std::uint64_t rounds = 64;
        std::set<std::pair<unsigned, std::uint64_t>> seen;
        for (std::uint64_t block = 0; block < rounds * channels * each; ++block) {
          const std::uint64_t a = block * 256 + 19;
          const unsigned slice = map.slice_of(a);
          ASSERT_LT(slice, channels * each);
          ASSERT_EQ(map.channel_of(a), slice / each);
          ASSERT_EQ(map.global_address(slice, map.local_address(a)), a);
          const std::uint64_t inside = map.channel_address(a);
          EXPECT_EQ(inside % 256, 19u);
          EXPECT_LT(inside, rounds * each * 256);
          EXPECT_TRUE(seen.emplace(map.channel_of(a), inside).second) << a;
        }
      }
}

// A partition's addresses stay in its slices, and meet no bytes of those that are of no partition.
TEST(address_map_test, partitions_have_slices_of_their_own) {
  for (const auto hash : {choice::hash::none, choice::hash::xor_})
    for (const unsigned each : {1u, 2u})
      for (const unsigned far : {0u, 100u}) {
        gpu_config c;
        c.memory.channels = 20;
        c.l2.slices_per_channel = each;
        c.l2.hash = hash;
        c.l2.far_latency_cycles = far;
        c.partitions = {{"a", {}, 0, 5}, {"b", {}, 10, 8}};
        const address_map map(c);
        std::set<std::pair<unsigned, std::uint64_t>> seen, in_channels;
        for (unsigned p = 0; p <= c.partitions.size(); ++p) {
          const address_map::slice_range own = map.slices_of_partition(p);
          const std::uint64_t base = p == 0 ? 0 : partition_base(p - 1);
          for (std::uint64_t block = 0; block < 2000; ++block) {
            const std::uint64_t a = base + block * 256 + 33;
            const unsigned slice = map.slice_of(a);
            ASSERT_GE(slice, own.first);
            ASSERT_LT(slice, own.first + own.count);
            EXPECT_TRUE(seen.emplace(slice, map.local_address(a)).second);
            EXPECT_TRUE(in_channels.emplace(map.channel_of(a), map.channel_address(a)).second);
            ASSERT_EQ(map.global_address(slice, map.local_address(a)), a);
            std::uint64_t rows[4];
            map.global_addresses(slice, map.local_address(a) / 256 * 256, 4, rows);
            ASSERT_EQ(rows[0], a - 33);
            for (const std::uint64_t row : rows) ASSERT_EQ(map.slice_of(row), slice);
          }
          for (unsigned slice = own.first; slice < own.first + own.count && p != 0; ++slice) {
            EXPECT_EQ(map.slice_of(map.some_address(slice)), slice);
            EXPECT_GE(map.some_address(slice), base);
          }
        }
        EXPECT_EQ(map.slices_of_partition(1).first, 0u);
        EXPECT_EQ(map.slices_of_partition(2).first, 10 * each);
        EXPECT_EQ(map.slices_of_partition(2).count, 8 * each);
      }
}

TEST(address_map_test, external_addresses_are_unique_and_channel_addresses_are_dense) {
  constexpr std::uint64_t first = 0x1000'0000, blocks = 4096;
  for (const unsigned channels : {1u, 3u, 8u, 12u})
    for (const auto hash : {choice::hash::none, choice::hash::xor_})
      for (const auto addresses : {choice::addresses::device, choice::addresses::channel}) {
        gpu_config c;
        c.memory.channels = channels;
        c.memory.addresses = addresses;
        c.memory.base_mib = 3;
        c.l2.hash = hash;
        c.l2.interleave_bytes = 256;
        const address_map map(c);
        const bool apart = c.memory.addresses == choice::addresses::channel;
        std::set<std::pair<unsigned, std::uint64_t>> seen;
        for (std::uint64_t block = 0; block < blocks; ++block) {
          const std::uint64_t address = first + block * 256, outside = map.outside_address(address);
          EXPECT_TRUE(seen.emplace(apart ? map.channel_of(address) : 0, outside).second) << address;
          EXPECT_EQ(map.outside_address(address + 255), outside + 255);
          EXPECT_EQ(outside % 256, 0u);
          const std::uint64_t place = (outside - (3u << 20)) / 256;
          if (apart) EXPECT_LE(place, block / channels + 1);
          else EXPECT_EQ(place, block);
        }
        EXPECT_FALSE(map.outside_is_same());
      }
  EXPECT_TRUE(address_map(gpu_config()).outside_is_same());
  EXPECT_EQ(address_map(gpu_config()).outside_address(first + 5), first + 5);
}

// Of two neighbouring blocks of partition_bytes one belongs to each half of the slices, and none to both.
TEST(address_map_test, blocks_alternate_between_two_partitions) {
  for (const auto hash : {choice::hash::none, choice::hash::xor_})
    for (const unsigned channels : {2u, 6u, 16u, 80u})
      for (const unsigned each : {1u, 2u})
        for (const unsigned bytes : {256u, 4096u}) {
          gpu_config c;
          c.memory.channels = channels;
          c.l2.slices_per_channel = each;
          c.l2.far_latency_cycles = 100;
          c.l2.partition_bytes = bytes;
          c.l2.hash = hash;
          const address_map map(c);
          const unsigned slices = channels * each;
          std::vector<unsigned> load(slices, 0);
          std::set<std::pair<unsigned, std::uint64_t>> seen;
          const std::uint64_t base = std::uint64_t{5} << 40, all = std::uint64_t{slices} * 64;
          for (std::uint64_t k = 0; k < all; ++k) {
            const std::uint64_t a = base + k * 256 + 19;
            const unsigned slice = map.slice_of(a);
            ASSERT_LT(slice, slices);
            ++load[slice];
            ASSERT_EQ(map.global_address(slice, map.local_address(a)), a);
            ASSERT_TRUE(seen.emplace(map.channel_of(a), map.channel_address(a)).second) << a;
            const std::uint64_t first = a / bytes * bytes;
            EXPECT_EQ(slice / (slices / 2), map.slice_of(first) / (slices / 2)) << a;
            EXPECT_NE(slice / (slices / 2), map.slice_of(first ^ bytes) / (slices / 2)) << a;
          }
          const auto [low, high] = std::minmax_element(load.begin(), load.end());
          EXPECT_LE(*high - *low, 16u) << channels << " channels";
        }
}

TEST(address_map_test, blocks_in_a_row_have_the_addresses_that_each_of_them_has) {
  constexpr unsigned count = 40;
  for (const auto hash : {choice::hash::none, choice::hash::xor_})
    for (const unsigned channels : {1u, 6u, 8u, 20u})
      for (const std::uint64_t far : {0u, 100u}) {
        gpu_config c;
        c.memory.channels = channels;
        c.l2.hash = hash;
        c.l2.far_latency_cycles = channels % 2 == 0 ? static_cast<unsigned>(far) : 0;
        const address_map map(c);
        const std::uint64_t interleave = c.l2.interleave_bytes;
        for (unsigned slice = 0; slice < map.slices(); ++slice)
          for (const std::uint64_t local :
               {std::uint64_t{0}, 16 * interleave, (std::uint64_t{1} << 34) - 3 * interleave,
                (std::uint64_t{12345} << 20) + 5 * interleave}) {
            std::uint64_t addresses[count];
            map.global_addresses(slice, local, count, addresses);
            for (unsigned k = 0; k < count; ++k)
              ASSERT_EQ(addresses[k], map.global_address(slice, local + k * interleave)) << slice << " " << local;
          }
      }
}

TEST(address_map_test, two_partitions_need_an_even_number_of_channels) {
  gpu_config c;
  c.l2.far_latency_cycles = 100;
  c.memory.channels = 5;
  EXPECT_THROW(address_map{c}, input_error);
  c.memory.channels = 4;
  c.l2.partition_bytes = 128;
  EXPECT_THROW(address_map{c}, input_error) << "a block of interleave_bytes would belong to both";
}

TEST(address_map_test, hashing_spreads_strides_of_powers_of_two) {
  gpu_config c;
  c.memory.channels = 8;
  c.l2.hash = choice::hash::xor_;
  const address_map map(c);
  for (unsigned shift = 8; shift < 30; ++shift) {
    std::vector<unsigned> load(8, 0);
    for (std::uint64_t i = 0; i < 512; ++i) ++load[map.channel_of(i << shift)];
    for (unsigned l : load) EXPECT_EQ(l, 64u) << shift;
  }
}

}  // namespace address_map_test
}  // namespace heddle::test
