// SPDX-License-Identifier: MIT
#include "heddle/simt/execute.h"

#include "heddle/simt/scalar/topics.h"
#include "heddle/simt/vector/fast_kernels.h"
#include "heddle/simt/warp/lanes.h"

namespace heddle::simt {

namespace {

void elsewhere(const isa::instruction&, warp_state&, lane_mask) {}

}  // namespace

bool host_has_avx2() {
#if defined(HEDDLE_SIMT_AVX2)
  static const bool has = __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") &&
                          __builtin_cpu_supports("bmi") && __builtin_cpu_supports("bmi2");
  return has;
#else
  return false;
#endif
}

execute_function select(const isa::instruction& i) {
#if defined(HEDDLE_SIMT_AVX2)
  if (execute_function f = host_has_avx2() ? avx2::select_fast(i) : baseline::select_fast(i)) return f;
#else
  if (execute_function f = baseline::select_fast(i)) return f;
#endif
  constexpr execute_function (*topics[])(const isa::instruction&) = {
      select_integer, select_bits,         select_float32,          select_float64,
      select_half,    select_conversion,   select_special_function, select_assist,
      select_memory,  select_shuffle_vote, select_special_register, select_tensor,
      select_texture};
  for (auto topic : topics) {
    if (execute_function f = topic(i)) return f;
  }
  return elsewhere;
}

std::uint64_t lane_value(const isa::operand& o, const warp_state& w, unsigned lane) {
  std::uint32_t scratch[warp_size];
  const std::uint64_t low = fetch(o, w, scratch, 0)[lane];
  return o.count > 1 ? low | std::uint64_t{fetch(o, w, scratch, 1)[lane]} << 32 : low;
}

}  // namespace heddle::simt
