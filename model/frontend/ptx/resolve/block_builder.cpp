// SPDX-License-Identifier: MIT
#include "heddle/frontend/ptx/resolve/block_builder.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include "heddle/config/error.h"
#include "heddle/frontend/ptx/hir/control_flow.h"
#include "heddle/frontend/ptx/syntax/malformed_code.h"

namespace heddle::ptx {

namespace {

constexpr std::size_t largest_expansion = 400'000;  // PTX instructions after inlining

}  // namespace

std::uint32_t block_builder::new_label() {
  label_blocks_.push_back(no_node);
  return static_cast<std::uint32_t>(label_blocks_.size() - 1);
}

void block_builder::place_label(std::uint32_t label) {
  if (!out_.blocks.back().code.empty()) out_.blocks.emplace_back();
  label_blocks_[label] = static_cast<std::uint32_t>(out_.blocks.size() - 1);
}

void block_builder::append(hir_instruction h) {
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

// Lanes whose guard is false branch around the following code; the caller places the returned label after it.
std::uint32_t block_builder::branch_around(const hir_instruction& h) {
  const std::uint32_t behind = new_label();
  hir_instruction around = h;
  around.op = ptx_op::bra;
  around.m = {};
  around.guard.negate = !h.guard.negate;
  around.target = behind;
  append(std::move(around));
  return behind;
}

void block_builder::fail(const location& where, const std::string& message) const {
  throw input_error(file_, where.line, where.column, message);
}

void block_builder::refuse(const location& where, const std::string& message) const {
  throw malformed_code(file_, where.line, where.column, message);
}

void block_builder::jump(std::uint32_t label, std::uint32_t back) {
  hir_instruction h;
  h.op = ptx_op::bra;
  h.target = label;
  h.return_block = back;
  append(std::move(h));
}

void block_builder::finish() {
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
}

hir_instruction new_instruction(ptx_op op, isa::dtype type, std::vector<value> dst, std::vector<value> src) {
  hir_instruction h;
  h.op = op;
  h.m.type = type;
  h.m.types = 1;
  h.dst = std::move(dst);
  h.src = std::move(src);
  return h;
}

}  // namespace heddle::ptx
