// SPDX-License-Identifier: MIT
#include "heddle/simt/execute.h"

#include "heddle/config/error.h"
#include "heddle/simt/scalar/topics.h"
#include "heddle/simt/vector/fast_kernels.h"
#include "heddle/simt/warp/lanes.h"

namespace heddle::simt {

namespace {

void elsewhere(const isa::instruction&, warp_state&, lane_mask) {}

/// Whether the lanes compute what the instruction does. Otherwise the flow of the warp does it (control_flow.h), the
/// end of a memory access (memory_access.h) or of a texture access, or there is nothing to do (NOP).
bool is_done_by_lanes(const isa::instruction& i) {
  const isa::opcode_info& row = isa::info(i.op);
  switch (row.access) {
    case isa::access_kind::none: return row.flow == isa::flow_kind::none && row.effect != isa::effect_kind::order;
    case isa::access_kind::matrix_load:
    case isa::access_kind::constant_load: return true;
    case isa::access_kind::load:
    case isa::access_kind::store:
    case isa::access_kind::atomic:
    case isa::access_kind::reduction: return i.mem_space == isa::space::shared;
    case isa::access_kind::copy:
    case isa::access_kind::sample:
    case isa::access_kind::surface_load:
    case isa::access_kind::surface_store: return false;
  }
  throw internal_error("unknown kind of memory access");
}

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
  if (is_done_by_lanes(i))
    throw internal_error(std::string("no function executes ") + isa::info(i.op).mnemonic + "." + isa::name_of(i.type));
  return elsewhere;
}

std::uint64_t lane_value(const isa::operand& o, const warp_state& w, unsigned lane) {
  std::uint32_t scratch[warp_size];
  const std::uint64_t low = fetch(o, w, scratch, 0)[lane];
  return o.count > 1 ? low | std::uint64_t{fetch(o, w, scratch, 1)[lane]} << 32 : low;
}

}  // namespace heddle::simt
