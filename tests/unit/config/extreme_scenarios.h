// SPDX-License-Identifier: MIT
// Kernels and a memory for parameters that act beside the launch of the kernel that uses all units.
#pragma once

#include <tlm_utils/simple_target_socket.h>

#include <cstdint>
#include <string>
#include <systemc>
#include <tlm>

#include "tests/unit/common/byte_map.h"

namespace heddle::test {

/// Lane 0 leaves the loop at once; the others wait in it for the flag that lane 0 sets behind it.
constexpr const char* flag_kernel = R"(
.version 8.0
.target sm_80
.address_size 64
.visible .entry flag(.param .u64 out)
{
  .shared .align 4 .b8 set[4];
  .reg .pred %p<2>;
  .reg .b32 %r<4>;
  mov.u32 %r1, %laneid;
  min.u32 %r1, %r1, 1;
wait:
  ld.volatile.shared.u32 %r2, [set];
  setp.lt.u32 %p1, %r2, %r1;
  @%p1 bra wait;
  st.volatile.shared.u32 [set], 1;
  ret;
}
)";

/// Each warp writes every third byte of a line of its own, so that the L2 writes lines with many short runs of bytes.
constexpr const char* scatter_kernel = R"(
.version 8.0
.target sm_80
.address_size 64
.visible .entry scatter(.param .u64 out)
{
  .reg .b32 %r<6>;
  .reg .b64 %rd<4>;
  ld.param.u64 %rd1, [out];
  mov.u32 %r1, %tid.x;
  mov.u32 %r2, %ctaid.x;
  mad.lo.u32 %r3, %r2, 64, %r1;
  and.b32 %r4, %r3, 31;
  sub.u32 %r5, %r3, %r4;
  mul.lo.u32 %r4, %r4, 3;
  mad.lo.u32 %r5, %r5, 4, %r4;
  cvt.u64.u32 %rd2, %r5;
  add.u64 %rd3, %rd1, %rd2;
  st.global.u8 [%rd3], %r3;
  ret;
}
)";

/// A warpgroup a block, four blocks a cluster: bulk copies, products of warpgroups with factors in registers, and
/// accesses to shared memory of the next and the second next block. All of it is on the way to the results.
inline std::string cluster_kernel() {
  std::string sums, zeros;
  for (int k = 0; k < 32; ++k) {
    const std::string n = "%f" + std::to_string(k);
    sums += (k == 0 ? "" : ", ") + n;
    zeros += "mov.f32 " + n + ", 0f00000000;\n";
  }
  const auto product = [&](const char* types, const char* last) {
    return "wgmma.mma_async.sync.aligned.m64n64" + std::string(types) + " {" + sums +
           "}, {%r10, %r11, %r12, %r13}, %d, 1, 1, 1" + last + ";\n";
  };
  const std::string f16 = product("k16.f32.f16.f16", ", 0"), tf32 = product("k8.f32.tf32.tf32", ""),
                    e4m3 = product("k32.f32.e4m3.e4m3", "");
  const auto group = [](const std::string& products) {
    return "wgmma.fence.sync.aligned;\n" + products +
           "wgmma.commit_group.sync.aligned; wgmma.wait_group.sync.aligned 0;\n";
  };
  return R"(
.version 8.3
.target sm_90a
.address_size 64
.visible .entry clusters(.param .u64 out, .param .u64 in)
{
  .shared .align 1024 .b8 factors[8192];
  .shared .align 8 .b64 object;
  .reg .pred %p, %q;
  .reg .b32 %r<32>;
  .reg .f32 %f<32>;
  .reg .b64 %o, %i, %d, %t;
  ld.param.u64 %o, [out]; ld.param.u64 %i, [in];
  mov.u32 %r0, %tid.x; mov.u32 %r1, factors; mov.u32 %r2, object; mov.u32 %r3, %ctaid.x;
  setp.eq.u32 %q, %r0, 0;
  @%q mbarrier.init.shared.b64 [%r2], 1;
  barrier.cluster.arrive; barrier.cluster.wait;
  add.u32 %r4, %r1, 4096;
  @%q mbarrier.arrive.expect_tx.shared.b64 %t, [%r2], 8192;
  @%q cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%r1], [%i], 4096, [%r2];
  @%q cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%r4], [%i], 4096, [%r2];
