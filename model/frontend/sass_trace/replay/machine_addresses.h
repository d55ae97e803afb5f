// SPDX-License-Identifier: MIT
#pragma once

#include "heddle/frontend/sass_trace/block/block_trace.h"
#include "heddle/frontend/sass_trace/replay/trace_kernel.h"

namespace heddle::sass_trace {

/// Addresses of a step for the machine, by lane: shared and local memory as offsets, generic addresses in the machine's
/// own windows, all of them aligned to the access, as no check of a replay refuses them. `list` and `common`: where the
/// step's are kept.
void machine_addresses(const trace_kernel& kernel, const address_list& list, const common_addresses* common,
                       const trace_record& step, std::uint64_t addresses[32]);

/// The step's addresses where they are common to many; else null.
inline const isa::lane_addresses* common_list(const common_addresses* common, const trace_record& step) {
  return (step.addresses & common_bit) != 0 ? &common->at(step.addresses & ~common_bit) : nullptr;
}

/// Bytes of local memory that the step's lanes reach.
std::uint64_t local_reach(const kernel_header& header, const isa::instruction& i, const address_list& list,
                          const trace_record& step);

}  // namespace heddle::sass_trace
