// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <string>
#include <vector>

namespace heddle::ptx {

/// Kernels as a message lists them: "a, b, c", only the first 12 of many ("... and 8 more").
inline std::string kernel_list(const std::vector<std::string>& names) {
  constexpr std::size_t most = 12;
  std::string text;
  for (std::size_t k = 0; k < names.size() && k < most; ++k) text += (k == 0 ? "" : ", ") + names[k];
  return names.size() <= most ? text : text + " and " + std::to_string(names.size() - most) + " more";
}

}  // namespace heddle::ptx
