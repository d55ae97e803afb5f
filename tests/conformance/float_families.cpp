// SPDX-License-Identifier: MIT
#include <cmath>

#include "family_builder.h"

namespace heddle::conformance {

using isa::dtype;

void float_arithmetic(family_builder& b) {
  for (const std::string t : {"f32", "f64"}) {
    const unsigned n = width(t);
    const tolerance exact{tolerance::kind::bits, 0, t == "f32" ? dtype::f32 : dtype::f64};
    for (const std::string ftz : {"", ".ftz"})
      for (const std::string sat : {"", ".sat"}) {
        if (t == "f64" && (!ftz.empty() || !sat.empty())) continue;
        for (const std::string r : {".rn", ".rz", ".rm", ".rp"}) {
          for (const std::string op : {"add", "sub", "mul"})
            b.add(op + "." + t, op + r + ftz + sat + "." + t, 2, n).allowed = exact;
          b.add("fma." + t, "fma" + r + ftz + sat + "." + t, 3, n).allowed = exact;
          if (!sat.empty()) continue;
          b.add("div." + t, "div" + r + ftz + "." + t, 2, n).allowed = exact;
          for (const std::string op : {"rcp", "sqrt"})
            b.add(op + "." + t, op + r + ftz + "." + t, 1, n).allowed = exact;
        }
        if (!sat.empty()) continue;
        for (const std::string op : {"min", "max"}) b.add(op + "." + t, op + ftz + "." + t, 2, n).allowed = exact;
        for (const std::string op : {"abs", "neg"}) b.add(op + "." + t, op + ftz + "." + t, 1, n).allowed = exact;
      }
    b.add("copysign", "copysign." + t, 2, n);
    for (const std::string q : {"finite", "infinite", "number", "notanumber", "normal", "subnormal"})
      b.add("testp", "testp." + q + "." + t, 1, n, 1);
  }
  for (const std::string op : {"min", "max"})
    b.add(op + ".NaN.f32", op + ".NaN.f32", 2, 32).allowed = {tolerance::kind::bits, 0, dtype::f32};
}

void halves(family_builder& b) {
  for (const std::string t : {"f16", "f16x2", "bf16", "bf16x2"}) {
    const unsigned n = width(t);
    const bool bfloat = t[0] == 'b';
    for (const std::string mode : {"", ".ftz", ".sat", ".ftz.sat"}) {
      if (bfloat && !mode.empty()) continue;
      for (const std::string op : {"add", "sub", "mul"}) b.add(op + "." + t, op + ".rn" + mode + "." + t, 2, n);
      b.add("fma." + t, "fma.rn" + mode + "." + t, 3, n);
    }
    for (const std::string op : {"min", "max"})
      for (const std::string nan : {"", ".NaN"}) b.add(op + nan + "." + t, op + nan + "." + t, 2, n);
    for (const std::string op : {"abs", "neg"}) b.add(op + "." + t, op + "." + t, 1, n);
  }
}

void conversions(family_builder& b) {
  const std::vector<std::string> integers = {"u8", "s8", "u16", "s16", "u32", "s32", "u64", "s64"},
                                 floats = {"f16", "bf16", "f32", "f64"};
  const auto source = [](const std::string& t) { return width(t) == 8 ? "%r0" : family_builder::operand(width(t), 0); };
  const auto target = [](const std::string& t) { return width(t) <= 16 ? "%g" : width(t) == 32 ? "%q" : "%o"; };
  const auto cvt = [&](const std::string& family, const std::string& mode, const std::string& to,
                       const std::string& from) {
    const std::string name = "cvt" + mode + "." + to + "." + from;
    auto& c = b.free(family, name, name + " " + target(to) + ", " + source(from) + ";", 1,
                     width(from) == 8 ? 32 : width(from), width(to) == 8 ? 16 : width(to));
    c.allowed.type = to == "f64" ? dtype::f64 : dtype::none;
  };
  const auto holds = [](const std::string& to, const std::string& from) {  // all values of the other type
    return to[0] == from[0] ? width(to) >= width(from) : to[0] == 's' && width(to) > width(from);
  };
  for (const auto& to : integers)
    for (const auto& from : integers)
      for (const std::string sat : {"", ".sat"}) {
        if (!sat.empty() && holds(to, from)) continue;  // not PTX
        cvt("cvt int->int" + sat, sat, to, from);
        if (width(to) < 32) {  // into a wider register
          const std::string name = "cvt" + sat + "." + to + "." + from;
          b.free("cvt into a wider register", name + " 32", name + " %q, " + source(from) + ";", 1,
                 width(from) == 8 ? 32 : width(from), 32);
        }
      }
  for (const auto& f : floats)
    for (const auto& i : integers) {
      if (f == "bf16" && width(i) == 8) continue;  // not PTX
      for (const std::string r : {".rn", ".rz", ".rm", ".rp"}) cvt("cvt int->" + f, r, f, i);
      for (const std::string r : {".rni", ".rzi", ".rmi", ".rpi"})
        for (const std::string mode : {"", ".ftz", ".sat"}) {
          if ((mode == ".ftz" && f != "f32") || (mode == ".sat" && f == "bf16")) continue;
          cvt("cvt " + f + "->int", r + mode, i, f);
        }
    }
  for (const std::string r : {".rn", ".rz", ".rm", ".rp"})
    for (const std::string mode : {"", ".ftz", ".sat", ".ftz.sat"}) {
      cvt("cvt f64->f32", r + mode, "f32", "f64");
      if (mode.find("ftz") == std::string::npos) cvt("cvt f64->f16", r + mode, "f16", "f64");
      cvt("cvt f32->f16", r + mode, "f16", "f32");
    }
  for (const std::string r : {".rn", ".rz"}) cvt("cvt f32->bf16", r, "bf16", "f32");
  for (const std::string mode : {"", ".ftz", ".sat", ".ftz.sat"}) {
    cvt("cvt f32->f32", mode, "f32", "f32");
    cvt("cvt f16->f32", mode, "f32", "f16");
    cvt("cvt f32->f64", mode, "f64", "f32");
  }
  for (const std::string r : {".rni", ".rzi", ".rmi", ".rpi"}) {
    for (const std::string f : {"f16", "f32", "f64"}) cvt("cvt " + f + " to integral", r, f, f);
    cvt("cvt f32 to integral", r + ".ftz", "f32", "f32");
    cvt("cvt f32 to integral", r + ".sat", "f32", "f32");
  }
  cvt("cvt f16->f64", "", "f64", "f16");
  cvt("cvt bf16->f32", "", "f32", "bf16");
  for (const std::string t : {"f16x2", "bf16x2"})
    for (const std::string r : {".rn", ".rz"}) b.add("cvt " + t, "cvt" + r + "." + t + ".f32", 2, 32);
}

void approximations(family_builder& b) {
  const auto one = [&](const std::string& name, unsigned operands, tolerance::kind what, double bound,
                       std::vector<double> range) {
    auto& c = b.add(name.substr(0, name.find('.')) + ".approx", name, operands, 32);
    c.allowed = {what, bound, dtype::f32};
    c.range = std::move(range);
  };
  using kind = tolerance::kind;
  for (const std::string ftz : {"", ".ftz"}) {
    const double least = ftz.empty() ? 1e-44 : 1.2e-38;
    one("div.approx" + ftz + ".f32", 2, kind::ulp, 2, {1e-18, 1e18});
    one("div.full" + ftz + ".f32", 2, kind::ulp, 2, {1e-18, 1e18});
    one("rcp.approx" + ftz + ".f32", 1, kind::ulp, 1, {1e-37, 1e37});
    one("sqrt.approx" + ftz + ".f32", 1, kind::relative, std::pow(2, -23), {least, 3e38});
    one("rsqrt.approx" + ftz + ".f32", 1, kind::relative, std::pow(2, -22.4), {least, 3e38});
    one("sin.approx" + ftz + ".f32", 1, kind::absolute, std::pow(2, -20.5), {1e-10, 6.2831853});
    one("cos.approx" + ftz + ".f32", 1, kind::absolute, std::pow(2, -20.5), {1e-10, 6.2831853});
    one("sin.approx" + ftz + ".f32", 1, kind::absolute, std::pow(2, -14.7), {1, 314.159});
    one("cos.approx" + ftz + ".f32", 1, kind::absolute, std::pow(2, -14.7), {1, 314.159});
    one("ex2.approx" + ftz + ".f32", 1, kind::relative, std::pow(2, -22), {1e-10, 120});
    one("lg2.approx" + ftz + ".f32", 1, kind::logarithm, std::pow(2, -22), {least, 3e38});
  }
  one("tanh.approx.f32", 1, kind::relative, std::pow(2, -10.98), {1e-10, 20});
}

}  // namespace heddle::conformance
