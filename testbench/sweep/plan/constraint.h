// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "testbench/sweep/plan/sweep_file.h"

namespace heddle::testbench {

/// A condition over a point, such as `launch.block * sm.max_blocks > 2048 and not (gpu = v100 or gpu = p100)`:
/// comparisons = != < <= > >=, sums and products of numbers, and, or, not, parentheses.
class constraint {
 public:
  /// True if a word names a variable that has a value at every point.
  using is_variable = std::function<bool(const std::string& name)>;
  /// The value of a variable at the evaluated point.
  using value_of = std::function<std::string(const std::string& name)>;

  /// What was expected, if a variable never has the value of a text; otherwise empty.
  using wrong_value = std::function<std::string(const std::string& name, const std::string& text)>;

  /// Throws input_error with the position for invalid syntax, an unknown name where a number is needed, a comparison
  /// with a wrong value, or a condition without any variable. `names` are the candidates for suggestions.
  constraint(const sweep_constraint& source, const is_variable& known, const std::vector<std::string>& names = {},
             const wrong_value& wrong = {});
  ~constraint();
  constraint(constraint&&) noexcept;

  [[nodiscard]] const std::string& name() const { return name_; }
  /// The variables in the condition.
  [[nodiscard]] const std::vector<std::string>& variables() const { return variables_; }
  /// Throws input_error if a value that is not a number is compared by size or used in arithmetic.
  [[nodiscard]] bool holds(const value_of& values) const;

  struct node;

 private:
  std::string name_;
  std::string where_;
  std::vector<std::string> variables_;
  std::unique_ptr<node> root_;
};

}  // namespace heddle::testbench
