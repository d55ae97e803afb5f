// SPDX-License-Identifier: MIT
#include "heddle/isa/matrix.h"

namespace heddle::isa {

namespace {

struct shape_row {
  const char* name;
  matrix_size size;
};
constexpr shape_row shapes[] = {{"884", {8, 8, 4}},     {"1684", {16, 8, 4}}, {"1688", {16, 8, 8}},
                                {"16816", {16, 8, 16}}, {"8816", {8, 8, 16}}, {"16832", {16, 8, 32}}};

const shape_row& row_of(matrix_shape s) {
  return shapes[s < matrix_shape::count ? static_cast<unsigned>(s) : static_cast<unsigned>(matrix_shape::m16n8k8)];
}

std::string hmma_suffix(const instruction& i) {
  std::string s = std::string(".") + row_of(shape_of(i)).name;
  if (shape_of(i) == matrix_shape::m8n8k4) {
    s += i.sub & matrix::a_col ? ".COL" : ".ROW";
    s += i.sub & matrix::b_row ? ".ROW" : ".COL";
  }
  s += i.type == dtype::f32 ? ".F32" : ".F16";
  if (i.src_type == dtype::bf16) s += ".BF16";
  if (i.src_type == dtype::b32) s += ".TF32";
  if (i.sub & matrix::upper) s += ".UPPER";
  return s;
}

}  // namespace

matrix_size size_of(matrix_shape s) { return row_of(s).size; }

unsigned multiply_adds(const instruction& i) {
  const matrix_size s = size_of(shape_of(i));
  const unsigned one = s.m * s.n * s.k;
  if (i.offset != 0) return static_cast<unsigned>(i.offset);
  if (i.src_type == dtype::f64 || shape_of(i) != matrix_shape::m8n8k4) return one;
  if (i.op != opcode::hmma) return i.type == dtype::f32 ? one : 2 * one;  // traced: one step of Volta's
  return i.type == dtype::f32 ? 2 * one : 4 * one;  // with f32 an instruction computes half of the columns
}

std::string matrix_suffix(const instruction& i) {
  const bool other = i.sub & matrix::b_other_sign, is_signed = i.src_type == dtype::s8;
  switch (i.op) {
    case opcode::hmma: return hmma_suffix(i);
    case opcode::dmma: return std::string(".") + row_of(shape_of(i)).name;
    case opcode::imma:
      return std::string(".") + row_of(shape_of(i)).name + (is_signed ? ".S8" : ".U8") +
             (is_signed != other ? ".S8" : ".U8");
    case opcode::movm: return ".16.MT88";
    case opcode::ldsm:
      return std::string(i.sub & matrix::transposed ? ".16.MT88" : ".16.M88") +
             ((i.sub & matrix::count_mask) > 1 ? "." + std::to_string(i.sub & matrix::count_mask) : "");
    default: return "";
  }
}

}  // namespace heddle::isa
