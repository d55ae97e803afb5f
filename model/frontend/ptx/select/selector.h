// SPDX-License-Identifier: MIT
#pragma once

#include <initializer_list>
#include <string>
#include <vector>

#include "heddle/config/parameters.h"
#include "heddle/frontend/ptx/hir/matrix_form.h"
#include "heddle/frontend/ptx/machine/machine_ir.h"

namespace heddle::ptx {

/// Translates HIR to machine instructions over virtual registers, one PTX instruction at a time. Expansions are
/// straight-line code: blocks are not split. Temporaries are computed without guard; only writes to PTX registers,
/// predicates and memory are guarded. Registers of 8- and 16-bit types hold their value in the low bits; the upper
/// bits are undefined and must be extended before use.
class selector {
 public:
  selector(const hir_function& f, const gpu_config& gpu, const std::string& file);

  /// Throws input_error for combinations of operation and type that do not exist or that the chip does not support.
  machine_function run();

 private:
  using operand = virtual_operand;
  using opcode = isa::opcode;
  using dtype = isa::dtype;

  struct wide_value {  // a 64-bit operand by words
    operand lo, hi;
  };

  // Emission (select.cpp).
  machine_instruction& put(opcode op, register_part d, std::initializer_list<operand> sources);
  machine_instruction& put_predicate(opcode op, std::uint32_t p, std::initializer_list<operand> sources);
  register_part temp(unsigned words = 1);
  std::uint32_t temp_predicate();
  [[nodiscard]] bool is_temporary(std::uint32_t reg) const;
  [[noreturn]] void fail(const std::string& what) const;
  [[noreturn]] void unsupported() const;
  void check_unused();
  void select(const hir_instruction& h);
  void select_rest(const hir_instruction& h);
  void need(std::size_t sources) const;
  void require_fp64() const;
  [[nodiscard]] bool has_capability(unsigned major, unsigned minor) const;
  void require_capability(unsigned major, unsigned minor = 0) const;

  // Operands (select_operands.cpp).
  static operand immediate(std::uint64_t bits, unsigned words = 1);
  static operand zero();
  static operand word(const operand& o, unsigned k);
  [[nodiscard]] operand to_operand(const value& v, dtype type) const;
  [[nodiscard]] unsigned address_words(const value& v) const;
  [[nodiscard]] operand src(std::size_t k) const;  // in the instruction's type
  [[nodiscard]] operand src(std::size_t k, dtype type) const;
  [[nodiscard]] operand float_src(std::size_t k, bool ftz) const;  // folds neg and abs into the operand
  operand narrow(std::size_t k, dtype type);                       // 8/16-bit source extended to 32 bits
  operand extend(operand o, dtype type);
  [[nodiscard]] bool known_extended(const value& v, dtype type) const;
  [[nodiscard]] wide_value wide(std::size_t k, dtype type = dtype::b64) const;
  [[nodiscard]] virtual_predicate predicate(const value& v) const;
  [[nodiscard]] register_part dst(std::size_t k = 0) const;
  [[nodiscard]] std::uint32_t predicate_dst(std::size_t k = 0) const;
  register_part begin();  // destination for building the result of several instructions
  void end(register_part r);
  void copy(register_part d, const operand& o);
  [[nodiscard]] const hir_instruction* definition(const value& v) const;

  // Integer (select_integer.cpp, select_wide.cpp, select_multiply.cpp).
  void add_sub();
  void add_sub_carry();
  void add_saturated(operand a, operand b, bool subtract);
  void add_wide(register_part d, wide_value a, wide_value b, bool subtract);
  void logic(unsigned lut);
  void shift();
  void shift_wide_left(register_part d, wide_value a, operand amount);
  void shift_wide_right(register_part d, wide_value a, operand amount, bool is_signed);
  void min_max();
  void absolute_negate();
  void bit_field_extract();
  void bit_field_insert();
  void field_insert_wide();
  void field_extract_wide();
  void count_bits();
  void find_leading();
  void permute();
  void funnel();
  void dot_product();
  void absolute_difference();
  void absolute_difference_wide();
  void video_difference();
  void mask_bits();
  operand packed_field(std::size_t position, std::size_t length);
  void multiply();
  void multiply_24();
  void multiply_lo(register_part d, operand a, operand b, operand c);
  void multiply_wide(register_part d, operand a, operand b, bool is_signed);
  void multiply_wide_add(register_part d, operand a, operand b, wide_value c, bool is_signed);
  void multiply_lo_wide(register_part d, wide_value a, wide_value b, const wide_value* c);
  register_part multiply_hi_wide(wide_value a, wide_value b, bool is_signed);
  register_part multiply_hi(operand a, operand b, bool is_signed);
  void carry_chain_multiply();
  [[nodiscard]] bool has_imad() const { return imad_; }

