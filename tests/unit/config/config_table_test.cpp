// SPDX-License-Identifier: MIT
// The table of parameters, and what its texts are made with: narrowing, printable text, names of descriptors.
#include "heddle/config/parameter_table.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <fstream>

#include "heddle/config/config.h"
#include "heddle/config/error.h"
#include "heddle/config/ini_reader.h"
#include "heddle/config/input_file.h"
#include "heddle/config/message.h"
#include "heddle/config/parameter_page.h"

namespace heddle::test {
namespace config_table_test {

// A misspelt name would make a parameter that never acts.
TEST(config_table, what_a_parameter_needs_are_names_of_a_choice) {
  unsigned rows = 0;
  for (const parameter& p : parameters()) {
    if (p.needs.key.empty()) continue;
    ++rows;
    const parameter* choice = find_parameter(p.needs.key);
    ASSERT_NE(choice, nullptr) << p.name();
    EXPECT_FALSE(p.needs.names.empty()) << p.name();
    for (const std::string& name : p.needs.names)
      EXPECT_NE(std::find(choice->choices.begin(), choice->choices.end(), name), choice->choices.end())
          << p.name() << ": " << name;
  }
  EXPECT_GE(rows, 7u);
}

TEST(config_table, every_parameter_has_a_sentence_and_values) {
  gpu_config config;
  const std::vector<std::string> texts = {"gpu.name"};
  for (const parameter_reference& p : parameters_of(config)) {
    const std::string name = p.about->name();
    const bool number = std::holds_alternative<unsigned*>(p.value) || std::holds_alternative<double*>(p.value);
    EXPECT_EQ(number, p.about->is_number()) << name;
    EXPECT_EQ(std::holds_alternative<std::vector<unsigned>*>(p.value), p.about->is_list) << name;
    EXPECT_EQ(std::holds_alternative<choice_value>(p.value), p.about->is_choice()) << name;
    const bool any_text = std::find(texts.begin(), texts.end(), name) != texts.end();
    EXPECT_EQ(std::holds_alternative<std::string*>(p.value), any_text) << name << ": a choice is an enumeration";
    EXPECT_EQ(p.about->is_text, any_text) << name;
    EXPECT_GT(p.about->description.size(), 3u) << name;
    EXPECT_EQ(find_parameter(name), p.about);
    EXPECT_EQ(text_of(p), p.about->default_text) << name;
  }
  EXPECT_EQ(find_parameter("gpu.sm_cuont"), nullptr);
}

TEST(config_table, names_of_choices_are_those_of_their_enumerators) {
  gpu_config c;
  const auto set = [&](const char* name, const char* text) { return set_text(c, *find_parameter(name), text); };
  EXPECT_EQ(set("l2.hash", "none"), "");
  EXPECT_EQ(c.l2.hash, choice::hash::none);
  EXPECT_EQ(set("context.priority_preemption", "auto"), "");
  EXPECT_EQ(c.context.priority_preemption, choice::priority_preemption::auto_);
  EXPECT_EQ(set("sub_partition.scheduler", "ccws"), "");
  EXPECT_EQ(c.sub_partition.scheduler, choice::scheduler::ccws);
  EXPECT_EQ(set("cwd.placement", "most_free"), "");
  EXPECT_EQ(c.cwd.placement, choice::placement::most_free);
  EXPECT_EQ(set("memory.model", "external"), "");
  EXPECT_EQ(c.memory.model, choice::memory_model::external);
  EXPECT_EQ(set("dram.preset", "hbm3"), "");
  EXPECT_EQ(c.dram.preset, choice::named<choice::dram_preset>("hbm3"));
  EXPECT_EQ(c.dram.clock_mhz, 2617) << "and all that the kind says";
  EXPECT_EQ(set("memory.model", "outer"), "dram, fixed, external") << "nothing was set";
  EXPECT_EQ(c.memory.model, choice::memory_model::external);
}

TEST(config_table, ranges_say_what_they_hold) {
  using form = numeric_range::form;
  const numeric_range some{1, 64}, none_or_some{0.25, 2, form::or_zero}, powers{4, 16, form::powers_of_two},
      warps{0, 64, form::multiples_of_32}, rates{0.25, 32, form::warp_rates},
      none_or_rates{0.25, 32, form::warp_rates_or_zero};
  EXPECT_TRUE(some.holds(1) && some.holds(64) && !some.holds(0) && !some.holds(65) && !some.holds(std::nan("")));
  EXPECT_TRUE(none_or_some.holds(0) && none_or_some.holds(0.25) && !none_or_some.holds(0.1));
  EXPECT_TRUE(powers.holds(4) && powers.holds(8) && !powers.holds(12) && !powers.holds(2));
  EXPECT_TRUE(warps.holds(0) && warps.holds(32) && !warps.holds(33));
  for (const double lanes : {32.0, 16.0, 32.0 / 3, 10.67, 8.0, 6.4, 0.25, 0.3, 0.7})
    EXPECT_EQ(rates.holds(lanes), lanes != 0.3 && lanes != 0.7) << lanes;
  for (const double lanes : {0.0, 0.2, 10.6, 11.0, 15.9, 24.0, 31.0, 33.0, 48.0, 64.0})
    EXPECT_FALSE(rates.holds(lanes)) << lanes;
  EXPECT_TRUE(none_or_rates.holds(0) && none_or_rates.holds(8) && !none_or_rates.holds(12));
  EXPECT_EQ(some.text(), "1 to 64");
  EXPECT_EQ(none_or_some.text(), "0 or 0.25 to 2");
  EXPECT_EQ(powers.text(), "a power of two, 4 to 16");
  EXPECT_EQ(warps.text(), "a multiple of 32, 0 to 64");
  EXPECT_EQ(rates.text(), "32 / a whole number of cycles, 0.25 to 32");
  EXPECT_EQ(none_or_rates.text(), "0, or 32 / a whole number of cycles, 0.25 to 32");
  EXPECT_EQ((numeric_range{128, 128}.text()), "128");
}

// HEDDLE_RENEW_PAGE=1 rewrites the tables.
TEST(config_table, the_page_has_these_tables) {
  const std::string file = HEDDLE_SOURCE_CONFIGS "/../docs/model/configuration.md";
  std::string page = read_text_file(file);
  const std::size_t begin = page.find("### [gpu]\n");
  ASSERT_NE(begin, std::string::npos);
  if (std::getenv("HEDDLE_RENEW_PAGE") != nullptr) {
    std::ofstream(file) << page.substr(0, begin) << parameter_tables();
    page = read_text_file(file);
  }
  EXPECT_EQ(parameter_tables(), page.substr(begin)) << "HEDDLE_RENEW_PAGE=1 writes them";
}

TEST(narrow, holds_or_throws) {
  EXPECT_EQ(narrow<std::uint16_t>(65535u), 65535);
  EXPECT_THROW(narrow<std::uint16_t>(65536u), internal_error);
  EXPECT_THROW(narrow<std::uint8_t>(-1), internal_error);
  EXPECT_THROW(narrow<int>(4294967295u), internal_error);
  EXPECT_EQ(narrow<std::uint32_t>(4294967295.0), 4294967295u);
  EXPECT_THROW(narrow<std::uint32_t>(4294967296.0), internal_error);
  EXPECT_THROW(narrow<std::uint32_t>(0.5), internal_error);
  EXPECT_THROW(narrow<std::uint32_t>(-1.0), internal_error);
}

TEST(printable, shows_text_and_escapes_what_a_terminal_acts_on) {
  EXPECT_EQ("caf\xc3\xa9 5 \xe2\x82\xac \xf0\x9f\x98\x80", printable("caf\xc3\xa9 5 \xe2\x82\xac \xf0\x9f\x98\x80"));
  EXPECT_EQ("\\n\\t\\x1b[2J\\x7f", printable("\n\t\x1b[2J\x7f"));
  EXPECT_EQ(
      "\\x9b"
      "31m",
      printable("\xc2\x9b"
                "31m"));
  EXPECT_EQ("\xc2\xa0", printable("\xc2\xa0"));
  EXPECT_EQ("\\u200e\\u200f\\u2028\\u202e\\u2066\\u2069\\ufeff",
            printable("\xe2\x80\x8e\xe2\x80\x8f\xe2\x80\xa8\xe2\x80\xae\xe2\x81\xa6\xe2\x81\xa9\xef\xbb\xbf"));
  EXPECT_EQ("\xe2\x80\x90\xe2\x80\xaf\xe2\x81\xaa", printable("\xe2\x80\x90\xe2\x80\xaf\xe2\x81\xaa"));
  EXPECT_EQ("\\xff\\xc2", printable("\xff\xc2"));
}

TEST(one_line, cuts_long_words_and_quotes_but_not_what_an_apostrophe_begins) {
  const auto cut = [](char c) { return std::string(120, c) + "..." + std::string(80, c); };
  EXPECT_EQ("key " + cut('x') + " is unknown", one_line("key " + std::string(300, 'x') + " is unknown"));
  EXPECT_EQ(cut('y'), one_line(std::string(300, 'y')));
  // What stands in quotation marks is cut as a whole, blanks included: 202 characters with the marks.
  std::string words, longer;
  for (int k = 0; k < 150; ++k) longer += "a ";
  words = "'" + longer + "'";
  EXPECT_EQ("value " + words.substr(0, 121) + "..." + words.substr(words.size() - 81) + " is wrong",
            one_line("value " + words + " is wrong"));
  EXPECT_EQ("a file's " + longer + "end' of it", one_line("a file's " + longer + "end' of it"));
  EXPECT_EQ(words.substr(0, 121) + "..." + words.substr(words.size() - 81) + ", expected",
            one_line(words + ", expected"));
  // Places are kept; a file's name is cut as one word, blanks included.
  EXPECT_EQ("a b.ini:3:14: wrong", one_line("a b.ini:3:14: wrong"));
  EXPECT_EQ(longer.substr(0, 120) + "..." + longer.substr(220) + ":3:14: wrong", one_line(longer + ":3:14: wrong"));
  EXPECT_EQ(1003u, one_line(longer + longer + longer + longer).size());
}

TEST(utf8_sequence, has_the_bounds_of_rfc_3629) {
  const auto length = [](const char* text) { return utf8_sequence(text, 0); };
  EXPECT_EQ(1u, length("\x7f"));
  for (const char* none : {"\x80", "\xbf", "\xc1\x80", "\xe0\x9f\xbf", "\xed\xa0\x80", "\xf0\x8f\xbf\xbf",
                           "\xf4\x90\x80\x80", "\xf5\x80\x80\x80", "\xc2", "\xc2\x7f", "\xe1\x80\xc0", "\xf1\x80\x80"})
    EXPECT_EQ(0u, length(none)) << none;
  for (const char* two : {"\xc2\x80", "\xdf\xbf"}) EXPECT_EQ(2u, length(two)) << two;
  for (const char* three : {"\xe0\xa0\x80", "\xe1\x80\x80", "\xed\x9f\xbf", "\xef\xbf\xbf"})
    EXPECT_EQ(3u, length(three)) << three;
  for (const char* four : {"\xf0\x90\x80\x80", "\xf1\x80\x80\x80", "\xf4\x8f\xbf\xbf"})
    EXPECT_EQ(4u, length(four)) << four;
}

TEST(own_descriptors, have_these_names) {
  for (const char* name : {"/dev/stdin", "/dev/stdout", "/dev/stderr", "/dev/fd/0", "/dev/fd/63", "/proc/self/fd/7"})
    EXPECT_TRUE(names_own_descriptor(name)) << name;
  for (const char* name : {"", "/dev/std", "/dev/null", "/dev/fd/", "/dev/fd/x", "/dev/fd/1/a", "/proc/self/fd",
                           "/proc/1/fd/0", "a/dev/stdin"})
    EXPECT_FALSE(names_own_descriptor(name)) << name;
}

}  // namespace config_table_test
}  // namespace heddle::test
