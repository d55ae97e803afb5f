// SPDX-License-Identifier: MIT
#include "heddle/frontend/ptx/hir/operand_counts.h"

namespace heddle::ptx {

bool writes_nothing(ptx_op op) {
  switch (op) {
    case ptx_op::membar:
    case ptx_op::fence:
    case ptx_op::nanosleep:
    case ptx_op::pmevent:
    case ptx_op::prefetch:
    case ptx_op::prefetchu:
    case ptx_op::trap: return true;
    default: return false;
  }
}

bool takes_no_operands(ptx_op op) {
  return op == ptx_op::ret || op == ptx_op::exit || op == ptx_op::trap || op == ptx_op::membar || op == ptx_op::fence;
}

std::size_t least_sources(ptx_op op) {
  switch (op) {
    case ptx_op::bfi:
    case ptx_op::lop3: return 4;
    case ptx_op::bfe:
    case ptx_op::dp2a:
    case ptx_op::dp4a:
    case ptx_op::fma:
    case ptx_op::mad:
    case ptx_op::mad24:
    case ptx_op::madc:
    case ptx_op::prmt:
    case ptx_op::sad:
    case ptx_op::selp:
    case ptx_op::shf:
    case ptx_op::shfl:
    case ptx_op::slct: return 3;
    case ptx_op::add:
    case ptx_op::addc:
    case ptx_op::and_:
    case ptx_op::bmsk:
    case ptx_op::copysign:
    case ptx_op::div:
    case ptx_op::match:
    case ptx_op::max:
    case ptx_op::min:
    case ptx_op::mul:
    case ptx_op::mul24:
    case ptx_op::or_:
    case ptx_op::redux:
    case ptx_op::rem:
    case ptx_op::set:
    case ptx_op::setp:
    case ptx_op::shl:
    case ptx_op::shr:
    case ptx_op::sub:
    case ptx_op::subc:
    case ptx_op::szext:
    case ptx_op::vabsdiff2:
    case ptx_op::vabsdiff4:
    case ptx_op::xor_: return 2;
    case ptx_op::activemask:
    case ptx_op::exit:
    case ptx_op::fence:
    case ptx_op::membar:
    case ptx_op::trap:
    case ptx_op::s2r: return 0;
    default: return 1;
  }
}

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
    default: return least_sources(h.op);
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
