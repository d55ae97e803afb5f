// SPDX-License-Identifier: MIT
// Video instructions, expanded to the integer instructions that chips since Maxwell use for them: parts of the
// operands are extracted and extended, combined, clamped, and then added to c or inserted into it.
#include "heddle/frontend/ptx/hir/video_form.h"
#include "heddle/frontend/ptx/resolve/translate/resolver.h"

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

}  // namespace

/// The expansion of one instruction. Values are words, or 64 bits if a word may be too small (`wide`).
class resolver::video_expansion {
 public:
  video_expansion(resolver& r, const hir_instruction& h, const ast_instruction& i)
      : r_(r), h_(h), i_(i), form_(decode_video_form(i, r.module_.ast->file)) {}

  void run() {
    if (i_.operands.size() < 3 || i_.operands.size() > 4)
      r_.code_.fail(i_.where, "'" + i_.mnemonic() + "' with too few operands");
    for (std::size_t k = 0; k < i_.operands.size(); ++k) read(k);
    const value result = form_.lanes > 1 ? lanes() : form_.what == action::mad ? multiply_add() : scalar();
    hir_instruction last = in_place_of(h_, ptx_op::mov, dtype::b32, {d_}, {result});
    last.guard = h_.guard;
    r_.code_.append(std::move(last));
  }

 private:
  struct source {
    value whole;
    std::string part;
    bool negate = false;
  };

  void read(std::size_t k) {
    ast_operand o = i_.operands[k];
    const std::string part = o.component;
    const bool negate = o.negate;
    o.component.clear();
    o.negate = false;
    if (negate && (k == 0 || form_.what != action::mad || form_.plus_one))
      r_.code_.fail(o.where, "'-' before an operand of '" + i_.mnemonic() + "'");
    if (k == 0) d_ = r_.in_.destination(o, i_.where), place_ = part;
    else sources_[k - 1] = {r_.in_.operand(o, dtype::u32, i_.where), part, negate};
    r_.checker_.check_type(k == 0 ? d_ : sources_[k - 1].whole, dtype::b32, false, o.where);
    const bool selects = k < 3 && !(k == 0 && form_.what == action::mad);
    if (!part.empty() && !(selects && is_part(part, k == 0))) bad_part(part, o.where);
  }

  [[noreturn]] void bad_part(const std::string& part, const location& where) const {
    r_.code_.fail(where, "'." + part + "' is no part of an operand of '" + i_.mnemonic() + "'");
  }

  /// Checks a part selector: .b0 to .b3, .h0, .h1; for halves .h and two, for bytes .b and four element indices; for a
  /// destination a mask such as .h10, .b20.
  [[nodiscard]] bool is_part(const std::string& part, bool destination) const {
    const unsigned n = static_cast<unsigned>(part.size()) - 1;
    if (form_.lanes == 1) return n == 1 && part[1] < (part[0] == 'b' ? '4' : '2');
    if (part[0] != (form_.lanes == 4 ? 'b' : 'h') || n > form_.lanes || (!destination && n != form_.lanes))
      return false;
    for (unsigned k = 1; k <= n; ++k) {
      if (part[k] >= '0' + static_cast<int>(destination ? form_.lanes : 2 * form_.lanes)) return false;
      if (destination && k > 1 && part[k] >= part[k - 1]) return false;
    }
    return true;
  }

  [[nodiscard]] value fresh(bool wide = false) const {
    return register_value(r_.code_.new_register(wide ? 2 : 1, wide ? 64 : 32));
  }

  [[nodiscard]] value make(ptx_op op, dtype t, std::vector<value> operands) const {
    const value d = fresh(isa::size_of(t) == 8);
    r_.code_.append(in_place_of(h_, op, t, {d}, std::move(operands)));
    return d;
  }

  [[nodiscard]] value extract(const value& v, unsigned bits, unsigned place, bool is_signed) const {
    return make(ptx_op::bfe, word_type(is_signed), {v, immediate_value(bits * place), immediate_value(bits)});
  }

  [[nodiscard]] value put_in(const value& v, const value& into, unsigned bits, unsigned place) const {
    return make(ptx_op::bfi, dtype::b32, {v, into, immediate_value(bits * place), immediate_value(bits)});
  }

