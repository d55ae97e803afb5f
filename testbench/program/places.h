// SPDX-License-Identifier: MIT
#pragma once

#include <string>

namespace heddle::testbench {

/// The folder of the documentation pages (job.md, metrics.md, …) of this program, in the installed tree or in the
/// source tree. Empty: there is none.
std::string docs_folder();
/// The path of one of these pages for a message, or "docs/PAGE" of the source tree if they are not installed.
std::string docs_page(const std::string& page);

}  // namespace heddle::testbench
