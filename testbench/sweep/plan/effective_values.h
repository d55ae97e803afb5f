// SPDX-License-Identifier: MIT
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "heddle/config/parameters.h"

namespace heddle::testbench {

/// The parameters of one GPU with overrides, as load_config returns them but without the check that they are
/// consistent. The names of points and constraints need them many thousand times, before anything is run.
class effective_values {
 public:
  using overrides = std::vector<std::pair<std::string, const std::string*>>;

  explicit effective_values(const gpu_config& base);

  /// All values as text in the order of the INI file, one a line.
  std::string text(const overrides& changes);
  /// The configuration as load_config would return it. Throws input_error if the values are inconsistent.
  [[nodiscard]] gpu_config config(const overrides& changes) const;
  /// One value without overrides; empty for an unknown name.
  [[nodiscard]] std::string base(const std::string& name) const;
  /// One value; empty for an unknown name.
  std::string value(const std::string& name, const overrides& changes);

 private:
  void set(const overrides& changes);

  const gpu_config base_;
  gpu_config values_;
};

}  // namespace heddle::testbench
