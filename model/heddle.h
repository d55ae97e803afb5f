// SPDX-License-Identifier: MIT
// Everything that a program with a GPU in it needs: the GPU, its driver, its configuration, its errors. Parts (one SM, an L2
// slice, ...) have headers of their own below <heddle/...>.
#pragma once

// A SystemC library links only with programs of the C++ standard that it was built with; here the reason can be told.
#if defined(__cplusplus) && (__cplusplus < 201703L || __cplusplus >= 202002L)
#error "Heddle and its SystemC library are built as C++17: compile with -std=c++17 (CMake: CMAKE_CXX_STANDARD 17)"
#endif

#include "config/config.h"
#include "config/error.h"
#include "config/presets.h"
#include "gpu/gpu.h"
#include "gpu/host_driver.h"
#include "gpu/host_registers.h"
