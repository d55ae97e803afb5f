// SPDX-License-Identifier: MIT
#include "heddle/frontend/ptx/hir/optimise.h"

#include <algorithm>
#include <array>

#include "heddle/frontend/ptx/hir/control_flow.h"
#include "heddle/frontend/ptx/hir/dead_code.h"

namespace heddle::ptx {

namespace {

using isa::dtype;

class optimiser {
 public:
  optimiser(hir_function& f, bool has_imad, bool hopper_code) : f_(f), imad_(has_imad), hopper_(hopper_code) {}

  void run() {
    find_singles();
    moments_.assign(f_.registers.size(), {});
    writes_.assign(f_.registers.size(), 0);
    for (std::uint32_t b : reverse_post_order(graph_, 0)) {
      block_ = b;
      for (hir_instruction& h : f_.blocks[b].code) {
        for (value& v : h.src) substitute(v);
        substitute_guard(h);
        simplify(h);
        learn(h);
        pass(h);
      }
    }
    count_uses();
    for (hir_block& b : f_.blocks)
      for (hir_instruction& h : b.code) fold_predicates(h);
  }

 private:
  struct place {
    std::uint32_t block = no_node, index = 0;
  };

  /// When a register was written last: how often its sources had been written before.
  struct moment {
    std::uint32_t block = no_node;
    std::array<std::uint32_t, 2> writes{};
  };

  void find_singles() {
    for (const hir_block& b : f_.blocks) graph_.push_back(b.successors);
    const std::size_t n = f_.registers.size();
    std::vector<std::uint32_t> count(n, 0);
    place_.assign(n, {});
    known_.assign(n, {});
    definition_.assign(n, nullptr);
    for (std::uint32_t b = 0; b < f_.blocks.size(); ++b)
      for (std::uint32_t k = 0; k < f_.blocks[b].code.size(); ++k) {
        hir_instruction& h = f_.blocks[b].code[k];
        for (const value& d : h.dst) {
          if (!d.is_reg()) continue;
          count[d.reg] += h.guard.what == value::kind::none ? 1 : 2;
          place_[d.reg] = {b, k};
          definition_[d.reg] = &h;
        }
      }
    for (std::size_t r = 0; r < n; ++r) f_.registers[r].single = count[r] == 1;
    const dominance dom(graph_, 0);
    const auto check = [&](const value& v, std::uint32_t b, std::uint32_t k) {
      if (!v.is_reg() || !f_.registers[v.reg].single) return;
      const place& p = place_[v.reg];
      const bool reached = p.block == b ? p.index < k : dom.dominates(p.block, b);
      if (!reached) f_.registers[v.reg].single = false;
    };
    for (std::uint32_t b = 0; b < f_.blocks.size(); ++b)
      for (std::uint32_t k = 0; k < f_.blocks[b].code.size(); ++k) {
        const hir_instruction& h = f_.blocks[b].code[k];
        for (const value& v : h.src) check(v, b, k);
        check(h.guard, b, k);
      }
  }

  [[nodiscard]] bool single(const value& v) const { return v.is_reg() && f_.registers[v.reg].single; }

  [[nodiscard]] hir_instruction* definition(const value& v) const {
    return single(v) && !v.negate ? definition_[v.reg] : nullptr;
  }

  [[nodiscard]] bool stable(const value& v) const { return !v.is_reg() || f_.registers[v.reg].single; }

  /// Notes when a destination was computed: its sources may have several definitions.
  void pass(const hir_instruction& h) {
    for (const value& d : h.dst) {
      if (!d.is_reg()) continue;
      moment& m = moments_[d.reg];
      m.block = block_;
      for (std::size_t k = 0; k < m.writes.size(); ++k)
        m.writes[k] = k < h.src.size() && h.src[k].is_reg() ? writes_[h.src[k].reg] : 0;
    }
    for (const value& d : h.dst)
      if (d.is_reg()) ++writes_[d.reg];
  }

  /// Whether source k of a definition still has the value here that it had there.
  [[nodiscard]] bool unchanged(const hir_instruction& d, std::size_t k) const {
    if (stable(d.src[k]) || !hopper_) return stable(d.src[k]);
    const moment& m = moments_[d.dst[0].reg];
    return m.block == block_ && k < m.writes.size() && m.writes[k] == writes_[d.src[k].reg];
  }

  void substitute(value& v) const {
    if (!single(v) || known_[v.reg].what == value::kind::none) return;
    const bool negate = v.negate;
    v = known_[v.reg];
    if (negate) {
      if (v.is_immediate()) v.bits = !v.bits;  // predicates only: numeric immediates have no negate flag
      else v.negate = !v.negate;
    }
  }

