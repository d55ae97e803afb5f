// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <memory>

#include "heddle/frontend/sass_trace/block/block_trace.h"
#include "heddle/frontend/sass_trace/replay/trace_kernel.h"

namespace heddle::sass_trace {

/// Replaces addresses in shared memory by common ones: the offsets are mostly equal in all blocks.
void share_addresses(const trace_kernel& kernel, const std::shared_ptr<common_addresses>& common, block_trace& block);

/// Orders the warps of a block that was read and adds a missing EXIT to each.
void complete(const trace_kernel& kernel, block_trace& block);

/// Bytes that complete() will add.
std::size_t added_bytes(const trace_kernel& kernel, const block_trace& block);

}  // namespace heddle::sass_trace
