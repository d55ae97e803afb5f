// SPDX-License-Identifier: MIT
#include "heddle/frontend/ptx/hir/call_frames.h"

#include <algorithm>

namespace heddle::ptx {

namespace {

using isa::dtype;
using register_lists = std::vector<std::vector<std::uint32_t>>;

/// Determines the registers that each call must save: those of its activation that are live after it. They are not
/// live in the callee, which may be the same function again, so the sets of live registers are small and stored as
/// lists. Computed by data-flow analysis over the blocks.
class kept_registers {
 public:
  kept_registers(const hir_function& f, const std::vector<call_site>& sites)
      : f_(f),
        sites_(sites),
        kept_(sites.size()),
        places_(sites.size()),
        in_(f.blocks.size()),
        before_(f.blocks.size()),
        waits_(f.blocks.size(), 0),
        is_live_(f.registers.size(), 0) {
    for (std::uint32_t b = 0; b < f.blocks.size(); ++b) {
      for (std::uint32_t s : f.blocks[b].successors) before_[s].push_back(b);
      for (const hir_instruction& h : f.blocks[b].code)
        if (h.op == ptx_op::save) places_[h.target] = b;
    }
  }

  register_lists find() {
    for (std::uint32_t b = 0; b < f_.blocks.size(); ++b) revisit(b);
    while (!waiting_.empty()) {
      const std::uint32_t b = waiting_.back();
      waiting_.pop_back();
      waits_[b] = 0;
      visit(b);
    }
    return std::move(kept_);
  }

 private:
  void revisit(std::uint32_t b) {
    if (!waits_[b]) waiting_.push_back(b);
    waits_[b] = 1;
  }
  void set(std::uint32_t r) {
    if (!is_live_[r]) live_.push_back(r);
    is_live_[r] = 1;
  }
  void clear(std::uint32_t r) {
    if (!is_live_[r]) return;
    is_live_[r] = 0;
    live_.erase(std::find(live_.begin(), live_.end(), r));
  }

  void visit(std::uint32_t b) {
    for (std::uint32_t s : f_.blocks[b].successors)
      std::for_each(in_[s].begin(), in_[s].end(), [&](std::uint32_t r) { set(r); });
    for (std::size_t k = f_.blocks[b].code.size(); k-- > 0;) step(f_.blocks[b].code[k]);
    const bool more = live_.size() != in_[b].size();  // sets only grow
    for (std::uint32_t r : live_) is_live_[r] = 0;
    if (more) {
      in_[b] = live_;
      for (std::uint32_t p : before_[b]) revisit(p);
    }
    live_.clear();
  }

  /// Steps backwards from the registers live after an instruction to those live before it.
  void step(const hir_instruction& h) {
    if (h.op == ptx_op::restore) keep(h.target);
    if (h.op == ptx_op::save)
      std::for_each(kept_[h.target].begin(), kept_[h.target].end(), [&](std::uint32_t r) { set(r); });
    if (h.guard.what == value::kind::none)
      for (const value& d : h.dst)
        if (d.is_reg()) clear(d.reg);
    for (const value& s : h.src)
      if (s.is_reg()) set(s.reg);
    if (h.guard.is_reg()) set(h.guard.reg);
  }

  void keep(std::uint32_t call) {
    const call_site& s = sites_[call];
    std::vector<std::uint32_t>& list = kept_[call];
    const std::size_t known = list.size();
    const auto others = std::partition(live_.begin(), live_.end(), [&](std::uint32_t r) {
      return !((r >= s.first && r < s.end) || (r >= s.own_first && r < s.own_end));
    });
    for (auto r = others; r != live_.end(); ++r) {
      is_live_[*r] = 0;
      if (std::find(list.begin(), list.begin() + static_cast<std::ptrdiff_t>(known), *r) ==
          list.begin() + static_cast<std::ptrdiff_t>(known))
        list.push_back(*r);
    }
    live_.erase(others, live_.end());
    if (list.size() != known) revisit(places_[call]);
  }

