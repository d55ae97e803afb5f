// SPDX-License-Identifier: MIT
#include "heddle/frontend/ptx/loops/shared_addresses.h"

#include <map>
#include <optional>
#include <tuple>
#include <unordered_map>

#include "heddle/frontend/ptx/hir/dead_code.h"

namespace heddle::ptx {

namespace {

using isa::dtype;

constexpr std::int64_t most_offset = 1 << 23;  // of an access

class address_sharer {
 public:
  explicit address_sharer(hir_function& f) : f_(f), writes_(f.registers.size(), 0) {}

  void run() {
    for (hir_block& b : f_.blocks) {
      sums_.clear();
      addresses_.clear();
      first_.clear();
      for (hir_instruction& h : b.code) {
        if (accesses_global(h)) share(h);
        const std::optional<sum> s = sum_of(h);
        const std::optional<address> a = address_of(h);
        for (const value& d : h.dst)
          if (d.is_reg()) ++writes_[d.reg];
        if (s) sums_[h.dst[0].reg] = {*s, writes_[h.dst[0].reg]};
        if (a) add(h.dst[0].reg, *a);
      }
    }
    drop_dead_code(f_);
  }

 private:
  /// An operand at a time: what it is, its register, bits or place, and how often the register had been written.
  using term = std::tuple<value::kind, std::uint64_t, std::uint32_t>;

  struct sum {
    value base;
    term of_base;
    std::int64_t constant = 0;
  };
  template <class T>
  struct known {
    T what;
    std::uint32_t writes = 0;  // of the register that has it
  };
  /// base + a * b (a word each, of the type), or base + a (dtype::b64), but for the constant.
  using parts = std::tuple<dtype, term, term, term>;
  struct address {
    parts of;
    std::int64_t constant = 0;
  };
  struct holder {
    std::uint32_t reg = no_register, writes = 0;
    std::int64_t constant = 0;
  };

  static bool accesses_global(const hir_instruction& h) {
    const bool access = h.op == ptx_op::ld || h.op == ptx_op::st || h.op == ptx_op::atom || h.op == ptx_op::red ||
                        (h.op == ptx_op::cp && h.m.sub == copy_itself);
    return access && !h.src.empty() && h.src[0].is_reg() &&
           (h.m.space == state_space::global || h.m.space == state_space::none);
  }

  [[nodiscard]] term term_of(const value& v) const {
    if (v.is_reg()) return {v.what, v.reg, writes_[v.reg]};
    return {v.what, v.is_immediate() ? v.bits : v.bits << 8 | v.bank, 0};
  }

  static bool plain(const hir_instruction& h) {
    return h.guard.what == value::kind::none && h.dst.size() == 1 && h.dst[0].is_reg() && !h.m.carry_out &&
           !h.m.saturate && !isa::is_float(h.m.type);
  }

  /// `v` without the constants that were added to it.
  [[nodiscard]] sum root_of(const value& v) const {
    if (v.is_reg()) {
      const auto found = sums_.find(v.reg);
      if (found != sums_.end() && found->second.writes == writes_[v.reg] &&
          term_of(found->second.what.base) == found->second.what.of_base)
        return found->second.what;
    }
    return {v, term_of(v), 0};
  }

  /// Of a register or a parameter to which a constant is added.
  [[nodiscard]] std::optional<sum> sum_of(const hir_instruction& h) const {
    if (!plain(h) || h.op != ptx_op::add || isa::size_of(h.m.type) != 8 || h.src.size() != 2) return {};
    if (h.src[0].is_immediate() || !h.src[1].is_immediate()) return {};
    sum s = root_of(h.src[0]);
    s.constant += static_cast<std::int64_t>(h.src[1].bits);
    return s;
  }

  [[nodiscard]] std::optional<address> address_of(const hir_instruction& h) const {
    if (!plain(h)) return {};
    const bool product = h.op == ptx_op::mad && h.m.part == modifiers::part_kind::wide && isa::size_of(h.m.type) == 4;
    const bool two = h.op == ptx_op::add && isa::size_of(h.m.type) == 8 && h.src.size() == 2 &&
                     !h.src[0].is_immediate() && !h.src[1].is_immediate();
    if (product) {
      const sum base = root_of(h.src[2]);
      return address{{h.m.type, base.of_base, term_of(h.src[0]), term_of(h.src[1])}, base.constant};
    }
    if (!two) return {};
    const sum a = root_of(h.src[0]), b = root_of(h.src[1]);
    const bool in_order = a.of_base <= b.of_base;
    return address{{dtype::b64, in_order ? a.of_base : b.of_base, in_order ? b.of_base : a.of_base, term()},
                   a.constant + b.constant};
  }

  void add(std::uint32_t reg, const address& a) {
    addresses_[reg] = {a, writes_[reg]};
    holder& h = first_[a.of];
    if (h.reg == no_register || writes_[h.reg] != h.writes) h = {reg, writes_[reg], a.constant};
  }

  void share(hir_instruction& h) const {
    const std::uint32_t reg = h.src[0].reg;
    const auto found = addresses_.find(reg);
    if (found == addresses_.end() || found->second.writes != writes_[reg]) return;
    const auto first = first_.find(found->second.what.of);
    if (first == first_.end() || first->second.writes != writes_[first->second.reg]) return;
    const std::int64_t offset = h.offset + found->second.what.constant - first->second.constant;
    if (offset < -most_offset || offset >= most_offset) return;
    h.src[0] = register_value(first->second.reg);
    h.offset = offset;
  }

  hir_function& f_;
  std::vector<std::uint32_t> writes_;  // of each register, so far
  std::unordered_map<std::uint32_t, known<sum>> sums_;
  std::unordered_map<std::uint32_t, known<address>> addresses_;
  std::map<parts, holder> first_;  // the register that had the address first
};

}  // namespace

void share_addresses(hir_function& f) { address_sharer(f).run(); }

}  // namespace heddle::ptx
