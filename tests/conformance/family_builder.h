// SPDX-License-Identifier: MIT
#pragma once

#include <string>
#include <vector>

#include "families.h"

namespace heddle::conformance {

/// Makes cases whose operands and results are those of a kernel of module_of().
class family_builder {
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

inline unsigned width(const std::string& type) {
  const unsigned n = static_cast<unsigned>(std::stoul(type.substr(type.find_first_of("0123456789"))));
  return type.size() > 2 && type.substr(type.size() - 2) == "x2" ? 32 : n;
}

void float_arithmetic(family_builder& b);
void halves(family_builder& b);
void conversions(family_builder& b);
void approximations(family_builder& b);
void moves_and_memory(family_builder& b);

}  // namespace heddle::conformance
