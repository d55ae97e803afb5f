// SPDX-License-Identifier: MIT
#pragma once

#include <string>

namespace heddle::cuda {

/// The PTX with `.maxnreg` for each kernel that has no such directive nor launch bounds, as ptxas' -maxrregcount
/// counts.
std::string with_register_limit(const std::string& ptx, unsigned registers);

}  // namespace heddle::cuda
