// SPDX-License-Identifier: MIT
#pragma once

#include "heddle/sub_partition/dependence/decoded_program.h"

namespace heddle {

/// Writes the control codes of software-controlled dependence into a program, as the chip's assembler does: stall
/// counts for instructions of fixed latency along the straight line, counters for those of variable or long latency and
/// for sources that are read late, and for each instruction the counters that it waits for. Between neighbours that the
/// pairing rule joins the stall count may be 0. `memory_operands`: cycles that a memory instruction waits longer for a
/// result of fixed latency than others do.
void assign_control_codes(decoded_program& program, const sub_partition_parameters& parameters,
                          unsigned memory_operands);

}  // namespace heddle
