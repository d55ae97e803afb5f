// SPDX-License-Identifier: MIT
#include <unordered_map>

#include "heddle/frontend/ptx/hir/control_flow.h"
#include "heddle/frontend/ptx/machine/definitions.h"
#include "heddle/frontend/ptx/machine/machine_passes.h"

namespace heddle::ptx {

namespace {

using key = std::vector<std::uint64_t>;

struct key_hash {
  std::size_t operator()(const key& k) const {
    std::uint64_t h = 0xcbf29ce484222325;
    for (const std::uint64_t v : k) h = (h ^ v) * 0x100000001b3;
    return static_cast<std::size_t>(h);
  }
};

class value_sharer {
 public:
  explicit value_sharer(machine_function& f)
      : f_(f), units_(f.registers), defs_(f, units_), same_(f.registers.size()), dom_(flow(f), 0) {
    for (std::uint32_t r = 0; r < same_.size(); ++r) same_[r] = r;
  }

  void run() {
    for (const std::uint32_t b : reverse_post_order(flow(f_), 0))
      for (machine_instruction& i : f_.blocks[b].code) {
        follow(i);
        if (!is_value(i)) continue;
        const auto [at, is_new] = first_.try_emplace(key_of(i), holder{b, i.dst.reg, i.pdst});
        if (is_new) continue;
        if (dom_.dominates(at->second.block, b)) take(i, at->second);
        else at->second = {b, i.dst.reg, i.pdst};
      }
  }

 private:
  /// Who has computed a value first.
  struct holder {
    std::uint32_t block = 0, reg = no_register;
    std::array<std::uint32_t, 2> predicates{};
  };

  static flow_graph flow(const machine_function& f) {
    flow_graph g;
    for (const machine_block& b : f.blocks) g.push_back(b.successors);
    return g;
  }

  void follow(std::uint32_t& reg) const {
    if (reg != no_register) reg = same_[reg];
  }

  void follow(machine_instruction& i) const {
    for (virtual_operand& o : i.src)
      if (o.is_reg()) follow(o.reg);
    for (virtual_predicate& p : i.psrc) follow(p.reg);
    follow(i.guard.reg);
  }

  void take(const machine_instruction& i, const holder& h) {
    if (i.base.dst_count > 0) same_[i.dst.reg] = h.reg;
    for (unsigned k = 0; k < i.pdst.size(); ++k)
      if (i.pdst[k] != no_register) same_[i.pdst[k]] = h.predicates[k];
  }

  [[nodiscard]] bool single(std::uint32_t reg) const {
    const unsigned words = f_.registers[reg].words;
    for (unsigned k = 0; k < std::max(words, 1u); ++k)
      if (!defs_.single(f_, reg, words == 0 ? units_.of(reg) : units_.of(reg, k))) return false;
    return true;
  }

  /// Whether an instruction gives the same wherever it stands, and is worth a register that lives longer.
  [[nodiscard]] bool is_value(const machine_instruction& i) const {
    const isa::opcode_info& info = isa::info(i.base.op);
    if (i.guarded() || info.flow != isa::flow_kind::none || info.access != isa::access_kind::none ||
        info.effect != isa::effect_kind::none || info.members != isa::member_mask::no || has_side_effect(i))
      return false;
    if (i.base.op == isa::opcode::mov || i.base.op == isa::opcode::s2r || i.base.op == isa::opcode::assist)
      return false;
    if (i.base.dst_count > 0 && (i.dst.part != 0 || i.dst.count != f_.registers[i.dst.reg].words || !single(i.dst.reg)))
      return false;
    for (const std::uint32_t p : i.pdst)
      if (p != no_register && !single(p)) return false;
    for (const virtual_operand& o : i.src)
      if (o.is_reg() && !single(o.reg)) return false;
    for (const virtual_predicate& p : i.psrc)
      if (p.reg != no_register && !single(p.reg)) return false;
    return true;
  }

  static key key_of(const machine_instruction& i) {
    const isa::instruction& b = i.base;
    key k;
    const auto add = [&k](auto... values) { (k.push_back(static_cast<std::uint64_t>(values)), ...); };
    add(b.op, b.type, b.src_type, b.dst_count, b.sub, b.round, b.cmp, b.bop, b.ftz, b.saturate, b.nan, b.extended);
    add(b.wide, b.high, b.wrap, b.uniform, b.mem_space, b.cache, b.sum_products, b.sum_fraction_bits, b.offset);
    for (const virtual_operand& o : i.src)
      add(o.kind, o.reg, o.part, o.count, o.bank, o.negate, o.absolute, o.invert, o.value);
    for (const virtual_predicate& p : i.psrc) add(p.reg, p.negate);
    for (const std::uint32_t p : i.pdst) add(p != no_register);
    return k;
  }

  machine_function& f_;
  const unit_map units_;
  const definitions defs_;
  std::vector<std::uint32_t> same_;  // of each register: the one that has its value
  const dominance dom_;
  std::unordered_map<key, holder, key_hash> first_;
};

}  // namespace

void share_values(machine_function& f) { value_sharer(f).run(); }

}  // namespace heddle::ptx
