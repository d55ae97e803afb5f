// SPDX-License-Identifier: MIT
#pragma once

#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "heddle/frontend/ptx/hir/form_table.h"

namespace heddle::ptx_variants {

/// The code before the instruction in the kernel of a variant. Each variant is one line, so that the line numbers of
/// ptxas' messages identify it.
inline std::string prelude(bool newest) {
  return std::string(
             ".global .align 16 .b32 gv[64];\n.const .align 16 .b32 cv[4] = {1, 2, 3, 4};\n.func (.param .b32 v) fn(.param .b32 a) { ret; }\n") +
         ".visible .entry k(.param .u64 p, .param .b32 pw) {\n.reg .pred %p<4>; .reg .b16 %h<8>; .reg .u16 %uh<3>; .reg .f16 %fh<3>; .reg .b32 %r<8>; "
         ".reg .u32 %u<3>; .reg .s32 %s<3>; .reg .f32 %f<8>; .reg .b64 %d<8>; .reg .u64 %ud<3>; .reg .s64 %sd<3>; .reg .f64 %e<8>;" +
         (newest ? " .reg .b128 %q<4>;" : "") +
         " .reg .v2 .b32 %vv;\n.shared .align 16 .b8 sv[1024]; .local .align 16 .b8 lv[64];\n";
}

/// One legal instruction of a form, and its variants with one changed operand.
struct form_case {
  std::string code;
  std::vector<std::string> variants;
};

inline std::vector<std::string> split(const std::string& text, char separator) {
  std::vector<std::string> parts(1);
  for (const char c : text) {
    if (c == separator) parts.emplace_back();
    else parts.back() += c;
  }
  std::vector<std::string> kept;
  for (std::string& p : parts)
    if (!p.empty()) kept.push_back(std::move(p));
  return kept;
}

/// Register number `k` of the type in which programs keep this PTX type.
inline std::string register_for(const std::string& type, unsigned k) {
  static const std::map<std::string, const char*> odd = {
      {"pred", "%p"}, {"f32", "%f"}, {"f64", "%e"}, {"f32x2", "%d"}, {"b128", "%q"}};
  const auto it = odd.find(type);
  std::string prefix = it != odd.end()                        ? it->second
                       : type.find("64") != std::string::npos ? "%d"
                       : type.find("8") != std::string::npos || type == "f16" || type == "bf16" ||
                               (type.find("16") != std::string::npos && type.find("x2") == std::string::npos)
                           ? "%h"
                           : "%r";
  if (type == "e4m3x2" || type == "e5m2x2") prefix = "%h";
  if (type == "u4" || type == "s4" || type == "u2" || type == "s2") prefix = "%r";
  return prefix + std::to_string(prefix == "%q" || prefix == "%p" ? k % 4 : k);
}

inline std::string wide(const std::string& type) {
  return type.substr(0, 1) + (type.find("16") != std::string::npos ? "32" : "64");
}

/// The modifiers of an instance of a row, in order.
struct chosen {
  std::vector<std::string> words, types;
  [[nodiscard]] bool has(const std::string& w) const {
    for (const std::string& k : words)
      if (k == w) return true;
    return false;
  }
};

inline std::string address_for(const chosen& c) {
  for (const std::string& w : c.words) {
    if (w.rfind("shared", 0) == 0) return "[%d1]";
    if (w == "local") return "[lv]";
    if (w == "const") return "[cv]";
    if (w.rfind("param", 0) == 0) return "[p]";
  }
  return "[%d0]";
}

inline unsigned vector_of(const chosen& c) { return c.has("v2") ? 2 : c.has("v4") ? 4 : c.has("v8") ? 8 : 1; }

/// Operands that a column of the table requires, the simplest of each.
inline std::vector<std::string> operands(const std::string& column, const chosen& c) {
  std::vector<std::string> out;
  unsigned next = 1;
  for (std::string part : split(column, ' ')) {
    if (part.back() == '?' && part.find('|') == std::string::npos) continue;
    if (part.back() == '&' && !c.has("and") && !c.has("or") && !c.has("xor")) continue;
    if (part.back() == '^' && !c.has("L2::cache_hint")) continue;
    const bool destination = part[0] == '=';
    if (destination) part.erase(0, 1);
    if (part == "[]") {
      out.push_back(address_for(c));
      continue;
    }
    if (part == "#") {
      out.push_back(c.has("L2::evict_normal") || c.has("L2") ? "128" : "1");
      continue;
    }
    if (part == "label") {
      out.push_back("@L");
      continue;
    }
    const bool braces = part[0] == '{';
    const bool pair = part.find('|') != std::string::npos && part.back() != '?';
    std::string name;
    for (const char ch : part) {
      if (ch == '|') break;
      if ((ch >= 'a' && ch <= 'z') || (ch >= '0' && ch <= '9')) name += ch;
    }
    const std::string type = name == "t"   ? c.types.at(0)
                             : name == "s" ? c.types.at(1)
                             : name == "w" ? wide(c.types.at(0))
                             : name == "a" ? "b64"
                             : name == "d" ? c.types.at(0)
                                           : name;
    const unsigned n = braces ? vector_of(c) : 1;
    std::string text;
    for (unsigned k = 0; k < n; ++k)
      text += (k ? ", " : "") + register_for(type, (destination ? 1 + k : next + 1 + k) % 8);
    if (!destination) ++next;
    out.push_back(n > 1 ? "{" + text + "}" : pair ? text + "|%p2" : text);
  }
  return out;
}

inline std::string instruction(const std::string& name, const chosen& c, const std::vector<std::string>& operands) {
  std::string text = name;
  for (const std::string& w : c.words) text += "." + w;
  for (std::size_t k = 0; k < operands.size(); ++k) text += (k ? ", " : " ") + operands[k];
  return text + ";";
}

/// `first`: of a row. Variants that ptxas mostly reports as syntax errors, one at a time, are not repeated for each
/// type.
inline std::vector<std::string> variants_of(const std::string& name, const chosen& c,
                                            const std::vector<std::string>& legal, bool first) {
  static const std::vector<std::string> values = {
      "%p1",    "%h1",  "%uh1",       "%fh1", "%r1", "%u1",        "%f1",
      "%d1",    "%ud1", "%e1",        "1",    "1.0", "0f3F800000", "0d3FF0000000000000",
      "%tid.x", "gv",   "{%r1, %r2}", "%vv"};
  static const std::vector<std::string> more_values = {"%clock64", "sv",       "_",     "[%d0]", "!%p1",
                                                       "-%r1",     "%unknown", "%r1.x", "%vv.x"};
  static const std::vector<std::string> addresses = {"[%f0]", "[gv]", "[sv]", "[cv]", "[lv]",
                                                     "[p]",   "[0]",  "%d0",  "gv"};
  static const std::vector<std::string> more_addresses = {
      "[%p1]", "[%d0+4]",    "[%d0-4]", "[%d0+-4]", "[%d0+%r1]", "[%d0+1.0]", "[%tid.x]",
      "5",     "{%r1, %r2}", "[%vv.x]", "[fn]",     "[k]",       "[%d0, %d1]"};
  std::vector<std::string> out;
  for (std::size_t k = 0; k < legal.size(); ++k) {
    const bool address = legal[k][0] == '[';
    std::vector<std::string> replacements = address ? addresses : values;
    if (first) {
      const auto& more = address ? more_addresses : more_values;
      replacements.insert(replacements.end(), more.begin(), more.end());
    }
    for (const std::string& r : replacements) {
      std::vector<std::string> changed = legal;
      changed[k] = r;
      out.push_back(instruction(name, c, changed));
    }
  }
  std::vector<std::string> changed = legal;
  if (!changed.empty()) {
    changed.pop_back();
    out.push_back(instruction(name, c, changed));
    changed = legal;
    changed[0] += "|%p3";
    out.push_back(instruction(name, c, changed));
    changed = legal;
  }
  for (const char* more : {"%r1", "%p1", "1"}) {
    changed.push_back(more);
    out.push_back(instruction(name, c, changed));
    changed.pop_back();
  }
  return out;
}

struct slot {
  bool optional = false, types = false;
  std::vector<std::string> choices;
};

inline std::vector<slot> slots_of(const std::string& words) {
  std::vector<slot> out;
  for (std::string part : split(words, ' ')) {
    slot s;
    for (; part[0] == '?' || part[0] == '.'; part.erase(0, 1)) (part[0] == '?' ? s.optional : s.types) = true;
    s.choices = split(part, '|');
    out.push_back(std::move(s));
  }
  return out;
}

/// `pick[k]`: the choice of slot k; -1: none.
inline chosen choose(const std::vector<slot>& slots, const std::vector<int>& pick) {
  chosen c;
  for (std::size_t k = 0; k < slots.size(); ++k) {
    if (pick[k] < 0) continue;
    c.words.push_back(slots[k].choices[static_cast<std::size_t>(pick[k])]);
    if (slots[k].types) c.types.push_back(c.words.back());
  }
  return c;
}

/// Cases of one row: operands are varied for its first operation with each of its types; the other modifiers and
/// operations are tried once.
inline void add_cases(const ptx::form_row& row, std::set<std::string>& seen, std::vector<form_case>& out) {
  const std::vector<slot> slots = slots_of(row.words);
  std::vector<int> least;
  for (const slot& s : slots) least.push_back(s.optional ? -1 : 0);
  if (std::string(row.operands) == "...") return;
  const auto add = [&](const std::string& name, const std::vector<int>& pick, bool varied, bool first) {
    const chosen c = choose(slots, pick);
    const std::vector<std::string> legal = operands(row.operands, c);
    form_case one{instruction(name, c, legal), {}};
    if (varied) one.variants = variants_of(name, c, legal, first);
    if (seen.insert(one.code).second) out.push_back(std::move(one));
  };
  const std::vector<std::string> names = split(row.operations, '|');
  for (std::size_t n = 0; n < names.size(); ++n) {
    add(names[n], least, true, n == 0);
    for (std::size_t k = 0; k < slots.size(); ++k)
      for (std::size_t j = 0; j < slots[k].choices.size(); ++j) {
        std::vector<int> pick = least;
        pick[k] = static_cast<int>(j);
        add(names[n], pick, n == 0 && slots[k].types, false);
      }
  }
}

inline std::vector<form_case> all_cases() {
  std::set<std::string> seen;
  std::vector<form_case> out;
  for (const ptx::form_row& row : ptx::form_table()) add_cases(row, seen, out);
  return out;
}

}  // namespace heddle::ptx_variants
