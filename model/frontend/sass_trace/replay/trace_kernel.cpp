// SPDX-License-Identifier: MIT
#include "heddle/frontend/sass_trace/replay/trace_kernel.h"

#include <algorithm>

namespace heddle::sass_trace {

trace_record trace_kernel::end_of(std::uint32_t warp) const {
  const std::uint32_t threads = std::min(header.threads() - warp * isa::warp_size, isa::warp_size);
  return {static_cast<std::uint32_t>(program->code.size() - 1),
          threads == isa::warp_size ? ~std::uint32_t{0} : (1u << threads) - 1, 0};
}

}  // namespace heddle::sass_trace