  void substitute_guard(hir_instruction& h) const {
    if (h.guard.what == value::kind::none) return;
    value g = h.guard;
    substitute(g);
    if (g.is_reg()) h.guard = g;
  }

  /// Records that a destination is a copy of another value.
  void learn(hir_instruction& h) {
    if (h.guard.what != value::kind::none || h.dst.size() != 1 || !single(h.dst[0])) return;
    value v;
    const unsigned words = f_.registers[h.dst[0].reg].words;
    if (h.op == ptx_op::mov && h.src.size() == 1) {
      v = h.src[0];
    } else if (h.op == ptx_op::not_ && h.m.type == dtype::pred) {
      v = h.src[0];
      if (v.is_immediate()) v.bits = !v.bits;
      else v.negate = !v.negate;
    } else if (h.op == ptx_op::ld && h.src[0].is_immediate() && h.m.vector == 1 &&
               h.m.order == modifiers::order_kind::weak &&
               (h.m.space == state_space::param || h.m.space == state_space::constant)) {
      const std::uint64_t at = h.src[0].bits + static_cast<std::uint64_t>(h.offset);
      const unsigned size = isa::size_of(h.m.type);
      if (size == words * 4 && at % size == 0 && size <= 8)
        v = constant_value(h.m.space == state_space::param ? 0 : 3, at, words);
    } else if (h.op == ptx_op::cvta && (h.m.space == state_space::global || h.m.space == state_space::none)) {
      v = h.src[0];
    } else if (h.op == ptx_op::cvt && !h.m.saturate && !isa::is_float(h.m.type) && !isa::is_float(h.m.type2) &&
               isa::size_of(h.m.type) == isa::size_of(h.m.type2) &&
               f_.registers[h.dst[0].reg].bits == isa::size_of(h.m.type) * 8) {
      v = h.src[0];
    }
    if (v.what == value::kind::none || !stable(v)) return;
    if (v.is_reg() && f_.registers[v.reg].words != words) return;
    if (v.what == value::kind::constant && v.words != words) return;
    if (v.is_reg() && words == 1 && f_.registers[v.reg].bits != f_.registers[h.dst[0].reg].bits) return;
    known_[h.dst[0].reg] = v;
  }

  void become_move(hir_instruction& h, value v) {
    h.op = ptx_op::mov;
    const dtype t = h.m.type;
    h.m = {};
    h.m.type = t;
    h.src = {v};
  }

  void simplify(hir_instruction& h) {
    if (h.m.carry_out || h.m.saturate) return;
    switch (info(h.op).fold) {
      case fold_rule::none: return;
      case fold_rule::sum:
      case fold_rule::difference:
      case fold_rule::product:
      case fold_rule::conjunction:
      case fold_rule::disjunction:
      case fold_rule::exclusive:
      case fold_rule::left_shift:
      case fold_rule::right_shift: return simplify_binary(h);
      case fold_rule::multiply_add: return simplify_mad(h);
      case fold_rule::conversion: return simplify_convert(h);
      case fold_rule::address: return fold_address(h);
      case fold_rule::matrix_address:
        if (hopper_ && f_.matrix_forms[h.form].what != matrix_form::action::multiply) fold_address(h);
        return;
      case fold_rule::copy:
        if (h.m.sub == copy_itself) fold_copy(h);
        return;
    }
  }

  void simplify_binary(hir_instruction& h) {
    const dtype t = h.m.type;
    if (h.src.size() != 2 || isa::is_float(t) || t == dtype::pred || isa::size_of(t) < 4) return;
    if (info(h.op).commutes && h.src[0].is_immediate() && !h.src[1].is_immediate()) std::swap(h.src[0], h.src[1]);
    if (h.src[0].is_immediate() && h.src[1].is_immediate()) return fold_constants(h);
    if (!h.src[1].is_immediate()) return use_wide_product(h);
    if (h.op == ptx_op::sub) {  // x - c is x + (-c)
      h.op = ptx_op::add;
      h.src[1].bits = (0 - h.src[1].bits) & mask_of(t);
    }
    const std::uint64_t c = h.src[1].bits & mask_of(t);
    using part = modifiers::part_kind;
    if (h.op == ptx_op::mul && h.m.part == part::lo && c != 0 && (c & (c - 1)) == 0) {
      unsigned k = 0;
      while (!(c >> k & 1)) ++k;
      h.op = ptx_op::shl;
      h.m.part = part::none;
      h.src[1] = immediate_value(k);
      if (k == 0) return become_move(h, h.src[0]);
      return;
    }
    if (h.op == ptx_op::mul) return;
    if (c == 0 && h.op != ptx_op::and_ && stable(h.src[0])) return become_move(h, h.src[0]);
    if (h.op == ptx_op::add) add_to_sum(h);
  }

