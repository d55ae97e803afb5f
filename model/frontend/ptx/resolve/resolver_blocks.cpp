// SPDX-License-Identifier: MIT
// Blocks of the kernel: labels, branches, and the final control-flow graph.
#include <algorithm>
#include <iterator>

#include "heddle/config/error.h"
#include "heddle/frontend/ptx/hir/control_flow.h"
#include "heddle/frontend/ptx/resolve/resolver.h"

namespace heddle::ptx {

namespace {

constexpr std::size_t largest_expansion = 400'000;  // PTX instructions after inlining

}  // namespace

std::uint32_t resolver::new_label() {
  label_blocks_.push_back(no_node);
  return static_cast<std::uint32_t>(label_blocks_.size() - 1);
}

void resolver::place_label(std::uint32_t label) {
  if (!out_.blocks.back().code.empty()) out_.blocks.emplace_back();
  label_blocks_[label] = static_cast<std::uint32_t>(out_.blocks.size() - 1);
}

void resolver::append(hir_instruction h) {
  if (h.source == nullptr) h.source = current_;
  if (h.where.line == 0 && current_) h.where = current_->where;
  if (++instructions_ > largest_expansion)
    fail(h.where, "kernel '" + kernel_.name + "' is too large, expected at most " + std::to_string(largest_expansion) +
                      " instructions once its calls are in place");
  const bool ends =
      h.op == ptx_op::bra || ((h.op == ptx_op::exit || h.op == ptx_op::trap) && h.guard.what == value::kind::none);
  out_.blocks.back().code.push_back(std::move(h));
  if (ends) out_.blocks.emplace_back();
}

void resolver::branch(hir_instruction h, const ast_instruction& i) {
  if (i.operands.size() != 1 || i.operands[0].what != ast_operand::kind::identifier || i.operands[0].offset != 0)
    fail(i.where, "'bra' needs a label");
  h.target = find_label(i.operands[0].text, i.operands[0].where);
  append(std::move(h));
}

// Lanes whose guard is false branch around the following code; the caller places the returned label after it.
std::uint32_t resolver::go_around(const hir_instruction& h) {
  const std::uint32_t behind = new_label();
  hir_instruction around = h;
  around.op = ptx_op::bra;
  around.m = {};
  around.guard.negate = !h.guard.negate;
  around.target = behind;
  append(std::move(around));
  return behind;
}

void resolver::indirect_branch(const hir_instruction& h, const ast_instruction& i) {
  symbol s;
  if (i.operands.size() != 2 || !find(i.operands[1].text, s) || s.what != symbol::kind::prototype || !s.targets)
    fail(i.where, "'brx.idx' needs an index and the name of a .branchtargets list");
  const value index = operand(i.operands[0], isa::dtype::u32, i.where);
  const std::vector<std::string>& targets = s.targets->targets;
  const bool guarded = h.guard.what != value::kind::none;
  const std::uint32_t behind = guarded ? go_around(h) : 0;
  // The machine code compares and branches; the last target needs no comparison, because an index beyond the list is
  // undefined.
  for (std::size_t k = 0; k < targets.size(); ++k) {
    hir_instruction jump = h;
    jump.op = ptx_op::bra;
    jump.m = {};
    jump.guard = {};
    jump.target = find_label(targets[k], i.where);
    if (k + 1 < targets.size()) {
      hir_instruction test = h;
      test.op = ptx_op::setp;
      test.guard = {};
      test.m = {};
      test.m.type = isa::dtype::u32;
      test.m.types = 1;
      test.m.cmp = isa::compare::eq;
      test.dst = {register_value(out_.new_register(0, 1))};
      test.src = {index, immediate_value(k)};
      jump.guard = test.dst[0];
      append(std::move(test));
    }
    append(std::move(jump));
  }
  if (guarded) place_label(behind);
}

void resolver::return_from(hir_instruction h) {
  if (call_chain_.size() > 1) {
    h.op = ptx_op::bra;
    h.target = return_label_;
  } else {
    h.op = ptx_op::exit;
  }
  append(std::move(h));
}

void resolver::finish() {
  // Labels become blocks, fall-through becomes an edge, unreachable blocks are removed.
  const std::uint32_t count = static_cast<std::uint32_t>(out_.blocks.size());
  if (out_.blocks.back().code.empty()) {  // a label may be at the very end
    hir_instruction end;
    end.op = ptx_op::exit;
    out_.blocks.back().code.push_back(std::move(end));
  }
  flow_graph g(count);
  for (std::uint32_t b = 0; b < count; ++b) {
    const std::vector<hir_instruction>& code = out_.blocks[b].code;
    const hir_instruction* last = code.empty() ? nullptr : &code.back();
    const bool guarded = last && last->guard.what != value::kind::none;
    if (last && last->op == ptx_op::bra) g[b].push_back(label_blocks_[last->target]);
    const bool ends =
        last && !guarded && (last->op == ptx_op::bra || last->op == ptx_op::exit || last->op == ptx_op::trap);
    if (!ends && b + 1 < count && std::find(g[b].begin(), g[b].end(), b + 1) == g[b].end()) g[b].push_back(b + 1);
  }
  std::vector<std::uint32_t> number(count, no_node);
  for (std::uint32_t b : reverse_post_order(g, 0)) number[b] = 0;
  std::uint32_t next = 0;
  for (std::uint32_t b = 0; b < count; ++b)
    if (number[b] == 0) number[b] = next++;
  std::vector<hir_block> kept(next);
  for (std::uint32_t b = 0; b < count; ++b) {
    if (number[b] == no_node) {
      std::move(out_.blocks[b].code.begin(), out_.blocks[b].code.end(), std::back_inserter(out_.unused));
      continue;
    }
    hir_block& k = kept[number[b]];
    k.code = std::move(out_.blocks[b].code);
    k.rolled = out_.blocks[b].rolled;
    for (std::uint32_t s : g[b]) k.successors.push_back(number[s]);
    if (k.code.empty() || k.code.back().op != ptx_op::bra) continue;
    hir_instruction& last = k.code.back();
    last.target = number[label_blocks_[last.target]];
    if (last.return_block != isa::no_target) last.return_block = number[label_blocks_[last.return_block]];
  }
  out_.blocks = std::move(kept);

  const std::uint32_t align = std::max(dynamic_shared_align_, 1u);
  if (dynamic_shared_align_) out_.shared_bytes = (out_.shared_bytes + align - 1) / align * align;
  for (hir_block& b : out_.blocks)
    for (hir_instruction& h : b.code)
      for (value& v : h.src)
        if (v.what == value::kind::constant && v.bank == dynamic_shared_bank)
          v = immediate_value(out_.shared_bytes + v.bits);
}

}  // namespace heddle::ptx
