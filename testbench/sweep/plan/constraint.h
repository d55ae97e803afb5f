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
  /// Whether a word names something that has a value at every point.
  using is_variable = std::function<bool(const std::string& name)>;
  /// Its value at the point that is looked at.
  using value_of = std::function<std::string(const std::string& name)>;

  /// Throws input_error with the place: what is no condition; a word that names nothing where a number is wanted; a
  /// condition without any variable. `names` are those that such a word can have meant.
  constraint(const sweep_constraint& source, const is_variable& known, const std::vector<std::string>& names = {});
  ~constraint();
  constraint(constraint&&) noexcept;

  const std::string& name() const { return name_; }
  /// The variables that the condition names.
  const std::vector<std::string>& variables() const { return variables_; }
  /// Throws input_error: a value that is no number is compared by size or reckoned with.
  bool holds(const value_of& values) const;

  struct node;

 private:
  std::string name_;
  std::string where_;
  std::vector<std::string> variables_;
  std::unique_ptr<node> root_;
};

}  // namespace heddle::testbench
