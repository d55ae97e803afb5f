// SPDX-License-Identifier: MIT
#include "families.h"

#include <cmath>

namespace heddle::conformance {

conformance_case& add_case(std::vector<conformance_case>& all, const std::string& family, const std::string& name,
                           const std::string& code, unsigned operands, unsigned operand_bits, unsigned result_bits) {
  conformance_case c;
  c.family = family;
  c.name = name;
  c.code = code;
  c.operands = operands;
  c.operand_bits = operand_bits;
  c.result_bits = result_bits;
  all.push_back(c);
  return all.back();
}

namespace {

using isa::dtype;

class builder {
 public:
  std::vector<conformance_case> cases;

  /// Adds, for example, "add.s32" with this number of operands; the result is as wide as the operands unless
  /// specified.
  conformance_case& add(const std::string& family, const std::string& mnemonic, unsigned operands, unsigned bits,
                        unsigned result_bits = 0, const std::string& tail = "") {
    static const char* const result[] = {"%c", "%g", "%q", "%o"};
    const unsigned wide = result_bits == 0 ? bits : result_bits;
    std::string code = mnemonic + " " + result[index(wide)];
    for (unsigned k = 0; k < operands; ++k) code += ", " + operand(bits, k);
    return add_case(cases, family, mnemonic + tail, code + tail + ";", operands, bits, wide);
  }

  conformance_case& free(const std::string& family, const std::string& name, const std::string& code, unsigned operands,
                         unsigned bits, unsigned result_bits) {
    return add_case(cases, family, name, code, operands, bits, result_bits);
  }

  static std::string operand(unsigned bits, unsigned k) {
    static const char* const source[] = {"%b", "%h", "%r", "%d"};
    return source[index(bits)] + std::to_string(k);
  }

