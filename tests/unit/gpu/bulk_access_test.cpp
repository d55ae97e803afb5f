// SPDX-License-Identifier: MIT
// Images of many bytes, which go past the L2 where it has nothing of them, beside small ones, which go through it, and
// kernels, whose lines stay in it.
#include <algorithm>
#include <random>

#include "tests/unit/common/store_kernel.h"
#include "tests/unit/simt/functional_bench.h"

namespace heddle {
namespace bulk_access_test {

class bulk_access_test : public functional_bench {
 protected:
  void mix(const std::string& gpu, const std::vector<std::string>& overrides) {
    make(gpu, overrides);
    std::mt19937 random(7);
    std::vector<std::uint8_t> expected(400000);
    const std::uint64_t at = buffer(expected);
    launch_request store = request(store_kernel, "store", 1, 1024);
    for (unsigned round = 0; round < 120; ++round) {
      const std::size_t most = random() % 2 == 0 ? 2000 : expected.size();
      const std::size_t bytes = 1 + random() % most;
      const std::size_t offset = random() % (expected.size() - bytes + 1);
      switch (random() % 4) {
        case 0: {
          std::vector<std::uint8_t> data(bytes);
          const bool zeros = random() % 4 == 0;
          for (std::uint8_t& b : data) b = zeros ? 0 : static_cast<std::uint8_t>(random());
          driver().write(at + offset, data.data(), bytes);
          std::copy(data.begin(), data.end(), expected.begin() + static_cast<std::ptrdiff_t>(offset));
          break;
        }
        case 1: {
          launch_request r = store;
          const std::size_t place = random() % (expected.size() / 4 - 1024) * 4;
          ASSERT_EQ(run(r.argument(at + place), random() % 4 == 0), "");
          for (std::uint32_t k = 0; k < 1024; ++k) std::memcpy(&expected[place + 4 * k], &k, 4);
          break;
        }
        default: {
          const auto seen = read<std::uint8_t>(at + offset, bytes);
          ASSERT_TRUE(std::equal(seen.begin(), seen.end(), expected.begin() + static_cast<std::ptrdiff_t>(offset)))
              << gpu << " round " << round;
        }
      }
    }
    EXPECT_EQ(read<std::uint8_t>(at, expected.size()), expected);
    for (std::size_t k = 0; k < expected.size(); k += 1000) {
      const auto seen = read<std::uint8_t>(at + k, 1000);
      ASSERT_TRUE(std::equal(seen.begin(), seen.end(), expected.begin() + static_cast<std::ptrdiff_t>(k)))
          << gpu << " byte " << k;
    }
  }
};

TEST_F(bulk_access_test, images_and_kernels_share_memory) {
  mix("gtx1080", {});
  mix("v100", {});
  mix("gtx1080", {"memory.channels=1"});
  mix("gtx1080", {"memory.channels=6", "l2.size_bytes=1572864"});
  mix("gtx1080", {"memory.channels=6", "l2.size_bytes=1572864", "l2.hash=none", "l2.interleave_bytes=4096"});
  mix("gtx1080", {"l2.interleave_bytes=8192"});
  mix("gtx1080", {"l2.interleave_bytes=128"});
  mix("h100", {});
}

TEST_F(bulk_access_test, is_ordered_behind_requests_in_flight) {
  make("gtx1080", {"memory.latency_cycles=2000", "l2.size_bytes=16384"});
  launch_request store = request(store_kernel, "store", 1, 1024);
  const std::uint64_t a = driver().allocate(1 << 20);
  std::vector<std::uint32_t> image(1 << 18, 7);
  driver().write(a, image.data(), 1 << 20);
  std::vector<unsigned> numbers;
  for (unsigned k = 0; k < 16; ++k) numbers.push_back(driver().launch(launch_request(store).argument(a + 65536 * k)));
  // Meanwhile the same bytes are read and written back, between kernels' stores.
  for (unsigned k = 0; k < 60; ++k) {
    sc_core::sc_start(sc_core::sc_time(500, sc_core::SC_NS));
    const auto seen = read<std::uint32_t>(a, image.size());
    for (std::size_t w = 0; w < seen.size(); ++w) ASSERT_TRUE(seen[w] == 7 || seen[w] == w % 16384) << w;
    driver().write(a, seen.data(), 1 << 20);
  }
  while (!driver().finished(numbers.back()))
    sc_core::sc_start(sc_core::sc_time(20, sc_core::SC_US), sc_core::SC_EXIT_ON_STARVATION);
  const auto last = read<std::uint32_t>(a, image.size());
  for (std::size_t w = 0; w < last.size(); ++w) ASSERT_EQ(last[w], w % 16384 < 1024 ? w % 16384 : 7) << w;
  chip().check_invariants();
}

}  // namespace bulk_access_test
}  // namespace heddle
