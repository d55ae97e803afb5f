// SPDX-License-Identifier: MIT
// Pointers in a state image: numbers of objects that their owners have named.
#include <gtest/gtest.h>

#include <memory>
#include <stdexcept>
#include <vector>

#include "heddle/tlm/kernel/object_numbers.h"
#include "heddle/tlm/kernel/state_image.h"

namespace heddle {
namespace state_image_test {

TEST(object_numbers, are_those_of_the_order_in_which_objects_are_added) {
  struct item {
    int a, b, c;
  };
  std::vector<item> many(5), more(3);
  item one{};
  object_numbers numbers;
  numbers.add(&one, 1, sizeof one);
  numbers.add(more.data(), more.size(), sizeof(item));
  numbers.add(many.data(), many.size(), sizeof(item));
  numbers.add(nullptr, 0, sizeof(item));
  EXPECT_EQ(0u, numbers.of(nullptr));
  EXPECT_EQ(1u, numbers.of(&one));
  EXPECT_EQ(4u, numbers.of(&more[2]));
  EXPECT_EQ(5u, numbers.of(&many[0]));
  EXPECT_EQ(9u, numbers.of(&many[4]));
  item other{};
  EXPECT_THROW(static_cast<void>(numbers.of(&other)), std::logic_error);
  EXPECT_THROW(static_cast<void>(numbers.of(&many[1].b)), std::logic_error) << "in the middle of an object";
  void* found = nullptr;
  for (std::uint32_t n = 1; n <= 9; ++n) {
    ASSERT_TRUE(numbers.find(n, found));
    EXPECT_EQ(n, numbers.of(found));
  }
  ASSERT_TRUE(numbers.find(0, found));
  EXPECT_EQ(nullptr, found);
  EXPECT_FALSE(numbers.find(10, found));
}

struct link {
  int value = 0;
  link* next = nullptr;
  const double* of = nullptr;
  void exchange(state_image& image) { image(value, next, of); }
};

/// A list in any order, with a pointer to its first.
struct list {
  std::vector<std::unique_ptr<link>> all;
  double doubles[2] = {1, 2};
  link* first = nullptr;
  void exchange(state_image& image) {
    std::uint64_t count = all.size();
    image(count);
    while (all.size() < count) all.push_back(std::make_unique<link>());
    for (const auto& l : all) image.name(l.get());
    image.name(doubles, 2);
    for (const auto& l : all) image(*l);
    image(first);
  }
};

TEST(state_image, pointers_lead_to_the_same_places) {
  list one;
  for (int k = 0; k < 4; ++k) one.all.push_back(std::make_unique<link>());
  const int order[] = {2, 0, 3, 1};
  for (int k = 0; k < 4; ++k) {
    link& l = *one.all[static_cast<unsigned>(order[k])];
    l.value = k;
    l.of = k % 2 == 0 ? &one.doubles[1] : nullptr;
    l.next = k == 3 ? nullptr : one.all[static_cast<unsigned>(order[k + 1])].get();
  }
  one.first = one.all[2].get();
  state_image written;
  written(one);
  const std::vector<std::uint8_t> bytes = written.take();
  list two;
  state_image read(bytes);
  read(two);
  EXPECT_TRUE(read.at_end());
  int k = 0;
  for (const link* l = two.first; l != nullptr; l = l->next, ++k) {
    EXPECT_EQ(k, l->value);
    EXPECT_EQ(k % 2 == 0 ? &two.doubles[1] : nullptr, l->of);
  }
  EXPECT_EQ(4, k);
  state_image again;
  again(two);
  EXPECT_TRUE(again.take() == bytes);
}

TEST(state_image, a_number_of_no_object_is_refused) {
  int here = 0, *to = &here;
  state_image written;
  written.name(&here);
  written(to);
  state_image read(written.take());
  EXPECT_THROW(read(to), state_error) << "nothing was named";
  int* elsewhere = &here;
  state_image unnamed;
  EXPECT_THROW(unnamed(elsewhere), std::logic_error);
}

TEST(state_image, items_that_are_free_are_not_described) {
  std::vector<int> items = {1, 2, 3, 4, 5}, read_items;
  std::vector<unsigned> free = {3, 0};
  state_image written;
  written(free);
  written.taken(items, free);
  state_image read(written.take());
  std::vector<unsigned> read_free;
  read(read_free);
  read.taken(read_items, read_free);
  EXPECT_EQ((std::vector<int>{0, 2, 3, 0, 5}), read_items);
  EXPECT_TRUE(read.at_end());
}

}  // namespace state_image_test
}  // namespace heddle
