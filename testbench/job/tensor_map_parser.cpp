// SPDX-License-Identifier: MIT
#include "testbench/job/tensor_map_parser.h"

#include <cstring>

#include "heddle/isa/tensor_map.h"
#include "testbench/text/text.h"

namespace heddle::testbench {

namespace {

using kind = json_value::kind;

// In the order of isa::tensor_type and of isa::tensor_swizzle.
const std::vector<std::string> tensor_types = {"u8",  "u16", "u32",  "s32",     "u64",  "s64",     "f16",
                                               "f32", "f64", "bf16", "f32_ftz", "tf32", "tf32_ftz"};
const std::vector<std::string> tensor_swizzles = {"none", "32B", "64B", "128B"};

constexpr std::size_t any_rank = ~std::size_t{0};

/// The numbers of an array, `count` of them, or as many as a tensor may have dimensions.
std::vector<std::uint64_t> numbers(json_reader& r, const char* key, std::size_t count, std::uint64_t least,
                                   std::uint64_t most) {
  const json_value& v = r.expect(r.required(key), kind::array, r.path_of(key));
  const bool fits =
      count == any_rank ? !v.items.empty() && v.items.size() <= isa::tensor_dimensions : v.items.size() == count;
  if (!fits)
    r.fail(v, r.path_of(key),
           "expected " + (count == any_rank ? std::string("1 to 5") : std::to_string(count)) + " numbers");
  std::vector<std::uint64_t> all;
  for (const json_value& item : v.items) {
    all.push_back(r.to_number(item, r.path_of(key), most));
    if (all.back() < least) r.fail(item, r.path_of(key), "expected at least " + std::to_string(least));
  }
  return all;
}

/// Strides of dimensions 1 and up of a tensor without gaps.
std::vector<std::uint64_t> packed(const isa::tensor_map& m) {
  std::vector<std::uint64_t> all;
  std::uint64_t stride = m.element_bytes();
  for (unsigned d = 0; d + 1u < m.rank; ++d) all.push_back(stride *= m.size(d));
  return all;
}

/// The first byte behind the tensor, from its address on.
std::uint64_t end_of(const isa::tensor_map& m) {
  std::uint64_t end = m.size(0) * m.element_bytes();
  for (unsigned d = 1; d < m.rank; ++d) end += (m.size(d) - 1) * m.strides[d - 1];
  return end;
}

}  // namespace

void parse_tensor_map(json_reader& r, argument& a, const job& j) {
  isa::tensor_map m;
  a.what = argument::kind::tensor_map;
  a.text = "a tensor map";
  a.name = r.string("buffer");
  a.offset = r.number("offset", 0);
  const buffer& b = existing_buffer(j, a.name, r.place("buffer"));
  m.type = static_cast<isa::tensor_type>(r.to_choice(r.required("type"), r.path_of("type"), tensor_types));
  const auto size = numbers(r, "size", any_rank, 1, std::uint64_t{1} << 32);
  m.rank = static_cast<std::uint8_t>(size.size());
  for (unsigned d = 0; d < m.rank; ++d) m.last[d] = static_cast<std::uint32_t>(size[d] - 1);
  const auto box = numbers(r, "box", m.rank, 1, 256);
  for (unsigned d = 0; d < m.rank; ++d) m.box[d] = static_cast<std::uint8_t>(box[d] - 1);
  const auto strides = r.has("strides") ? numbers(r, "strides", m.rank - 1u, 1, std::uint64_t{1} << 40) : packed(m);
  for (unsigned d = 0; d + 1u < m.rank; ++d) m.strides[d] = strides[d];
  if (r.has("element_strides")) {
    const auto steps = numbers(r, "element_strides", m.rank, 1, 8);
    for (unsigned d = 0; d < m.rank; ++d) m.steps[d] = static_cast<std::uint8_t>(steps[d]);
  }
  if (const json_value* v = r.optional("swizzle"))
    m.swizzle = static_cast<isa::tensor_swizzle>(r.to_choice(*v, r.path_of("swizzle"), tensor_swizzles));
  if (const json_value* v = r.optional("fill"))
    m.fills_with_nan = static_cast<std::uint8_t>(r.to_choice(*v, r.path_of("fill"), {"zero", "nan"}));
  m.address = a.offset;  // buffers are aligned
  const std::string problem = isa::problem_of(m);
  if (!problem.empty()) refuse(r.place(), r.path() + ": " + problem);
  if (a.offset > b.bytes || end_of(m) > b.bytes - a.offset)
    refuse(r.place(), r.path() + ": the tensor has " + std::to_string(end_of(m)) + " bytes from offset " +
                          std::to_string(a.offset) + " on, buffer '" + b.name + "' has " + std::to_string(b.bytes));
  a.bytes.resize(sizeof m);
  std::memcpy(a.bytes.data(), &m, sizeof m);
  r.finish();
}

}  // namespace heddle::testbench
