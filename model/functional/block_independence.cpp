// SPDX-License-Identifier: MIT
#include "heddle/functional/block_independence.h"

#include <vector>

#include "heddle/isa/liveness.h"

namespace heddle {

namespace {

using isa::access_kind;

bool reaches_global(const isa::instruction& i) {
  return i.mem_space == isa::space::global || i.mem_space == isa::space::generic;
}

bool is_ordered(const isa::instruction& i) {
  return i.system || i.cache == isa::cache_op::volatile_ || i.cache == isa::cache_op::cv ||
         i.cache == isa::cache_op::wt;
}

bool shows_place_or_time(const isa::instruction& i) {
  const auto s = static_cast<isa::special>(i.sub);
  return i.op == isa::opcode::s2r && (isa::is_clock(s) || s == isa::special::smid || s == isa::special::warpid);
}

bool reduces_in_bulk(const isa::instruction& i) {
  return i.op == isa::opcode::ublkred || i.op == isa::opcode::utmaredg;
}

/// Whether any instruction may read what the one at `at` returns.
bool is_used(const isa::instruction& i, std::size_t at, const std::vector<isa::register_set>& live) {
  if (i.dst == isa::rz || at + 1 >= live.size()) return false;
  for (unsigned k = 0; k < i.dst_count; ++k)
    if (live[at + 1].test(i.dst + k)) return true;
  return false;
}

/// Whether it shows nothing of other blocks, whatever becomes of its result.
bool is_independent(const isa::instruction& i) {
  const isa::opcode_info& row = isa::info(i.op);
  if (row.flow == isa::flow_kind::system_call || row.flow == isa::flow_kind::sleep) return false;
  if (shows_place_or_time(i) || reduces_in_bulk(i)) return false;
  switch (row.access) {
    case access_kind::load:
    case access_kind::store: return !reaches_global(i) || !is_ordered(i);
    case access_kind::atomic:
    case access_kind::reduction: return !reaches_global(i) || commutes(i);
    case access_kind::none:
    case access_kind::matrix_load:
    case access_kind::constant_load:
    case access_kind::copy:
    case access_kind::sample:
    case access_kind::surface_load:
    case access_kind::surface_store: break;
  }
  return true;
}

}  // namespace

bool commutes(const isa::instruction& i) {
  if (isa::is_float(i.type) || isa::size_of(i.type) < 4) return false;
  switch (static_cast<isa::atomic_op>(i.sub)) {
    case isa::atomic_op::add:
    case isa::atomic_op::min:
    case isa::atomic_op::max:
    case isa::atomic_op::and_:
    case isa::atomic_op::or_:
    case isa::atomic_op::xor_: return true;
    default: return false;
  }
}

bool has_independent_blocks(const isa::program& p) {
  bool returns = false;  // something returns a value that is not independent
  for (const isa::instruction& i : p.code) {
    if (!is_independent(i)) return false;
    returns |= i.op == isa::opcode::atom && reaches_global(i) && i.dst != isa::rz;
  }
  if (!returns) return true;
  const std::vector<isa::register_set> live = isa::live_registers(p);
  for (std::size_t k = 0; k < p.code.size(); ++k)
    if (p.code[k].op == isa::opcode::atom && reaches_global(p.code[k]) && is_used(p.code[k], k, live)) return false;
  return true;
}

}  // namespace heddle
