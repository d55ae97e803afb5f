// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "heddle/config/error.h"
#include "heddle/frontend/ptx/hir/matrix_form.h"
#include "heddle/frontend/ptx/hir/operand_form.h"
#include "heddle/frontend/ptx/hir/texture_form.h"
#include "heddle/frontend/ptx/hir/warpgroup_form.h"
#include "heddle/frontend/ptx/syntax/ast.h"
#include "heddle/frontend/ptx/syntax/ptx_op.h"
#include "heddle/isa/cache_policy.h"
#include "heddle/isa/instruction.h"
#include "heddle/isa/program.h"

namespace heddle::ptx {

constexpr std::uint32_t no_register = 0xffffffffu;
/// cp: modifiers::sub.
constexpr std::uint8_t copy_itself = 1, copy_commit = 2, copy_wait = 3, copy_arrival = 4, copy_bulk = 5,
                       bulk_commit = 6, bulk_wait = 7;

/// mbarrier: modifiers::sub.
enum class arrival_kind : std::uint8_t {
  init,
  inval,
  arrive,
  arrive_drop,
  test_wait,
  try_wait,
  pending_count,
  expect_tx,
  complete_tx
};

/// tensormap: modifiers::sub; the fields of tensormap.replace, in the order of their names in modifiers.cpp.
enum class map_field : std::uint8_t {
  none,
  global_address,
  rank,
  box_dim,
  global_dim,
  global_stride,
  element_stride,
  elemtype,
  interleave_layout,
  swizzle_mode,
  fill_mode
};

/// Sub-operations of a barrier of the cluster, after those of a block's barrier.
constexpr std::uint8_t cluster_arrive = 5, cluster_wait = 6;
/// Of griddepcontrol.
constexpr std::uint8_t grid_wait = 0, grid_launch_dependents = 1;

/// All modifiers of an instruction, decoded.
struct modifiers {
  enum class part_kind : std::uint8_t { none, lo, hi, wide };
  enum class order_kind : std::uint8_t { weak, relaxed, acquire, release, acq_rel, sc };
  isa::dtype type = isa::dtype::none;   // the first type (destination of cvt and set)
  isa::dtype type2 = isa::dtype::none;  // the second
  isa::dtype type3 = isa::dtype::none;  // vabsdiff2, vabsdiff4: type of the second source
  bool sums =
      false;  // with .add; cp.async.mbarrier: .noinc; cp.async.bulk.wait_group: .read; mbarrier: with .expect_tx
  bool relu = false, finite = false;  // .relu; .satfinite of cvt
  bool parity = false;                // mbarrier
  unsigned types = 0;
  isa::rounding round = isa::rounding::rn;
  bool rounded = false;     // a rounding mode was given
  bool to_integer = false;  // .rni and relatives
  bool ftz = false, saturate = false, approx = false, full = false, nan = false, carry_out = false;
  part_kind part = part_kind::none;
  isa::compare cmp = isa::compare::f;
  bool unsigned_compare = false;  // lo ls hi hs
  isa::bool_op bop = isa::bool_op::and_;
  bool combines = false;                  // setp, set, lop3 with a boolean operation
  state_space space = state_space::none;  // none: generic
  bool to = false;                        // cvta.to
  isa::cache_op cache = isa::cache_op::ca;
  unsigned vector = 1;
  // Sub-operation of atomic, shuffle, vote, barrier, prmt, testp, membar; constant bank of a load.
  std::uint8_t sub = 0;
  order_kind order = order_kind::weak;
  unsigned scope = 1;  // 0 cta, 1 gpu, 2 sys
  bool left = false, wrap = false, shift_amount = false, uniform = false;
  bool xorsign = false;  // min, max: of the magnitudes, with the sign of the product
  bool hinted = false;   // .L2::cache_hint: a cache policy is the last operand
  // .L2::evict_first and relatives. createpolicy may have two: of its part of the addresses, and of the others.
  isa::eviction evict = isa::eviction::unchanged, evict_rest = isa::eviction::unchanged;
  unsigned evictions = 0;  // that were given
  bool any_block = false;  // .shared::cluster: shared memory of any block of the cluster
  bool of_views = false;   // fence: between the ways to one memory (proxies), or of new barriers
  bool masked = false;     // pmevent.mask
  bool signals = false;    // st.async, red.async: the bytes complete at an mbarrier, the last operand; copies, too
  bool aligned = false;    // barrier.aligned
  // cp.async.bulk: dimensions of a tensor's box (0: contiguous bytes), and the machine instruction with its
  // sub-operation and reduction.
  std::uint8_t dimensions = 0;
  bool im2col = false;
  isa::opcode bulk = isa::opcode::nop;
  std::uint8_t bulk_sub = 0;
  std::uint8_t reduces = 0;
  // cvt.pack, and add, min and max of two 16-bit integers: size in bits of the integers in the destination; 0: others.
  std::uint8_t packed_bits = 0;
  bool packed_signed = false;
};

/// An operand after names are resolved.
struct value {
  enum class kind : std::uint8_t { none, reg, immediate, constant };
  kind what = kind::none;
  std::uint8_t bank = 0;   // constant
  std::uint8_t words = 0;  // constant: number of its 32-bit words
  bool negate : 1;         // predicate: inverted; float: sign flipped after absolute
  bool absolute : 1;
  std::uint32_t reg = no_register;
  std::uint64_t bits = 0;  // immediate: the bits; constant: byte offset

