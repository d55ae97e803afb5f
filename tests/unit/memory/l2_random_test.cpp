// SPDX-License-Identifier: MIT
#include <gtest/gtest.h>

#include "heddle/isa/opcode.h"
#include "l2_slice_bench.h"
#include "memory_bench.h"

namespace heddle::test {
namespace l2_random_test {

using namespace l2_slice_bench;

/// Random reads, partial writes and atomics against a flat image, for each answer style of a memory.
class l2_random : public simulation, public ::testing::WithParamInterface<std::pair<answer_style, bool>> {};

TEST_P(l2_random, data_are_those_of_a_flat_memory) {
  gpu_config c = small_config();
  c.l2.size_bytes = 2 * 1024;
  c.l2.mshr_entries = 6;
  c.l2.mshr_merges = 4;
  c.l2.queue_entries = 4;
  c.l2.fetch_bytes = 32u << static_cast<unsigned>(GetParam().first) % 3;
  bench b(c);
  b.memory.style = GetParam().first;
  b.memory.performs_late = GetParam().second;
  b.memory.jitter = 60;
  b.sm.hold_percent = 30;
  constexpr unsigned lines = 48;
  std::vector<std::uint8_t> flat(lines * 128, 0);
  std::mt19937_64 random(42);
  std::map<std::uint64_t, std::vector<std::uint8_t>> expected;
  std::map<std::uint64_t, std::uint64_t> expected_old;
  cycle_t at = 1;
  const unsigned count = 12000;
  for (unsigned i = 0; i < count; ++i) {
    at += random() % 4 == 0 ? random() % 30 : 0;
    const unsigned line =
        random() % 3 == 0 ? static_cast<unsigned>(random() % 4) : static_cast<unsigned>(random() % lines);
    const unsigned what = static_cast<unsigned>(random() % 10);
    std::uint8_t* f = &flat[line * 128];
    if (what < 5) {
      const auto sectors = static_cast<std::uint8_t>(1 + random() % 15);
      b.sm.read(line * 128, sectors, at, i);
      expected[i].assign(f, f + 128);
    } else if (what < 9) {
      const unsigned length = 1u << random() % 8;
      const unsigned offset = static_cast<unsigned>(random() % (129 - length));
      std::vector<std::uint8_t> bytes(length);
      for (auto& v : bytes) v = static_cast<std::uint8_t>(random());
      b.sm.write(line * 128, offset, bytes, at, i);
      std::memcpy(f + offset, bytes.data(), length);
    } else {
      line_payload& p = atomic(b.sm, line * 128, isa::atomic_op::add, 1, 0, at);
      p.request.token = i;
      const unsigned offset = 4 * static_cast<unsigned>(random() % 32);
      p.request.atomic->offset[0] = static_cast<std::uint8_t>(offset);
      std::uint32_t old;
      std::memcpy(&old, f + offset, 4);
      expected_old[i] = old++;
      std::memcpy(f + offset, &old, 4);
    }
  }
  unsigned wrong = 0;
  b.sm.on_response = [&](line_payload& p) {
    const std::uint64_t i = p.request.token;
    if (p.is_read()) {
      for (unsigned s = 0; s < 4; ++s)
        if (p.request.sectors >> s & 1) wrong += std::memcmp(p.line_data() + 32 * s, &expected[i][32 * s], 32) != 0;
    } else if (p.request.atomic != nullptr) {
      wrong += p.request.atomic->result[0] != expected_old[i];
    }
  };
  b.run(at + 3000000);
  EXPECT_EQ(b.sm.answered(), count);
  EXPECT_EQ(wrong, 0u);
  EXPECT_EQ(b.debug_read(0, lines * 128), flat);
  bench::flush_end end(b.memory);
  b.slice.flush(end);
  sc_core::sc_start(b.clock.time_of(20000));
  for (unsigned i = 0; i < lines * 128; ++i) wrong += b.memory.bytes[i] != flat[i];
  EXPECT_EQ(wrong, 0u);
  EXPECT_TRUE(b.memory.idle());
  for (tlm::tlm_sync_enum a : b.memory.response_answers) ASSERT_NE(a, tlm::TLM_COMPLETED);
  b.check_done();
}

std::vector<std::pair<answer_style, bool>> all_styles() {
  std::vector<std::pair<answer_style, bool>> all;
  for (unsigned s = 0; s <= static_cast<unsigned>(answer_style::mixed); ++s)
    for (bool late : {false, true}) all.emplace_back(static_cast<answer_style>(s), late);
  return all;
}
INSTANTIATE_TEST_SUITE_P(styles, l2_random, ::testing::ValuesIn(all_styles()));

}  // namespace l2_random_test
}  // namespace heddle::test
