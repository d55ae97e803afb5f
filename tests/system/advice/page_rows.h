// SPDX-License-Identifier: MIT
// The measured rows of the pages on advice (docs/use/advice).
#pragma once

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <string>

#include "tests/system/common/text_file.h"

namespace advice_table_test {

/// What a kernel took, and mended; and how many times faster that was said to be.
struct measured_pair {
  std::string rule, kernel, note, gpu;  // as pages name them
  unsigned blocks;
  double now, mended, estimated;

  [[nodiscard]] std::string page() const {
    std::string name = rule;
    std::replace(name.begin(), name.end(), ' ', '_');
    std::replace(name.begin(), name.end(), '-', '_');
    return HEDDLE_SOURCE "/docs/use/advice/" + name + ".md";
  }
  [[nodiscard]] std::string head() const {
    return fmt::format("| `{}`{} | {} | {} |", kernel, note, gpu, with_commas(blocks));
  }
  [[nodiscard]] std::string row() const {
    return fmt::format("{} {} | {} | {:.2f} | {} |", head(), with_commas(now), with_commas(mended), now / mended,
                       estimated == 1 ? "1" : fmt::format("{:.2f}", estimated));
  }
  static std::string with_commas(double whole) {
    std::string digits = fmt::format("{:.0f}", whole);
    for (std::size_t at = digits.size(); at > 3;) digits.insert(at -= 3, ",");
    return digits;
  }
};

/// A page that has a row of this kernel, GPU and number of blocks names cycles that are at most 3 % off. With
/// HEDDLE_RENEW_PAGE in the environment the row is written anew.
inline void hold_page(const measured_pair& m) {
  std::string page = heddle::test::content(m.page());
  const std::size_t at = page.find("\n" + m.head()) + 1;
  if (at == 0) return;
  const std::size_t end = page.find('\n', at);
  if (std::getenv("HEDDLE_RENEW_PAGE") != nullptr) {
    std::ofstream(m.page()) << page.replace(at, end - at, m.row());
    return;
  }
  const auto number = [&](std::size_t from) {
    std::string digits = page.substr(from, page.find(" |", from) - from);
    digits.erase(std::remove(digits.begin(), digits.end(), ','), digits.end());
    return std::strtod(digits.c_str(), nullptr);
  };
  const std::size_t first = at + m.head().size() + 1, second = page.find(" | ", first) + 3;
  const std::string what = m.page() + ": expected\n" + m.row();
  EXPECT_NEAR(number(first), m.now, 0.03 * m.now) << what;
  EXPECT_NEAR(number(second), m.mended, 0.03 * m.mended) << what;
}

}  // namespace advice_table_test
