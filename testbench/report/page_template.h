// SPDX-License-Identifier: MIT
#pragma once

#include <string_view>

namespace heddle::testbench {

/// The content of testbench/report/page.html; the build generates the source that defines it.
std::string_view page_template();

}  // namespace heddle::testbench
