// SPDX-License-Identifier: MIT
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "heddle/frontend/ptx/syntax/ast.h"

namespace heddle::ptx {

/// The parsed modules that are in use. Equal requests share one tree, also those of a host and its GPU if they share
/// this object (gpu::parsed_modules). Not for use by several threads at once.
class parsed_modules {
 public:
  /// Parses one module, or links several whose texts and names are each separated by NUL characters (link.h). Throws
  /// input_error.
  [[nodiscard]] std::shared_ptr<const ast_module> parse(const std::string& texts, const std::string& names);

 private:
  struct entry;
  std::vector<std::weak_ptr<const entry>> known_;
};

}  // namespace heddle::ptx
