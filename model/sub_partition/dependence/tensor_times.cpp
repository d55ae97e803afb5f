// SPDX-License-Identifier: MIT
#include "heddle/sub_partition/dependence/tensor_times.h"

#include <algorithm>
#include <cmath>

#include "heddle/config/error.h"
#include "heddle/isa/matrix.h"

namespace heddle {

namespace {

// Multiply-adds of a warpgroup's products per cycle; 0: the GPU has none.
double product_rate(const isa::instruction& i, const tensor_parameters& t) {
  if (i.src_type == isa::dtype::b32) return t.warpgroup_tf32_fma_per_cycle;
  return i.op == isa::opcode::hgmma ? t.warpgroup_f16_fma_per_cycle : t.warpgroup_8bit_fma_per_cycle;
}

// The shape by which a matrix instruction is timed. A warpgroup's product of a trace on a GPU without them has that of
// the largest part that its trace's types suggest.
isa::matrix_shape known_shape(const isa::instruction& i) {
  if (!isa::is_warpgroup_product(i.op)) return isa::shape_of(i);
  const bool integer = i.op == isa::opcode::igmma || i.op == isa::opcode::bgmma;
  return integer ? isa::matrix_shape::m16n8k16 : isa::matrix_shape::m16n8k8;
}

}  // namespace

// Issue interval from the rate of multiply-adds, and latency by accumulator type and depth: half the largest product of
// a type, or the whole of it.
class_timing tensor_timing(const isa::instruction& i, const gpu_config& g) {
  const tensor_parameters& t = g.tensor;
  if (isa::is_warpgroup_product(i.op) && product_rate(i, t) > 0)
    return {static_cast<double>(isa::warp_size) / t.warpgroup_issue_cycles, 1};
  const isa::matrix_shape shape = known_shape(i);
  const bool f32 = i.type == isa::dtype::f32;
  double rate = f32 ? t.f16_f32_fma_per_cycle : t.f16_fma_per_cycle;
  unsigned full_depth = 16;
  unsigned latency = 0;
  switch (i.src_type) {  // the instructions of a trace have types and shape, too
    case isa::dtype::u8:
    case isa::dtype::s8:
    case isa::dtype::e4m3x2:
    case isa::dtype::e5m2x2:
    case isa::dtype::s4:
    case isa::dtype::u4:
    case isa::dtype::b1:
      rate = t.int8_fma_per_cycle;
      full_depth = 32;
      if (shape == isa::matrix_shape::m8n8k16) latency = t.m8n8k16_latency_cycles;
      break;
    case isa::dtype::f64:
      rate = t.f64_fma_per_cycle;
      latency = t.f64_latency_cycles;
      break;
    case isa::dtype::b32:
      rate = t.tf32_fma_per_cycle;
      full_depth = 8;
      break;
    case isa::dtype::bf16: rate = t.bf16_fma_per_cycle; break;
    default: break;
  }
  const isa::matrix_size size = isa::size_of(shape);
  const bool deep = size.k == full_depth;
  if (latency == 0)
    latency = f32 ? (deep ? t.deep_f32_latency_cycles : t.f32_latency_cycles)
                  : (deep ? t.deep_latency_cycles : t.latency_cycles);
  // The latencies are those of the known shapes. The last part of a larger one comes later by the time of the others.
  const double products = isa::multiply_adds(i), known = size.m * size.n * size.k;
  if (i.offset != 0 && rate > 0 && products > known)
    latency += narrow<unsigned>(std::lround((products - known) / rate));
  return {rate * isa::warp_size / products, latency};
}

// What a product of a warpgroup occupies: the tensor unit, and a quarter of shared memory's time for b, which its four
// warps read together, and the warp's own rows of a.
void set_product(decoded_instruction& d, const gpu_config& config, bool recorded) {
  const isa::instruction& i = *d.instruction;
  if (!isa::is_warpgroup_product(i.op) || product_rate(i, config.tensor) <= 0) return;
  constexpr unsigned row_bytes = isa::gmma::depth_bytes, warps = 4;
  d.kind = issue_kind::product;
  const unsigned products = isa::multiply_adds(i);
  d.product_cycles = narrow<std::uint32_t>(std::max(1l, std::lround(products / product_rate(i, config.tensor))));
  const unsigned bytes = i.src_type == isa::dtype::b32 ? 4 : i.op == isa::opcode::hgmma ? 2 : 1;
  const unsigned columns = products / (isa::gmma::rows * row_bytes / bytes);
  const bool sparse = !recorded && (i.sub & isa::gmma::sparse) != 0;
  const bool a_shared = recorded ? !i.src[1].is_reg() : (i.sub & isa::gmma::a_shared) != 0;
  d.operand_bytes = narrow<std::uint16_t>(columns * row_bytes * (sparse ? 2 : 1) / warps +
                                          (a_shared ? isa::gmma::rows * row_bytes : 0));
}

}  // namespace heddle
