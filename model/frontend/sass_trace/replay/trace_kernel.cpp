// SPDX-License-Identifier: MIT
#include "heddle/frontend/sass_trace/replay/trace_kernel.h"

#include <algorithm>

namespace heddle::sass_trace {

trace_record trace_kernel::end_of(std::uint32_t warp) const {
  const std::uint32_t threads = std::min(header.threads() - warp * isa::warp_size, isa::warp_size);
  return {static_cast<std::uint32_t>(program->code.size() - 1),
          threads == isa::warp_size ? ~std::uint32_t{0} : (1u << threads) - 1, 0};
}

std::size_t trace_kernel::bytes() const {
  const std::size_t of_instruction = sizeof(isa::instruction) + sizeof(isa::op_class) + sizeof(std::string);
  constexpr std::size_t of_common_addresses = 8192, of_block = sizeof(block_trace) + 256;  // and allocations, about
  std::size_t all = sizeof(trace_kernel) + code->bytes() + program->code.size() * of_instruction;
  if (!kept.empty()) all += of_common_addresses;
  for (const auto& block : kept) all += of_block + block->bytes();
  return all;
}

}  // namespace heddle::sass_trace
