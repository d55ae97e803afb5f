// SPDX-License-Identifier: MIT
#pragma once

namespace heddle::testbench {

/// SHA-256 of the source from which the simulator was built, hexadecimal: what a state means depends on it. The same
/// source has the same one in every build.
const char* program_digest();

}  // namespace heddle::testbench
