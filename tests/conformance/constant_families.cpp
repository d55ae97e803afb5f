// SPDX-License-Identifier: MIT
// Integer instructions with operands that are known before a kernel runs. Lowering computes such instructions itself or
// replaces them by cheaper ones; the reference executes them as they are written.
#include "families.h"

namespace heddle::conformance {

namespace {

using literals = std::vector<std::string>;

/// Adds up the results of many instructions in %q or %o, each with a register of its own, because lowering follows
/// values only through registers that are written once.
class long_sum {
 public:
  explicit long_sum(unsigned bits) : bits_(bits), sum_(bits == 64 ? "%o" : "%q") {}

  std::string fresh(unsigned bits) {
    (bits == 64 ? wide_ : narrow_) = true;
    return (bits == 64 ? "%w" : "%t") + std::to_string(count_++);
  }

  void execute(const std::string& mnemonic, const std::string& operands) {
    const std::string result = fresh(bits_);
    code_ += mnemonic + " " + result + ", " + operands + ";\n";
    accumulate(result);
  }

  void accumulate(const std::string& result) {
    code_ += "mad.lo.u" + std::to_string(bits_) + " " + sum_ + ", " + sum_ + ", 33, " + result + ";\n";
  }

  void line(const std::string& text) { code_ += text + "\n"; }

  std::string code() const {
    const std::string n = std::to_string(count_);
    return (narrow_ ? ".reg .b32 %t<" + n + ">; " : "") + (wide_ ? ".reg .b64 %w<" + n + ">; " : "") + "mov.b" +
           std::to_string(bits_) + " " + sum_ + (bits_ == 64 ? ", %d1;\n" : ", %r1;\n") + code_;
  }

 private:
  unsigned bits_;
  std::string sum_, code_;
  unsigned count_ = 0;
  bool narrow_ = false, wide_ = false;
};

const literals& constants_of(unsigned bits) {
  static const literals narrow = {"0", "1", "3", "8", "0x80000000", "0xffffffff"};
  static const literals wide = {"0", "1", "3", "0x100000000", "0x8000000000000000", "0xffffffffffffffff"};
  return bits == 64 ? wide : narrow;
}

const literals& distances() {
  static const literals some = {"0", "1", "3", "31", "32", "63", "64", "0xffffffff"};
  return some;
}

/// Two constants as they are and by way of a register; a constant on either side of a register.
std::string two_operands(const std::string& mnemonic, unsigned bits, unsigned result_bits, bool shifts) {
  long_sum all(result_bits);
  const std::string move = "mov.b" + std::to_string(bits), given = bits == 64 ? "%d0" : "%r0";
  for (const std::string& b : shifts ? distances() : constants_of(bits)) {
    for (const std::string& a : constants_of(bits)) {
      all.execute(mnemonic, a + ", " + b);
      const std::string known = all.fresh(bits);
      all.line(move + " " + known + ", " + a + ";");
      all.execute(mnemonic, known + ", " + b);
    }
    all.execute(mnemonic, given + ", " + b);
    if (!shifts) all.execute(mnemonic, b + ", " + given);
  }
  return all.code();
}

/// Chains such as (x + 3) - 8, which become one instruction, and products with a constant as either factor.
std::string chains(unsigned bits) {
  long_sum all(bits);
  const std::string n = std::to_string(bits), x = bits == 64 ? "%d0" : "%r0";
  for (const std::string& a : constants_of(bits))
    for (const std::string& b : constants_of(bits))
      for (const std::string op : {"add.u", "sub.u"}) {
        const std::string first = all.fresh(bits);
        all.line(op + n + " " + first + ", " + x + ", " + a + ";");
        all.execute("add.s" + n, first + ", " + b);
        all.execute("mad.lo.u" + n, a + ", " + b + ", " + x);
        all.execute("mad.lo.u" + n, x + ", " + a + ", " + b);
        all.execute("mad.lo.u" + n, a + ", " + x + ", " + b);
      }
  return all.code();
}

}  // namespace

std::vector<conformance_case> constant_families() {
  std::vector<conformance_case> all;
  const auto add = [&all](const std::string& name, const std::string& code, unsigned bits, unsigned result_bits) {
    add_case(all, "constants", name, code, 2, bits, result_bits);
  };
  for (const unsigned bits : {32u, 64u}) {
    const std::string n = std::to_string(bits);
    for (const std::string op : {"add.s", "sub.u", "mul.lo.s", "mul.hi.u", "min.s", "max.u", "and.b", "or.b", "xor.b"})
      add(op + n, two_operands(op + n, bits, bits, false), bits, bits);
    for (const std::string op : {"shl.b", "shr.u", "shr.s"})
      add(op + n, two_operands(op + n, bits, bits, true), bits, bits);
    add("chains." + n, chains(bits), bits, bits);
  }
  for (const std::string op : {"mul.wide.u32", "mul.wide.s32"}) add(op, two_operands(op, 32, 64, false), 32, 64);
  return all;
}

}  // namespace heddle::conformance
