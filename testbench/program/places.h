// SPDX-License-Identifier: MIT
#pragma once

#include <string>

namespace heddle::testbench {

/// The folder of the pages (job.md, metrics.md, …) that belong to this program: those of the tree that it is installed
/// in, or of the source tree. Empty: there is none.
std::string docs_folder();
/// One of these pages for a message: its whole name, or "docs/PAGE" of the source tree where they are not installed.
std::string docs_page(const std::string& page);

}  // namespace heddle::testbench
