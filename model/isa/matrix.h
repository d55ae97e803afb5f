// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <string>

#include "heddle/isa/instruction.h"

namespace heddle::isa {

/// Shapes of matrix instructions, in the low bits of instruction::sub: d (m x n) = a (m x k) * b (k x n) + c. The
/// layout of the elements is in docs/model/tensor.md; it is that of mma.sync in the PTX ISA.
enum class matrix_shape : std::uint8_t { m8n8k4, m16n8k4, m16n8k8, m16n8k16, m8n8k16, m16n8k32, count };

inline bool is_byte(dtype t) { return t == dtype::s8 || t == dtype::u8; }

/// Flags of matrix instructions, in instruction::sub next to the shape.
namespace matrix {
constexpr std::uint8_t shape_mask = 7;
constexpr std::uint8_t a_col = 8, b_row = 16;  // hmma.884: layout of a and b
constexpr std::uint8_t upper = 32;             // hmma.884, f32: registers 4 to 7 of c and d
constexpr std::uint8_t b_other_sign = 64;      // imma: exactly one of a and b is signed
constexpr std::uint8_t count_mask = 7;         // ldsm
constexpr std::uint8_t transposed = 8;         // ldsm
}  // namespace matrix

struct matrix_size {
  unsigned m, n, k;
};
matrix_size size_of(matrix_shape s);

inline matrix_shape shape_of(const instruction& i) { return static_cast<matrix_shape>(i.sub & matrix::shape_mask); }
inline bool is_matrix(opcode op) { return op == opcode::hmma || op == opcode::imma || op == opcode::dmma; }

/// Number of multiply-adds of a matrix instruction; hmma.884 multiplies four matrices. Instructions of a trace, which
/// have none of these opcodes, are distinguished by their types; `offset` is their number if `sub` cannot tell it.
unsigned multiply_adds(const instruction& i);

/// Suffix of the mnemonic: "16816.F32", "1688.F32.TF32", "16832.S8.U8.SAT", "M88.4".
std::string matrix_suffix(const instruction& i);

}  // namespace heddle::isa
