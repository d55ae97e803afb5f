// SPDX-License-Identifier: MIT
#include "heddle/isa/tensor_map.h"

namespace heddle::isa {

namespace {

constexpr std::uint64_t least_alignment = 16;  // bytes, of address, strides and rows of a box
constexpr std::uint64_t stride_limit = std::uint64_t{1} << 40;
constexpr unsigned largest_step = 8;

std::string dimension_text(const char* what, unsigned dimension) {
  return std::string(what) + " of dimension " + std::to_string(dimension);
}

std::string problem_of_dimension(const tensor_map& m, unsigned d) {
  if (m.steps[d] == 0 || m.steps[d] > largest_step)
    return dimension_text("element stride", d) + " is " + std::to_string(m.steps[d]) + ", expected 1 to 8";
  if (d == 0) return "";
  const std::uint64_t stride = m.strides[d - 1];
  if (stride % least_alignment != 0 || stride == 0 || stride >= stride_limit)
    return dimension_text("stride", d) + " is " + std::to_string(stride) +
           " bytes, expected a multiple of 16 below 2^40";
  return "";
}

}  // namespace

unsigned tensor_map::element_bytes() const {
  switch (type) {
    case tensor_type::u8: return 1;
    case tensor_type::u16:
    case tensor_type::f16:
    case tensor_type::bf16: return 2;
    case tensor_type::u64:
    case tensor_type::s64:
    case tensor_type::f64: return 8;
    default: return 4;
  }
}

std::string problem_of(const tensor_map& m) {
  if (m.magic != tensor_map::magic_number) return "no tensor map, expected one of cuTensorMapEncodeTiled";
  if (m.type > tensor_type::tf32_ftz) return "unknown type of its elements";
  if (m.rank == 0 || m.rank > tensor_dimensions) return "rank " + std::to_string(m.rank) + ", expected 1 to 5";
  if (m.is_im2col != 0 && m.rank < 3) return "rank " + std::to_string(m.rank) + " of im2col, expected 3 to 5";
  if (m.address % least_alignment != 0) return "the tensor's address is not a multiple of 16";
  for (unsigned d = 0; d < m.rank; ++d) {
    std::string text = problem_of_dimension(m, d);
    if (!text.empty()) return text;
  }
  const std::uint64_t row = (m.is_im2col != 0 ? m.channels : m.box[0] + 1u) * std::uint64_t{m.element_bytes()};
  if (row == 0 || row % least_alignment != 0)
    return "a box has rows of " + std::to_string(row) + " bytes, expected a multiple of 16";
  const std::uint64_t span = m.swizzle == tensor_swizzle::none ? row : 16u << static_cast<unsigned>(m.swizzle);
  if (row > span)
    return "a box has rows of " + std::to_string(row) + " bytes, expected at most the " + std::to_string(span) +
           " of its swizzle mode";
  return "";
}

}  // namespace heddle::isa
