// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>

namespace heddle::testbench {

/// The type of an output's elements.
enum class element_type : std::uint8_t { u8, s8, u16, s16, u32, s32, u64, s64, f16, f32, f64 };

/// Size of one element.
unsigned bytes_of(element_type type);

}  // namespace heddle::testbench
