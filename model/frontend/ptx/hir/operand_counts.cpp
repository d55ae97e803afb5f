// SPDX-License-Identifier: MIT
#include "heddle/frontend/ptx/hir/operand_counts.h"

namespace heddle::ptx {

std::size_t most_sources(const hir_instruction& h) {
  switch (h.op) {
    case ptx_op::set:
    case ptx_op::setp: return h.m.combines ? 3 : 2;
    case ptx_op::lop3: return h.m.combines ? 5 : 4;
    case ptx_op::vabsdiff2:
    case ptx_op::vabsdiff4: return 3;
    case ptx_op::shfl: return 4;  // with a member mask
    case ptx_op::vote: return 2;
    case ptx_op::cvt:  // two sources packed into one register
      return h.m.type2 == isa::dtype::f32 && (h.m.type == isa::dtype::f16x2 || h.m.type == isa::dtype::bf16x2 ||
                                              h.m.type == isa::dtype::e4m3x2 || h.m.type == isa::dtype::e5m2x2)
                 ? 2
                 : 1;
    default: return info(h.op).sources;
  }
}

isa::dtype source_type(const hir_instruction& h, std::size_t k) {
  switch (h.op) {
    case ptx_op::cvt: return h.m.type2;
    case ptx_op::set: return h.m.type2;
    case ptx_op::slct: return k == 2 ? h.m.type2 : h.m.type;
    case ptx_op::selp: return k == 2 ? isa::dtype::pred : h.m.type;
    case ptx_op::testp: return h.m.type;
    default: return h.m.type;
  }
}

}  // namespace heddle::ptx
