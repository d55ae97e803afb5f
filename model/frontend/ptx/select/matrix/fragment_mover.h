// SPDX-License-Identifier: MIT
#pragma once

#include <vector>

#include "heddle/frontend/ptx/hir/matrix_form.h"
#include "heddle/frontend/ptx/select/code/chip_limits.h"
#include "heddle/frontend/ptx/select/code/code_writer.h"
#include "heddle/frontend/ptx/select/code/machine_operand.h"
#include "heddle/frontend/ptx/select/code/operand_reader.h"
#include "heddle/frontend/ptx/select/code/products.h"
#include "heddle/frontend/ptx/select/code/register_runs.h"
#include "heddle/frontend/ptx/select/code/wide_integers.h"

namespace heddle::ptx {

/// A product of eight rows is computed transposed.
inline bool computed_transposed(const matrix_form& f) { return f.m == 8 && f.n == 32; }

/// Fragments of wmma in memory. They have the layout of mma.sync's operands: chips from 7.5 on load those of 16-bit
/// factors from shared memory by LDSM, all else are plain loads and stores.
class fragment_mover {
 public:
  fragment_mover(const operand_reader& in, code_writer& out, const chip_limits& chip, wide_integers& wide,
                 products& products, register_runs& runs)
      : in_(in), out_(out), chip_(chip), wide_(wide), products_(products), runs_(runs) {}

  void access(const matrix_form& form);
  /// The block where the function begins: what depends on the lane alone is computed there. Drops what is known.
  void begin(machine_block& first) {
    first_ = &first;
    lane_places_ = {};
  }

 private:
  /// A fragment in memory. A unit is the part of eight rows and four elements that belongs to one lane: adjacent
  /// elements of the minor dimension.
  struct matrix_access {
    struct place {
      unsigned major, minor;
    };
    struct far_address {
      unsigned distance;
      virtual_operand address;
    };
    isa::dtype type = isa::dtype::f16;
    unsigned size = 2;       // bytes of an element
    unsigned run = 2;        // elements of a unit
    unsigned registers = 1;  // PTX registers of a unit
    unsigned words = 1;      // 32-bit words of a register
    bool contiguous = true;  // elements of the minor dimension are adjacent in memory
    std::vector<place> units;
    isa::space space = isa::space::global;
    virtual_operand stride;        // elements
    virtual_operand base;          // the lane's first element
    std::int64_t offset = 0;       // added to it
    std::vector<far_address> far;  // multiples of the stride from the base
  };
  enum class lane_order : std::uint8_t {
    elements,   // row lane / 4, column lane % 4 runs
    rows,       // of LDSM: lanes 8 to 15 give rows 8 to 15, lanes from 16 on those of the next 8 columns
    row_halves  // of LDSM: lanes 8 to 15 give the next 8 columns, lanes from 16 on rows 8 to 15
  };
  struct lane_places {  // addresses of the lanes' parts of fragments
    struct distance {
      const machine_block* block;  // null: known in the whole function
      virtual_operand stride;
      lane_order order;
      unsigned run, size;
      bool contiguous;
      register_part bytes;
    };
    struct sum {
      const machine_block* block;
      register_part bytes;
      virtual_operand start;
      register_part address;
    };
    register_part lane, group, member;
    std::vector<distance> distances;
    std::vector<sum> sums;
  };

  template <class F>
  void at_first(F&& compute);
  register_part bits_of_lane(int right, unsigned mask);
  register_part lane_distance(const matrix_access& x, lane_order order);
  void element_distance(const matrix_access& x, register_part bytes);
  void row_distance(const matrix_access& x, bool rows, register_part bytes);
  void lane_address(matrix_access& x, lane_order order);
  void load_matrices(matrix_access& x);
  void move_units(matrix_access& x, bool stores);
  virtual_operand matrix_address(matrix_access& x, unsigned major, unsigned minor, std::int64_t& offset);
  void matrix_move(matrix_access& x, unsigned major, unsigned minor, unsigned bytes, register_part d,
                   const virtual_operand* data);
  void load_unit(matrix_access& x, unsigned unit);
  void store_unit(matrix_access& x, unsigned unit);

  const operand_reader& in_;
  code_writer& out_;
  const chip_limits& chip_;
  wide_integers& wide_;
  products& products_;
  register_runs& runs_;
  machine_block* first_ = nullptr;
  lane_places lane_places_;
};

}  // namespace heddle::ptx