wait:
  mbarrier.try_wait.parity.shared.b64 %p, [%r2], 0;
  @!%p bra wait;
  // Factors of many magnitudes.
  mad.lo.u32 %r5, %r3, 128, %r0;
  mad.lo.u32 %r5, %r5, 0x9e3779b1, 12345;
  mov.u32 %r6, 0;
fill:
  mad.lo.u32 %r5, %r5, 1664525, 1013904223;
  shr.u32 %r7, %r5, 4; and.b32 %r7, %r7, 0x1f3b1f3b; or.b32 %r7, %r7, 0x20002000;
  mad.lo.u32 %r8, %r6, 512, %r1; mad.lo.u32 %r8, %r0, 4, %r8;
  ld.shared.u32 %r9, [%r8]; add.u32 %r7, %r7, %r9; st.shared.u32 [%r8], %r7;
  add.u32 %r6, %r6, 1; setp.lt.u32 %p, %r6, 16;
  @%p bra fill;
  bar.sync 0;
  mad.lo.u32 %r8, %r0, 16, %r1;
  ld.shared.v4.u32 {%r10, %r11, %r12, %r13}, [%r8];
  // Rows of 16 bytes, eight of them one behind the other.
  shr.u32 %r14, %r1, 4; cvt.u64.u32 %d, %r14; or.b64 %d, %d, 0x0000001000080000;
)" + zeros +
         group(f16 + f16 + f16 + f16) + group(tf32 + tf32) + group(e4m3 + e4m3) + R"(
  mov.b32 %r15, %f0; mov.b32 %r16, %f17; mov.b32 %r17, %f31;
  // Shared memory of other blocks: the next one is of the same TPC or of another.
  mov.u32 %r18, %cluster_ctarank;
  add.u32 %r19, %r18, 1; and.b32 %r19, %r19, 3; add.u32 %r20, %r18, 2; and.b32 %r20, %r20, 3;
  mad.lo.u32 %r8, %r0, 16, %r1;
  mapa.shared::cluster.u32 %r21, %r8, %r19; mapa.shared::cluster.u32 %r22, %r8, %r20;
  barrier.cluster.arrive; barrier.cluster.wait;
  st.shared::cluster.v4.u32 [%r21], {%r15, %r16, %r17, %r15};
  barrier.cluster.arrive; barrier.cluster.wait;
  ld.shared::cluster.v4.u32 {%r23, %r24, %r25, %r26}, [%r22];
  add.u32 %r23, %r23, %r26;
  barrier.cluster.arrive; barrier.cluster.wait;
  mad.lo.u32 %r5, %r3, 128, %r0; mul.wide.u32 %t, %r5, 16; add.u64 %o, %o, %t;
  st.global.v4.u32 [%o], {%r23, %r24, %r25, %r17};
  ret;
}
)";
}

/// A memory outside the GPU that remembers what it was asked.
struct outside_memory : sc_core::sc_module {
  explicit outside_memory(sc_core::sc_module_name name) : sc_module(name) {
    socket.register_b_transport(this, &outside_memory::b_transport);
    socket.register_transport_dbg(this, &outside_memory::transport_dbg);
  }
  void b_transport(tlm::tlm_generic_payload& p, sc_core::sc_time&) {
    const bool enables = p.get_byte_enable_ptr() != nullptr;
    for (const std::uint64_t word :
         {std::uint64_t{p.get_address()}, std::uint64_t{p.get_data_length()}, std::uint64_t{enables}})
      digest = (digest ^ word) * 1099511628211u;
    copy(p);
    p.set_response_status(tlm::TLM_OK_RESPONSE);
  }
  unsigned transport_dbg(tlm::tlm_generic_payload& p) {
    copy(p);
    return p.get_data_length();
  }
  void copy(tlm::tlm_generic_payload& p) {
    for (unsigned i = 0; i < p.get_data_length(); ++i) {
      if (p.get_byte_enable_ptr() != nullptr &&
          p.get_byte_enable_ptr()[i % p.get_byte_enable_length()] != TLM_BYTE_ENABLED)
        continue;
      std::uint8_t& byte = bytes[p.get_address() + i];
      if (p.is_read()) p.get_data_ptr()[i] = byte;
      else byte = p.get_data_ptr()[i];
    }
  }
  tlm_utils::simple_target_socket<outside_memory> socket{"socket"};
  byte_map bytes;
  std::uint64_t digest = 14695981039346656037u;
};

}  // namespace heddle::test
