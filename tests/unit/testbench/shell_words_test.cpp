// SPDX-License-Identifier: MIT
#include "testbench/text/shell_words.h"

#include <gtest/gtest.h>

#include "heddle/config/error.h"

namespace shell_words_test {

using heddle::testbench::shell_quoted;
using heddle::testbench::shell_words;
using words = std::vector<std::string>;

TEST(shell_words, are_those_of_a_shell) {
  EXPECT_EQ((words{"--gpu", "h100", "--report", "my report.html"}),
            shell_words("  --gpu h100\t--report 'my report.html'\n", "X"));
  EXPECT_EQ((words{"a b", "", "it's", "\\n", "x=y z"}), shell_words("a\\ b '' \"it's\" '\\n' x=\"y z\"", "X"));
  EXPECT_EQ(words{}, shell_words("", "X"));
  EXPECT_THROW(shell_words("--report 'r.html", "X"), heddle::input_error);
}

TEST(shell_words, are_restored_from_their_quoted_form) {
  for (const std::string& word : words{"", "plain", "a b", "it's", "\"", "\\", "$HOME", "*.cu", "%n.%p.html"})
    EXPECT_EQ(words{word}, shell_words(shell_quoted(word), "X")) << word;
}

}  // namespace shell_words_test
