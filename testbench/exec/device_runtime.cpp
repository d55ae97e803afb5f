// SPDX-License-Identifier: MIT
// Functions that kernels call and no module of the program has: those of libcudadevrt.a that need no launch of a
// kernel.
#include <algorithm>

#include "testbench/exec/ptx_check.h"

namespace heddle::testbench {

namespace {

/// A condition of a graph is a word of memory.
constexpr const char* set_conditional = R"(.version 6.0
.target sm_50
.address_size 64
.visible .func cudaGraphSetConditional(.param .b64 handle, .param .b32 value)
{
  .reg .b64 %rd1;
  .reg .b32 %r1;
  ld.param.b64 %rd1, [handle];
  ld.param.b32 %r1, [value];
  st.global.b32 [%rd1], %r1;
  ret;
}
)";

/// Cooperative groups. The handle of a grid is the address of its workspace, whose second word is the barrier: blocks
/// add one, the first of them what is lacking to 2^31, so that the highest bit changes when all have come (as in
/// cooperative_groups.h). There is no grid over several GPUs: its handle is 0, and 0 is cudaErrorInvalidValue.
constexpr const char* cooperative_groups = R"(.version 6.0
.target sm_50
.address_size 64
.visible .func (.param .b64 handle) cudaCGGetIntrinsicHandle(.param .b32 scope)
{
  .reg .pred %is_grid;
  .reg .b32 %scope, %low, %high;
  .reg .b64 %workspace, %handle;
  ld.param.b32 %scope, [scope];
  mov.b32 %high, %envreg1;
  mov.b32 %low, %envreg2;
  mov.b64 %workspace, {%low, %high};
  setp.eq.s32 %is_grid, %scope, 1;
  selp.b64 %handle, %workspace, 0, %is_grid;
  st.param.b64 [handle], %handle;
  ret;
}
.visible .func (.param .b32 status) cudaCGSynchronize(.param .b64 handle, .param .b32 flags)
{
  .reg .pred %p;
  .reg .b32 %r<8>;
  .reg .b64 %workspace;
  ld.param.b64 %workspace, [handle];
  setp.eq.s64 %p, %workspace, 0;
  @%p bra REFUSED;
  bar.sync 0;
  mov.u32 %r0, %tid.x;
  mov.u32 %r1, %tid.y;
  mov.u32 %r2, %tid.z;
  or.b32 %r0, %r0, %r1;
  or.b32 %r0, %r0, %r2;
  setp.ne.s32 %p, %r0, 0;
  @%p bra COME;
  mov.u32 %r0, %nctaid.x;
  mov.u32 %r1, %nctaid.y;
  mov.u32 %r2, %nctaid.z;
  mul.lo.u32 %r0, %r0, %r1;
  mul.lo.u32 %r0, %r0, %r2;
  mov.u32 %r1, 0x80000001;
  sub.u32 %r0, %r1, %r0;
  mov.u32 %r1, %ctaid.x;
  mov.u32 %r2, %ctaid.y;
  mov.u32 %r3, %ctaid.z;
  or.b32 %r1, %r1, %r2;
  or.b32 %r1, %r1, %r3;
  setp.eq.s32 %p, %r1, 0;
  selp.b32 %r4, %r0, 1, %p;
  membar.gl;
  atom.global.add.u32 %r5, [%workspace+4], %r4;
WAIT:
  ld.volatile.global.u32 %r6, [%workspace+4];
  xor.b32 %r7, %r5, %r6;
  setp.ge.s32 %p, %r7, 0;
  @%p bra WAIT;
  membar.gl;
COME:
  bar.sync 0;
  st.param.b32 [status], 0;
  ret;
REFUSED:
  st.param.b32 [status], 1;
  ret;
}
.visible .func (.param .b32 status) cudaCGSynchronizeGrid(.param .b64 handle, .param .b32 flags)
{
  .reg .b32 %flags, %status;
  .reg .b64 %handle;
  ld.param.b64 %handle, [handle];
  ld.param.b32 %flags, [flags];
  {
  .param .b64 h;
  .param .b32 f;
  .param .b32 s;
  st.param.b64 [h], %handle;
  st.param.b32 [f], %flags;
  call (s), cudaCGSynchronize, (h, f);
  ld.param.b32 %status, [s];
  }
  st.param.b32 [status], %status;
  ret;
}
.visible .func (.param .b32 status) cudaCGGetSize(.param .b64 threads, .param .b64 grids, .param .b64 handle)
{
  .reg .pred %p;
  .reg .b32 %r<6>;
  .reg .b64 %to, %handle;
  ld.param.b64 %handle, [handle];
  setp.eq.s64 %p, %handle, 0;
  @%p bra REFUSED;
  mov.u32 %r0, %ntid.x;
  mov.u32 %r1, %ntid.y;
  mov.u32 %r2, %ntid.z;
  mov.u32 %r3, %nctaid.x;
  mov.u32 %r4, %nctaid.y;
  mov.u32 %r5, %nctaid.z;
  mul.lo.u32 %r0, %r0, %r1;
  mul.lo.u32 %r0, %r0, %r2;
  mul.lo.u32 %r0, %r0, %r3;
  mul.lo.u32 %r0, %r0, %r4;
  mul.lo.u32 %r0, %r0, %r5;
  ld.param.b64 %to, [threads];
  setp.ne.s64 %p, %to, 0;
  @%p st.u32 [%to], %r0;
  ld.param.b64 %to, [grids];
  setp.ne.s64 %p, %to, 0;
  @%p st.u32 [%to], 1;
  st.param.b32 [status], 0;
  ret;
REFUSED:
  st.param.b32 [status], 1;
  ret;
}
.visible .func (.param .b32 status) cudaCGGetRank(.param .b64 thread, .param .b64 grid, .param .b64 handle)
{
  .reg .pred %p;
  .reg .b32 %r<6>;
  .reg .b64 %to, %handle;
  ld.param.b64 %handle, [handle];
  setp.eq.s64 %p, %handle, 0;
  @%p bra REFUSED;
  mov.u32 %r0, %ctaid.z;
  mov.u32 %r1, %nctaid.y;
  mov.u32 %r2, %ctaid.y;
  mad.lo.u32 %r0, %r0, %r1, %r2;
  mov.u32 %r1, %nctaid.x;
  mov.u32 %r2, %ctaid.x;
  mad.lo.u32 %r0, %r0, %r1, %r2;
  mov.u32 %r1, %ntid.z;
  mov.u32 %r2, %tid.z;
  mad.lo.u32 %r0, %r0, %r1, %r2;
  mov.u32 %r1, %ntid.y;
  mov.u32 %r2, %tid.y;
  mad.lo.u32 %r0, %r0, %r1, %r2;
  mov.u32 %r1, %ntid.x;
  mov.u32 %r2, %tid.x;
  mad.lo.u32 %r0, %r0, %r1, %r2;
  ld.param.b64 %to, [thread];
  setp.ne.s64 %p, %to, 0;
  @%p st.u32 [%to], %r0;
  ld.param.b64 %to, [grid];
  setp.ne.s64 %p, %to, 0;
  @%p st.u32 [%to], 0;
  st.param.b32 [status], 0;
  ret;
REFUSED:
  st.param.b32 [status], 1;
  ret;
}
)";

}  // namespace

void add_device_runtime(std::vector<module_text>& texts) {
  const auto is_named = [&texts](const char* name) {
    return std::any_of(texts.begin(), texts.end(),
                       [name](const module_text& t) { return t.text.find(name) != std::string::npos; });
  };
  const bool sets_conditions = is_named("cudaGraphSetConditional"), has_groups = is_named("cudaCG");
  if (sets_conditions) texts.push_back({set_conditional, "cuda_runtime.ptx"});
  if (has_groups) texts.push_back({cooperative_groups, "cuda_groups.ptx"});
}

}  // namespace heddle::testbench
