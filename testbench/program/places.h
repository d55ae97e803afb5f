// SPDX-License-Identifier: MIT
#pragma once

#include <string>

namespace heddle::testbench {

/// The folder of the documentation pages (use/job.md, use/metrics.md, …) of this program, in the installed tree or in
/// the source tree. Empty: there is none.
std::string docs_folder();

}  // namespace heddle::testbench
