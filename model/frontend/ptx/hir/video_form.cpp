// SPDX-License-Identifier: MIT
#include "heddle/frontend/ptx/hir/video_form.h"

#include "heddle/config/error.h"

namespace heddle::ptx {

namespace {

using action = video_form::action;
using second = video_form::second;

struct name_row {
  const char* name;
  action what;
  bool scalar, packed;  // available as vNAME; available as vNAME2 and vNAME4
};

constexpr name_row names[] = {{"vadd", action::add, true, true},         {"vsub", action::sub, true, true},
                              {"vabsdiff", action::absdiff, true, true}, {"vavrg", action::average, false, true},
                              {"vmin", action::min, true, true},         {"vmax", action::max, true, true},
                              {"vshl", action::shl, true, false},        {"vshr", action::shr, true, false},
                              {"vmad", action::mad, true, false},        {"vset", action::set, true, true}};

bool find_name(const std::string& opcode, video_form& f) {
  if (opcode.size() < 4 || opcode[0] != 'v') return false;
  const char last = opcode.back();
  const bool packed = last == '2' || last == '4';
  const std::string stem = packed ? opcode.substr(0, opcode.size() - 1) : opcode;
  for (const name_row& row : names) {
    if (stem != row.name || !(packed ? row.packed : row.scalar)) continue;
    f.what = row.what;
    f.lanes = packed ? static_cast<unsigned>(last - '0') : 1;
    return true;
  }
  return false;
}

bool compare_word(const std::string& w, video_form& f) {
  using isa::compare;
  static constexpr struct {
    const char* word;
    compare cmp;
  } table[] = {{"eq", compare::eq}, {"ne", compare::ne}, {"lt", compare::lt},
               {"le", compare::le}, {"gt", compare::gt}, {"ge", compare::ge}};
  if (f.what != action::set || f.cmp != compare::f) return false;
  for (const auto& row : table) {
    if (w != row.word) continue;
    f.cmp = row.cmp;
    return true;
  }
  return false;
}

/// The second operation; with bytes and halves only accumulation is possible.
bool second_word(const std::string& w, video_form& f) {
  const bool shifts = f.what == action::shl || f.what == action::shr;
  if (f.then != second::none || f.what == action::mad) return false;
  if (w == "add") f.then = second::add;
  else if (f.lanes == 1 && w == "min") f.then = second::min;
  else if (f.lanes == 1 && w == "max") f.then = second::max;
  else if (shifts && !f.has_mode && (w == "wrap" || w == "clamp")) f.has_mode = true, f.wrap = w == "wrap";
  else return false;
  return true;
}

bool word(const std::string& w, unsigned& types, video_form& f) {
  if (w == "u32" || w == "s32") {
    // The result type of vset has no signedness of its own.
    const unsigned place = types++ + (f.what == action::set ? 1 : 0);
    if (place > 2) return false;
    (place == 0 ? f.signed_result : place == 1 ? f.signed_a : f.signed_b) = w == "s32";
    return true;
  }
  if (w == "sat" && f.what != action::set) return f.saturate = true;
  if (f.what == action::mad) {
    if (w == "po") return f.plus_one = true;
    if (w != "shr7" && w != "shr15") return false;
    f.scale = w == "shr7" ? 7 : 15;
    return true;
  }
  return compare_word(w, f) || second_word(w, f);
}

}  // namespace

bool is_video_name(const std::string& opcode) {
  video_form f;
  return find_name(opcode, f);
}

video_form decode_video_form(const ast_instruction& i, const std::string& file) {
  video_form f;
  find_name(i.opcode, f);
  unsigned types = 0;
  const auto fail = [&](const std::string& what) {
    throw input_error(file, i.where.line, i.where.column, what + " instruction '" + i.mnemonic() + "'");
  };
  for (const std::string& w : i.modifiers)
    if (!word(w, types, f)) fail("unsupported modifier '." + w + "' in");
  const bool set = f.what == action::set, shift = f.what == action::shl || f.what == action::shr;
  const bool complete = types == (set ? 2u : 3u) && (!set || f.cmp != isa::compare::f) && (!shift || f.has_mode);
  if (!complete || (shift && f.signed_b) || (f.lanes > 1 && f.saturate && f.then != second::none))
    fail("unsupported type or form of");
  return f;
}

}  // namespace heddle::ptx
