// SPDX-License-Identifier: MIT
#include "frontend/ptx/call_frames.h"

#include <algorithm>

namespace heddle::ptx {

namespace {

using isa::dtype;
using bits = std::vector<std::uint64_t>;

bool test(const bits& b, std::uint32_t k) { return b[k / 64] >> (k % 64) & 1; }

using register_lists = std::vector<std::vector<std::uint32_t>>;

/// What is live before an instruction, from what is live behind it; `kept` by call site.
void step(const hir_instruction& h, const register_lists& kept, bits& live) {
  const auto set = [&](std::uint32_t r) { live[r / 64] |= std::uint64_t{1} << (r % 64); };
  const auto clear = [&](std::uint32_t r) { live[r / 64] &= ~(std::uint64_t{1} << (r % 64)); };
  if (h.op == ptx_op::restore) std::for_each(kept[h.target].begin(), kept[h.target].end(), clear);
  if (h.op == ptx_op::save) std::for_each(kept[h.target].begin(), kept[h.target].end(), set);
  if (h.guard.what == value::kind::none)
    for (const value& d : h.dst)
      if (d.is_reg()) clear(d.reg);
  for (const value& s : h.src)
    if (s.is_reg()) set(s.reg);
  if (h.guard.is_reg()) set(h.guard.reg);
}

std::vector<bits> live_out(const hir_function& f, const register_lists& kept) {
  const std::size_t words = (f.registers.size() + 63) / 64;
  std::vector<bits> in(f.blocks.size(), bits(words)), out = in;
  for (bool changed = true; changed;) {
    changed = false;
    for (std::size_t b = f.blocks.size(); b-- > 0;) {
      bits live(words);
      for (std::uint32_t s : f.blocks[b].successors)
        for (std::size_t w = 0; w < words; ++w) live[w] |= in[s][w];
      out[b] = live;
      for (std::size_t k = f.blocks[b].code.size(); k-- > 0;) step(f.blocks[b].code[k], kept, live);
      changed = changed || live != in[b];
      in[b] = std::move(live);
    }
  }
  return out;
}

class expander {
 public:
  expander(hir_function& f, const std::vector<call_site>& sites, value pointer, std::uint32_t limit, std::uint32_t reserve)
      : f_(f), kept_(sites.size()), pointer_(pointer), limit_(limit), reserve_(reserve) {
    find_kept(sites);
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
  // What one call keeps must be there when it is saved, so a call before it may have to keep it too.
  void find_kept(const std::vector<call_site>& sites) {
    while (add_kept(sites)) {
    }
    // Wide ones first, so that each is aligned.
    for (auto& list : kept_)
      std::stable_sort(list.begin(), list.end(), [&](std::uint32_t a, std::uint32_t b) { return f_.registers[a].words > f_.registers[b].words; });
  }

  bool add_kept(const std::vector<call_site>& sites) {
    const std::vector<bits> out = live_out(f_, kept_);
    bool added = false;
    const auto keep = [&](const bits& live, std::vector<std::uint32_t>& list, std::uint32_t first, std::uint32_t end) {
      for (std::uint32_t r = first; r < end; ++r) {
        if (!test(live, r) || std::find(list.begin(), list.end(), r) != list.end()) continue;
        list.push_back(r);
        added = true;
      }
    };
    for (std::size_t b = 0; b < f_.blocks.size(); ++b) {
      bits live = out[b];
      for (std::size_t k = f_.blocks[b].code.size(); k-- > 0;) {
        const hir_instruction& h = f_.blocks[b].code[k];
        if (h.op == ptx_op::restore) {
          const call_site& s = sites[h.target];
          keep(live, kept_[h.target], s.own_first, s.own_end);
          keep(live, kept_[h.target], s.first, s.end);
        }
        step(h, kept_, live);
      }
    }
    return added;
  }

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
    bytes = std::max<std::uint32_t>((bytes + 15) / 16 * 16, 16);   // a recursion that never ends must come to the stack's end
    if (save) {
      const value full = register_value(f_.new_register(0, 1));
      put(ptx_op::setp, dtype::u32, {full}, {pointer_, immediate_value(limit_ - std::min(limit_, bytes + reserve_))}).m.cmp = isa::compare::gt;
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
      if (save && words == 0) put(ptx_op::selp, dtype::b32, {v}, {immediate_value(1), immediate_value(0), register_value(r)});
      hir_instruction& access = save ? put(ptx_op::st, type, {}, {pointer_, v}) : put(ptx_op::ld, type, {v}, {pointer_});
      access.m.space = state_space::local;
      access.offset = at;
      if (!save && words == 0) put(ptx_op::setp, dtype::u32, {register_value(r)}, {v, immediate_value(0)}).m.cmp = isa::compare::ne;
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

void expand_call_frames(hir_function& f, const std::vector<call_site>& sites, value pointer, std::uint32_t limit, std::uint32_t reserve) {
  expander(f, sites, pointer, limit, reserve).run();
}

}  // namespace heddle::ptx
