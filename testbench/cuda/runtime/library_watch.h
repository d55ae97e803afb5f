// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>

namespace heddle::cuda {

/// Calls `visit` with the path and the load address of each library that the program has and of each one that it loads
/// later (dlopen). A later library is visited when it is in memory and its constructors have not yet run. Where the
/// dynamic linker's function cannot be changed, later ones are not visited.
void watch_libraries(void (*visit)(const char* path, std::uintptr_t base));

/// Overwrites the code at `at`, a function of `bytes`, with a jump to `to`; false: the system does not permit it. Only
/// on x86-64. At the beginning there are as few new bytes as possible: a debugger that has a breakpoint behind the
/// function's prologue writes there what it found before.
bool write_jump(std::uintptr_t at, const void* to, std::uint64_t bytes);
constexpr unsigned jump_bytes = 14;

}  // namespace heddle::cuda
