// SPDX-License-Identifier: MIT
#include <utility>

#include "families.h"

namespace heddle::conformance {

namespace {

using cases = std::vector<conformance_case>;

void add(cases& all, const std::string& mnemonic, const std::string& operands) {
  add_case(all, mnemonic.substr(0, mnemonic.find('.')), mnemonic + " " + operands, mnemonic + " " + operands + ";", 3,
           32, 32);
}

const std::vector<std::string>& signs() {
  static const std::vector<std::string> types = {"u32", "s32"};
  return types;
}

/// Destination, a and b as whole words and as parts.
const std::vector<std::string>& scalar_operands() {
  static const std::vector<std::string> operands = {"%q, %r0, %r1", "%q, %r0.b1, %r1.b3", "%q, %r0.h1, %r1",
                                                    "%q, %r0.b2, %r1.h0"};
  return operands;
}

void scalar_arithmetic(cases& all) {
  for (const std::string op : {"vadd", "vsub", "vabsdiff", "vmin", "vmax"})
    for (const std::string& d : signs())
      for (const std::string& a : signs())
        for (const std::string& b : signs())
          for (const std::string sat : {"", ".sat"}) {
            const std::string name = op + "." + d + "." + a + "." + b + sat;
            for (const std::string& o : scalar_operands()) add(all, name, o);
            add(all, name, "%q.h1, %r0.h0, %r1.h1, %r2");
            add(all, name, "%q.b2, %r0, %r1, %r2");
            for (const std::string then : {".add", ".min", ".max"}) add(all, name + then, "%q, %r0.h0, %r1, %r2");
          }
}

void shifts(cases& all) {
  for (const std::string op : {"vshl", "vshr"})
    for (const std::string& d : signs())
      for (const std::string& a : signs())
        for (const std::string sat : {"", ".sat"})
          for (const std::string mode : {".clamp", ".wrap"}) {
            const std::string name = op + "." + d + "." + a + ".u32" + sat + mode;
            for (const std::string& o : scalar_operands()) add(all, name, o);
            add(all, name, "%q.h0, %r0, %r1.b0, %r2");
            add(all, name + ".add", "%q, %r0, %r1.b0, %r2");
          }
}

void multiplication(cases& all) {
  for (const std::string& a : signs())
    for (const std::string& b : signs())
      for (const std::string sat : {"", ".sat"})
        for (const std::string scale : {"", ".shr7", ".shr15"}) {
          const std::string name = "vmad.s32." + a + "." + b;
          for (const std::string o : {"%r0, %r1, %r2", "-%r0, %r1, %r2", "%r0.h1, -%r1.b0, %r2", "%r0, %r1.h0, -%r2",
                                      "%r0, %r1, -%r2", "-%r0, -%r1, -%r2"})
            add(all, name + sat + scale, "%q, " + o);
          add(all, name + ".po" + sat + scale, "%q, %r0, %r1, %r2");
        }
}

void comparisons(cases& all) {
  for (const std::string cmp : {"eq", "ne", "lt", "le", "gt", "ge"})
    for (const std::string& a : signs())
      for (const std::string& b : signs()) {
        const std::string types = "." + a + "." + b + "." + cmp;
        for (const std::string& o : scalar_operands()) add(all, "vset" + types, o);
        add(all, "vset" + types, "%q.b3, %r0.b1, %r1.b1, %r2");
        add(all, "vset" + types + ".max", "%q, %r0, %r1, %r2");
        add(all, "vset2" + types, "%q, %r0, %r1, %r2");
        add(all, "vset4" + types, "%q, %r0, %r1, %r2");
        add(all, "vset4" + types + ".add", "%q.b31, %r0.b7120, %r1.b4567, %r2");
      }
}

void packed(cases& all) {
  for (const std::string op : {"vadd", "vsub", "vavrg", "vabsdiff", "vmin", "vmax"})
    for (const std::string& d : signs())
      for (const std::string& a : signs())
        for (const std::string& b : signs())
          for (const std::string mode : {"", ".sat", ".add"}) {
            const std::string types = "." + d + "." + a + "." + b + mode;
            for (const std::string n : {"2", "4"}) add(all, op + n + types, "%q, %r0, %r1, %r2");
            add(all, op + "2" + types, "%q.h1, %r0.h03, %r1.h21, %r2");
            add(all, op + "4" + types, "%q.b20, %r0.b3210, %r1.b0246, %r2");
          }
}

}  // namespace

std::vector<conformance_case> video_families() {
  cases all;
  scalar_arithmetic(all);
  shifts(all);
  multiplication(all);
  comparisons(all);
  packed(all);
  return all;
}

}  // namespace heddle::conformance
