// SPDX-License-Identifier: MIT
#include "heddle/frontend/ptx/resolve/family/video_translator.h"

#include <utility>

#include "heddle/frontend/ptx/hir/video_form.h"
#include "heddle/frontend/ptx/resolve/expansion.h"
#include "heddle/frontend/ptx/resolve/video_operands.h"

namespace heddle::ptx {

namespace {

using isa::dtype;
using action = video_form::action;
using second = video_form::second;

dtype word_type(bool is_signed) { return is_signed ? dtype::s32 : dtype::u32; }
dtype wide_type(bool is_signed) { return is_signed ? dtype::s64 : dtype::u64; }

/// The least or greatest number of `bits` bits.
std::uint64_t limit(unsigned bits, bool is_signed, bool greatest) {
  const std::uint64_t half = std::uint64_t{1} << (bits - 1);
  if (is_signed) return greatest ? half - 1 : ~(half - 1);
  return greatest ? half + (half - 1) : 0;
}

/// The expansion of one instruction. Values are words, or 64 bits if a word may be too small (`wide`).
class video_expansion {
 public:
  video_expansion(block_builder& code, const hir_instruction& h, const ast_instruction& i, const video_form& form,
                  const video_operands& operands)
      : code_(code), h_(h), i_(i), form_(form), operands_(operands), steps_(code, h) {}

  void run() {
    const value result = form_.lanes > 1 ? lanes() : form_.what == action::mad ? multiply_add() : scalar();
    steps_.finish(ptx_op::mov, dtype::b32, operands_.destination(), {result});
  }

 private:
  [[nodiscard]] value extract(const value& v, unsigned bits, unsigned place, bool is_signed) const {
    return steps_.make(ptx_op::bfe, word_type(is_signed), {v, immediate_value(bits * place), immediate_value(bits)});
  }

  [[nodiscard]] value put_in(const value& v, const value& into, unsigned bits, unsigned place) const {
    return steps_.make(ptx_op::bfi, dtype::b32, {v, into, immediate_value(bits * place), immediate_value(bits)});
  }

  [[nodiscard]] value widened(const value& v, bool is_signed) const {
    hir_instruction h = in_place_of(h_, ptx_op::cvt, dtype::s64, {steps_.pair()}, {v});
    h.m.type2 = word_type(is_signed);
    h.m.types = 2;
    const value d = h.dst[0];
    code_.append(std::move(h));
    return d;
  }

  [[nodiscard]] value low_word(const value& v) const {
    const value low = steps_.word(), high = steps_.word();
    steps_.put(ptx_op::unpack, dtype::b64, {low, high}, {v});
    return low;
  }

  [[nodiscard]] value clamped(const value& v, dtype t, unsigned bits) const {
    value r = steps_.make(ptx_op::min, t, {v, immediate_value(limit(bits, form_.signed_result, true))});
    if (isa::is_signed(t))
      r = steps_.make(ptx_op::max, t, {r, immediate_value(limit(bits, form_.signed_result, false))});
    return r;
  }

  [[nodiscard]] value difference(const value& a, const value& b, dtype t) const {
    return steps_.make(ptx_op::sub, t, {steps_.make(ptx_op::max, t, {a, b}), steps_.make(ptx_op::min, t, {a, b})});
  }

  /// Operates on numbers that fit the type with a bit to spare.
  [[nodiscard]] value operate(const value& a, const value& b, dtype t) const {
    switch (form_.what) {
      case action::add: return steps_.make(ptx_op::add, t, {a, b});
      case action::sub: return steps_.make(ptx_op::sub, t, {a, b});
      case action::absdiff: return difference(a, b, t);
      case action::min: return steps_.make(ptx_op::min, t, {a, b});
      case action::max: return steps_.make(ptx_op::max, t, {a, b});
      case action::average: {  // .5 is rounded away from zero
        const value sum = steps_.make(ptx_op::add, t, {a, b});
        const value up = steps_.make(
            ptx_op::selp, dtype::b32,
            {immediate_value(0), immediate_value(1), steps_.test(isa::compare::lt, t, sum, immediate_value(0))});
        return steps_.make(ptx_op::shr, t, {steps_.make(ptx_op::add, t, {sum, up}), immediate_value(1)});
      }
      default:
        return steps_.make(ptx_op::selp, dtype::b32,
                           {immediate_value(1), immediate_value(0), steps_.test(form_.cmp, t, a, b)});
    }
  }

  /// The selected part of a scalar source; `small`: it fits a word with its sign and bits to spare.
  value selected(unsigned k, bool is_signed, bool& small) const {
    const video_operands::source& s = operands_[k];
    small = !s.part.empty();
    if (s.part.empty()) return s.whole;
    return extract(s.whole, s.part[0] == 'b' ? 8 : 16, static_cast<unsigned>(s.part[1] - '0'), is_signed);
  }

  [[nodiscard]] value scalar() const {
    bool small_a, small_b;
    value a = selected(0, form_.signed_a, small_a), b = selected(1, form_.signed_b, small_b);
    const bool shifts = form_.what == action::shl || form_.what == action::shr;
    value r;
    if (shifts) {
      r = shifted(a, b);
    } else {
      const bool low_bits = (form_.what == action::add || form_.what == action::sub) && !form_.saturate;
      const bool same = form_.signed_a == form_.signed_b;
      const bool ordered = same && (form_.what == action::min || form_.what == action::max ||
                                    form_.what == action::absdiff || form_.what == action::set);
      if ((small_a && small_b) || low_bits || (ordered && !form_.saturate)) {
        const bool is_signed = (small_a && small_b) || form_.signed_a;
        r = operate(a, b, word_type(is_signed));
        if (form_.saturate) r = clamped_word(r);
      } else {
        r = operate(widened(a, form_.signed_a), widened(b, form_.signed_b), dtype::s64);
        if (form_.what != action::set) {
          if (form_.saturate) r = clamped(r, dtype::s64, operands_.place_bits());
          r = low_word(r);
        }
      }
    }
    return combined(r);
  }

