// SPDX-License-Identifier: MIT
// Instructions of which one waits for another, decoded or run on one SM.
#pragma once

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "heddle/config/config.h"
#include "heddle/isa/matrix.h"
#include "sm_harness.h"
#include "tests/unit/common/fresh_simulation.h"

namespace heddle::test {
namespace dependence_bench {

inline isa::instruction load(std::uint8_t d, std::uint8_t address) {
  isa::instruction i = op(isa::opcode::ld, d, isa::make_reg(address, 2));
  i.type = isa::dtype::u32;
  i.mem_space = isa::space::global;
  return i;
}

inline isa::instruction mufu(std::uint8_t d, std::uint8_t a) {
  isa::instruction i = op(isa::opcode::mufu, d, isa::make_reg(a));
  i.sub = static_cast<std::uint8_t>(isa::mufu_function::rcp);
  return i;
}

// A guarded branch back to the instruction `first`.
inline isa::instruction back_to(std::uint32_t first) {
  isa::instruction i;
  i.op = isa::opcode::bra;
  i.guard.reg = 0;
  i.target = first;
  return i;
}

inline std::shared_ptr<const decoded_program> decoded(std::vector<isa::instruction> code, const gpu_config& config) {
  auto program = std::make_shared<isa::program>();
  program->code = std::move(code);
  program->registers = 64;
  return decode(program, config, 0);
}

inline isa::instruction product(isa::matrix_shape shape, std::uint8_t d, std::uint8_t a, unsigned a_registers,
                                std::uint8_t b, unsigned b_registers) {
  isa::instruction i = op(isa::opcode::hmma, d, isa::make_reg(a, static_cast<std::uint8_t>(a_registers)),
                          isa::make_reg(b, static_cast<std::uint8_t>(b_registers)), isa::make_reg(d, 4));
  i.dst_count = 4;
  i.src_type = isa::dtype::f16;
  i.sub = static_cast<std::uint8_t>(shape);
  return i;
}
inline isa::instruction deep_product(std::uint8_t d) { return product(isa::matrix_shape::m16n8k16, d, 4, 4, 8, 2); }

inline isa::instruction dfma(unsigned d, unsigned a) {
  isa::instruction i =
      op(isa::opcode::dfma, static_cast<std::uint8_t>(d), isa::make_reg(static_cast<std::uint8_t>(a), 2),
         isa::make_reg(static_cast<std::uint8_t>(a), 2), isa::make_reg(static_cast<std::uint8_t>(a), 2));
  i.type = isa::dtype::f64;
  i.dst_count = 2;
  return i;
}

// Independent double-precision additions: registers 0 to 15 from 16 and 17.
inline isa::instruction dadd(unsigned k) {
  isa::instruction i =
      op(isa::opcode::dadd, static_cast<std::uint8_t>(k % 8 * 2), isa::make_reg(16, 2), isa::make_reg(16, 2));
  i.type = isa::dtype::f64;
  i.dst_count = 2;
  return i;
}
// One lane in each of four sub-partitions: as one unit of four lanes it accepts a warp every 8 cycles, from any

// Writes P1; the argument tells whether it also reads it.
inline isa::instruction compare(bool reads) {
  isa::instruction i = op(isa::opcode::isetp, isa::rz, isa::make_reg(4), isa::make_reg(5));
  i.dst_count = 0;
  i.type = isa::dtype::u32;
  i.cmp = isa::compare::eq;  // registers are zero: always true
  i.pdst[0] = 1;
  if (reads) i.psrc[0].reg = 1;
  return i;
}
inline isa::instruction under_p1(isa::instruction i) {
  i.guard.reg = 1;
  return i;
}

/// A configuration in which no instruction is waited for, so that only issue is measured.
inline gpu_config without_fetch(const std::string& gpu, const std::vector<std::string>& settings) {
  gpu_config config = load_config(gpu, settings);
  config.instruction_cache.size_bytes = 1 << 20;
  config.instruction_cache.miss_latency_cycles = 0;
  config.instruction_cache.second_level_bytes = 0;
  return config;
}

class register_file : public fresh_simulation {
 protected:
  /// Cycles of 120 further instructions, of which number k is `make(k)`.
  template <class F>
  static std::uint64_t cycles_of(F make, std::vector<std::string> settings, unsigned threads = 32,
                                 const std::string& gpu = "gtx1080");
};

template <class F>
std::uint64_t register_file::cycles_of(F make, std::vector<std::string> settings, unsigned threads,
                                       const std::string& gpu) {
  restart();
  sm_harness h(without_fetch(gpu, settings));
  const auto run = [&](unsigned length) {
    std::vector<isa::instruction> code;
    for (unsigned k = 0; k < length; ++k) code.push_back(make(k));
    code.push_back(exit_instruction());
    const grid_record& g = h.run(std::move(code), threads, 1, 64);
    return g.end_cycle - g.start_cycle;
  };
  const std::uint64_t shorter = run(64);
  const std::uint64_t cycles = run(64 + 120) - shorter;
  h.sm.check_invariants();
  return cycles;
}

}  // namespace dependence_bench
}  // namespace heddle::test
