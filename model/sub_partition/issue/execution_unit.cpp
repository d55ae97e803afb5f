// SPDX-License-Identifier: MIT
#include "heddle/sub_partition/issue/execution_unit.h"

#include <string>

#include "heddle/config/error.h"

namespace heddle {

namespace {
[[noreturn]] void protocol_error(const execution_unit& unit) {
  throw internal_error(unit.name() + ": an instruction was dispatched while the unit's input was held");
}
}  // namespace

execution_unit::execution_unit(const part_name& name)
    : module_part(name), dispatch_socket({"dispatch_socket", name.owner}) {
  dispatch_socket.bind(input);
}

void execution_unit::input_port::b_transport(issue_transaction& t, sc_core::sc_time&) {
  if (t.cycle < free_at) protocol_error(owner);
  if (t.mask != 0) t.execute(*t.instruction, *t.warp, t.mask);
  ++instructions;
  busy_cycles += t.initiation_cycles;
  free_at = t.cycle + t.initiation_cycles;
}

void execution_unit::trace(sc_core::sc_trace_file* file) const {
  const std::string base = name();
  sc_core::sc_trace(file, input.instructions, base + ".instructions");
  sc_core::sc_trace(file, busy, base + ".busy");
  if (traced_by_ != nullptr) traced_by_->traced(file);
}

}  // namespace heddle