  /// Clamps a result of parts of words: signed, without overflow of the word.
  [[nodiscard]] value clamped_word(const value& v) const {
    const unsigned bits = operands_.place_bits();
    if (bits < 32) return clamped(v, dtype::s32, bits);
    return form_.signed_result ? v : steps_.make(ptx_op::max, dtype::s32, {v, immediate_value(0)});
  }

  /// Shifts a 33-bit signed number by 0 to 32 bits: 64 bits with a's sign hold the result.
  [[nodiscard]] value shifted(const value& a, const value& b) const {
    const value by = form_.wrap ? steps_.make(ptx_op::and_, dtype::b32, {b, immediate_value(31)})
                                : steps_.make(ptx_op::min, dtype::u32, {b, immediate_value(32)});
    const bool left = form_.what == action::shl;
    const value w = steps_.make(left ? ptx_op::shl : ptx_op::shr, left ? dtype::b64 : wide_type(form_.signed_a),
                                {widened(a, form_.signed_a), by});
    return low_word(form_.saturate ? clamped(w, wide_type(form_.signed_a), operands_.place_bits()) : w);
  }

  [[nodiscard]] value combined(const value& r) const {
    if (form_.then != second::none) {
      const ptx_op op = form_.then == second::add ? ptx_op::add : form_.then == second::min ? ptx_op::min : ptx_op::max;
      return steps_.make(op, word_type(form_.signed_result), {r, operands_.third()});
    }
    const std::string& place = operands_.place();
    return place.empty() ? r
                         : put_in(r, operands_.third(), operands_.place_bits(), static_cast<unsigned>(place[1] - '0'));
  }

  /// a * b + c in 64 bits. Only the product of two unsigned words in a signed operation can overflow; it is then far
  /// above the clamping limit.
  [[nodiscard]] value multiply_add() const {
    bool small;
    const value a = widened(selected(0, form_.signed_a, small), form_.signed_a),
                b = widened(selected(1, form_.signed_b, small), form_.signed_b);
    const bool minus = operands_[0].negate != operands_[1].negate, minus_c = operands_[2].negate;
    const bool is_signed = form_.signed_a || form_.signed_b || minus || minus_c;
    if (minus && minus_c) code_.fail(i_.where, "'-' before product and sum of '" + i_.mnemonic() + "'");
    hir_instruction h = in_place_of(h_, ptx_op::mul, dtype::s64, {steps_.pair()}, {a, b});
    h.m.part = modifiers::part_kind::lo;
    value p = h.dst[0];
    code_.append(std::move(h));
    if (is_signed && !form_.signed_a && !form_.signed_b && form_.saturate)
      p = steps_.make(ptx_op::min, dtype::u64, {p, immediate_value(std::uint64_t{1} << 62)});
    const value c = widened(operands_.third(), is_signed);
    value sum = minus ? steps_.make(ptx_op::sub, dtype::s64, {c, p})
                      : steps_.make(minus_c ? ptx_op::sub : ptx_op::add, dtype::s64, {p, c});
    if (form_.plus_one) sum = steps_.make(ptx_op::add, dtype::s64, {sum, immediate_value(1)});
    if (form_.scale != 0) sum = steps_.make(ptx_op::shr, wide_type(is_signed), {sum, immediate_value(form_.scale)});
    if (!form_.saturate) return low_word(sum);
    sum = steps_.make(ptx_op::min, wide_type(is_signed), {sum, immediate_value(limit(32, is_signed, true))});
    if (is_signed) sum = steps_.make(ptx_op::max, dtype::s64, {sum, immediate_value(limit(32, true, false))});
    return low_word(sum);
  }

  /// The k-th half or byte that a source's selector names; indices continue from a into b.
  [[nodiscard]] value lane(unsigned k, unsigned of, bool is_signed) const {
    const unsigned n = form_.lanes;
    const std::string& part = operands_[of].part;
    const unsigned place = part.empty() ? of * n + k : static_cast<unsigned>(part[n - k] - '0');
    return extract(operands_[place / n].whole, 32 / n, place % n, is_signed);
  }

  [[nodiscard]] value lanes() const {
    const unsigned n = form_.lanes, bits = 32 / n;
    const bool sums = form_.then != second::none;
    const std::string& place = operands_.place();
    const bool whole = place.empty() || place.size() == n + 1;
    value d = sums || !whole ? operands_.third() : immediate_value(0);
    for (unsigned k = 0; k < n; ++k) {
      if (!place.empty() && place.find(static_cast<char>('0' + k), 1) == std::string::npos) continue;
      value t = operate(lane(k, 0, form_.signed_a), lane(k, 1, form_.signed_b), dtype::s32);
      if (form_.saturate) t = clamped(t, dtype::s32, bits);
      d = sums ? steps_.make(ptx_op::add, dtype::s32, {d, t}) : put_in(t, d, bits, k);
    }
    return d;
  }

  block_builder& code_;
  const hir_instruction& h_;
  const ast_instruction& i_;
  const video_form& form_;
  const video_operands& operands_;
  const expansion steps_;
};

}  // namespace

void video_translator::translate(const hir_instruction& h, const ast_instruction& i) {
  const video_form form = decode_video_form(i, file_);
  video_operands operands(code_, i, form);
  operands.read(in_, checker_);
  video_expansion(code_, h, i, form, operands).run();
}

}  // namespace heddle::ptx
