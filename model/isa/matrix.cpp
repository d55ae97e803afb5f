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

namespace {

/// "16864" of elements below 8 bits, and of sparse ones.
std::string narrow_shape(const instruction& i) {
  const matrix_size s = size_of(shape_of(i));
  const unsigned factor = i.src_type == dtype::b1 ? 8 : i.src_type == dtype::s4 || i.src_type == dtype::u4 ? 2 : 1;
  return std::to_string(s.m) + std::to_string(s.n) + std::to_string(s.k * factor * (i.sub & matrix::sparse ? 2 : 1));
}

/// "64x128x16.F32": of a warpgroup's product, as the chip's disassembler writes it.
std::string gmma_shape(const instruction& i) {
  const unsigned bits = i.src_type == dtype::b1 ? 1 : i.src_type == dtype::b32 ? 32 : i.op == opcode::hgmma ? 16 : 8;
  const unsigned depth = gmma::depth_bytes * 8 / bits * (i.sub & gmma::sparse ? 2 : 1);
  return (i.sub & gmma::sparse ? ".SP.64x" : ".64x") + std::to_string(columns_of(i)) + "x" + std::to_string(depth);
}

const char* group_end(const instruction& i) { return (i.sub & gmma::commits) != 0 ? ".GSB0" : ""; }

/// ".S8.U8": the types of a and b, which have the first type or differ.
std::string type_pair(bool first, bool differ, const char* yes, const char* no) {
  return std::string(first ? yes : no) + (first != differ ? yes : no);
}

}  // namespace

std::string hmma_suffix(const instruction& i) {
  const bool sparse = shape_of(i) != matrix_shape::m8n8k4 && (i.sub & matrix::sparse) != 0;
  const matrix_size size = row_of(shape_of(i)).size;
  std::string s = std::string(".") + row_of(shape_of(i)).name;
  if (sparse) s = ".SP." + std::to_string(size.m) + std::to_string(size.n) + std::to_string(2 * size.k);
  if (shape_of(i) == matrix_shape::m8n8k4) {
    s += i.sub & matrix::a_col ? ".COL" : ".ROW";
    s += i.sub & matrix::b_row ? ".ROW" : ".COL";
  }
  s += i.type == dtype::f32 ? ".F32" : ".F16";
  if (i.src_type == dtype::bf16) s += ".BF16";
  if (i.src_type == dtype::b32) s += ".TF32";
  if (i.src_type == dtype::e4m3x2) s += i.sub & matrix::b_other_sign ? ".E4M3.E5M2" : ".E4M3.E4M3";
  if (i.src_type == dtype::e5m2x2) s += i.sub & matrix::b_other_sign ? ".E5M2.E4M3" : ".E5M2.E5M2";
  if (i.sub & matrix::upper) s += ".UPPER";
  return s;
}

std::string hgmma_suffix(const instruction& i) {
  std::string s = gmma_shape(i) + (i.type == dtype::f32 ? ".F32" : ".F16");
  if (i.src_type == dtype::bf16) s += ".BF16";
  if (i.src_type == dtype::b32) s += ".TF32";
  return s + group_end(i);
}

std::string qgmma_suffix(const instruction& i) {
  return gmma_shape(i) + (i.type == dtype::f32 ? ".F32" : ".F16") +
         type_pair(i.src_type == dtype::e4m3x2, (i.sub & gmma::b_other) != 0, ".E4M3", ".E5M2") + group_end(i);
}

std::string igmma_suffix(const instruction& i) {
  return gmma_shape(i) + type_pair(i.src_type == dtype::s8, (i.sub & gmma::b_other) != 0, ".S8", ".U8") + group_end(i);
}

std::string bgmma_suffix(const instruction& i) { return gmma_shape(i) + ".AND.POPC" + group_end(i); }

std::string imma_suffix(const instruction& i) {
  const bool differ = (i.sub & matrix::b_other_sign) != 0;
  if (i.src_type == dtype::s4 || i.src_type == dtype::u4)
    return "." + narrow_shape(i) + type_pair(i.src_type == dtype::s4, differ, ".S4", ".U4");
  const std::string of_bytes = type_pair(i.src_type == dtype::s8, differ, ".S8", ".U8");
  if ((i.sub & matrix::sparse) != 0) return ".SP." + narrow_shape(i) + of_bytes;
  return std::string(".") + row_of(shape_of(i)).name + of_bytes;
}

std::string bmma_suffix(const instruction& i) {
  return "." + narrow_shape(i) + ((i.sub & matrix::exclusive) != 0 ? ".XOR.POPC" : ".AND.POPC");
}

std::string dmma_suffix(const instruction& i) { return std::string(".") + row_of(shape_of(i)).name; }

std::string ldsm_suffix(const instruction& i) {
  const unsigned count = i.sub & matrix::count_mask;
  return std::string((i.sub & matrix::transposed) != 0 ? ".16.MT88" : ".16.M88") +
         (count > 1 ? "." + std::to_string(count) : "");
}

}  // namespace heddle::isa
