// SPDX-License-Identifier: MIT
#include "heddle/metrics/json_writer.h"

#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <cstdint>
#include <limits>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "tests/unit/common/random_numbers.h"

namespace json_writer_test {

using heddle::constant_key;
using heddle::json_writer;
using heddle::test::random_numbers;

TEST(json_writer, writes_members_line_by_line_and_elements_in_a_line) {
  json_writer w;
  w.begin_object().member("a", 1).key("list").begin_array().value(0).value(12).value(-3).end_array();
  w.key("inner").begin_object().member("b", true).member(constant_key{"c"}, "text").member(std::uint64_t{40}, 2);
  w.key(std::uint64_t{18446744073709551615u}).value(0.5).end_object();
  w.key("empty").begin_object().end_object().end_object();
  EXPECT_EQ(w.text(),
            "{\n  \"a\": 1,\n  \"list\": [0, 12, -3],\n  \"inner\": {\n    \"b\": true,\n    \"c\": \"text\",\n"
            "    \"40\": 2,\n    \"18446744073709551615\": 0.5\n  },\n  \"empty\": {}\n}\n");
}

TEST(json_writer, numbers_read_back_as_they_were_and_what_json_lacks_is_null) {
  const std::vector<double> numbers = {0.0, 0.1, 1e300, -5e-324, 1.0 / 3, 4.9e-7, 1e22, 123456789012345678.0};
  json_writer w;
  w.begin_array().values(numbers).values(numbers[4], 3).end_array();
  const auto read = nlohmann::json::parse(w.text());
  for (std::size_t i = 0; i < numbers.size(); ++i) EXPECT_EQ(read[i].get<double>(), numbers[i]);
  EXPECT_EQ(read.size(), numbers.size() + 3);
  EXPECT_EQ(read.back().get<double>(), numbers[4]);
  w.begin_array().value(std::numeric_limits<double>::quiet_NaN()).value(-HUGE_VAL).value(-0.0).value(1.5).end_array();
  EXPECT_EQ(w.text(), "[null, null, -0, 1.5]\n");
}

TEST(json_writer, lists_of_members_are_written_as_each_alone) {
  static constexpr std::array<const char*, 3> names = {"a", "second", "c"};
  static constexpr std::array<const char*, 2> long_names = {
      "short", "a name that does not fit into the room of the texts of keys that are kept with their margins"};
  json_writer together, alone;
  together.begin_object();
  alone.begin_object();
  for (unsigned i = 0; i < 2000; ++i) {
    const std::array<double, 3> numbers = {i * 0.1, i % 3 == 0 ? 0.0 : -1e-7 / i, i % 5 == 0 ? -0.0 : NAN};
    if (i % 2 == 0) together.member("before", i), alone.member("before", i);
    together.members(names, numbers).key("inner").begin_object().members(names, numbers);
    together.members(long_names, {numbers[0], numbers[1]}).end_object();
    for (std::size_t n = 0; n < names.size(); ++n) alone.member(constant_key{names[n]}, numbers[n]);
    alone.key("inner").begin_object();
    for (std::size_t n = 0; n < names.size(); ++n) alone.member(constant_key{names[n]}, numbers[n]);
    for (std::size_t n = 0; n < long_names.size(); ++n) alone.member(constant_key{long_names[n]}, numbers[n]);
    alone.end_object();
  }
  together.end_object();
  alone.end_object();
  EXPECT_EQ(together.text(), alone.text());
}

struct pair_of_numbers {
  std::uint64_t whole;
  double real;
};

// `again`: by again_or, which the second function does without. Behind a key and among members, as first members and as
// later ones, with texts between them that are long enough to be written in parts.
std::string objects_of(const std::vector<pair_of_numbers>& all, bool again, unsigned& written) {
  json_writer w;
  const auto put = [&](const pair_of_numbers& p, auto&& write) {
    again ? static_cast<void>(w.again_or(p, write)) : write();
  };
  w.begin_object();
  for (const pair_of_numbers& p : all) {
    const auto members = [&] {
      w.member("whole", p.whole).member("real", p.real);
      ++written;
    };
    w.key("inner").begin_object();
    if (p.whole % 3 != 0) w.member("before", std::string(p.whole * 300, 'x'));
    put(p, members);
    w.end_object().key("object");
    put(p, [&] {
      w.begin_object();
      members();
      w.end_object();
    });
  }
  return w.end_object().text();
}

TEST(json_writer, the_same_numbers_are_written_again_as_their_place_asks) {
  random_numbers random(3);
  std::vector<pair_of_numbers> all;
  for (unsigned i = 0; i < 400; ++i) all.push_back({random.below(30), 0.1 * static_cast<double>(random.below(3))});
  unsigned plain = 0, again = 0;
  ASSERT_EQ(objects_of(all, true, again), objects_of(all, false, plain));
  EXPECT_LT(again, plain / 2);
  json_writer other;
  other.begin_array().again_or(pair_of_numbers{1, 0}, [&other] { other.value(1); });
  other.again_or(pair_of_numbers{1, 0}, [&other] { other.value(2); });  // another text of the same numbers
  EXPECT_EQ(other.end_array().text(), "[1, 2]\n");
}

// The same key at another depth, as the first member and as a later one, and one at the place of another's text.
TEST(json_writer, constant_keys_fit_each_place) {
  std::vector<std::string> names;
  for (unsigned i = 0; i < 3000; ++i) names.push_back("key" + std::to_string(i) + std::string(i % 70, 'x'));
  json_writer w;
  nlohmann::json expected;
  w.begin_object();
  for (unsigned depth = 0; depth < 40; ++depth) {
    w.member("depth", depth).key(constant_key{"down"}).begin_object();
    w.member(constant_key{"first"}, depth).member(constant_key{"first "}, 0.5);
  }
  for (const std::string& name : names) w.member(constant_key{name.c_str()}, name);
  for (unsigned depth = 0; depth <= 40; ++depth) w.end_object();
  nlohmann::json at = nlohmann::json::parse(w.text());
  for (unsigned depth = 0; depth < 40; ++depth) {
    ASSERT_EQ(at["depth"], depth);
    at = nlohmann::json(at["down"]);
    ASSERT_EQ(at["first"], depth);
    ASSERT_EQ(at["first "], 0.5);
  }
  for (const std::string& name : names) ASSERT_EQ(at[name], name);
}

TEST(json_writer, long_runs_of_numbers_and_short_members_alternate) {
  random_numbers random(11);
  std::vector<std::size_t> sizes;
  json_writer w;
  w.begin_array();
  for (unsigned i = 0; i < 500; ++i) {
    sizes.push_back(random.below(i % 50 == 0 ? 5000 : 400));
    w.begin_object().member("key", 1.0 / i).key("all").begin_array().values(1e-300 / 3, sizes.back()).value(7);
    w.end_array().member("zero", 0).member("size", sizes.back()).end_object();
  }
  w.end_array();
  const auto read = nlohmann::json::parse(w.text());
  for (std::size_t i = 0; i < sizes.size(); ++i) {
    ASSERT_EQ(read[i]["all"].size(), sizes[i] + 1);
    ASSERT_EQ(read[i]["size"], sizes[i]);
    if (sizes[i] != 0) {
      ASSERT_EQ(read[i]["all"][sizes[i] - 1], 1e-300 / 3);
    }
  }
}

TEST(json_writer, texts_of_any_characters_and_lengths_read_back) {
  random_numbers random(7);
  std::vector<std::string> texts;
  for (unsigned i = 0; i < 400; ++i) {
    std::string text;
    const std::size_t size = i < 100 ? i : random.below(std::size_t{3} * 8192);
    for (std::size_t c = 0; c < size; ++c) {
      const std::uint64_t kind = random.below(40);
      text += kind == 0   ? '"'
              : kind == 1 ? '\\'
                          : static_cast<char>(kind == 2 ? random.below(32) : 32 + random.below(95));
    }
    texts.push_back(i % 2 == 0 ? text : std::string(size, 'p'));
  }
  json_writer w;
  w.begin_object();
  for (std::size_t i = 0; i < texts.size(); ++i) w.member(std::to_string(i) + texts[i], texts[i]);
  w.end_object();
  const auto read = nlohmann::json::parse(w.text());
  for (std::size_t i = 0; i < texts.size(); ++i) ASSERT_EQ(read[std::to_string(i) + texts[i]], texts[i]);
}

}  // namespace json_writer_test