  value() : negate(false), absolute(false) {}
  [[nodiscard]] bool is_reg() const { return what == kind::reg; }
  [[nodiscard]] bool is_immediate() const { return what == kind::immediate; }
};

inline value register_value(std::uint32_t r) {
  value v;
  v.what = value::kind::reg;
  v.reg = r;
  return v;
}
inline value immediate_value(std::uint64_t bits) {
  value v;
  v.what = value::kind::immediate;
  v.bits = bits;
  return v;
}
inline value constant_value(std::uint8_t bank, std::uint64_t offset, unsigned words) {
  value v;
  v.what = value::kind::constant;
  v.bank = bank;
  v.words = static_cast<std::uint8_t>(words);
  v.bits = offset;
  return v;
}

/// A PTX instruction with resolved names. Memory: src[0] is the base address, to which `offset` is added. bra:
/// `target` is a block.
struct hir_instruction {
  ptx_op op = ptx_op::mov;
  modifiers m;
  std::vector<value> dst;
  std::vector<value> src;
  value guard;  // none: always
  std::int64_t offset = 0;
  std::uint32_t target = 0;
  std::uint32_t return_block = isa::no_target;  // bra to a function's body: the block to return to
  location where;
  const ast_instruction* source = nullptr;  // for messages
  bool dead = false;
  std::uint32_t form = 0;  // index of its words in hir_function::matrix_forms, texture_forms or warpgroup_forms
};

/// An instruction that replaces `like`, alone or with others: it copies only the source position and its words.
inline hir_instruction in_place_of(const hir_instruction& like, ptx_op op, isa::dtype type, std::vector<value> dst,
                                   std::vector<value> src) {
  hir_instruction h;
  h.where = like.where;
  h.source = like.source;
  h.form = like.form;
  h.op = op;
  h.m.type = type;
  h.m.types = 1;
  h.dst = std::move(dst);
  h.src = std::move(src);
  return h;
}

struct hir_block {
  std::vector<hir_instruction> code;
  std::vector<std::uint32_t> successors;
  bool rolled = false;  // the loop that begins here is not unrolled (again)
};

/// A virtual register. `words` 32-bit registers (0: predicate); `bits` as declared.
struct virtual_register {
  std::uint8_t words = 1;
  std::uint8_t bits = 32;
  isa::dtype type = isa::dtype::none;  // as declared; none: created by the compiler
  bool single = false;                 // one unguarded definition that dominates every use
  // Never read where the guard of its definition is false, so a guarded write counts as a full definition.
  bool whole = false;
  // Created by instruction selection, used within the expansion of one PTX instruction only: a guarded write counts as
  // a full definition.
  bool temporary = false;
};

struct hir_function {
  std::vector<hir_block> blocks;
  std::vector<hir_instruction> unused;  // instructions without code: results not read, or unreachable
  std::vector<virtual_register> registers;
  std::vector<matrix_form> matrix_forms;
  std::vector<texture_form> texture_forms;
  std::vector<warpgroup_form> warpgroup_forms;
  std::uint32_t shared_bytes = 0;
  std::uint32_t local_bytes = 0;
  std::uint32_t barriers = 0;
  bool cluster_barrier = false;
  std::vector<isa::parameter_copy> parameter_copies;
  bool leaves_block = false;  // accesses shared memory of other blocks of its cluster
  bool rolled = false;        // no loop is unrolled

  std::uint32_t new_register(unsigned words, unsigned bits) {
    virtual_register r;
    r.words = narrow<std::uint8_t>(words);
    r.bits = narrow<std::uint8_t>(bits);
    registers.push_back(r);
    return static_cast<std::uint32_t>(registers.size() - 1);
  }
};

/// A row of form_table.h that an instruction matches.
struct matched_form {
  const operand_column* operands = nullptr;
  isa::dtype first = isa::dtype::none, second = isa::dtype::none;  // its types
};

/// The rows that an instruction's words match; empty: the instruction has its own decoder. Throws input_error if the
/// words match no form of form_table.h.
std::vector<matched_form> check_form(const ast_instruction& i, const std::string& file);

/// Decodes the modifiers of an instruction, except those of matrix_form.h, texture_form.h and video_form.h. Throws
/// input_error for one that the operation does not have. `forms`: the result of check_form().
modifiers decode_modifiers(const ast_instruction& i, const std::string& file, std::vector<matched_form>& forms);

/// Whose parameters an instruction names with .param: none; any; .param::entry, those of the kernel; .param::func,
/// those of a function.
enum class parameters_of : std::uint8_t { none, any, kernel, function };
parameters_of parameters_named(const ast_instruction& i);

}  // namespace heddle::ptx