  [[nodiscard]] value widened(const value& v, bool is_signed) const {
    hir_instruction h = in_place_of(h_, ptx_op::cvt, dtype::s64, {fresh(true)}, {v});
    h.m.type2 = word_type(is_signed);
    h.m.types = 2;
    const value d = h.dst[0];
    r_.code_.append(std::move(h));
    return d;
  }

  [[nodiscard]] value low_word(const value& v) const {
    const value low = fresh(), high = fresh();
    r_.code_.append(in_place_of(h_, ptx_op::unpack, dtype::b64, {low, high}, {v}));
    return low;
  }

  [[nodiscard]] value compare(isa::compare c, dtype t, const value& a, const value& b) const {
    const value p = register_value(r_.code_.new_register(0, 1));
    hir_instruction h = in_place_of(h_, ptx_op::setp, t, {p}, {a, b});
    h.m.cmp = c;
    r_.code_.append(std::move(h));
    return p;
  }

  [[nodiscard]] value clamped(const value& v, dtype t, unsigned bits) const {
    value r = make(ptx_op::min, t, {v, immediate_value(limit(bits, form_.signed_result, true))});
    if (isa::is_signed(t)) r = make(ptx_op::max, t, {r, immediate_value(limit(bits, form_.signed_result, false))});
    return r;
  }

  [[nodiscard]] value third() const {
    if (i_.operands.size() < 4) r_.code_.fail(i_.where, "'" + i_.mnemonic() + "' with too few operands");
    return sources_[2].whole;
  }

  [[nodiscard]] value difference(const value& a, const value& b, dtype t) const {
    return make(ptx_op::sub, t, {make(ptx_op::max, t, {a, b}), make(ptx_op::min, t, {a, b})});
  }

  /// Operates on numbers that fit the type with a bit to spare.
  [[nodiscard]] value operate(const value& a, const value& b, dtype t) const {
    switch (form_.what) {
      case action::add: return make(ptx_op::add, t, {a, b});
      case action::sub: return make(ptx_op::sub, t, {a, b});
      case action::absdiff: return difference(a, b, t);
      case action::min: return make(ptx_op::min, t, {a, b});
      case action::max: return make(ptx_op::max, t, {a, b});
      case action::average: {  // .5 is rounded away from zero
        const value sum = make(ptx_op::add, t, {a, b});
        const value up =
            make(ptx_op::selp, dtype::b32,
                 {immediate_value(0), immediate_value(1), compare(isa::compare::lt, t, sum, immediate_value(0))});
        return make(ptx_op::shr, t, {make(ptx_op::add, t, {sum, up}), immediate_value(1)});
      }
      default:
        return make(ptx_op::selp, dtype::b32, {immediate_value(1), immediate_value(0), compare(form_.cmp, t, a, b)});
    }
  }

  /// The selected part of a scalar source; `small`: it fits a word with its sign and bits to spare.
  value selected(unsigned k, bool is_signed, bool& small) const {
    const source& s = sources_[k];
    small = !s.part.empty();
    if (s.part.empty()) return s.whole;
    return extract(s.whole, s.part[0] == 'b' ? 8 : 16, static_cast<unsigned>(s.part[1] - '0'), is_signed);
  }

