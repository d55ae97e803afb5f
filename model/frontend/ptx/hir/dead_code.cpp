// SPDX-License-Identifier: MIT
#include "heddle/frontend/ptx/hir/dead_code.h"

#include <algorithm>
#include <iterator>

#include "heddle/isa/program.h"

namespace heddle::ptx {

namespace {

bool always_needed(const hir_instruction& h) {
  switch (info(h.op).needed) {
    case needed_kind::by_use: return h.m.carry_out;
    case needed_kind::always: return true;
    case needed_kind::if_store: return h.dst.empty();
    case needed_kind::if_strong:
      return h.m.cache == isa::cache_op::volatile_ || h.m.order != modifiers::order_kind::weak;
    case needed_kind::if_clock: return isa::is_clock(static_cast<isa::special>(h.m.sub));
  }
  return false;
}

/// Marks instructions without direct or indirect use as dead. Returns which registers are read.
std::vector<char> mark_dead(hir_function& f) {
  std::vector<std::vector<hir_instruction*>> writers(f.registers.size());
  std::vector<hir_instruction*> work;
  std::vector<char> read(f.registers.size(), 0);
  for (hir_block& b : f.blocks)
    for (hir_instruction& h : b.code) {
      h.dead = true;
      for (const value& d : h.dst)
        if (d.is_reg()) writers[d.reg].push_back(&h);
      if (!always_needed(h)) continue;
      h.dead = false;
      work.push_back(&h);
    }
  const auto need = [&](const value& v) {
    if (!v.is_reg()) return;
    for (hir_instruction* w : writers[v.reg])
      if (w->dead) w->dead = false, work.push_back(w);
    writers[v.reg].clear();
  };
  while (!work.empty()) {
    const hir_instruction* h = work.back();
    work.pop_back();
    for (const value& v : h->src) {
      need(v);
      if (v.is_reg()) read[v.reg] = 1;
    }
    need(h->guard);
  }
  return read;
}

void drop_unused_result(hir_instruction& h, const std::vector<char>& read) {
  if (h.op != ptx_op::atom || h.dst.size() != 1) return;
  const auto kind = static_cast<isa::atomic_op>(h.m.sub);
  if (kind == isa::atomic_op::exch || kind == isa::atomic_op::cas) return;
  if (h.dst[0].is_reg() && read[h.dst[0].reg]) return;
  h.op = ptx_op::red;
  h.dst.clear();
}

}  // namespace

void drop_dead_code(hir_function& f) {
  const std::vector<char> read = mark_dead(f);
  for (hir_block& b : f.blocks) {
    const auto dead =
        std::stable_partition(b.code.begin(), b.code.end(), [](const hir_instruction& h) { return !h.dead; });
    std::move(dead, b.code.end(), std::back_inserter(f.unused));
    b.code.erase(dead, b.code.end());
    for (hir_instruction& h : b.code) drop_unused_result(h, read);
  }
}

}  // namespace heddle::ptx
