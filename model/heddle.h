// SPDX-License-Identifier: MIT
// Everything that a program with a GPU in it needs: the GPU, its driver, its configuration, its errors, and the macro
// of modules with processes. Parts (one SM, an L2 slice, ...) have headers of their own below <heddle/...>.
#pragma once

// A SystemC library links only with programs of the C++ standard that it was built with; here the reason can be told.
#if defined(__cplusplus) && (__cplusplus < 201703L || __cplusplus >= 202002L)
#error "Heddle and its SystemC library are built as C++17: compile with -std=c++17 (CMake: CMAKE_CXX_STANDARD 17)"
#endif

#include "heddle/config/config.h"
#include "heddle/config/error.h"
#include "heddle/config/presets.h"
#include "heddle/gpu/gpu.h"
#include "heddle/gpu/host/host_driver.h"
#include "heddle/gpu/host/host_registers.h"
#include "heddle/tlm/kernel/has_process.h"
