// SPDX-License-Identifier: MIT
#pragma once

#include <vector>

#include "heddle/frontend/ptx/hir/matrix_form.h"
#include "heddle/frontend/ptx/select/code/code_writer.h"
#include "heddle/frontend/ptx/select/code/machine_operand.h"
#include "heddle/frontend/ptx/select/code/operand_reader.h"
#include "heddle/frontend/ptx/select/code/products.h"
#include "heddle/frontend/ptx/select/code/register_runs.h"
#include "heddle/frontend/ptx/select/code/wide_integers.h"

namespace heddle::ptx {

/// A product of eight rows is computed transposed.
inline bool computed_transposed(const matrix_form& f) { return f.m == 8 && f.n == 32; }

/// Fragments of wmma in memory. They have the layout of mma.sync's operands, so loads and stores are plain ones.
class fragment_mover {
 public:
  fragment_mover(const operand_reader& in, code_writer& out, wide_integers& wide, products& products,
                 register_runs& runs)
      : in_(in), out_(out), wide_(wide), products_(products), runs_(runs) {}

  void access(const matrix_form& form);
  /// Drops what is known of the current block.
  void forget() { lane_places_ = {}; }

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
    std::vector<far_address> far;  // multiples of the stride from the base
  };
  struct lane_places {  // addresses of the lanes' elements in fragments, known in a block
    struct distance {
      virtual_operand stride;
      unsigned run, size;
      bool contiguous;
      register_part bytes;
    };
    const machine_block* block = nullptr;
    register_part group, member;
    std::vector<distance> distances;
  };

  virtual_operand lane_distance(const matrix_access& x);
  void lane_address(matrix_access& x);
  virtual_operand matrix_address(matrix_access& x, unsigned major, unsigned minor, std::int64_t& offset);
  void matrix_move(matrix_access& x, unsigned major, unsigned minor, unsigned bytes, register_part d,
                   const virtual_operand* data);
  void load_unit(matrix_access& x, unsigned unit);
  void store_unit(matrix_access& x, unsigned unit);

  const operand_reader& in_;
  code_writer& out_;
  wide_integers& wide_;
  products& products_;
  register_runs& runs_;
  lane_places lane_places_;
};

}  // namespace heddle::ptx
