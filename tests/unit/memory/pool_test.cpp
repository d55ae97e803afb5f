// SPDX-License-Identifier: MIT
// Pools of payloads and of memory operations: a use of an object after its return is found.
#include <gtest/gtest.h>

#include <string>

#include "heddle/sub_partition/memory/memory_operation.h"
#include "heddle/tlm/protocol/gpu_request.h"
#include "heddle/tlm/protocol/l1_protocol.h"
#include "heddle/tlm/protocol/object_pool.h"
#include "heddle/tlm/protocol/poison.h"

namespace heddle::test {
namespace pool_test {

/// An extension that counts its objects.
struct mark : tlm::tlm_extension<mark> {
  static int alive;
  mark() { ++alive; }
  mark(const mark& o) : tlm::tlm_extension<mark>(o) { ++alive; }
  ~mark() override { --alive; }
  [[nodiscard]] tlm::tlm_extension_base* clone() const override { return new mark(*this); }
  void copy_from(const tlm::tlm_extension_base&) override {}
};
int mark::alive = 0;

#ifdef HEDDLE_POISON_ASAN
bool poisoned(const void* p) { return __asan_address_is_poisoned(p) != 0; }
#else
bool poisoned(const void*) { return false; }
#endif

/// `take` returns an object of the pool, `give` gives it back, `byte_of` is one of its bytes.
template <class Take, class Give, class Byte>
void expect_found(Take take, Give give, Byte byte_of) {
  if (poison::finds == poison::found::nothing) GTEST_SKIP() << "a build with NDEBUG does not check";
  auto* const first = &take();
  auto* const byte = &byte_of(*first);
  give(*first);
  if (poison::finds == poison::found::accesses) {
    EXPECT_TRUE(poisoned(byte));
    auto* const again = &take();
    ASSERT_EQ(again, first);
    EXPECT_FALSE(poisoned(byte));
    give(*again);
    return;
  }
  give(take());  // it was not written
  *byte = 1;
  try {
    take();
    FAIL() << "a write after the object was given back was not found";
  } catch (const std::logic_error& e) {
    EXPECT_NE(std::string(e.what()).find("given back"), std::string::npos) << e.what();
  }
}

TEST(pools, find_a_payload_that_is_used_after_its_release) {
  payload_pool pool;
  expect_found([&]() -> line_payload& { return pool.acquire(); }, [](line_payload& p) { p.release(); },
               [](line_payload& p) -> std::uint8_t& { return p.line_data()[77]; });
}

TEST(pools, find_a_memory_operation_that_is_used_after_it_was_given_back) {
  memory_operation_pool pool;
  expect_found([&]() -> memory_operation& { return pool.operation(); }, [&](memory_operation& o) { pool.give_back(o); },
               [](memory_operation& o) -> std::uint32_t& { return o.first.words[2][5]; });
}

TEST(pools, find_a_part_of_a_memory_operation_that_is_used_after_it_was_given_back) {
  memory_operation_pool pool;
  memory_operation& o = pool.operation();
  expect_found([&]() -> lsu_transaction& { return pool.further(o); }, [&](lsu_transaction& t) { pool.give_back(t); },
               [](lsu_transaction& t) -> std::uint64_t& { return t.own_addresses[31]; });
}

TEST(pools, find_an_access_of_the_l1_that_is_used_after_it_was_given_back) {
  object_pool<l1_access> pool;
  expect_found([&]() -> l1_access& { return pool.take(); }, [&](l1_access& a) { pool.give_back(a); },
               [](l1_access& a) -> std::uint64_t& { return a.free_cycle; });
}

/// What one unit shares with others, and what it keeps for itself.
struct shared_part {
  std::vector<int> numbers;
  std::uint64_t number = 0;
};
struct own_part : shared_part {
  std::uint64_t own = 0;
};

TEST(pools, find_a_use_of_the_part_that_they_watch_and_allow_the_rest) {
  object_pool<own_part, shared_part> pool;
  own_part& first = pool.take();
  first.numbers = {1, 2, 3};
  std::uint64_t* const number = &first.number;
  pool.give_back(first);
  EXPECT_EQ(poison::finds == poison::found::accesses, poisoned(number));
  EXPECT_FALSE(poisoned(&first.own));
  EXPECT_EQ(1u, pool.all().size());
  own_part& again = pool.take();
  ASSERT_EQ(&first, &again) << "the object is used again";
  EXPECT_FALSE(poisoned(number));
  EXPECT_NE(&again, &pool.take()) << "an object has one user";
  EXPECT_EQ(2u, pool.all().size());
  pool.give_back(again);  // the pool destroys it while it is poisoned
}

TEST(pools, free_the_automatic_extensions_of_a_payload_with_its_last_reference) {
  payload_pool pool;
  line_payload& p = pool.acquire();
  p.set_auto_extension(new mark);
  p.acquire();
  p.release();
  EXPECT_EQ(1, mark::alive);
  p.release();
  EXPECT_EQ(0, mark::alive);
  line_payload& next = pool.acquire();
  ASSERT_EQ(&p, &next);
  EXPECT_EQ(nullptr, next.get_extension<mark>());
  EXPECT_EQ(&next.request, next.get_extension<gpu_request>()) << "the payload lost its own extension";
  next.release();
}

}  // namespace pool_test
}  // namespace heddle::test
