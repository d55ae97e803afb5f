// SPDX-License-Identifier: MIT
// Matches the words of an instruction against the forms of form_table.cpp.
#include <algorithm>
#include <set>
#include <string_view>

#include "heddle/config/error.h"
#include "heddle/frontend/ptx/hir/form_table.h"
#include "heddle/frontend/ptx/hir/hir.h"

namespace heddle::ptx {

namespace {

using words = std::vector<std::string_view>;

struct slot {
  bool optional = false, types = false;
  words choices;

  [[nodiscard]] bool takes(std::string_view w) const {
    return std::find(choices.begin(), choices.end(), w) != choices.end();
  }
};

struct form {
  std::vector<slot> slots;
  operand_column operands;
};

words split(std::string_view text, char separator) {
  words parts;
  for (std::size_t at = 0; at <= text.size();) {
    const std::size_t end = std::min(text.find(separator, at), text.size());
    if (end > at) parts.push_back(text.substr(at, end - at));
    at = end + 1;
  }
  return parts;
}

std::vector<slot> parse_slots(std::string_view text) {
  std::vector<slot> f;
  for (std::string_view part : split(text, ' ')) {
    slot s;
    for (s.optional = part.front() == '?'; part.front() == '?' || part.front() == '.'; part.remove_prefix(1))
      s.types = part.front() == '.';
    s.choices = split(part, '|');
    f.push_back(std::move(s));
  }
  return f;
}

struct rule_book {
  std::vector<std::vector<form>> forms{static_cast<std::size_t>(ptx_op::count)};  // by ptx_op
  std::set<std::string_view> types;

  rule_book() {
    for (const form_row& row : form_table()) {
      const form f{parse_slots(row.words), parse_operand_column(row.operands)};
      for (std::string_view name : split(row.operations, '|'))
        forms[static_cast<std::size_t>(find_op(name))].push_back(f);
      for (const slot& s : f.slots)
        if (s.types) types.insert(s.choices.begin(), s.choices.end());
    }
  }
};

const rule_book& rules() {
  static const rule_book book;
  return book;
}

/// The result of matching an instruction's words with one form.
struct fit {
  bool types = true;              // its types match the form
  std::string_view surplus;       // a word that the form does not have
  const slot* missing = nullptr;  // a slot that needs a word

  [[nodiscard]] bool perfect() const { return types && surplus.empty() && !missing; }
};

/// Types must be in the form's order; the other words may be in any order.
fit compare(const std::vector<slot>& f, const std::vector<std::string>& said) {
  fit result;
  std::vector<char> used(f.size(), 0);
  std::size_t next_type = 0;
  for (const std::string& w : said) {
    if (rules().types.count(w) != 0) {
      while (next_type < f.size() && !f[next_type].types) ++next_type;
      if (next_type < f.size() && f[next_type].takes(w)) used[next_type++] = 1;
      else result.types = false;
      continue;
    }
    std::size_t k = 0;
    while (k < f.size() && (used[k] || f[k].types || !f[k].takes(w))) ++k;
    if (k < f.size()) used[k] = 1;
    else if (result.surplus.empty()) result.surplus = w;
  }
  for (std::size_t k = 0; k < f.size(); ++k) {
    if (used[k] || f[k].optional) continue;
    if (f[k].types) result.types = false;
    else if (!result.missing) result.missing = &f[k];
  }
  return result;
}

std::string list(const words& choices) {
  std::string text;
  for (std::size_t k = 0; k < choices.size(); ++k)
    text += (k == 0 ? "." : k + 1 < choices.size() ? ", ." : " or .") + std::string(choices[k]);
  return text;
}

/// The types of all forms that have the other words, or of all forms if none has.
std::string expected_types(const std::vector<form>& forms, const std::vector<std::string>& said) {
  words found;
  for (const bool all : {false, true}) {
    for (const form& f : forms) {
      const fit how = compare(f.slots, said);
      if (!all && (!how.surplus.empty() || how.missing)) continue;
      for (const slot& s : f.slots) {
        if (!s.types) continue;
        for (const std::string_view t : s.choices)
          if (std::find(found.begin(), found.end(), t) == found.end()) found.push_back(t);
        break;
      }
    }
    if (!found.empty()) break;
  }
  return found.empty() ? "it has no type" : "expected " + list(found);
}

/// The error message for words that match no form.
std::string complaint(const std::vector<form>& forms, const std::vector<std::string>& said) {
  const slot* missing = nullptr;
  std::string_view surplus;
  bool typed = false;
  for (const form& f : forms) {
    const fit how = compare(f.slots, said);
    if (!how.types) continue;
    typed = true;
    if (how.surplus.empty() && !missing) missing = how.missing;
    if (surplus.empty()) surplus = how.surplus;
  }
  std::string types;
  unsigned count = 0;
  for (const std::string& w : said)
    if (rules().types.count(w) != 0) types += "." + w, ++count;
  if (!typed) {
    const std::string found =
        count == 0 ? "a type is missing" : types + (count == 1 ? " is no type of it" : " are no types of it");
    return found + ", " + expected_types(forms, said);
  }
  if (missing) return list(missing->choices) + " was expected";
  return "'." + std::string(surplus) + "' does not go with " + (types.empty() ? "the other modifiers" : types);
}

/// The register type of operands of type `w`. Formats without a register type of their own need 32 bits, like bf16x2.
isa::dtype register_type(const std::string& w) {
  const isa::dtype t = type_named(w);
  return t == isa::dtype::none ? isa::dtype::bf16x2 : t;
}

}  // namespace

std::vector<matched_form> check_form(const ast_instruction& i, const std::string& file) {
  const std::vector<form>& known = rules().forms[static_cast<std::size_t>(i.op)];
  std::vector<matched_form> found;
  if (known.empty() || i.has("tensormap") || i.has("tensormap::generic")) return found;
  for (const form& f : known) {
    if (!compare(f.slots, i.modifiers).perfect()) continue;
    matched_form m;
    m.operands = &f.operands;
    for (const std::string& w : i.modifiers) {
      if (rules().types.count(w) == 0) continue;
      if (m.first == isa::dtype::none) m.first = register_type(w);
      else if (m.second == isa::dtype::none) m.second = register_type(w);
    }
    found.push_back(m);
  }
  if (!found.empty()) return found;
  throw input_error(file, i.where.line, i.where.column,
                    "unsupported form of instruction '" + i.mnemonic() + "': " + complaint(known, i.modifiers));
}

}  // namespace heddle::ptx
