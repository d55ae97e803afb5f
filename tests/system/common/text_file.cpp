// SPDX-License-Identifier: MIT
#include "text_file.h"

#include <fstream>
#include <iterator>

namespace heddle::test {

std::string content(const std::filesystem::path& file) {
  std::ifstream in(file, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

}  // namespace heddle::test
