// SPDX-License-Identifier: MIT
// A kernel for tests of the host side: thread t of a block writes t to word t of the buffer that its parameter points
// to.
#pragma once

namespace heddle {

inline constexpr const char* store_kernel = R"(.version 6.0
.target sm_50
.address_size 64
.visible .entry store(.param .u64 p) {
  .reg .b64 %rd<4>;
  .reg .b32 %r<2>;
  ld.param.u64 %rd1, [p];
  mov.u32 %r1, %tid.x;
  mul.wide.u32 %rd2, %r1, 4;
  add.s64 %rd3, %rd1, %rd2;
  st.global.u32 [%rd3], %r1;
  ret;
}
)";

}  // namespace heddle
