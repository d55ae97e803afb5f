// SPDX-License-Identifier: MIT
// libFuzzer on the PTX parser: any bytes give a module or an input_error, never a crash, a hang or undefined behaviour.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>

#include "config/error.h"
#include "frontend/ptx/ast.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string text(reinterpret_cast<const char*>(data), size);
  try {
    const auto m = heddle::ptx::parse(text, "fuzz.ptx");
    for (const auto& v : m->variables) {
      // An initialiser never holds more than its variable does.
      if (v.initialiser.size() > v.elements() * v.vector) std::abort();
    }
  } catch (const heddle::input_error&) {
  }
  return 0;
}