  /// (y + a) + b becomes y + (a + b).
  void add_to_sum(hir_instruction& h) {
    const hir_instruction* d = definition(h.src[0]);
    if (!d || d->op != ptx_op::add || d->m.carry_out || d->m.saturate || isa::is_float(d->m.type)) return;
    if (isa::size_of(d->m.type) != isa::size_of(h.m.type) || d->guard.what != value::kind::none) return;
    if (!d->src[1].is_immediate() || d->src[0].is_immediate() || !unchanged(*d, 0)) return;
    h.src[1].bits = (h.src[1].bits + d->src[1].bits) & mask_of(h.m.type);
    h.src[0] = d->src[0];
  }

  void fold_constants(hir_instruction& h) {
    const dtype t = h.m.type;
    const std::uint64_t a = h.src[0].bits & mask_of(t), b = h.src[1].bits & mask_of(t), bits = isa::size_of(t) * 8;
    std::uint64_t r = 0;
    switch (info(h.op).fold) {
      case fold_rule::sum: r = a + b; break;
      case fold_rule::difference: r = a - b; break;
      case fold_rule::conjunction: r = a & b; break;
      case fold_rule::disjunction: r = a | b; break;
      case fold_rule::exclusive: r = a ^ b; break;
      case fold_rule::left_shift:
        r = (h.src[1].bits & 0xffffffffu) >= bits ? 0 : a << (h.src[1].bits & 0xffffffffu);
        break;
      case fold_rule::right_shift: {
        const std::uint64_t by = std::min(h.src[1].bits & 0xffffffffu, bits);
        if (isa::is_signed(t)) r = static_cast<std::uint64_t>(sign_extend(a, t) >> std::min<std::uint64_t>(by, 63));
        else r = by == bits ? 0 : a >> by;
        break;
      }
      case fold_rule::product:
        if (h.m.part == modifiers::part_kind::lo) {
          r = a * b;
          break;
        }
        if (h.m.part != modifiers::part_kind::wide || bits != 32) return;
        r = isa::is_signed(t) ? static_cast<std::uint64_t>(sign_extend(a, t) * sign_extend(b, t)) : a * b;
        h.m.type = dtype::b64;
        return become_move(h, immediate_value(r));
      case fold_rule::none:
      case fold_rule::multiply_add:
      case fold_rule::conversion:
      case fold_rule::address:
      case fold_rule::matrix_address:
      case fold_rule::copy: return;
    }
    become_move(h, immediate_value(r & mask_of(t)));
  }

  static bool is_wide_product(const hir_instruction& h) {
    if (h.op != ptx_op::mul) return false;
    if (h.m.part == modifiers::part_kind::wide) return isa::size_of(h.m.type) == 4;
    return h.m.part == modifiers::part_kind::lo && isa::size_of(h.m.type) == 8 && h.src[1].is_immediate();
  }

  /// base + x * c: a wide multiply-add.
  void use_wide_product(hir_instruction& h) {
    if (h.op != ptx_op::add || isa::size_of(h.m.type) != 8) return;
    for (unsigned k = 0; k < 2; ++k) {
      const hir_instruction* d = definition(h.src[k]);
      if (!d || !is_wide_product(*d) || isa::is_float(d->m.type)) continue;
      if (d->guard.what != value::kind::none || !unchanged(*d, 0) || !unchanged(*d, 1)) continue;
      if (!imad_ && !d->src[1].is_immediate()) continue;
      const value base = h.src[1 - k];
      h.op = ptx_op::mad;
      h.m.part = d->m.part;
      h.m.type = d->m.type;
      h.src = {d->src[0], d->src[1], base};
      return;
    }
  }

  void simplify_mad(hir_instruction& h) {
    if (isa::is_float(h.m.type) || h.m.part != modifiers::part_kind::lo || h.src.size() != 3 ||
        isa::size_of(h.m.type) < 4)
      return;
    if (h.src[0].is_immediate() && h.src[1].is_immediate()) {
      const value product = immediate_value((h.src[0].bits * h.src[1].bits) & mask_of(h.m.type));
      h.op = ptx_op::add;
      h.m.part = modifiers::part_kind::none;
      h.src = {h.src[2], product};
      return simplify_binary(h);
    }
    if (!h.src[2].is_immediate() || h.src[2].bits != 0) return;
    h.op = ptx_op::mul;
    h.src.pop_back();
    simplify_binary(h);
  }