  [[nodiscard]] unsigned place_bits() const { return place_.empty() ? 32 : place_[0] == 'b' ? 8 : 16; }

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
          if (form_.saturate) r = clamped(r, dtype::s64, place_bits());
          r = low_word(r);
        }
      }
    }
    return combined(r);
  }

  /// Clamps a result of parts of words: signed, without overflow of the word.
  [[nodiscard]] value clamped_word(const value& v) const {
    const unsigned bits = place_bits();
    if (bits < 32) return clamped(v, dtype::s32, bits);
    return form_.signed_result ? v : make(ptx_op::max, dtype::s32, {v, immediate_value(0)});
  }

  /// Shifts a 33-bit signed number by 0 to 32 bits: 64 bits with a's sign hold the result.
  [[nodiscard]] value shifted(const value& a, const value& b) const {
    const value by = form_.wrap ? make(ptx_op::and_, dtype::b32, {b, immediate_value(31)})
                                : make(ptx_op::min, dtype::u32, {b, immediate_value(32)});
    const bool left = form_.what == action::shl;
    const value w = make(left ? ptx_op::shl : ptx_op::shr, left ? dtype::b64 : wide_type(form_.signed_a),
                         {widened(a, form_.signed_a), by});
    return low_word(form_.saturate ? clamped(w, wide_type(form_.signed_a), place_bits()) : w);
  }

  [[nodiscard]] value combined(const value& r) const {
    if (form_.then != second::none) {
      const ptx_op op = form_.then == second::add ? ptx_op::add : form_.then == second::min ? ptx_op::min : ptx_op::max;
      return make(op, word_type(form_.signed_result), {r, third()});
    }
    return place_.empty() ? r : put_in(r, third(), place_bits(), static_cast<unsigned>(place_[1] - '0'));
  }

  /// a * b + c in 64 bits. Only the product of two unsigned words in a signed operation can overflow; it is then far
  /// above the clamping limit.
  [[nodiscard]] value multiply_add() const {
    bool small;
    const value a = widened(selected(0, form_.signed_a, small), form_.signed_a),
                b = widened(selected(1, form_.signed_b, small), form_.signed_b);
    const bool minus = sources_[0].negate != sources_[1].negate, minus_c = sources_[2].negate;
    const bool is_signed = form_.signed_a || form_.signed_b || minus || minus_c;
    if (minus && minus_c) r_.code_.fail(i_.where, "'-' before product and sum of '" + i_.mnemonic() + "'");
    hir_instruction h = in_place_of(h_, ptx_op::mul, dtype::s64, {fresh(true)}, {a, b});
    h.m.part = modifiers::part_kind::lo;
    value p = h.dst[0];
    r_.code_.append(std::move(h));
    if (is_signed && !form_.signed_a && !form_.signed_b && form_.saturate)
      p = make(ptx_op::min, dtype::u64, {p, immediate_value(std::uint64_t{1} << 62)});
    const value c = widened(third(), is_signed);
    value sum =
        minus ? make(ptx_op::sub, dtype::s64, {c, p}) : make(minus_c ? ptx_op::sub : ptx_op::add, dtype::s64, {p, c});
    if (form_.plus_one) sum = make(ptx_op::add, dtype::s64, {sum, immediate_value(1)});
    if (form_.scale != 0) sum = make(ptx_op::shr, wide_type(is_signed), {sum, immediate_value(form_.scale)});
    if (!form_.saturate) return low_word(sum);
    sum = make(ptx_op::min, wide_type(is_signed), {sum, immediate_value(limit(32, is_signed, true))});
    if (is_signed) sum = make(ptx_op::max, dtype::s64, {sum, immediate_value(limit(32, true, false))});
    return low_word(sum);
  }

  /// The k-th half or byte that a source's selector names; indices continue from a into b.
  [[nodiscard]] value lane(unsigned k, unsigned of, bool is_signed) const {
    const unsigned n = form_.lanes;
    const std::string& part = sources_[of].part;
    const unsigned place = part.empty() ? of * n + k : static_cast<unsigned>(part[n - k] - '0');
    return extract(sources_[place / n].whole, 32 / n, place % n, is_signed);
  }

  [[nodiscard]] value lanes() const {
    const unsigned n = form_.lanes, bits = 32 / n;
    const bool sums = form_.then != second::none;
    const bool whole = place_.empty() || place_.size() == n + 1;
    value d = sums || !whole ? third() : immediate_value(0);
    for (unsigned k = 0; k < n; ++k) {
      if (!place_.empty() && place_.find(static_cast<char>('0' + k), 1) == std::string::npos) continue;
      value t = operate(lane(k, 0, form_.signed_a), lane(k, 1, form_.signed_b), dtype::s32);
      if (form_.saturate) t = clamped(t, dtype::s32, bits);
      d = sums ? make(ptx_op::add, dtype::s32, {d, t}) : put_in(t, d, bits, k);
    }
    return d;
  }

  resolver& r_;
  const hir_instruction& h_;
  const ast_instruction& i_;
  const video_form form_;
  value d_;
  std::string place_;  // part selector of the destination
  source sources_[3];
};

void resolver::video_instruction(const hir_instruction& h, const ast_instruction& i) {
  video_expansion(*this, h, i).run();
}

}  // namespace heddle::ptx
