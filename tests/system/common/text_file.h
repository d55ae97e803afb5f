// SPDX-License-Identifier: MIT
#pragma once

#include <filesystem>
#include <string>

namespace heddle::test {

/// The bytes of a file; none if it cannot be read.
std::string content(const std::filesystem::path& file);

}  // namespace heddle::test
