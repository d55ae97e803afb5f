// SPDX-License-Identifier: MIT
#include "heddle/functional/functional_program.h"

#include "heddle/sub_partition/dependence/decode.h"

#pragma GCC diagnostic error "-Wswitch"  // a new kind does not compile before it has a case

namespace heddle {

namespace {

bool reads_time(const isa::instruction& i) {
  const auto s = static_cast<isa::special>(i.sub);
  return i.op == isa::opcode::s2r && s >= isa::special::clock && s <= isa::special::globaltimer;
}

functional_kind kind_of(const decoded_instruction& d) {
  const isa::instruction& i = *d.instruction;
  switch (d.kind) {
    case issue_kind::arithmetic:
      return d.synchronises || reads_time(i) ? functional_kind::other : functional_kind::plain;
    case issue_kind::product: return d.synchronises ? functional_kind::other : functional_kind::plain;
    case issue_kind::branch: return functional_kind::branch;
    case issue_kind::memory:
      if (d.synchronises || d.unit == isa::unit::texture || i.op == isa::opcode::ldc) break;
      if (i.mem_space == isa::space::shared) return functional_kind::shared;
      if (i.mem_space != isa::space::global && i.mem_space != isa::space::generic) break;
      if (i.op == isa::opcode::ld) return functional_kind::load;
      if (i.op == isa::opcode::st) return functional_kind::store;
      break;
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

}  // namespace

functional_program::functional_program(std::shared_ptr<const decoded_program> program, bool watched)
    : decoded(std::move(program)) {
  const std::vector<back_edge> edges = back_edges(*decoded->program);
  steps.resize(decoded->code.size());
  for (std::size_t k = 0; k < steps.size(); ++k) {
    const decoded_instruction& d = decoded->code[k];
    functional_step& s = steps[k];
    s.execute = d.execute;
    s.decoded = &d;
    s.unwatched = kind_of(d);
    s.kind = watched && d.kind == issue_kind::memory ? functional_kind::other : s.unwatched;
    s.guarded = d.instruction->guarded();
    s.synchronises = d.synchronises;
    s.reads_time = reads_time(*d.instruction);
    s.edge = edges[k];
    s.bytes = d.access_bytes;
    s.guard = d.guard;
  }
}

}  // namespace heddle
