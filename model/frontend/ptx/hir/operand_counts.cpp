// SPDX-License-Identifier: MIT
#include "heddle/frontend/ptx/hir/operand_counts.h"

namespace heddle::ptx {

namespace {

/// Of a conversion that packs two floats into one register.
bool packs(const modifiers& m) {
  using isa::dtype;
  return m.type2 == dtype::f32 &&
         (m.type == dtype::f16x2 || m.type == dtype::bf16x2 || m.type == dtype::e4m3x2 || m.type == dtype::e5m2x2);
}

}  // namespace

std::size_t most_sources(const hir_instruction& h) {
  const ptx_op_info& row = info(h.op);
  switch (row.more) {
    case more_sources::none: break;
    case more_sources::one: return row.sources + 1;
    case more_sources::combined: return row.sources + (h.m.combines ? 1 : 0);
    case more_sources::packed: return row.sources + (packs(h.m) ? 1 : 0);
  }
  return row.sources;
}

isa::dtype source_type(const hir_instruction& h, std::size_t k) {
  switch (info(h.op).typed) {
    case source_typing::own: break;
    case source_typing::second: return h.m.type2;
    case source_typing::third_second: return k == 2 ? h.m.type2 : h.m.type;
    case source_typing::third_predicate: return k == 2 ? isa::dtype::pred : h.m.type;
  }
  return h.m.type;
}

}  // namespace heddle::ptx
