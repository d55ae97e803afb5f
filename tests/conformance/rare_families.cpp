// SPDX-License-Identifier: MIT
#include "families.h"

namespace heddle::conformance {

namespace {

using isa::dtype;

class builder {
 public:
  explicit builder(std::vector<conformance_case>& all) : all_(all) {}

  conformance_case& add(const std::string& name, const std::string& code, unsigned operands, unsigned bits,
                        unsigned result_bits) {
    return add_case(all_, name.substr(0, name.find('.')), name, code, operands, bits, result_bits);
  }

  /// name %o/%q/%g, operands of `bits` bits
  conformance_case& plain(const std::string& name, unsigned operands, unsigned bits) {
    std::string code = name + (bits == 64 ? " %o" : bits == 32 ? " %q" : " %g");
    for (unsigned k = 0; k < operands; ++k)
      code += (bits == 64 ? ", %d" : bits == 32 ? ", %r" : ", %h") + std::to_string(k);
    return add(name, code + ";", operands, bits, bits);
  }

 private:
  std::vector<conformance_case>& all_;
};

void signs_and_magnitudes(builder& b) {
  for (const std::string t : {"f32", "f16", "f16x2", "bf16", "bf16x2"})
    for (const std::string op : {"min", "max"})
      for (const std::string mode : {"", ".NaN", ".ftz", ".ftz.NaN"}) {
        if (t[0] == 'b' && mode.find("ftz") != std::string::npos) continue;
        b.plain(op + mode + ".xorsign.abs." + t, 2, t == "f16" || t == "bf16" ? 16 : 32);
      }
  for (const std::string t : {"f16", "f16x2"})
    for (const std::string op : {"abs", "neg"}) {
      conformance_case& c = b.plain(op + ".ftz." + t, 1, t == "f16" ? 16 : 32);
      // A NaN operand is first replaced by the NaN of arithmetic, because results for other NaNs are unspecified.
      c.code = "max." + t + (t == "f16" ? " %h0, %h0, %h0; " : " %r0, %r0, %r0; ") + c.code;
    }
}

void integers(builder& b) {
  for (const std::string op : {"min", "max"}) b.plain(op + ".relu.s32", 2, 32);
  for (const std::string t : {"u16x2", "s16x2"})
    for (const std::string op : {"add", "min", "max", "min.relu", "max.relu"})
      if (t == "s16x2" || op.size() == 3) b.plain(op + "." + t, 2, 32);
  b.plain("max.s16x2.relu", 2, 32);
  for (const std::string t : {"u64", "s64"}) b.plain("sad." + t, 3, 64);
  for (const std::string table : {"0x96", "0x80", "0x00", "0x3c"})
    for (const std::string op : {"and", "or"}) {
      const std::string name = "lop3." + op + ".b32", rest = ", %r0, %r1, %r2, " + table;
      b.add(name, name + " %q|%c" + rest + ", !%b3; @%c xor.b32 %q, %q, 0x5555;", 4, 32, 32);
      b.add(name + " without result", name + " _|%c" + rest + ", %b3; selp.b32 %q, 1, 0, %c;", 4, 32, 32);
    }
  for (const std::string t : {"u16", "s16"}) b.plain("cvt.pack.sat." + t + ".s32", 2, 32);
  for (const std::string t : {"u8", "s8", "u4", "s4", "u2", "s2"}) b.plain("cvt.pack.sat." + t + ".s32.b32", 3, 32);
}

/// set on pairs, with flushing of subnormal numbers and with a predicate.
void comparisons(builder& b) {
  for (const std::string t : {"f16x2", "bf16x2"})
    for (const std::string& to : {t, std::string("u32")})
      for (const std::string c : {"eq", "lt", "geu", "nan"})
        for (const std::string op : {"", ".and", ".or", ".xor"})
          for (const std::string ftz : {"", ".ftz"}) {
            if (t[0] == 'b' && !ftz.empty()) continue;
            const std::string name = "set." + c + op + ftz + "." + to + "." + t;
            b.add(name, name + " %q, %r0, %r1" + (op.empty() ? ";" : ", !%b2;"), 3, 32, 32);
          }
}

}  // namespace

std::vector<conformance_case> rare_families() {
  std::vector<conformance_case> all;
  builder b(all);
  signs_and_magnitudes(b);
  integers(b);
  comparisons(b);
  return all;
}

}  // namespace heddle::conformance
