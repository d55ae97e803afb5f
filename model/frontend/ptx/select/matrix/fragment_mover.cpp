// SPDX-License-Identifier: MIT
#include "heddle/frontend/ptx/select/matrix/fragment_mover.h"

#include <algorithm>
#include <cstdlib>
#include <iterator>

#include "heddle/frontend/ptx/select/matrix/matrix_products.h"
#include "heddle/isa/matrix.h"

namespace heddle::ptx {

using isa::dtype;
using isa::opcode;

namespace {

unsigned log2_of(unsigned n) { return static_cast<unsigned>(__builtin_ctz(n)); }

bool same(const virtual_operand& a, const virtual_operand& b) {
  return a.kind == b.kind && a.reg == b.reg && a.part == b.part && a.count == b.count && a.bank == b.bank &&
         a.value == b.value && a.negate == b.negate;
}

}  // namespace

void fragment_mover::access(const matrix_form& form) {
  const bool stores = form.what == matrix_form::action::store, transposed = computed_transposed(form);
  const bool accumulator = form.which == 'c' || form.which == 'd';
  if (form.layouts != 1 || form.types != 1 || stores != (form.which == 'd')) in_.unsupported();
  in_.need(1);
  matrix_access x;
  x.type = form.type[0];
  x.size = isa::size_of(x.type);
  x.words = x.size == 8 ? 2 : 1;
  x.run = accumulator ? 2 : x.size >= 4 ? 1 : 4 / x.size;
  x.registers = accumulator && x.size >= 4 ? 2 : 1;
  const bool column_major = form.column_major[0];
  const bool tall = form.is_shape(8, 8, 4) ? false : accumulator || (form.which == 'a' ? !transposed : transposed);
  const unsigned rows = transposed ? form.n : form.m, columns = transposed ? form.m : form.n;
  if (accumulator) {
    x.contiguous = column_major == transposed;
    for (unsigned r = 0; r < rows; r += 16)
      for (unsigned c = 0; c < columns; c += 8)
        for (unsigned half = 0; half < (tall ? 16u : 8u); half += 8) x.units.push_back({r + half, c});
  } else {
    x.contiguous = column_major == (form.which == 'b');
    const unsigned extent = tall ? rows : form.which == 'a' ? form.m : form.n;
    for (unsigned r = 0; r < extent; r += tall ? 16 : 8)
      for (unsigned k = 0; k < form.k; k += 4 * x.run)
        for (unsigned half = 0; half < (tall ? 16u : 8u); half += 8) x.units.push_back({r + half, k});
  }
  const std::size_t distinct = x.units.size() * x.registers;
  const std::size_t fragment = x.type == dtype::f16 && !accumulator ? 8 : distinct;  // f16: further elements are copies
  const std::size_t given = stores ? in_.now().src.size() - 1 : in_.now().dst.size();
  if (given != fragment && !(stores && given == fragment + 1))
    in_.fail("'" + in_.now().source->mnemonic() + "' needs " + std::to_string(fragment) + " registers");
  const std::size_t stride_at = stores ? 1 + fragment : 1;
  const unsigned leading = form.which == 'a'   ? (column_major ? form.m : form.k)
                           : form.which == 'b' ? (column_major ? form.k : form.n)
                                               : (column_major ? form.m : form.n);
  x.stride = in_.now().src.size() > stride_at ? in_.src(stride_at, dtype::b32) : immediate(leading);
  x.space = form.space == state_space::shared   ? isa::space::shared
            : form.space == state_space::global ? isa::space::global
                                                : isa::space::generic;
  const bool matrices = chip_.has_capability(7, 5) && !stores && !accumulator && x.size == 2 &&
                        x.space == isa::space::shared && x.units.size() % 2 == 0;
  if (matrices) load_matrices(x);
  else move_units(x, stores);
  for (std::size_t k = distinct; k < fragment; ++k)
    out_.copy(runs_.part_of_dst(k, 1), virtual_operand(runs_.part_of_dst(k % distinct, 1)));
}

void fragment_mover::move_units(matrix_access& x, bool stores) {
  lane_address(x, lane_order::elements);
  // All addresses are computed first, because their source registers may be overwritten.
  std::int64_t unused = 0;
  for (const matrix_access::place& u : x.units)
    for (unsigned e = 0; e < (x.contiguous ? 1 : x.run); ++e) matrix_address(x, u.major, u.minor + e, unused);
  for (unsigned u = 0; u < x.units.size(); ++u) stores ? store_unit(x, u) : load_unit(x, u);
}

/// LDSM fills one register of each unit, four on chips from 8.0 on, else two at a time.
void fragment_mover::load_matrices(matrix_access& x) {
  const bool rows = (x.units[1].major != x.units[0].major) == x.contiguous;
  lane_address(x, rows ? lane_order::rows : lane_order::row_halves);
  const std::size_t most = chip_.has_capability(8, 0) ? 4 : 2;
  std::int64_t offset = 0;
  for (const matrix_access::place& u : x.units) matrix_address(x, u.major, u.minor, offset);
  for (std::size_t k = 0; k < x.units.size();) {
    const auto count = static_cast<unsigned>(std::min(most, x.units.size() - k));
    const register_part d = out_.temp(count);
    const virtual_operand address = matrix_address(x, x.units[k].major, x.units[k].minor, offset);
    machine_instruction& i =
        out_.put(opcode::ldsm, d, {address, virtual_operand(), virtual_operand(), immediate(whole_warp)});
    i.base.mem_space = isa::space::shared;
    i.base.type = dtype::b128;
    i.base.offset = offset;
    i.base.sub = static_cast<std::uint8_t>(count | (x.contiguous ? 0 : isa::matrix::transposed));
    out_.guard(i);
    runs_.spread(d, k, 1);
    k += count;
  }
}

/// Computes something at the beginning of the function, for all of its blocks.
template <class F>
void fragment_mover::at_first(F&& compute) {
  machine_block* const here = out_.block();
  if (here == first_) return compute();
  machine_block early;
  out_.set(early);
  compute();
  out_.set(*here);
  std::vector<machine_instruction>& code = first_->code;
  auto end = code.end();
  while (end != code.begin() && (end - 1)->base.op == opcode::bra) --end;
  code.insert(end, std::make_move_iterator(early.code.begin()), std::make_move_iterator(early.code.end()));
}

/// (lane >> right) & mask; a negative shift goes left.
register_part fragment_mover::bits_of_lane(int right, unsigned mask) {
  if (lane_places_.lane.reg == no_register) {
    lane_places_.lane = out_.temp();
    out_.put(opcode::s2r, lane_places_.lane, {}).base.sub = static_cast<std::uint8_t>(isa::special::laneid);
  }
  register_part from = lane_places_.lane;
  if (right != 0) {
    from = out_.temp();
    const unsigned by = static_cast<unsigned>(std::abs(right));
    out_.put(right > 0 ? opcode::shr : opcode::shl, from, {lane_places_.lane, immediate(by)}).base.type = dtype::u32;
  }
  if (mask == 0) return from;
  const register_part bits = out_.temp();
  out_.put(opcode::lop3, bits, {from, immediate(mask), zero()}).base.sub = 0xc0;
  return bits;
}

/// The distance in bytes from a fragment's first element to the lane's. For a stride that is no register it is computed
/// once for the function, as what it takes of the lane's number is.
register_part fragment_mover::lane_distance(const matrix_access& x, lane_order order) {
  for (const lane_places::distance& d : lane_places_.distances)
    if ((d.block == nullptr || d.block == out_.block()) && d.order == order && d.run == x.run && d.size == x.size &&
        d.contiguous == x.contiguous && same(d.stride, x.stride))
      return d.bytes;
  const register_part bytes = out_.temp();
  const auto compute = [&] {
    if (order == lane_order::elements) element_distance(x, bytes);
    else row_distance(x, order == lane_order::rows, bytes);
  };
  if (x.stride.is_reg()) compute();
  else at_first(compute);
  if (!x.stride.is_reg() || in_.registers()[x.stride.reg].single)
    lane_places_.distances.push_back(
        {x.stride.is_reg() ? out_.block() : nullptr, x.stride, order, x.run, x.size, x.contiguous, bytes});
  return bytes;
}

/// Row lane / 4, column lane % 4 runs.
void fragment_mover::element_distance(const matrix_access& x, register_part bytes) {
  lane_places& known = lane_places_;
  if (known.group.reg == no_register)
    at_first([&] {
      known.group = bits_of_lane(2, 0);
      known.member = bits_of_lane(0, 3);
    });
  virtual_operand run = known.member;
  if (x.run > 1) {
    const register_part t = out_.temp();
    out_.put(opcode::shl, t, {known.member, immediate(log2_of(x.run))});
    run = t;
  }
  const register_part element = x.size > 1 ? out_.temp() : bytes;
  products_.low(element, x.contiguous ? virtual_operand(known.group) : run, x.stride,
                x.contiguous ? run : virtual_operand(known.group));
  if (x.size > 1) out_.put(opcode::shl, bytes, {element, immediate(log2_of(x.size))});
}

/// Where the row of eight 16-bit elements begins that the lane gives to LDSM.
void fragment_mover::row_distance(const matrix_access& x, bool rows, register_part bytes) {
  register_part row, near;
  at_first([&] {
    near = bits_of_lane(rows ? 0 : -1, 16);
    row = bits_of_lane(0, rows ? 15 : 7);
    if (rows) return;
    const register_part upper = bits_of_lane(1, 8), low = row;
    row = out_.temp();
    out_.put(opcode::lop3, row, {low, upper, zero()}).base.sub = 0xfc;
  });
  virtual_operand stride = x.stride;
  if (stride.is_immediate()) {
    stride = immediate(2 * stride.value);
  } else {
    const register_part t = out_.temp();
    out_.put(opcode::shl, t, {x.stride, immediate(1)});
    stride = t;
  }
  products_.low(bytes, row, stride, near);
}

void fragment_mover::lane_address(matrix_access& x, lane_order order) {
  const bool narrow = x.space == isa::space::shared;
  const register_part distance = lane_distance(x, order);
  const virtual_operand start =
      in_.to_operand(in_.now().src[0], narrow || in_.address_words(in_.now().src[0]) == 1 ? dtype::b32 : dtype::b64);
  x.base = distance;
  if (narrow && (start.is_immediate() || start.is_zero_register())) {
    x.offset = static_cast<std::int64_t>(start.value);
    return;
  }
  for (const lane_places::sum& s : lane_places_.sums)
    if (s.block == out_.block() && s.bytes.reg == distance.reg && same(s.start, start)) {
      x.base = s.address;
      return;
    }
  const register_part t = out_.temp(narrow ? 1 : 2);
  if (narrow) {
    out_.put(opcode::iadd3, t, {distance, start, zero()});
  } else {
    wide_.add(t, {word(start, 0), start.count == 2 ? word(start, 1) : zero()}, {distance, zero()}, false);
  }
  x.base = t;
  if (!start.is_reg() || in_.registers()[start.reg].single)
    lane_places_.sums.push_back({out_.block(), distance, start, t});
}

/// Address operand and offset of an element of the lane.
virtual_operand fragment_mover::matrix_address(matrix_access& x, unsigned major, unsigned minor, std::int64_t& offset) {
  const unsigned distance = x.contiguous ? major : minor, near = x.contiguous ? minor : major;
  offset = in_.now().offset + x.offset + std::int64_t{near} * x.size;
  if (distance == 0) return x.base;
  if (x.stride.is_immediate() && x.stride.value < (1u << 14)) {
    offset += std::int64_t{distance} * static_cast<std::int64_t>(x.stride.value) * x.size;
    return x.base;
  }
  for (const matrix_access::far_address& f : x.far)
    if (f.distance == distance) return f.address;
  const virtual_operand step = immediate(distance * x.size);
  register_part t = out_.temp(x.space == isa::space::shared ? 1 : 2);
  if (t.count == 1) products_.low(t, x.stride, step, x.base);
  else products_.wide_sum(t, x.stride, step, {word(x.base, 0), word(x.base, 1)}, false);
  x.far.push_back({distance, t});
  return t;
}

/// Emits one load of `bytes` or, with data, one store.
void fragment_mover::matrix_move(matrix_access& x, unsigned major, unsigned minor, unsigned bytes, register_part d,
                                 const virtual_operand* data) {
  std::int64_t offset = 0;
  const virtual_operand address = matrix_address(x, major, minor, offset);
  machine_instruction& i =
      data ? out_.put(opcode::st, {no_register, 0, 0}, {address, *data}) : out_.put(opcode::ld, d, {address});
  i.base.mem_space = x.space;
  i.base.offset = offset;
  i.base.type = bytes == 1   ? dtype::u8
                : bytes == 2 ? dtype::u16
                : bytes == 4 ? dtype::b32
                : bytes == 8 ? dtype::b64
                             : dtype::b128;
  out_.guard(i);
}

void fragment_mover::load_unit(matrix_access& x, unsigned unit) {
  const auto [major, minor] = x.units[unit];
  const std::size_t first = std::size_t{unit} * x.registers;
  if (x.contiguous && x.registers > 1) {
    const register_part t = out_.temp(2 * x.words);
    matrix_move(x, major, minor, 2 * x.size, t, nullptr);
    return runs_.spread(t, first, x.words);
  }
  if (x.contiguous || x.run == 1)
    return matrix_move(x, major, minor, x.run * x.size, runs_.part_of_dst(first, x.words), nullptr);
  if (x.size >= 4) {
    for (unsigned e = 0; e < x.run; ++e)
      matrix_move(x, major, minor + e, x.size, runs_.part_of_dst(first + e, x.words), nullptr);
    return;
  }
  register_part parts[4];
  for (unsigned e = 0; e < x.run; ++e) matrix_move(x, major, minor + e, x.size, parts[e] = out_.temp(), nullptr);
  if (x.run == 4) {
    for (unsigned e = 0; e < 4; e += 2) {
      const register_part t = out_.temp();
      out_.put(opcode::prmt, t, {parts[e], immediate(0x0040), parts[e + 1]});
      parts[e / 2] = t;
    }
  }
  out_.put(opcode::prmt, runs_.part_of_dst(first, 1), {parts[0], immediate(0x5410), parts[1]});
}

void fragment_mover::store_unit(matrix_access& x, unsigned unit) {
  const auto [major, minor] = x.units[unit];
  const std::size_t first = 1 + std::size_t{unit} * x.registers;
  const register_part none{no_register, 0, 0};
  if (x.contiguous) {
    const virtual_operand data = runs_.gather(first, x.registers, x.words);
    return matrix_move(x, major, minor, x.run * x.size, none, &data);
  }
  for (unsigned e = 0; e < x.run; ++e) {
    virtual_operand data =
        x.size == 2 ? in_.src(first, dtype::b32) : in_.src(first + e, x.words == 2 ? dtype::b64 : dtype::b32);
    if (x.size == 2 && e == 1) {
      const register_part high = out_.temp();
      out_.put(opcode::prmt, high, {data, immediate(0x4432), zero()});
      data = high;
    }
    matrix_move(x, major, minor + e, x.size, none, &data);
  }
}

}  // namespace heddle::ptx
