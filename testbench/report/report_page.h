// SPDX-License-Identifier: MIT
#pragma once

#include <string>

namespace heddle::testbench {

/// The embedded page with `json` as its data. No string in the JSON can end the HTML element that contains it.
std::string report_page(const std::string& json);

/// `text` with invalid UTF-8 bytes replaced by U+FFFD.
std::string valid_utf8(const std::string& text);

}  // namespace heddle::testbench
