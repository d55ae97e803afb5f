// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <string>

#include "heddle/isa/instruction.h"

namespace heddle::isa {

/// Shapes of matrix instructions, in the low bits of instruction::sub: d (m x n) = a (m x k) * b (k x n) + c. The
/// layout of the elements is in docs/model/tensor.md; it is that of mma.sync in the PTX ISA. Elements of 4 bits and
/// single bits have the shape of as many bytes, a sparse a that of its stored elements.
enum class matrix_shape : std::uint8_t { m8n8k4, m16n8k4, m16n8k8, m16n8k16, m8n8k16, m16n8k32, count };

inline bool is_byte(dtype t) { return t == dtype::s8 || t == dtype::u8; }

/// Flags of matrix instructions, in instruction::sub next to the shape.
namespace matrix {
constexpr std::uint8_t shape_mask = 7;
constexpr std::uint8_t a_col = 8, b_row = 16;  // hmma.884: layout of a and b
constexpr std::uint8_t upper = 32;             // hmma.884, f32: registers 4 to 7 of c and d
constexpr std::uint8_t b_other_sign = 64;      // exactly one of a and b is signed, or their 8-bit floats differ
constexpr std::uint8_t sparse = 8;      // others than hmma.884: two of four elements of a's rows; see instruction.h
constexpr std::uint8_t exclusive = 16;  // bmma: counts the bits that differ
constexpr std::uint8_t count_mask = 7;  // ldsm
constexpr std::uint8_t transposed = 8;  // ldsm
}  // namespace matrix

/// Flags of a warpgroup's products (HGMMA, QGMMA, IGMMA, BGMMA), in instruction::sub.
namespace gmma {
constexpr std::uint8_t a_shared = 1;                        // src[0] is a descriptor, not registers
constexpr std::uint8_t a_transposed = 2, b_transposed = 4;  // in shared memory
constexpr std::uint8_t a_negated = 8, b_negated = 16;
constexpr std::uint8_t sparse = 32;    // two of four elements of a's rows; the register behind a tells which
constexpr std::uint8_t commits = 64;   // the last product of its group
constexpr std::uint8_t b_other = 128;  // b's type is the other one of s8 and u8, or of e4m3 and e5m2
constexpr unsigned rows = 16;          // of a warp
constexpr unsigned depth_bytes = 32;   // of a row of a, without sparsity
}  // namespace gmma

struct matrix_size {
  unsigned m, n, k;
};
matrix_size size_of(matrix_shape s);

inline matrix_shape shape_of(const instruction& i) { return static_cast<matrix_shape>(i.sub & matrix::shape_mask); }
constexpr bool is_warpgroup_product(opcode op) {
  return info(op).timing == op_class::tensor && info(op).effect == effect_kind::order;
}

constexpr bool is_matrix(opcode op) { return info(op).timing == op_class::tensor && !is_warpgroup_product(op); }
/// Columns of a warpgroup's product, from the number of its accumulators: two f16, or one f32 or s32, in a register.
inline unsigned columns_of(const instruction& i) { return i.dst_count * (i.type == dtype::f16 ? 4u : 2u); }

/// Number of multiply-adds of a matrix instruction; hmma.884 multiplies four matrices. Instructions of a trace, which
/// have none of these opcodes, are distinguished by their types; `offset` is their number if `sub` cannot tell it.
unsigned multiply_adds(const instruction& i);

/// Suffix of the mnemonic: "16816.F32", "1688.F32.TF32", "16832.S8.U8.SAT", "M88.4".
std::string hmma_suffix(const instruction& i);
std::string imma_suffix(const instruction& i);
std::string bmma_suffix(const instruction& i);
std::string dmma_suffix(const instruction& i);
std::string hgmma_suffix(const instruction& i);
std::string qgmma_suffix(const instruction& i);
std::string igmma_suffix(const instruction& i);
std::string bgmma_suffix(const instruction& i);
std::string ldsm_suffix(const instruction& i);

}  // namespace heddle::isa
