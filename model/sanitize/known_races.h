// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace heddle::sanitize {

/// Instructions that have raced with another so often in a launch that a part of their executions is enough. Races of
/// code that runs often are found by few of its executions: LiteRace (Marino, Musuvathi, Narayanasamy, PLDI 2009).
class known_races {
 public:
  static constexpr unsigned most_cases = 1024;  // of two instructions, with all executions

  void begin(std::size_t instructions) {
    any_ = false;
    if (known_ == 1 && numbers_.size() == instructions) return;
    numbers_.assign(instructions, 0);
    often_.assign(instructions, 0);
    cases_.clear();
    known_ = 1;
  }
  /// One more case, by the indices of the instructions.
  void counts(std::uint32_t earlier, std::uint32_t later) {
    const std::size_t row = number_of(later), column = number_of(earlier);
    if (row == 0 || column == 0 || ++cases_[row * most_known + column] != most_cases) return;
    any_ = true;
    often_[earlier] = often_[later] = 1;
  }
  /// Whether the next execution of an instruction need not be checked: 15 of 16.
  bool skips(std::uint32_t index) { return any_ && often_[index] != 0 && (++executions_ * 0x9e3779b1u) >> 28 != 0; }
  [[nodiscard]] bool any() const { return any_; }
  /// By index: 1 if some executions have not been checked.
  [[nodiscard]] const std::vector<std::uint8_t>& often() const { return often_; }

 private:
  static constexpr std::size_t most_known = 512;
  // 0: there are too many that race.
  std::size_t number_of(std::uint32_t index) {
    if (numbers_[index] != 0 || known_ == most_known) return numbers_[index];
    if (cases_.empty()) cases_.resize(most_known * most_known);
    return numbers_[index] = static_cast<std::uint16_t>(known_++);
  }

  bool any_ = false;
  std::uint32_t executions_ = 0;
  std::vector<std::uint8_t> often_;
  std::vector<std::uint16_t> numbers_;  // by instruction that has raced, from 1
  std::vector<std::uint32_t> cases_;    // by the numbers of the later one and the earlier one
  std::size_t known_ = 1;
};

}  // namespace heddle::sanitize