  // Floating point (select_float.cpp, select_half.cpp, select_divide.cpp).
  void float_arithmetic();
  void float_min_max();
  static std::uint32_t sign_bits(dtype t);
  operand magnitude(const operand& o);
  void float_sign();
  void require_half() const;
  void half_arithmetic();
  static bool is_half(dtype t);
  void pair_arithmetic();
  void half_function();
  void special_function();
  void exponential();
  void divide();
  void divide_f32();
  void divide_f32_approx();
  void divide_f64();
  void reciprocal();
  void reciprocal_f64_core(register_part r, operand a, register_part start);
  std::uint32_t compare_magnitude(operand word, isa::compare c, std::uint64_t bits, virtual_predicate with);
  register_part scaled(const operand& o);
  operand without_sign(const operand& o);
  void square_root();
  std::uint32_t out_of_root_range(register_part moved, operand bits, std::uint64_t least, std::uint64_t end);
  std::uint32_t square_root_f32(register_part r, operand a);
  std::uint32_t square_root_f64(register_part r, operand a);
  void assist(register_part d, isa::assist_function f, std::initializer_list<operand> sources, virtual_predicate when);
  void integer_divide();
  void divide_u32(register_part quotient, register_part remainder, operand a, operand b);
  void divide_s32(bool remainder);
  void copy_sign();
  void test_property();

  // Conversion (select_convert.cpp).
  void convert();
  void integer_to_integer();
  void float_to_float();
  void convert_packed();
  void convert_eighths();
  void saturate_integer(register_part d, operand a, dtype to, dtype from);

  // Compare and select (select_compare.cpp).
  void set_predicate();
  void set_value();
  void compare_into(std::uint32_t p, std::uint32_t q, virtual_predicate with, bool combine);
  void compare_wide(std::uint32_t p, std::uint32_t q, wide_value a, wide_value b, bool is_signed, isa::compare c,
                    isa::bool_op bop, virtual_predicate with);
  void select_value();
  void select_by_sign();
  void predicate_logic();
  void move_predicate(std::uint32_t d, virtual_predicate s);

  // Moves, memory, the rest (select_memory.cpp, select_move.cpp).
  void move();
  void pack();
  void unpack();
  void load();
  void store();
  void load_constant_parts(std::uint8_t bank);
  void memory_address(machine_instruction& i, const value& base);
  void extract_elements(register_part from, unsigned size, bool is_signed);
  register_part pack_elements(unsigned size, std::size_t first);
  void write_extended(const value& d, operand o, dtype type);
  void atomic();
  void check_vector_atomic(isa::atomic_op kind) const;
  void fence();
  void order_before(const modifiers& m);
  void order_after(const modifiers& m);
  void shuffle();
  void vote();
  void elect();
  void match();
  void reduce();
  void barrier();
  void trap();
  void system_call();
  void convert_address();
  void is_space();

  // Matrices (select_tensor.cpp, select_wmma.cpp).
  struct matrix_access;
  struct lane_places {  // addresses of the lanes' elements in fragments, known in a block
    struct distance {
      operand stride;
      unsigned run, size;
      bool contiguous;
      register_part bytes;
    };
    const machine_block* block = nullptr;
    register_part group, member;
    std::vector<distance> distances;
  };
  struct block_product {  // d = a * b + c, 16 rows and 8 columns
    dtype type = dtype::f32, inputs = dtype::f16;
    operand a, b, c;
    bool other_sign = false, saturate = false;
  };
  struct gathered {
    std::vector<std::uint32_t> sources;
    const hir_instruction* at;
    operand all;
  };
  operand gather(std::size_t first, std::size_t count, unsigned words);
  operand factor(std::size_t first, std::size_t count);
  void spread(register_part from, std::size_t first, unsigned words);
  [[nodiscard]] register_part part_of_dst(std::size_t k, unsigned words) const;
  machine_instruction& multiply_matrices(opcode op, std::uint8_t sub, dtype type, dtype inputs, register_part d,
                                         operand a, operand b, operand c);
  void matrix_multiply();
  void multiply_doubles(const matrix_form& form, unsigned a_count, unsigned b_count);
  void load_matrix();
  void transpose_matrix();
  void wmma();
  void wmma_access(const matrix_form& form);
  void wmma_multiply(const matrix_form& form);
  void wmma_block(const block_product& p, register_part d);
  operand accumulators(std::size_t first, bool halves);
  void lane_address(matrix_access& x);
  operand lane_distance(const matrix_access& x);
  operand matrix_address(matrix_access& x, unsigned major, unsigned minor, std::int64_t& offset);
  void matrix_move(matrix_access& x, unsigned major, unsigned minor, unsigned bytes, register_part d,
                   const operand* data);
  void load_unit(matrix_access& x, unsigned unit);
  void store_unit(matrix_access& x, unsigned unit);

  // Textures (select_texture.cpp).
  operand coordinate_registers(unsigned count);
  void texture_fetch();
  void surface_access();
  void texture_question();

  const hir_function& f_;
  const gpu_config& gpu_;
  const std::string& file_;
  const bool imad_;
  machine_function out_;
  machine_block* block_ = nullptr;
  const hir_instruction* now_ = nullptr;
  std::vector<const hir_instruction*> definitions_;
  lane_places lane_places_;
  const machine_block* factors_block_ = nullptr;
  std::vector<gathered> factors_;      // of that block
  std::uint32_t carry_ = no_register;  // predicate that holds CC.CF of add.cc chains
};

}  // namespace heddle::ptx
