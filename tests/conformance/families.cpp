// SPDX-License-Identifier: MIT
#include "families.h"

#include "family_builder.h"

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

void integer_arithmetic(family_builder& b) {
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

void carry_chains(family_builder& b) {
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

void logic_and_bits(family_builder& b) {
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

void comparisons(family_builder& b) {
  const auto one = [&](const std::string& t, const std::string& c, const std::string& ftz) {
    const unsigned n = width(t);
    b.add("setp", "setp." + c + ftz + "." + t, 2, n, 1);
    const std::string x = family_builder::operand(n, 0), y = family_builder::operand(n, 1);
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
      const std::string x = family_builder::operand(n, 0), y = family_builder::operand(n, 1);
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
                      x = family_builder::operand(n, 0), y = family_builder::operand(n, 1);
    b.free("selp", "selp." + t, "selp." + t + " " + to + ", " + x + ", " + y + ", %b2;", 3, n, n);
    for (const std::string c : {".s32", ".f32"})
      b.free("slct", "slct." + t + c, "slct." + t + c + " " + to + ", " + x + ", " + y + ", %r2;", 3, n == 16 ? 32 : n,
             n);
  }
}

void names(family_builder& b) {
  b.free("names", "a range beside a single register",
         ".reg .b32 %x, %x<3>; add.u32 %x2, %r0, 1; add.u32 %x, %r0, 2; mul.lo.u32 %q, %x, %x2;", 1, 32, 32);
  b.free(
      "names", "an inner range shadows an outer register",
      ".reg .b32 %y1; mov.u32 %y1, %r0; { .reg .b32 %y<3>; mov.u32 %y1, 7; add.u32 %q, %y1, 1; } add.u32 %q, %q, %y1;",
      1, 32, 32);
}

void warps(family_builder& b) {
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
  family_builder b;
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