  void simplify_convert(hir_instruction& h) {
    std::uint64_t v = 0;
    if (isa::is_float(h.m.type2) && !hopper_) return;
    if (!h.dst[0].is_reg() || f_.registers[h.dst[0].reg].bits != isa::size_of(h.m.type) * 8 || !fold_convert(h, v))
      return;
    become_move(h, immediate_value(v & mask_of(h.m.type)));
  }

  void fold_address(hir_instruction& h) {
    if (h.src.empty()) return;
    const bool narrow = h.m.space == state_space::shared || h.m.space == state_space::local ||
                        h.m.space == state_space::constant || h.m.space == state_space::param;
    fold_address(h.src[0], h.offset, narrow);
  }

  /// Both addresses of a copy to shared memory.
  void fold_copy(hir_instruction& h) {
    if (h.src.size() < 3) return;
    fold_address(h.src[0], h.offset, false);
    auto offset = static_cast<std::int64_t>(h.src[2].bits);
    fold_address(h.src[1], offset, true);
    h.src[2].bits = static_cast<std::uint64_t>(offset);
  }

  void fold_address(value& base, std::int64_t& from_base, bool narrow) {
    for (unsigned step = 0; step < 16; ++step) {
      const hir_instruction* d = definition(base);
      if (!d || d->op != ptx_op::add || d->m.carry_out || d->m.saturate || isa::is_float(d->m.type)) return;
      const unsigned size = isa::size_of(d->m.type);
      if (size < 4 || (!narrow && size != 8) || d->guard.what != value::kind::none) return;
      if (!d->src[1].is_immediate() || d->src[0].is_immediate() || !unchanged(*d, 0)) return;
      const std::int64_t offset = from_base + sign_extend(d->src[1].bits, d->m.type);
      if (offset < -(1 << 23) || offset >= (1 << 23)) return;
      from_base = offset;
      base = d->src[0];
    }
  }

  void count_uses() {
    uses_.assign(f_.registers.size(), 0);
    for (const hir_block& b : f_.blocks)
      for (const hir_instruction& h : b.code) {
        for (const value& v : h.src)
          if (v.is_reg()) ++uses_[v.reg];
        if (h.guard.is_reg()) ++uses_[h.guard.reg];
      }
  }

  /// and.pred of two comparisons: the second comparison takes the result of the first as an input.
  void fold_predicates(hir_instruction& h) {
    const bool logic = h.op == ptx_op::and_ || h.op == ptx_op::or_ || h.op == ptx_op::xor_;
    if (!logic || h.m.type != dtype::pred || h.src.size() != 2) return;
    for (unsigned k = 2; k-- > 0;) {
      const hir_instruction* d = definition(h.src[k]);
      if (!d || d->op != ptx_op::setp || d->m.combines || d->dst.size() != 1 || d->guard.what != value::kind::none)
        continue;
      if (uses_[h.src[k].reg] != 1 ||
          !std::all_of(d->src.begin(), d->src.end(), [&](const value& v) { return stable(v); }))
        continue;
      const value other = h.src[1 - k];
      if (other.what == value::kind::constant) continue;
      const isa::bool_op bop = h.op == ptx_op::and_  ? isa::bool_op::and_
                               : h.op == ptx_op::or_ ? isa::bool_op::or_
                                                     : isa::bool_op::xor_;
      h.op = ptx_op::setp;
      h.m = d->m;
      h.m.bop = bop;
      h.m.combines = true;
      const std::vector<value> compared = d->src;
      h.src = compared;
      h.src.push_back(other);
      return;
    }
  }

  hir_function& f_;
  const bool imad_, hopper_;
  flow_graph graph_;
  std::vector<place> place_;
  std::vector<value> known_;
  std::vector<hir_instruction*> definition_;
  std::vector<std::uint32_t> uses_;
  std::vector<moment> moments_;
  std::vector<std::uint32_t> writes_;  // of each register, so far
  std::uint32_t block_ = 0;
};

}  // namespace

void optimise(hir_function& f, bool has_imad, bool hopper_code) {
  optimiser(f, has_imad, hopper_code).run();
  drop_dead_code(f);  // removed copies are no definitions any more; the remaining single definitions are unchanged
}

}  // namespace heddle::ptx