 private:
  static unsigned index(unsigned bits) { return bits == 1 ? 0 : bits <= 16 ? 1 : bits == 32 ? 2 : 3; }
};

unsigned width(const std::string& type) {
  const unsigned n = static_cast<unsigned>(std::stoul(type.substr(type.find_first_of("0123456789"))));
  return type.size() > 2 && type.substr(type.size() - 2) == "x2" ? 32 : n;
}

void integer_arithmetic(builder& b) {
  for (const std::string t : {"u16", "s16", "u32", "s32", "u64", "s64"}) {
    const unsigned n = width(t);
    for (const std::string op : {"add", "sub", "min", "max", "mul.lo", "mul.hi"}) b.add(op, op + "." + t, 2, n);
    for (const std::string op : {"div", "rem"}) b.add(op, op + "." + t, 2, n).divides = true;
    for (const std::string part : {"lo", "hi"}) b.add("mad." + part, "mad." + part + "." + t, 3, n);
    b.add("sad", "sad." + t, 3, n);
    if (n < 64) {
      b.add("mul.wide", "mul.wide." + t, 2, n, 2 * n);
      const std::string add = n == 16 ? "%r2" : "%d2", to = n == 16 ? "%q" : "%o";
      const std::string from = n == 16 ? "%h0, %h1, " : "%r0, %r1, ";
      b.free("mad.wide", "mad.wide." + t, "mad.wide." + t + " " + to + ", " + from + add + ";", 3, 64, 2 * n);
    }
    if (t[0] == 's')
      for (const std::string op : {"abs", "neg"}) b.add(op, op + "." + t, 1, n);
  }
  for (const std::string t : {"u32", "s32"}) {
    for (const std::string part : {".lo.", ".hi."}) {
      b.add("mul24", "mul24" + part + t, 2, 32);
      b.add("mad24", "mad24" + part + t, 3, 32);
    }
    for (const std::string u : {"u32", "s32"}) {
      b.add("dp4a", "dp4a." + t + "." + u, 3, 32);
      for (const std::string part : {".lo.", ".hi."}) b.add("dp2a", "dp2a" + part + t + "." + u, 3, 32);
    }
  }
  for (const std::string op : {"add", "sub"}) b.add(op + ".sat", op + ".sat.s32", 2, 32);
  b.add("mad.hi.sat", "mad.hi.sat.s32", 3, 32);
  b.add("mad24.hi.sat", "mad24.hi.sat.s32", 3, 32);
}

void carry_chains(builder& b) {
  for (const std::string op : {"add", "sub"}) {
    for (const std::string t : {"u32", "s32"})
      b.free(op + ".cc", op + ".cc." + t,
             ".reg .b32 %lo, %hi, %xl, %xh, %yl, %yh; mov.b64 {%xl, %xh}, %d0; mov.b64 {%yl, %yh}, %d1; " + op +
                 ".cc." + t + " %lo, %xl, %yl; " + op + "c.cc." + t + " %hi, %xh, %yh; " + op + "c." + t +
                 " %lo, %lo, %hi; mov.b64 %o, {%lo, %hi};",
             2, 64, 64);
    b.free(op + ".cc", op + ".cc.u64",
           ".reg .b64 %lo, %hi; " + op + ".cc.u64 %lo, %d0, %d1; " + op + "c.cc.u64 %hi, %d1, %d2; " + op +
               "c.u64 %o, %lo, %hi;",
           3, 64, 64);
  }
  for (const std::string part : {"lo", "hi"})
    for (const std::string t : {"u32", "s32"})
      b.free("madc", "mad." + part + ".cc." + t,
             "mad." + part + ".cc." + t + " %q, %r0, %r1, %r2; madc." + part + "." + t + " %q, %r1, %q, %r3; ", 4, 32,
             32);
}

void logic_and_bits(builder& b) {
  for (const std::string t : {"b16", "b32", "b64"}) {
    const unsigned n = width(t);
    for (const std::string op : {"and", "or", "xor"}) b.add(op, op + "." + t, 2, n);
    for (const std::string op : {"not", "cnot"}) b.add(op, op + "." + t, 1, n);
    if (n == 16) continue;
    b.add("popc", "popc." + t, 1, n, 32);
    b.add("clz", "clz." + t, 1, n, 32);
    b.add("brev", "brev." + t, 1, n);
    b.free("bfi", "bfi." + t, "bfi." + t + (n == 32 ? " %q, %r0, %r1, %r2, %r3;" : " %o, %d0, %d1, %r2, %r3;"), 4, n,
           n);
  }
  for (const std::string op : {"and", "or", "xor"}) b.add(op + ".pred", op + ".pred", 2, 1);
  b.add("not.pred", "not.pred", 1, 1);
  for (const std::string t : {"b16", "b32", "b64", "u16", "s16", "u32", "s32", "u64", "s64"}) {
    const unsigned n = width(t);
    const std::string operands = n == 16 ? " %g, %h0, %r1;" : n == 32 ? " %q, %r0, %r1;" : " %o, %d0, %r1;";
    if (t[0] == 'b') b.free("shl", "shl." + t, "shl." + t + operands, 2, n == 64 ? 64 : 32, n);
    b.free("shr", "shr." + t, "shr." + t + operands, 2, n == 64 ? 64 : 32, n);
  }
  for (const std::string d : {"l", "r"})
    for (const std::string mode : {"wrap", "clamp"}) b.add("shf", "shf." + d + "." + mode + ".b32", 3, 32);
  for (const std::string t : {"u32", "s32", "u64", "s64"}) {
    const unsigned n = width(t);
    b.free("bfe", "bfe." + t, "bfe." + t + (n == 32 ? " %q, %r0, %r1, %r2;" : " %o, %d0, %r1, %r2;"), 3, n, n);
    b.add("bfind", "bfind." + t, 1, n, 32);
    b.add("bfind.shiftamt", "bfind.shiftamt." + t, 1, n, 32);
  }
  for (const std::string mode : {"", ".f4e", ".b4e", ".rc8", ".ecl", ".ecr", ".rc16"})
    b.add("prmt", "prmt.b32" + mode, 3, 32);
  for (const unsigned table : {0x96u, 0xe8u, 0xcau, 0x01u, 0x7fu, 0x3cu})
    b.add("lop3", "lop3.b32", 3, 32, 32, ", " + std::to_string(table));
  for (const std::string mode : {"clamp", "wrap"}) {
    b.add("bmsk", "bmsk." + mode + ".b32", 2, 32);
    for (const std::string t : {"u32", "s32"}) b.add("szext", "szext." + mode + "." + t, 2, 32);
  }
}

void comparisons(builder& b) {
  const auto one = [&](const std::string& t, const std::string& c, const std::string& ftz) {
    const unsigned n = width(t);
    b.add("setp", "setp." + c + ftz + "." + t, 2, n, 1);
    const std::string x = builder::operand(n, 0), y = builder::operand(n, 1);
    b.free("set", "set." + c + ftz + ".u32." + t, "set." + c + ftz + ".u32." + t + " %q, " + x + ", " + y + ";", 2, n,
           32);
    b.free("set", "set." + c + ftz + ".f32." + t, "set." + c + ftz + ".f32." + t + " %q, " + x + ", " + y + ";", 2, n,
           32);
  };
  for (const std::string t : {"u16", "s16", "u32", "s32", "u64", "s64"})
    for (const std::string c : {"eq", "ne", "lt", "le", "gt", "ge"}) one(t, c, "");
  for (const std::string t : {"u16", "u32", "u64"})
    for (const std::string c : {"lo", "ls", "hi", "hs"}) one(t, c, "");
  for (const std::string t : {"b16", "b32", "b64"})
    for (const std::string c : {"eq", "ne"}) one(t, c, "");
  for (const std::string t : {"f16", "bf16", "f32", "f64"})
    for (const std::string c :
         {"eq", "ne", "lt", "le", "gt", "ge", "equ", "neu", "ltu", "leu", "gtu", "geu", "num", "nan"}) {
      if (t == "bf16" || t == "f16") {
        b.add("setp." + t, "setp." + c + "." + t, 2, 16, 1);
        continue;
      }
      one(t, c, "");
      if (t == "f32") one(t, c, ".ftz");
    }
  for (const std::string op : {"and", "or", "xor"})
    for (const std::string t : {"s32", "u64", "f32", "f64", "s16"}) {
      const unsigned n = width(t);
      const std::string x = builder::operand(n, 0), y = builder::operand(n, 1);
      for (const std::string p : {"%b2", "!%b2"}) {
        b.free("setp.bool", "setp.lt." + op + "." + t + " " + p,
               ".reg .pred %u; setp.lt." + op + "." + t + " %u|%c, " + x + ", " + y + ", " + p +
                   "; selp.b32 %q, 1, 0, %u; @%c or.b32 %q, %q, 2;",
               3, n, 32);
        b.free("set.bool", "set.ge." + op + ".s32." + t + " " + p,
               "set.ge." + op + ".s32." + t + " %q, " + x + ", " + y + ", " + p + ";", 3, n, 32);
      }
    }
  for (const std::string t : {"b16", "b32", "b64", "f32", "f64", "u16", "s64"}) {
    const unsigned n = width(t);
    const std::string to = n == 16   ? "%g"
                           : n == 32 ? "%q"
                                     : "%o",
                      x = builder::operand(n, 0), y = builder::operand(n, 1);
    b.free("selp", "selp." + t, "selp." + t + " " + to + ", " + x + ", " + y + ", %b2;", 3, n, n);
    for (const std::string c : {".s32", ".f32"})
      b.free("slct", "slct." + t + c, "slct." + t + c + " " + to + ", " + x + ", " + y + ", %r2;", 3, n == 16 ? 32 : n,
             n);
  }
}

void float_arithmetic(builder& b) {
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

void halves(builder& b) {
  for (const std::string t : {"f16", "f16x2", "bf16", "bf16x2"}) {
    const unsigned n = width(t);
    const bool brain = t[0] == 'b';
    for (const std::string mode : {"", ".ftz", ".sat", ".ftz.sat"}) {
      if (brain && !mode.empty()) continue;
      for (const std::string op : {"add", "sub", "mul"}) b.add(op + "." + t, op + ".rn" + mode + "." + t, 2, n);
      b.add("fma." + t, "fma.rn" + mode + "." + t, 3, n);
    }
    for (const std::string op : {"min", "max"})
      for (const std::string nan : {"", ".NaN"}) b.add(op + nan + "." + t, op + nan + "." + t, 2, n);
    for (const std::string op : {"abs", "neg"}) b.add(op + "." + t, op + "." + t, 1, n);
  }
}

void conversions(builder& b) {
  const std::vector<std::string> integers = {"u8", "s8", "u16", "s16", "u32", "s32", "u64", "s64"},
                                 floats = {"f16", "bf16", "f32", "f64"};
  const auto source = [](const std::string& t) { return width(t) == 8 ? "%r0" : builder::operand(width(t), 0); };
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

void approximations(builder& b) {
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

void moves_and_memory(builder& b) {
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
    const std::string out = n == 64 ? "%o" : "%q", from = builder::operand(n, 1);
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

void names(builder& b) {
  b.free("names", "a range beside a single register",
         ".reg .b32 %x, %x<3>; add.u32 %x2, %r0, 1; add.u32 %x, %r0, 2; mul.lo.u32 %q, %x, %x2;", 1, 32, 32);
  b.free(
      "names", "an inner range shadows an outer register",
      ".reg .b32 %y1; mov.u32 %y1, %r0; { .reg .b32 %y<3>; mov.u32 %y1, 7; add.u32 %q, %y1, 1; } add.u32 %q, %q, %y1;",
      1, 32, 32);
}

void warps(builder& b) {
  const std::string full = ", 0xffffffff;";
  for (const std::string mode : {"up", "down", "bfly", "idx"})
    for (const std::string c : {"31", "0", "7959", "4127", "7199"}) {
      b.free("shfl", mode + " " + c,
             ".reg .pred %e; .reg .b32 %x; mov.u32 %x, %laneid; shfl.sync." + mode + ".b32 %q|%e, %r0, %r1, " + c +
                 full + " @%e xor.b32 %q, %q, 0x55555555;",
             2, 32, 32);
      b.free("shfl", mode + " uniform " + c, "shfl.sync." + mode + ".b32 %q, %r0, 5, " + c + full, 1, 32, 32);
    }
  for (const std::string mode : {"any", "all", "uni"})
    b.free("vote", mode, "vote.sync." + mode + ".pred %c, %b0" + full, 1, 1, 1);
  b.free("vote", "ballot", "vote.sync.ballot.b32 %q, %b0" + full, 1, 32, 32);
  b.free("vote", "ballot negated", "vote.sync.ballot.b32 %q, !%b0" + full, 1, 32, 32);
  for (const std::string mode : {"popc.u32 %q", "and.pred %c", "or.pred %c"}) {
    const bool popc = mode[0] == 'p';
    b.free("bar.red", mode, "bar.red." + mode + ", 0, %b0;", 1, 32, popc ? 32 : 1);
  }
}

}  // namespace

std::vector<conformance_case> all_families() {
  builder b;
  integer_arithmetic(b);
  carry_chains(b);
  logic_and_bits(b);
  comparisons(b);
  float_arithmetic(b);
  halves(b);
  conversions(b);
  approximations(b);
  moves_and_memory(b);
  warps(b);
  names(b);
  return std::move(b.cases);
}

std::string module_of(const std::vector<conformance_case>& cases) {
  std::string text = ".version 8.0\n.target sm_90\n.address_size 64\n";
  for (std::size_t k = 0; k < cases.size(); ++k) {
    const conformance_case& c = cases[k];
    text +=
        "\n.visible .entry k" + std::to_string(k) +
        "(.param .u64 in, .param .u64 out) {\n"
        ".reg .b64 %d<4>, %o, %in, %out; .reg .b32 %r<4>, %q, %i, %n; .reg .b16 %h<4>, %g; .reg .pred %b<4>, %c;\n"
        "mov.u32 %i, %tid.x; mov.u32 %q, %ctaid.x; mov.u32 %n, %ntid.x; mad.lo.u32 %i, %q, %n, %i;\n"
        "ld.param.u64 %in, [in]; mad.wide.u32 %in, %i, 32, %in; ld.global.v2.u64 {%d0, %d1}, [%in]; ld.global.v2.u64 {%d2, %d3}, [%in+16];\n";
    for (const char* n : {"0", "1", "2", "3"}) {
      text += std::string("cvt.u32.u64 %r") + n + ", %d" + n + "; cvt.u16.u64 %h" + n + ", %d" + n +
              "; and.b32 %q, %r" + n + ", 1; setp.ne.u32 %b" + n + ", %q, 0;";
    }
    text += "\n" + c.code + "\n";
    if (c.result_bits == 1) text += "selp.u64 %o, 1, 0, %c; ";
    if (c.result_bits == 16) text += "cvt.u64.u16 %o, %g; ";
    if (c.result_bits == 32) text += "cvt.u64.u32 %o, %q; ";
    text += "ld.param.u64 %out, [out]; mad.wide.u32 %out, %i, 8, %out; st.global.u64 [%out], %o; ret;\n}\n";
  }
  return text;
}

}  // namespace heddle::conformance
