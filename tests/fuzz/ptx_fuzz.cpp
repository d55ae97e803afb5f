// SPDX-License-Identifier: MIT
// libFuzzer on the PTX parser and lowering: any bytes give machine programs or an input_error, never a crash, a hang, a
// broken invariant or undefined behaviour.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>

#include "heddle/config/error.h"
#include "heddle/config/parameters.h"
#include "heddle/frontend/ptx/lower.h"

namespace {

using namespace heddle;

/// Registers that a block and those in it declare: lowering keeps a record of each, which is memory and no finding.
std::uint64_t declared_registers(const ptx::ast_block& b) {
  std::uint64_t n = 0;
  for (const auto& v : b.variables) n += v.range + 1;
  for (const auto& s : b.statements)
    if (s.block) n += declared_registers(*s.block);
  return n;
}

gpu_config chip(bool imad) {
  gpu_config c;
  c.gpu.name = "fuzz";
  c.gpu.compute_capability = choice::named<choice::compute_capability>("9.0");
  c.integer.multiplier = imad ? choice::multiplier::imad : choice::multiplier::xmad;
  c.sm.registers_per_thread = 255;
  c.sm.registers = 65536;
  c.sm.max_warps = 64;
  c.fp64.lanes = c.half.lanes = 16;
  return c;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const gpu_config chips[] = {chip(false), chip(true)};
  const std::string text(reinterpret_cast<const char*>(data), size);
  try {
    const auto m = ptx::parse(text, "fuzz.ptx");
    std::uint64_t registers = 0;
    for (const auto& f : m->functions) registers += declared_registers(f.body);
    for (const auto& v : m->variables) {
      // An initialiser never holds more than its variable does.
      if (v.initialiser.size() > v.elements() * v.vector) std::abort();
    }
    if (registers > 4000 || ptx::global_bytes(*m).all > 1 << 20) return 0;
    const auto placed = ptx::place(m, 0x10000000, 0x20000000);
    for (const std::string& k : ptx::kernels(*m)) {
      try {
        ptx::lower(placed, k, chips[size % 2], size % 3 == 0 ? 24 : 0);
      } catch (const input_error&) {  // the other kernels may be better
      }
    }
  } catch (const input_error&) {}
  return 0;
}
