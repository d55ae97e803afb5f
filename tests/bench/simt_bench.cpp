// SPDX-License-Identifier: MIT
// Nanoseconds per warp instruction: the execution function of one instruction called on a warp, all lanes active.
#include <benchmark/benchmark.h>

#include <cstring>
#include <string>
#include <vector>

#include "heddle/simt/execute.h"
#include "heddle/simt/vector/fast_kernels.h"

namespace {

using namespace heddle;
using isa::dtype;
using isa::opcode;

struct bench_warp {
  bench_warp() {
    launch.block = {32, 1, 1};
    launch.banks[0].resize(1024, 1);
    block.launch = &launch;
    block.shared = shared;
    block.shared_bytes = sizeof shared;
    state.regs = storage;
    state.predicates.fill(0x5555aaaau);
    state.predicates[7] = simt::all_lanes;
    state.active = state.live = simt::all_lanes;
    state.block = &block;
    for (unsigned k = 0; k < 16 * 32; ++k) {
      const float f = 1.0f + static_cast<float>(k % 97) / 64.0f;
      std::memcpy(&storage[k], &f, 4);
    }
    for (unsigned l = 0; l < 32; ++l) storage[10 * 32 + l] = 4 * l;
    for (unsigned l = 0; l < 32; ++l) storage[11 * 32 + l] = 0;
  }
  alignas(64) std::uint32_t storage[16 * 32];
  alignas(64) std::uint8_t shared[4096] = {};
  simt::launch_context launch;
  simt::block_context block;
  simt::warp_state state;
};

isa::instruction three_registers(opcode op, dtype type, std::uint8_t words = 1) {
  isa::instruction i;
  i.op = op;
  i.type = i.src_type = type;
  i.dst = 2;
  i.dst_count = words;
  i.src = {isa::make_reg(4, words), isa::make_reg(6, words), isa::make_reg(8, words), isa::operand{}};
  return i;
}

void measure(benchmark::State& state, const isa::instruction& i, simt::lane_mask mask) {
  bench_warp w;
  const simt::execute_function f = simt::select(i);
  for (auto _ : state) {
    f(i, w.state, mask);
    benchmark::ClobberMemory();
  }
}

void measure_baseline(benchmark::State& state, const isa::instruction& i) {
  bench_warp w;
  const simt::execute_function f = simt::baseline::select_fast(i);
  for (auto _ : state) {
    f(i, w.state, simt::all_lanes);
    benchmark::ClobberMemory();
  }
}

struct entry {
  const char* name;
  isa::instruction i;
};

entry change(const char* name, isa::instruction i, void (*edit)(isa::instruction&)) {
  edit(i);
  return {name, i};
}

std::vector<entry> entries() {
  using i_t = isa::instruction;
  std::vector<entry> e;
  e.push_back({"FFMA", three_registers(opcode::ffma, dtype::f32)});
  e.push_back(change("FFMA.c", e[0].i, [](i_t& i) { i.src[1] = isa::make_constant(0, 0x140); }));
  e.push_back(change("FFMA.FTZ", e[0].i, [](i_t& i) { i.ftz = true; }));
  e.push_back({"FADD", three_registers(opcode::fadd, dtype::f32)});
  e.push_back(change("FADD.neg", e[3].i, [](i_t& i) { i.src[1].negate = true; }));
  e.push_back({"FMUL", three_registers(opcode::fmul, dtype::f32)});
  e.push_back({"FMNMX", three_registers(opcode::fmnmx, dtype::f32)});
  e.push_back({"IADD3", three_registers(opcode::iadd3, dtype::u32)});
  e.push_back(change("IADD3.imm", e[7].i,
                     [](i_t& i) { i.src[1] = isa::make_immediate(4), i.src[2] = isa::make_reg(isa::rz); }));
  e.push_back(change("IADD3.carry", e[7].i, [](i_t& i) { i.pdst[0] = 1; }));
  e.push_back(change("IADD3.X", e[7].i, [](i_t& i) { i.extended = true, i.psrc[0] = {1, false}; }));
  e.push_back({"IMAD", three_registers(opcode::imad, dtype::u32)});
  e.push_back(change("IMAD.WIDE", e[11].i, [](i_t& i) { i.wide = true, i.dst_count = 2, i.src[2].count = 2; }));
  e.push_back(change("IMAD.HI", e[11].i, [](i_t& i) { i.high = true; }));
  e.push_back({"XMAD", three_registers(opcode::xmad, dtype::u32)});
  e.push_back(change("LOP3.and", three_registers(opcode::lop3, dtype::b32), [](i_t& i) { i.sub = 0xc0; }));
  e.push_back(change("LOP3.96", three_registers(opcode::lop3, dtype::b32), [](i_t& i) { i.sub = 0x96; }));
  e.push_back({"SHL", three_registers(opcode::shl, dtype::b32)});
  e.push_back(change("SHL.imm", e.back().i, [](i_t& i) { i.src[1] = isa::make_immediate(2); }));
  e.push_back({"SHR.S32", three_registers(opcode::shr, dtype::s32)});
  e.push_back({"SHF", three_registers(opcode::shf, dtype::u32)});
  e.push_back({"MOV", three_registers(opcode::mov, dtype::b32)});
  e.push_back(change("MOV.c", e.back().i, [](i_t& i) { i.src[0] = isa::make_constant(0, 0x140); }));
  e.push_back(change("LEA", three_registers(opcode::lea, dtype::u32), [](i_t& i) { i.sub = 2; }));
  e.push_back(change("SEL", three_registers(opcode::sel, dtype::b32), [](i_t& i) { i.psrc[0] = {1, false}; }));
  e.push_back(change("ISETP", three_registers(opcode::isetp, dtype::s32, 0),
                     [](i_t& i) { i.cmp = isa::compare::lt, i.pdst[0] = 2, i.src[0].count = i.src[1].count = 1; }));
  e.push_back(change("FSETP", three_registers(opcode::fsetp, dtype::f32, 0),
                     [](i_t& i) { i.cmp = isa::compare::gt, i.pdst[0] = 2, i.src[0].count = i.src[1].count = 1; }));
  e.push_back({"IMNMX", three_registers(opcode::imnmx, dtype::s32)});
  e.push_back({"PRMT", three_registers(opcode::prmt, dtype::b32)});
  e.push_back({"BFE", three_registers(opcode::bfe, dtype::u32)});
  e.push_back({"POPC", three_registers(opcode::popc, dtype::u32)});
  e.push_back({"DFMA", three_registers(opcode::dfma, dtype::f64, 2)});
  e.push_back({"HFMA2", three_registers(opcode::hfma2, dtype::f16x2)});
  e.push_back({"HADD2", three_registers(opcode::hadd2, dtype::f16x2)});
  e.push_back({"FFMA.RZ", e[0].i});
  e.back().i.round = isa::rounding::rz;
  e.push_back({"MUFU.RCP", three_registers(opcode::mufu, dtype::f32)});
  e.push_back(
      change("MUFU.EX2", e.back().i, [](i_t& i) { i.sub = static_cast<std::uint8_t>(isa::mufu_function::ex2); }));
  e.push_back(
      change("MUFU.SIN", e.back().i, [](i_t& i) { i.sub = static_cast<std::uint8_t>(isa::mufu_function::sin); }));
  e.push_back(
      change("MUFU.LG2", e.back().i, [](i_t& i) { i.sub = static_cast<std::uint8_t>(isa::mufu_function::lg2); }));
  e.push_back(change("I2F", three_registers(opcode::i2f, dtype::f32), [](i_t& i) { i.src_type = dtype::s32; }));
  e.push_back(change("F2I", three_registers(opcode::f2i, dtype::s32),
                     [](i_t& i) { i.src_type = dtype::f32, i.round = isa::rounding::rz; }));
  e.push_back(change("F2F.F32.F16", three_registers(opcode::f2f, dtype::f32), [](i_t& i) { i.src_type = dtype::f16; }));
  e.push_back(change("F2F.F16.F32", three_registers(opcode::f2f, dtype::f16), [](i_t& i) { i.src_type = dtype::f32; }));
  e.push_back(change("F2F.F64.F32", three_registers(opcode::f2f, dtype::f64, 2),
                     [](i_t& i) { i.src_type = dtype::f32, i.src[0].count = 1; }));
  e.push_back(change("SHFL.BFLY", three_registers(opcode::shfl, dtype::b32), [](i_t& i) {
    i.sub = static_cast<std::uint8_t>(isa::shuffle_mode::bfly);
    i.src[1] = isa::make_immediate(16), i.src[2] = isa::make_immediate(31);
  }));
  e.push_back(change("S2R", three_registers(opcode::s2r, dtype::u32), [](i_t&) {}));
  const auto memory = [](i_t& i) {
    i.mem_space = isa::space::shared;
    i.src[0] = isa::make_reg(10);
    i.src[1] = isa::make_reg(4, i.dst_count);
    i.type = i.dst_count == 4 ? dtype::b128 : dtype::b32;
  };
  e.push_back(change("LDS", three_registers(opcode::ld, dtype::b32), memory));
  e.push_back(change("STS", three_registers(opcode::st, dtype::b32), memory));
  e.push_back({"ATOMS.ADD", e.back().i});
  e.back().i.op = opcode::atom;
  return e;
}

}  // namespace

int main(int argc, char* argv[]) {
  static const std::vector<entry> all = entries();
  for (const entry& e : all) {
    benchmark::RegisterBenchmark(e.name, measure, e.i, simt::all_lanes);
    benchmark::RegisterBenchmark((std::string(e.name) + "/masked").c_str(), measure, e.i, 0x0ff0f3c5u);
    if (simt::baseline::select_fast(e.i) != nullptr) {
      benchmark::RegisterBenchmark((std::string(e.name) + "/baseline").c_str(), measure_baseline, e.i);
    }
  }
  benchmark::Initialize(&argc, argv);
  benchmark::RunSpecifiedBenchmarks();
  return 0;
}
