// SPDX-License-Identifier: MIT
#include "family_builder.h"

namespace heddle::conformance {

using isa::dtype;

void moves_and_memory(family_builder& b) {
  b.free("mov", "mov.b64 of words", ".reg .b32 %x, %y; mov.b64 {%x, %y}, %d0; mov.b64 %o, {%y, %x};", 1, 64, 64);
  b.free("mov", "mov.b32 of halves", ".reg .b16 %x, %y; mov.b32 {%x, %y}, %r0; mov.b32 %q, {%y, %x};", 1, 32, 32);
  b.free("mov", "mov.b64 of halves",
         ".reg .b16 %x, %y, %z, %w; mov.b64 {%x, %y, %z, %w}, %d0; mov.b64 %o, {%w, %y, %x, %z};", 1, 64, 64);
  for (const std::string far : {"0x40000000", "16777216", "-8388609"})
    b.free("offsets of more than 24 bits", far,
           ".reg .b64 %x; sub.u64 %x, %in, " + far + "; ld.global.u64 %o, [%x+" + far + "];", 1, 64, 64);
  b.free(
      "offsets of more than 24 bits", "shared",
      ".shared .align 8 .b8 area[2048]; .reg .b32 %x; mov.u32 %x, %tid.x; shl.b32 %x, %x, 3; sub.u32 %x, %x, 0x7ffffff8; "
      "st.shared.u64 [%x+0x7ffffff8], %d0; ld.shared.u64 %o, [%x+0x7ffffff8];",
      1, 64, 64);
  for (const std::string space : {"local", "shared"}) {
    const std::string declare =
        "." + space +
        " .align 16 .b8 area[8192]; .reg .b32 %x, %at; .reg .b64 %g64; mov.u32 %at, area; mov.u32 %x, %tid.x; "
        "shl.b32 %x, %x, 5; " +
        (space == "shared" ? "add.u32 %at, %at, %x; " : "");
    for (const std::string t : {"u8", "s8", "u16", "s16", "u32", "s32", "u64", "b8", "b16", "f32", "f64"}) {
      const unsigned n = width(t);
      const std::string out = n == 64 ? "%o" : "%q", from = n == 64 ? "%d0" : "%r0";
      b.free("ld/st." + space, t,
             declare + "st." + space + ".b64 [%at], %d1; st." + space + "." + t + " [%at], " + from + "; ld." + space +
                 "." + t + " " + out + ", [%at];",
             2, 64, n == 64 ? 64 : 32);
    }
    b.free("ld/st." + space, "vectors",
           declare + ".reg .b32 %v0, %v1, %v2, %v3; .reg .b64 %w0, %w1; st." + space +
               ".v2.u64 [%at], {%d0, %d1}; ld." + space + ".v4.u32 {%v0, %v1, %v2, %v3}, [%at]; st." + space +
               ".v4.u32 [%at], {%v3, %v1, %v2, %v0}; ld." + space + ".v2.u64 {%w0, %w1}, [%at]; xor.b64 %o, %w0, %w1;",
           2, 64, 64);
    b.free("ld/st." + space, "small vectors",
           declare + ".reg .b16 %v0, %v1, %v2, %v3; st." + space + ".v4.u16 [%at+8], {%h0, %h1, %h2, %h3}; ld." +
               space + ".v4.u8 {%v0, %v1, %v2, %v3}, [%at+8]; st." + space +
               ".v4.u8 [%at+12], {%v3, %v2, %v1, %v0}; ld." + space + ".v2.s16 {%v0, %v1}, [%at+12]; st." + space +
               ".v2.u16 [%at+8], {%v1, %v0}; ld." + space + ".u64 %o, [%at+8];",
           4, 64, 64);
    b.free("generic addresses", space,
           declare + "cvt.u64.u32 %g64, %at; cvta." + space + ".u64 %g64, %g64; st.u64 [%g64], %d0; ld." + space +
               ".u64 %o, [%at]; st." + space + ".u32 [%at+4], %r1; ld.u64 %o, [%g64];",
           2, 64, 64);
  }
  for (const std::string op : {"add.u32", "add.u64", "min.s32", "max.u32", "min.u64", "max.s64", "and.b32", "or.b64",
                               "xor.b32", "exch.b32", "exch.b64", "inc.u32", "dec.u32", "add.f32"}) {
    const unsigned n = width(op.substr(op.find('.') + 1));
    const std::string out = n == 64 ? "%o" : "%q", from = family_builder::operand(n, 1);
    b.free(
         "atom.shared", op,
         ".shared .align 8 .b8 area[8192]; .reg .b32 %x, %at; .reg .b64 %y; mov.u32 %at, area; mov.u32 %x, %tid.x; shl.b32 %x, %x, 3; add.u32 %at, %at, %x; st.shared.b64 "
         "[%at], %d0; atom.shared." +
             op + " " + out + ", [%at], " + from + "; ld.shared.b64 %y, [%at]; " +
             (n == 64 ? "xor.b64 %o, %o, %y;" : "cvt.u32.u64 %x, %y; xor.b32 %q, %q, %x;"),
         2, n == 64 ? 64 : 32, n)
        .allowed.type = dtype::none;
    b.free("red.global", op, "atom.global." + op + " " + out + ", [%in], " + from + ";", 2, n, n);
  }
  for (const std::string t : {"b32", "b64"}) {
    const std::string n = t == "b32" ? "%r" : "%d", out = t == "b32" ? "%q" : "%o";
    b.free("atom.cas", t,
           ".reg .pred %e; .reg ." + t + " %x; setp.eq.u32 %e, %r2, 0; selp." + t + " %x, " + n + "0, " + n +
               "1, %e; atom.global.cas." + t + " " + out + ", [%in], %x, " + n + "3; @%e ld.global." + t + " " + out +
               ", [%in];",
           4, t == "b32" ? 32 : 64, t == "b32" ? 32 : 64);
  }
}

}  // namespace heddle::conformance
