// SPDX-License-Identifier: MIT
// Tensor maps: what a bulk copy of a tensor's boxes reads. The 128 bytes are Heddle's own (isa::tensor_map).
#include <cstring>

#include "heddle/isa/tensor_map.h"
#include "testbench/cuda/driver/driver.h"

namespace heddle::cuda {

namespace {

/// What both kinds of maps have. Returns false if a number is outside of what a map can hold.
bool begin(isa::tensor_map& m, int type, unsigned rank, void* address, const std::uint64_t* size,
           const std::uint64_t* strides, const unsigned* steps, int swizzle, int promotion, int fill) {
  constexpr std::uint64_t largest = std::uint64_t{1} << 32;
  if (rank == 0 || rank > isa::tensor_dimensions || size == nullptr || (strides == nullptr && rank > 1)) return false;
  if (type < 0 || type > static_cast<int>(isa::tensor_type::tf32_ftz) || swizzle < 0 || swizzle > 3) return false;
  m.type = static_cast<isa::tensor_type>(type);
  m.rank = static_cast<std::uint8_t>(rank);
  m.swizzle = static_cast<isa::tensor_swizzle>(swizzle);
  m.promotion = static_cast<std::uint8_t>(promotion);
  m.fills_with_nan = fill != 0;
  m.address = reinterpret_cast<std::uintptr_t>(address);
  for (unsigned d = 0; d < rank; ++d) {
    if (size[d] == 0 || size[d] > largest || (steps != nullptr && steps[d] > 255)) return false;
    m.last[d] = static_cast<std::uint32_t>(size[d] - 1);
    if (d > 0) m.strides[d - 1] = strides[d - 1];
    m.steps[d] = static_cast<std::uint8_t>(steps == nullptr ? 1 : steps[d]);
  }
  return true;
}

result_t finish(const isa::tensor_map& m, void* map) {
  if (!isa::problem_of(m).empty()) return result::invalid_value;
  std::memcpy(map, &m, sizeof m);
  return result::success;
}

}  // namespace

HEDDLE_CUDA result_t cuTensorMapEncodeTiled(void* map, int type, unsigned rank, void* address,
                                            const std::uint64_t* size, const std::uint64_t* strides,
                                            const unsigned* box, const unsigned* steps, int interleave, int swizzle,
                                            int promotion, int fill) {
  isa::tensor_map m;
  if (map == nullptr || box == nullptr) return result::invalid_value;
  if (!begin(m, type, rank, address, size, strides, steps, swizzle, promotion, fill)) return result::invalid_value;
  if (interleave != 0) return result::not_supported;
  for (unsigned d = 0; d < rank; ++d) {
    if (box[d] == 0 || box[d] > 256) return result::invalid_value;
    m.box[d] = static_cast<std::uint8_t>(box[d] - 1);
  }
  return finish(m, map);
}

HEDDLE_CUDA result_t cuTensorMapEncodeIm2col(void* map, int type, unsigned rank, void* address,
                                             const std::uint64_t* size, const std::uint64_t* strides, const int* lower,
                                             const int* upper, unsigned channels, unsigned pixels,
                                             const unsigned* steps, int interleave, int swizzle, int promotion,
                                             int fill) {
  isa::tensor_map m;
  if (map == nullptr || lower == nullptr || upper == nullptr || rank < 3) return result::invalid_value;
  if (!begin(m, type, rank, address, size, strides, steps, swizzle, promotion, fill)) return result::invalid_value;
  if (interleave != 0) return result::not_supported;
  if (channels == 0 || channels > 256 || pixels == 0 || pixels > 1024) return result::invalid_value;
  m.is_im2col = 1;
  m.channels = static_cast<std::uint16_t>(channels);
  m.pixels = static_cast<std::uint16_t>(pixels);
  for (unsigned d = 0; d + 2 < rank; ++d) {
    m.lower[d] = static_cast<std::int16_t>(lower[d]);
    m.upper[d] = static_cast<std::int16_t>(upper[d]);
  }
  return finish(m, map);
}

HEDDLE_CUDA result_t cuTensorMapReplaceAddress(void* map, void* address) {
  isa::tensor_map m;
  if (map == nullptr) return result::invalid_value;
  std::memcpy(static_cast<void*>(&m), map, sizeof m);
  m.address = reinterpret_cast<std::uintptr_t>(address);
  return finish(m, map);
}

}  // namespace heddle::cuda
