// SPDX-License-Identifier: MIT
// The runtime: mipmapped arrays. Their levels are arrays.
#include <algorithm>
#include <mutex>
#include <set>

#include "testbench/cuda/core/array.h"
#include "testbench/cuda/core/client.h"
#include "testbench/cuda/core/registry.h"

using namespace heddle;
using namespace heddle::cuda;

HEDDLE_CUDA error_t cudaMalloc3DArray(array_t* array, const channel_format* format, extent_t e, unsigned flags);
HEDDLE_CUDA error_t cudaFreeArray(array_t array);

namespace heddle::cuda {

namespace {

library_mutex mipmaps_mutex;
std::set<mipmap_t>& mipmaps() {
  static auto* all = new std::set<mipmap_t>;
  return *all;
}

std::size_t half(std::size_t n) { return n == 0 ? 0 : std::max<std::size_t>(n / 2, 1); }

extent_t half(const extent_t& e, unsigned flags) {
  constexpr unsigned layers = array_flag::layered | array_flag::cubemap;
  return {half(e.width), half(e.height), (flags & layers) != 0 ? e.depth : half(e.depth)};
}

/// Levels until a side of one element.
unsigned most_levels(extent_t e, unsigned flags) {
  unsigned n = 1;
  for (; e.width > 1 || e.height > 1 || half(e, flags).depth != e.depth; e = half(e, flags)) ++n;
  return n;
}

error_t release_levels(mipmap_t m) {
  error_t status = error::none;
  for (const array_t level : m->levels)
    if (const error_t e = cudaFreeArray(level); e != error::none) status = e;
  delete m;
  return status;
}

}  // namespace

const mipmap_record* known_mipmap(mipmap_t m) {
  const std::lock_guard<std::mutex> lock(mipmaps_mutex);
  return mipmaps().count(m) != 0 ? m : nullptr;
}

}  // namespace heddle::cuda

/// As in CUDA, a number of levels that the sizes do not allow is the nearest one that they do.
HEDDLE_CUDA error_t cudaMallocMipmappedArray(mipmap_t* to, const channel_format* format, extent_t e, unsigned levels,
                                             unsigned flags) {
  if (to == nullptr) return noted(error::invalid_value);
  auto* m = new mipmap_record;
  levels = std::clamp(levels, 1u, most_levels(e, flags));
  for (; m->levels.size() < levels; e = half(e, flags)) {
    array_t level = nullptr;
    if (const error_t status = cudaMalloc3DArray(&level, format, e, flags); status != error::none) {
      release_levels(m);
      return noted(status);
    }
    m->levels.push_back(level);
  }
  const std::lock_guard<std::mutex> lock(mipmaps_mutex);
  mipmaps().insert(m);
  *to = m;
  return noted(error::none);
}
HEDDLE_CUDA error_t cudaGetMipmappedArrayLevel(array_t* to, mipmap_t m, unsigned level) {
  if (known_mipmap(m) == nullptr) return noted(error::invalid_handle);
  return level >= m->levels.size() ? noted(error::invalid_value) : put_result(to, m->levels[level]);
}
HEDDLE_CUDA error_t cudaFreeMipmappedArray(mipmap_t m) {
  if (m == nullptr) return noted(error::none);
  {
    const std::lock_guard<std::mutex> lock(mipmaps_mutex);
    if (mipmaps().erase(m) == 0) return noted(error::invalid_handle);
  }
  return noted(release_levels(m));
}
