// SPDX-License-Identifier: MIT
#include "heddle/frontend/ptx/loops/body_names.h"

namespace heddle::ptx {

namespace {

using isa::dtype;

bool writes_whole(const hir_function& f, const hir_instruction& h, std::uint32_t reg) {
  return h.guard.what == value::kind::none || f.registers[reg].whole;
}

}  // namespace

std::vector<std::uint32_t> count_reads(const hir_function& f) {
  std::vector<std::uint32_t> reads(f.registers.size(), 0);
  for (const hir_block& b : f.blocks)
    for (const hir_instruction& h : b.code) {
      for (const value& v : h.src)
        if (v.is_reg()) ++reads[v.reg];
      if (h.guard.is_reg()) ++reads[h.guard.reg];
    }
  return reads;
}

body_names::body_names(hir_function& f, const loop_plan& p, const dominance& dom,
                       const std::vector<std::uint32_t>& reads)
    : f_(f), plan_(p) {
  struct access {
    unsigned writes = 0, whole = 0, reads = 0;
    bool always = true;
  };
  std::unordered_map<std::uint32_t, access> seen;
  bool leaves = false;
  for (std::uint32_t b = p.header; b <= p.latch; ++b) {
    for (std::uint32_t k = 0; k < f.blocks[b].code.size(); ++k) {
      const hir_instruction& h = f.blocks[b].code[k];
      for (const value& v : h.src)
        if (v.is_reg()) ++seen[v.reg].reads;
      if (h.guard.is_reg()) ++seen[h.guard.reg].reads;
      for (const value& d : h.dst) {
        if (!d.is_reg()) continue;
        access& a = seen[d.reg];
        ++a.writes;
        a.always = a.always && dom.dominates(b, p.latch);
        if (!writes_whole(f, h, d.reg)) continue;
        ++a.whole;
        last_[d.reg] = {b, k};
      }
    }
    for (const std::uint32_t s : f.blocks[b].successors)
      leaves = leaves || (b != p.latch && (s < p.header || s > p.latch));
  }
  for (const auto& [reg, a] : seen) {
    if (a.whole == 0) continue;
    const bool inside = a.reads == reads[reg];
    const bool renamed = p.header == p.latch ||
                         (a.writes == 1 && ((a.always && (inside || !leaves)) || (f.registers[reg].single && inside)));
    if (!renamed) last_.erase(reg);
    else if (inside) inner_.insert(reg);
  }
  tested_ = f.blocks[p.latch].code.back().guard.reg;
  if (reads[tested_] != 1) tested_ = no_register;
}

std::vector<hir_instruction> body_names::start(unsigned count, bool first, bool last, const hir_instruction& like) {
  count_ = count;
  ended_.clear();
  for (const std::uint32_t reg : inner_)
    if (f_.registers[reg].single) ended_.insert(reg);
  if (last)
    for (const loop_counter& c : plan_.counters)
      if (c.renewed && inner_.count(c.reg) != 0) ended_.insert(c.reg);
  if (tested_ != no_register) ended_.insert(tested_);
  body_ = 0;
  now_.clear();
  std::vector<hir_instruction> moves;
  for (const loop_counter& c : plan_.counters) {
    if (last_.count(c.reg) == 0) continue;
    const std::uint32_t entry = renew(c.reg);
    const unsigned words = f_.registers[c.reg].words;
    const bool known = first && c.starts_known;
    moves.push_back(in_place_of(like, ptx_op::mov, words == 2 ? dtype::b64 : dtype::b32, {register_value(entry)},
                                {known ? immediate_value(c.start) : register_value(c.reg)}));
    now_[c.reg] = entry;
  }
  return moves;
}

hir_instruction body_names::copy(std::uint32_t block, std::uint32_t index) {
  hir_instruction h = f_.blocks[block].code[index];
  for (value& v : h.src) read(v);
  read(h.guard);
  for (value& d : h.dst) {
    if (!d.is_reg()) continue;
    const auto last = last_.find(d.reg);
    if (last == last_.end()) continue;
    const std::uint32_t reg = d.reg;
    if (!writes_whole(f_, h, reg)) {
      read(d);
      continue;
    }
    const bool ends = body_ + 1 == count_ && last->second == std::make_pair(block, index);
    d.reg = now_[reg] = ends && ended_.count(reg) == 0 ? reg : renew(reg);
  }
  return h;
}

void body_names::read(value& v) const {
  if (!v.is_reg()) return;
  const auto found = now_.find(v.reg);
  if (found != now_.end()) v.reg = found->second;
}

std::uint32_t body_names::renew(std::uint32_t reg) {
  const virtual_register r = f_.registers[reg];
  f_.registers.push_back(r);
  return static_cast<std::uint32_t>(f_.registers.size() - 1);
}

}  // namespace heddle::ptx
