// SPDX-License-Identifier: MIT
// Kernels and a memory for parameters that act beside the launch of the kernel that uses all units.
#pragma once

#include <tlm_utils/simple_target_socket.h>

#include <cstdint>
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
