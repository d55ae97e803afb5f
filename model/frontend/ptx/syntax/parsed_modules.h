// SPDX-License-Identifier: MIT
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "heddle/frontend/ptx/syntax/ast.h"

namespace heddle::ptx {

struct lowered_kernel;

/// The parsed modules that are in use. Equal requests share one tree, also those of a host and its GPU if they share
/// this object (gpu::parsed_modules); so do kernels lowered from them (lower.h). Not for use by several threads at
/// once.
class parsed_modules {
 public:
  /// Parses one module, or links several whose texts and names are each separated by NUL characters (link.h). Throws
  /// input_error.
  [[nodiscard]] std::shared_ptr<const ast_module> parse(const std::string& texts, const std::string& names);

  /// The lowered kernels that are in use, in the order in which they were made.
  [[nodiscard]] std::vector<std::weak_ptr<const lowered_kernel>>& lowered() { return lowered_; }

 private:
  struct entry;
  std::vector<std::weak_ptr<const entry>> known_;
  std::vector<std::weak_ptr<const lowered_kernel>> lowered_;
};

}  // namespace heddle::ptx
