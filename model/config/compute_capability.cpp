// SPDX-License-Identifier: MIT
// The compute capabilities of existing chips. A chip's abilities are looked up by its compute capability, and those of
// other chips are unknown.
#include <iterator>

#include "heddle/config/parameters.h"

namespace heddle {

namespace {

/// Major*10 + minor, ascending.
constexpr int versions[] = {10, 11, 12, 13, 20, 21, 30, 32, 35, 37,  50,  52,  53,  60,  61, 62,
                            70, 72, 75, 80, 86, 87, 88, 89, 90, 100, 101, 103, 110, 120, 121};

std::string text_of(int version) { return std::to_string(version / 10) + "." + std::to_string(version % 10); }

}  // namespace

std::string choice::words_of(compute_capability) {
  std::string words;
  for (const int version : versions) words += text_of(version) + ",";
  return words;
}

int compute_capability(const gpu_config& config) {
  const auto row = static_cast<std::size_t>(config.gpu.compute_capability);
  return row < std::size(versions) ? versions[row] : 0;
}

std::string compute_capability_text(const gpu_config& config) { return text_of(compute_capability(config)); }

}  // namespace heddle
