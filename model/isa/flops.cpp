// SPDX-License-Identifier: MIT
#include "heddle/isa/flops.h"

#include <algorithm>
#include <string_view>

#include "heddle/isa/matrix.h"

namespace heddle::isa {

namespace {

struct scalar_row {
  std::string_view name;
  flop_unit unit;
  std::uint32_t of_lane;
};

constexpr scalar_row scalars[] = {
    {"FADD", flop_unit::fp32, 1},    {"FADD32I", flop_unit::fp32, 1}, {"FMUL", flop_unit::fp32, 1},
    {"FMUL32I", flop_unit::fp32, 1}, {"FFMA", flop_unit::fp32, 2},    {"FFMA32I", flop_unit::fp32, 2},
    {"DADD", flop_unit::fp64, 1},    {"DMUL", flop_unit::fp64, 1},    {"DFMA", flop_unit::fp64, 2},
    {"HADD2", flop_unit::half, 2},   {"HMUL2", flop_unit::half, 2},   {"HFMA2", flop_unit::half, 4}};

// "@!P0 FFMA.FTZ R1, ..." has the name FFMA.FTZ.
std::string_view mnemonic(std::string_view text) {
  if (!text.empty() && text[0] == '@') text.remove_prefix(std::min(text.find(' '), text.size() - 1) + 1);
  return text.substr(0, text.find(' '));
}

std::uint32_t warpgroup_multiply_adds(const instruction& i) {
  const unsigned bits = i.op == opcode::qgmma ? 8 : i.src_type == dtype::b32 ? 32 : 16;
  return gmma::rows * columns_of(i) * (gmma::depth_bytes * 8 / bits) * (i.sub & gmma::sparse ? 2 : 1);
}

bool has_tensor_name(std::string_view name) {
  return name == "HMMA" || name == "DMMA" || name == "HGMMA" || name == "QGMMA";
}

}  // namespace

flops flops_of(const program& p, std::size_t index) {
  const instruction& i = p.code[index];
  if (i.op == opcode::hgmma || i.op == opcode::qgmma) return {flop_unit::tensor, 0, 2 * warpgroup_multiply_adds(i)};
  if (i.op == opcode::hmma || i.op == opcode::dmma) return {flop_unit::tensor, 0, 2 * multiply_adds(i)};
  const std::string text = text_of(p, index);
  const std::string_view whole = mnemonic(text), name = whole.substr(0, whole.find('.'));
  if (has_tensor_name(name)) return {flop_unit::tensor, 0, 2 * multiply_adds(i)};
  if (name[0] == 'H' && whole.find(".F32") != std::string_view::npos) return {};  // HADD2.F32 converts
  for (const scalar_row& row : scalars)
    if (row.name == name) {
      const bool scalar_half = row.unit == flop_unit::half && (i.type == dtype::f16 || i.type == dtype::bf16);
      return {row.unit, scalar_half ? row.of_lane / 2 : row.of_lane, 0};
    }
  return {};
}

}  // namespace heddle::isa
