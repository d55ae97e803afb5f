// SPDX-License-Identifier: MIT
#include "heddle/functional/functional_program.h"

#include <bitset>

#include "heddle/functional/block_independence.h"
#include "heddle/isa/matrix.h"
#include "heddle/sub_partition/dependence/decode.h"

namespace heddle {

namespace {

bool reads_time(const isa::instruction& i) {
  const auto s = static_cast<isa::special>(i.sub);
  return i.op == isa::opcode::s2r && s >= isa::special::clock && s <= isa::special::globaltimer;
}

// Of an access of the load/store unit.
functional_kind kind_of_access(const isa::instruction& i) {
  using isa::access_kind;
  const bool shared = i.mem_space == isa::space::shared;
  const bool global = i.mem_space == isa::space::global || i.mem_space == isa::space::generic;
  switch (isa::info(i.op).access) {
    case access_kind::load:
      return shared ? functional_kind::shared : global ? functional_kind::load : functional_kind::other;
    case access_kind::store:
      return shared ? functional_kind::shared : global ? functional_kind::store : functional_kind::other;
    case access_kind::matrix_load:
    case access_kind::atomic:
    case access_kind::reduction:
    case access_kind::copy: return shared ? functional_kind::shared : functional_kind::other;
    case access_kind::none:
    case access_kind::constant_load:
    case access_kind::sample:
    case access_kind::surface_load:
    case access_kind::surface_store: break;
  }
  return functional_kind::other;
}

functional_kind kind_of(const decoded_instruction& d) {
  const isa::instruction& i = *d.instruction;
  switch (d.kind) {
    case issue_kind::arithmetic:
      return d.synchronises || reads_time(i) ? functional_kind::other : functional_kind::plain;
    case issue_kind::product:
      return d.synchronises || (i.sub & isa::gmma::commits) != 0 ? functional_kind::other : functional_kind::plain;
    case issue_kind::branch: return functional_kind::branch;
    case issue_kind::memory: return d.synchronises ? functional_kind::other : kind_of_access(i);
    case issue_kind::exit:
    case issue_kind::barrier:
    case issue_kind::fence:
    case issue_kind::sleep:
    case issue_kind::trap:
    case issue_kind::system_call:
    case issue_kind::copy_commit:
    case issue_kind::bulk_copy:
    case issue_kind::copy_wait:
    case issue_kind::product_fence:
    case issue_kind::product_commit:
    case issue_kind::product_wait:
    case issue_kind::register_change: break;
  }
  return functional_kind::other;
}

using registers = std::bitset<256>;

void add(registers& all, unsigned first, unsigned count) {
  for (unsigned k = first; k < first + count && k < isa::rz; ++k) all.set(k);
}

/// The registers that products of a warpgroup write.
registers of_products(const decoded_program& p) {
  registers all;
  for (const decoded_instruction& d : p.code)
    if (isa::is_warpgroup_product(d.instruction->op)) add(all, d.instruction->dst, d.instruction->dst_count);
  return all;
}

bool accesses(const isa::instruction& i, const registers& some) {
  registers own;
  if (i.dst != isa::rz) add(own, i.dst, i.dst_count);
  for (const isa::operand& o : i.src)
    if (o.is_reg()) add(own, o.reg, o.count);
  return (own & some).any();
}

}  // namespace

functional_program::functional_program(std::shared_ptr<const decoded_program> program, bool watched)
    : decoded(std::move(program)), independent_blocks(!watched && has_independent_blocks(*decoded->program)) {
  const std::vector<back_edge> edges = back_edges(*decoded->program);
  steps.resize(decoded->code.size());
  const registers products = watched ? of_products(*decoded) : registers();
  for (std::size_t k = 0; k < steps.size(); ++k) {
    const decoded_instruction& d = decoded->code[k];
    functional_step& s = steps[k];
    s.execute = d.execute;
    s.decoded = &d;
    s.unwatched = kind_of(d);
    s.touches_products = products.any() && accesses(*d.instruction, products);
    const bool notified =
        d.kind == issue_kind::memory || isa::is_warpgroup_product(d.instruction->op) || s.touches_products;
    s.kind = s.usual = watched && notified ? functional_kind::other : s.unwatched;
    s.guarded = d.instruction->guarded();
    s.synchronises = d.synchronises;
    s.reads_time = reads_time(*d.instruction);
    s.edge = edges[k];
    s.bytes = d.access_bytes;
    s.guard = d.guard;
  }
}

void functional_program::follow(bool all) {
  for (functional_step& s : steps) s.kind = all ? functional_kind::followed : s.usual;
}

}  // namespace heddle
