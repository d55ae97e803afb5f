// SPDX-License-Identifier: MIT
#include "testbench/places.h"

#include <filesystem>

#include "config/shipped.h"

namespace heddle::testbench {

std::string docs_folder() {
  namespace fs = std::filesystem;
  const fs::path configs = shipped_config_folder();
  std::error_code ignored;
  // PREFIX/share/heddle/configs has PREFIX/share/doc/heddle beside it, the source tree's configs its docs.
  for (const fs::path& folder : {configs / ".." / ".." / "doc" / "heddle", configs / ".." / "docs"})
    if (fs::is_regular_file(folder / "job.md", ignored)) return fs::weakly_canonical(folder, ignored).string();
  return "";
}

std::string docs_page(const std::string& page) {
  const std::string folder = docs_folder();
  return (folder.empty() ? "docs" : folder) + "/" + page;
}

}  // namespace heddle::testbench
