// SPDX-License-Identifier: MIT
#include "testbench/record/recorded_machine.h"

#include <fmt/format.h>

#include "heddle/config/parameter_table.h"
#include "heddle/hash/splitmix64.h"

namespace heddle::testbench {

std::string recorded_machine(const gpu_config& config) {
  std::uint64_t hash = 0;
  for (const parameter& p : parameters())
    for (const char c : p.name() + " = " + text_of(p, config) + "\n")
      hash = hash_with(hash, static_cast<unsigned char>(c));
  return fmt::format("{} {:016x}", config.gpu.name, hash);
}

}  // namespace heddle::testbench
