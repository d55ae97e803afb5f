// SPDX-License-Identifier: MIT
#pragma once

#include <string>

namespace heddle::testbench {

/// The page, as the build has embedded it, with `json` as the data that it shows. Whatever strings the JSON holds, none
/// of them ends the element that it stands in.
std::string report_page(const std::string& json);

/// `text` with the bytes that are no UTF-8 replaced by U+FFFD.
std::string valid_utf8(const std::string& text);

}  // namespace heddle::testbench
