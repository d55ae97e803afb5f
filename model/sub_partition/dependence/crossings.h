// SPDX-License-Identifier: MIT
#pragma once

namespace heddle {

struct decoded_program;

/// Results that an instruction of another unit reads next, in program order, take `cycles` at least: those of the units
/// fp32, int and half, which forward results to themselves earlier.
void lengthen_crossings(decoded_program& p, unsigned cycles);

}  // namespace heddle
