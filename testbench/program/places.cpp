// SPDX-License-Identifier: MIT
#include "testbench/program/places.h"

#include <filesystem>

#include "heddle/config/shipped.h"

namespace heddle::testbench {

std::string docs_folder() {
  namespace fs = std::filesystem;
  // The pages are beside the configurations, both in the source tree and in an installed one.
  const fs::path folder = fs::path(shipped_config_folder()) / ".." / "docs";
  std::error_code ignored;
  return fs::is_regular_file(folder / "use" / "job.md", ignored) ? fs::weakly_canonical(folder, ignored).string() : "";
}

}  // namespace heddle::testbench
