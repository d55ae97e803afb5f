// SPDX-License-Identifier: MIT
#pragma once

#include <systemc>
#include <type_traits>

/// In the constructor of a module, before SC_METHOD and SC_THREAD: names the module's class. SystemC 2.3 needs it
/// (SC_HAS_PROCESS); 3.0 finds the class itself and has deprecated that macro.
#if SC_VERSION_MAJOR >= 3
#define HEDDLE_HAS_PROCESS(module) \
  static_assert(std::is_base_of_v<sc_core::sc_module, module>, "a module has processes")
#else
#define HEDDLE_HAS_PROCESS(module) SC_HAS_PROCESS(module)
#endif
