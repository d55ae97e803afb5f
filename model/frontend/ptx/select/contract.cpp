// SPDX-License-Identifier: MIT
#include "heddle/frontend/ptx/select/contract.h"

#include <algorithm>
#include <iterator>
#include <utility>

namespace heddle::ptx {

namespace {

bool open_to_fusion(const hir_instruction& h) {
  return !h.m.rounded && !h.m.saturate && (h.m.type == isa::dtype::f32 || h.m.type == isa::dtype::f64);
}

bool is_sum(const hir_instruction& h) {
  return (h.op == ptx_op::add || h.op == ptx_op::sub) && open_to_fusion(h) && h.src.size() == 2;
}

class contractor {
 public:
  explicit contractor(hir_function& f) : f_(f), reads_(f.registers.size(), 0) {
    for (const hir_block& b : f.blocks)
      for (const hir_instruction& h : b.code) {
        for (const value& s : h.src) count(s);
        count(h.guard);
      }
  }

  void run() {
    for (hir_block& b : f_.blocks) {
      for (std::size_t k = 0; k < b.code.size(); ++k)
        if (is_candidate(b.code[k])) contract(b, k);
      const auto gone = std::stable_partition(b.code.begin(), b.code.end(), [](const auto& h) { return !h.dead; });
      std::move(gone, b.code.end(), std::back_inserter(f_.unused));
      b.code.erase(gone, b.code.end());
    }
  }

 private:
  void count(const value& v) {
    if (v.is_reg()) ++reads_[v.reg];
  }

  [[nodiscard]] bool is_single(const value& v) const { return !v.is_reg() || f_.registers[v.reg].single; }

  [[nodiscard]] bool is_candidate(const hir_instruction& h) const {
    return h.op == ptx_op::mul && open_to_fusion(h) && h.guard.what == value::kind::none && h.src.size() == 2 &&
           h.dst.size() == 1 && h.dst[0].is_reg() && f_.registers[h.dst[0].reg].single && is_single(h.src[0]) &&
           is_single(h.src[1]);
  }

  static bool reads(const hir_instruction& h, std::uint32_t reg) {
    return std::any_of(h.src.begin(), h.src.end(), [&](const value& v) { return v.is_reg() && v.reg == reg; });
  }

  void contract(hir_block& b, std::size_t at) {
    const hir_instruction product = b.code[at];
    const std::uint32_t reg = product.dst[0].reg;
    std::vector<hir_instruction*> sums;
    for (std::size_t k = at + 1; k < b.code.size(); ++k) {
      hir_instruction& h = b.code[k];
      if (!reads(h, reg)) continue;
      const bool twice = h.src[0].is_reg() && h.src.size() == 2 && h.src[1].is_reg() && h.src[0].reg == h.src[1].reg;
      if (!is_sum(h) || h.m.type != product.m.type || h.m.ftz != product.m.ftz || twice) return;
      sums.push_back(&h);
    }
    if (sums.empty() || sums.size() != reads_[reg]) return;
    for (hir_instruction* h : sums) fuse(*h, product);
    b.code[at].dead = true;
  }

  /// A sum of `product` and another value.
  void fuse(hir_instruction& sum, const hir_instruction& product) {
    const bool first = sum.src[0].is_reg() && sum.src[0].reg == product.dst[0].reg;
    const value term = sum.src[first ? 0 : 1];
    value factor = product.src[0], other = sum.src[first ? 1 : 0];
    const bool minus = sum.op == ptx_op::sub;
    if (minus && first) other = negated(other, sum.m.type);
    if (term.negate != (minus && !first)) factor = negated(factor, sum.m.type);
    for (const value& v : {product.src[0], product.src[1]}) count(v);
    sum.op = ptx_op::fma;
    sum.src = {factor, product.src[1], other};
  }

  static value negated(value v, isa::dtype type) {
    if (v.is_immediate()) v.bits ^= type == isa::dtype::f32 ? std::uint64_t{1} << 31 : std::uint64_t{1} << 63;
    else v.negate = !v.negate;
    return v;
  }

  hir_function& f_;
  std::vector<std::uint32_t> reads_;
};

}  // namespace

void contract_products(hir_function& f) { contractor(f).run(); }

}  // namespace heddle::ptx
