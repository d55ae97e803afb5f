// SPDX-License-Identifier: MIT
#include <cmath>

#include "families.h"

namespace heddle::conformance {

namespace {

using isa::dtype;
using cases = std::vector<conformance_case>;

conformance_case& add(cases& all, const std::string& family, const std::string& name, const std::string& operands,
                      unsigned count, unsigned bits, unsigned result_bits) {
  return add_case(all, family, name, name + " " + operands + ";", count, bits, result_bits);
}

void pairs(cases& all) {
  for (const std::string mode : {".rn", ".rz.ftz", ".rm", ".rp"}) {
    for (const std::string op : {"add", "sub", "mul"})
      add(all, op + ".f32x2", op + mode + ".f32x2", "%o, %d0, %d1", 2, 64, 64);
    add(all, "fma.f32x2", "fma" + mode + ".f32x2", "%o, %d0, %d1, %d2", 3, 64, 64);
  }
}

void halves(cases& all) {
  for (const std::string t : {"f16", "bf16"})
    for (const std::string packed : {"", "x2"}) {
      const bool two = !packed.empty();
      const std::string name = "fma.rn.relu." + t + packed;
      add(all, "fma.relu", name, two ? "%q, %r0, %r1, %r2" : "%g, %h0, %h1, %h2", 3, two ? 32 : 16, two ? 32 : 16);
    }
  for (const std::string t : {"f16", "bf16"})
    for (const std::string op : {"ex2", "tanh"}) {
      const std::string ftz = t == "bf16" && op == "ex2" ? ".ftz" : "";
      auto& c = add(all, op + "." + t, op + ".approx" + ftz + "." + t, "%g, %h0", 1, 16, 16);
      // The ISA's bounds, 2^-9.9 and 2^-7, 2^-10.987 and 2^-8, are relative to the exact value.
      c.allowed = {tolerance::kind::relative,
                   std::pow(2, t == "f16" ? (op == "ex2" ? -9.9 : -10.987) : (op == "ex2" ? -7 : -8)),
                   t == "f16" ? dtype::f16 : dtype::bf16};
    }
}

void conversions(cases& all) {
  for (const std::string mode : {".rn", ".rz"})
    for (const std::string more : {".relu", ".satfinite", ".relu.satfinite"})
      for (const std::string t : {"f16", "bf16"}) {
        add(all, "cvt " + t + more, "cvt" + mode + more + "." + t + ".f32", "%g, %r0", 1, 32, 16);
        add(all, "cvt " + t + "x2" + more, "cvt" + mode + more + "." + t + "x2.f32", "%q, %r0, %r1", 2, 32, 32);
      }
  for (const std::string t : {"e4m3x2", "e5m2x2"})
    for (const std::string relu : {"", ".relu"}) {
      add(all, "cvt " + t, "cvt.rn.satfinite" + relu + "." + t + ".f32", "%g, %r0, %r1", 2, 32, 16);
      add(all, "cvt " + t, "cvt.rn.satfinite" + relu + "." + t + ".f16x2", "%g, %r0", 1, 32, 16);
      add(all, "cvt f16x2." + t, "cvt.rn" + relu + ".f16x2." + t, "%q, %h0", 1, 16, 32);
    }
}

void warps(cases& all) {
  for (const std::string t : {"b32", "b64"}) {
    const std::string low = t == "b32" ? "and.b32 %r0, %r0, 3; " : "and.b64 %d0, %d0, 3; ",
                      a = t == "b32" ? "%r0" : "%d0";
    auto& any = add(all, "match.any", "match.any.sync." + t, "%q, " + a + ", -1", 1, t == "b32" ? 32 : 64, 32);
    any.code = low + any.code;
    auto& every = add(all, "match.all", "match.all.sync." + t, "%q|%c, " + a + ", -1; @%c xor.b32 %q, %q, 0x5555", 1,
                      t == "b32" ? 32 : 64, 32);
    every.code = "shr.u32 %r0, %r0, 31; shr.u64 %d0, %d0, 63; " + every.code;
  }
  for (const std::string op :
       {"add.u32", "add.s32", "min.u32", "min.s32", "max.u32", "max.s32", "and.b32", "or.b32", "xor.b32"})
    add(all, "redux", "redux.sync." + op, "%q, %r0, -1", 1, 32, 32);
  add(all, "elect", "elect.sync", "%q|%c, -1; @%c xor.b32 %q, %r0, 1", 1, 32, 32);
}

void copies(cases& all) {
  const std::string declare =
      ".shared .align 16 .b8 area[8192]; .reg .b32 %x, %at; .reg .b64 %y; mov.u32 %at, area; mov.u32 %x, %tid.x; shl.b32 %x, %x, 4; "
      "add.u32 %at, %at, %x; st.shared.v2.u64 [%at], {%d0, %d1}; ";
  const std::string wait =
      "cp.async.commit_group; cp.async.wait_group 0; ld.shared.v2.u64 {%o, %y}, [%at]; mad.lo.u64 %o, %y, 3, %o;";
  const auto one = [&](const std::string& name, const std::string& copy) {
    auto& c = add(all, "cp.async", name, "", 4, 64, 64);
    c.code = declare + copy + wait;
  };
  for (const std::string n : {"4", "8", "16"}) {
    one("cp.async.ca " + n, "cp.async.ca.shared.global [%at], [%in+16], " + n + "; ");
    one("cp.async.ca " + n + " of some bytes",
        "and.b32 %x, %r3, 31; cp.async.ca.shared.global [%at], [%in+16], " + n + ", %x; ");
    one("cp.async.ca " + n + " or nothing", "cp.async.ca.shared.global [%at], [%in+16], " + n + ", %b3; ");
  }
  one("cp.async.cg 16", "@%b2 cp.async.cg.shared.global [%at], [%in], 16; ");
}

}  // namespace

std::vector<conformance_case> later_families() {
  cases all;
  pairs(all);
  halves(all);
  conversions(all);
  warps(all);
  copies(all);
  return all;
}

}  // namespace heddle::conformance
