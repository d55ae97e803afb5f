// SPDX-License-Identifier: MIT
#include "heddle/frontend/ptx/hir/video_form.h"

#include "heddle/config/error.h"

namespace heddle::ptx {

namespace {

using action = video_form::action;
using second = video_form::second;

struct op_row {
  ptx_op op;
  action what;
  unsigned lanes;
};

constexpr op_row rows[] = {{ptx_op::vadd, action::add, 1},          {ptx_op::vadd2, action::add, 2},
                           {ptx_op::vadd4, action::add, 4},         {ptx_op::vsub, action::sub, 1},
                           {ptx_op::vsub2, action::sub, 2},         {ptx_op::vsub4, action::sub, 4},
                           {ptx_op::vabsdiff, action::absdiff, 1},  {ptx_op::vabsdiff2, action::absdiff, 2},
                           {ptx_op::vabsdiff4, action::absdiff, 4}, {ptx_op::vavrg2, action::average, 2},
                           {ptx_op::vavrg4, action::average, 4},    {ptx_op::vmin, action::min, 1},
                           {ptx_op::vmin2, action::min, 2},         {ptx_op::vmin4, action::min, 4},
                           {ptx_op::vmax, action::max, 1},          {ptx_op::vmax2, action::max, 2},
                           {ptx_op::vmax4, action::max, 4},         {ptx_op::vshl, action::shl, 1},
                           {ptx_op::vshr, action::shr, 1},          {ptx_op::vmad, action::mad, 1},
                           {ptx_op::vset, action::set, 1},          {ptx_op::vset2, action::set, 2},
                           {ptx_op::vset4, action::set, 4}};

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

video_form decode_video_form(const ast_instruction& i, const std::string& file) {
  video_form f;
  for (const op_row& r : rows)
    if (r.op == i.op) f.what = r.what, f.lanes = r.lanes;
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
