// SPDX-License-Identifier: MIT
#pragma once

#include "heddle/sub_partition/dependence/decoded_program.h"

namespace heddle {

/// Writes the control codes of software-controlled dependence into a program, as the chip's assembler does. Stall
/// counts guard results of fixed latency in straight-line code. Counters guard results of variable or long latency, and
/// sources that are read late. Each instruction names the counters that it waits for. Between two instructions that may
/// issue as a pair the stall count may be 0. `memory_operands`: extra cycles for which a memory instruction waits for a
/// result of fixed latency.
void assign_control_codes(decoded_program& program, const sub_partition_parameters& parameters,
                          unsigned memory_operands);

}  // namespace heddle
