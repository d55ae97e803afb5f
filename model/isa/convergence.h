// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>

namespace heddle::isa {

/// NOP, in sub: instructions that keep a warp's lanes together on the chip (Volta and later). They take an issue slot;
/// the reconvergence point is in their branches (reconverge: behind the BSYNC).
constexpr std::uint8_t nop_bssy = 1;   // lanes that diverge from here on reconverge at the target
constexpr std::uint8_t nop_bsync = 2;  // each part of the warp executes it before it waits for the others
constexpr std::uint8_t nop_bmov = 3;   // clears the register of a convergence barrier before its BSSY
constexpr const char* nop_names[] = {"NOP", "BSSY", "BSYNC", "BMOV.CLEAR"};

}  // namespace heddle::isa
