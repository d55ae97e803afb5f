// SPDX-License-Identifier: MIT
#pragma once

#include <string>

namespace heddle::cuda {

/// Where the program called this library: "main (solver+0x1234)", or "solver+0x1234" where the function has no name in
/// the file's table; the number is for addr2line. Empty: not known.
std::string caller();

}  // namespace heddle::cuda
