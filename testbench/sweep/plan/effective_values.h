// SPDX-License-Identifier: MIT
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "heddle/config/parameters.h"

namespace heddle::testbench {

/// The parameters of one GPU with some of them overridden, as load_config would have them but for whether they fit each
/// other: names of points and constraints need them many thousand times, and before anything is run.
class effective_values {
 public:
  using overrides = std::vector<std::pair<std::string, const std::string*>>;

  explicit effective_values(const gpu_config& base);

  /// Every value in the order of the INI file, as text, lines apart.
  std::string text(const overrides& changes);
  /// As load_config would have made it. Throws input_error where the values do not fit each other.
  gpu_config config(const overrides& changes) const;
  /// One value without overrides, empty for a name that there is not.
  std::string base(const std::string& name) const;
  /// One value, empty for a name that there is not.
  std::string value(const std::string& name, const overrides& changes);

 private:
  void set(const overrides& changes);

  const gpu_config base_;
  gpu_config values_;
};

}  // namespace heddle::testbench
