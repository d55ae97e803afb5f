// SPDX-License-Identifier: MIT
// libFuzzer on the reader of fat binaries: any bytes give entries or an input_error, never a crash, a hang or undefined
// behaviour.
#include <cstddef>
#include <cstdint>

#include "heddle/config/error.h"
#include "testbench/exec/fat_binary.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace heddle;
  try {
    const auto entries = testbench::read_fat_binary(data, size);
    testbench::choose_ptx(entries, 70);
  } catch (const input_error&) {}
  return 0;
}
