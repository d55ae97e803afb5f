// SPDX-License-Identifier: MIT
#include "text_file.h"

#include <fstream>

namespace heddle::test {

std::string content(const std::filesystem::path& file) {
  std::ifstream in(file, std::ios::binary);
  std::string text;
  for (char block[1 << 16]; in.read(block, sizeof block), in.gcount() > 0;)
    text.append(block, static_cast<std::size_t>(in.gcount()));
  return text;
}

}  // namespace heddle::test