  const hir_function& f_;
  const std::vector<call_site>& sites_;
  register_lists kept_;
  std::vector<std::uint32_t> places_;  // block that contains the save of a call
  register_lists in_;                  // live at the entry of each block
  std::vector<std::vector<std::uint32_t>> before_;
  std::vector<std::uint32_t> waiting_;
  std::vector<char> waits_;
  std::vector<char> is_live_;  // live at the current instruction, as flags and as a list
  std::vector<std::uint32_t> live_;
};

class expander {
 public:
  expander(hir_function& f, const std::vector<call_site>& sites, value pointer, std::uint32_t limit,
           std::uint32_t reserve)
      : f_(f), kept_(kept_registers(f, sites).find()), pointer_(pointer), limit_(limit), reserve_(reserve) {
    // Wide registers first, so that each is aligned; then by number.
    for (auto& list : kept_)
      std::sort(list.begin(), list.end(), [&](std::uint32_t a, std::uint32_t b) {
        return f.registers[a].words != f.registers[b].words ? f.registers[a].words > f.registers[b].words : a < b;
      });
  }

  void run() {
    for (hir_block& b : f_.blocks) {
      std::vector<hir_instruction> code;
      for (hir_instruction& h : b.code) {
        now_ = &h;
        code_ = &code;
        if (h.op == ptx_op::save) move(kept_[h.target], true);
        else if (h.op == ptx_op::restore) move(kept_[h.target], false);
        else code.push_back(std::move(h));
      }
      b.code = std::move(code);
    }
  }

 private:
  hir_instruction& put(ptx_op op, dtype type, std::vector<value> dst, std::vector<value> src) {
    hir_instruction h;
    h.op = op;
    h.m.type = type;
    h.m.types = 1;
    h.dst = std::move(dst);
    h.src = std::move(src);
    h.where = now_->where;
    h.source = now_->source;
    code_->push_back(std::move(h));
    return code_->back();
  }

  void move(const std::vector<std::uint32_t>& registers, bool save) {
    std::uint32_t bytes = 0;
    for (std::uint32_t r : registers) bytes += 4 * std::max<std::uint32_t>(f_.registers[r].words, 1);
    // At least one slot, so that an endless recursion reaches the end of the stack.
    bytes = std::max<std::uint32_t>((bytes + 15) / 16 * 16, 16);
    if (save) {
      const value full = register_value(f_.new_register(0, 1));
      put(ptx_op::setp, dtype::u32, {full}, {pointer_, immediate_value(limit_ - std::min(limit_, bytes + reserve_))})
          .m.cmp = isa::compare::gt;
      hir_instruction& t = put(ptx_op::trap, dtype::none, {}, {});
      t.guard = full;
      t.m.sub = isa::trap_stack_overflow;
    } else {
      put(ptx_op::sub, dtype::u32, {pointer_}, {pointer_, immediate_value(bytes)});
    }
    std::uint32_t at = 0;
    for (std::uint32_t r : registers) {
      const unsigned words = f_.registers[r].words;
      const dtype type = words <= 1 ? dtype::b32 : words == 2 ? dtype::b64 : dtype::b128;
      value v = words == 0 ? register_value(f_.new_register(1, 32)) : register_value(r);
      if (save && words == 0)
        put(ptx_op::selp, dtype::b32, {v}, {immediate_value(1), immediate_value(0), register_value(r)});
      hir_instruction& access =
          save ? put(ptx_op::st, type, {}, {pointer_, v}) : put(ptx_op::ld, type, {v}, {pointer_});
      access.m.space = state_space::local;
      access.offset = at;
      if (!save && words == 0)
        put(ptx_op::setp, dtype::u32, {register_value(r)}, {v, immediate_value(0)}).m.cmp = isa::compare::ne;
      at += 4 * std::max(words, 1u);
    }
    if (save) put(ptx_op::add, dtype::u32, {pointer_}, {pointer_, immediate_value(bytes)});
  }

  hir_function& f_;
  register_lists kept_;
  const value pointer_;
  const std::uint32_t limit_, reserve_;
  const hir_instruction* now_ = nullptr;
  std::vector<hir_instruction>* code_ = nullptr;
};

}  // namespace

void expand_call_frames(hir_function& f, const std::vector<call_site>& sites, value pointer, std::uint32_t limit,
                        std::uint32_t reserve) {
  expander(f, sites, pointer, limit, reserve).run();
}

}  // namespace heddle::ptx
