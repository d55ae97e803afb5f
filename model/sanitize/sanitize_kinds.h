// SPDX-License-Identifier: MIT
#pragma once

namespace heddle {

/// What a sanitizer looks for, as bits.
namespace sanitize_kind {
constexpr unsigned races = 1;   // accesses that no synchronisation orders
constexpr unsigned memory = 2;  // accesses outside allocations, misaligned accesses
constexpr unsigned init = 4;    // reads of bytes that were never written
constexpr unsigned sync = 8;    // barriers in divergent code, wrong member masks
constexpr unsigned leaks = 16;  // memory that kernels have allocated and not freed
constexpr unsigned all = 31;
constexpr unsigned program_leaks = 32;  // memory of cudaMalloc that the program does not free; many correct ones do not
constexpr unsigned count = 5;
}  // namespace sanitize_kind

/// The name of a kind: "races" …
constexpr const char* sanitize_kind_names[sanitize_kind::count] = {"races", "memory", "init", "sync", "leaks"};

}  // namespace heddle
