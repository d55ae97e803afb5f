// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>

#include "heddle/frontend/ptx/lower.h"

namespace heddle {
namespace ptx_lower_text {

using isa::opcode;

inline const char* header = ".version 8.0\n.target sm_75\n.address_size 64\n";

inline std::shared_ptr<const isa::program> lower(const std::string& body, const char* multiplier = "imad",
                                                 unsigned registers = 0, double fp64 = 1) {
  gpu_config gpu;
  gpu.integer.multiplier = multiplier == std::string("xmad") ? choice::multiplier::xmad : choice::multiplier::imad;
  gpu.fp64.lanes = fp64;
  const ptx::loaded_module m = ptx::place(ptx::parse(header + body, "k.ptx"), isa::heap_base);
  return ptx::lower(m, "k", gpu, registers);
}

inline unsigned count(const isa::program& p, opcode op) {
  return static_cast<unsigned>(
      std::count_if(p.code.begin(), p.code.end(), [&](const isa::instruction& i) { return i.op == op; }));
}

inline std::string text_of(const isa::program& p) {
  std::string s;
  for (const isa::instruction& i : p.code) s += isa::to_string(i) + "\n";
  return s;
}

inline const char* vector_add =
    ".entry k(.param .u64 pa, .param .u64 pb, .param .u64 pc, .param .u32 n) {\n.reg .pred %p<2>; .reg .f32 %f<4>; .reg .b32 %r<6>; .reg "
    ".b64 %rd<11>;\nld.param.u64 %rd1, [pa];\nld.param.u64 %rd2, [pb];\nld.param.u64 %rd3, [pc];\nld.param.u32 %r2, [n];\nmov.u32 %r3, "
    "%ctaid.x;\nmov.u32 %r4, %ntid.x;\nmov.u32 %r5, %tid.x;\nmad.lo.s32 %r1, %r3, %r4, %r5;\nsetp.ge.s32 %p1, %r1, %r2;\n@%p1 bra "
    "DONE;\ncvta.to.global.u64 %rd4, %rd1;\nmul.wide.s32 %rd5, %r1, 4;\nadd.s64 %rd6, %rd4, %rd5;\ncvta.to.global.u64 %rd7, "
    "%rd2;\nadd.s64 %rd8, %rd7, %rd5;\nld.global.f32 %f1, [%rd8];\nld.global.f32 %f2, [%rd6];\nadd.f32 %f3, %f2, "
    "%f1;\ncvta.to.global.u64 %rd9, %rd3;\nadd.s64 %rd10, %rd9, %rd5;\nst.global.f32 [%rd10], %f3;\nDONE: ret;\n}\n";

}  // namespace ptx_lower_text
}  // namespace heddle
