// SPDX-License-Identifier: MIT
#pragma once

namespace heddle::simt {

/// Sine and cosine of a finite f32 value in radians, relative error below 2^-45 (f32 operands; no libm). Reduction by
/// two-part pi/2 below 2^25, by multiplication with 256 bits of 2/pi (Payne and Hanek 1983) above.
double sine(double x);
double cosine(double x);

}  // namespace heddle::simt
