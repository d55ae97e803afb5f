// SPDX-License-Identifier: MIT
#pragma once

#include "heddle/frontend/sass_trace/block/block_trace.h"
#include "heddle/frontend/sass_trace/replay/trace_kernel.h"

namespace heddle::sass_trace {

/// Converts the addresses of a record for the model, by lane: shared and local memory become offsets, generic
/// addresses move into the model's own windows, and all are aligned to the access size, because a replay does not
/// check alignment. `list` and `common` hold the record's addresses.
void machine_addresses(const trace_kernel& kernel, const address_list& list, const common_addresses* common,
                       const trace_record& record, std::uint64_t addresses[32]);

/// The record's addresses if they are in common_addresses; else null.
inline const isa::lane_addresses* common_list(const common_addresses* common, const trace_record& record) {
  return (record.addresses & common_bit) != 0 ? &common->at(record.addresses & ~common_bit) : nullptr;
}

/// The size of local memory that the record's lanes access, bytes.
std::uint64_t local_reach(const kernel_header& header, const isa::instruction& i, const address_list& list,
                          const trace_record& record);

}  // namespace heddle::sass_trace
