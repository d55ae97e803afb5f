// SPDX-License-Identifier: MIT
// wmma: fragments have the layout of mma.sync's operands, so loads are plain loads and a product is a few matrix
// instructions. A product of eight rows (m8n32k16) is computed transposed.
#include "heddle/frontend/ptx/select/selector.h"
#include "heddle/isa/matrix.h"

namespace heddle::ptx {

namespace {

using isa::dtype;
using isa::is_byte;
using isa::matrix_shape;
using isa::opcode;

bool computed_transposed(const matrix_form& f) { return f.m == 8 && f.n == 32; }

unsigned log2_of(unsigned n) { return static_cast<unsigned>(__builtin_ctz(n)); }

}  // namespace

/// A fragment in memory. A unit is the part of eight rows and four elements that belongs to one lane: adjacent
/// elements of the minor dimension.
struct selector::matrix_access {
  struct place {
    unsigned major, minor;
  };
  struct far_address {
    unsigned distance;
    operand address;
  };
  dtype type = dtype::f16;
  unsigned size = 2;       // bytes of an element
  unsigned run = 2;        // elements of a unit
  unsigned registers = 1;  // PTX registers of a unit
  unsigned words = 1;      // 32-bit words of a register
  bool contiguous = true;  // elements of the minor dimension are adjacent in memory
  std::vector<place> units;
  isa::space space = isa::space::global;
  operand stride;                // elements
  operand base;                  // the lane's first element
  std::vector<far_address> far;  // multiples of the stride from the base
};

void selector::wmma() {
  const matrix_form form = decode_matrix_form(*now_->source, file_);
  const bool multiplies = form.what == matrix_form::action::multiply;
  const dtype t = multiplies ? (form.types == 2 ? dtype::f16 : form.type[1]) : form.type[0];
  const bool small = form.is_shape(8, 8, 4), shallow = form.is_shape(16, 16, 8);
  const bool deep = form.is_shape(16, 16, 16) || form.is_shape(32, 8, 16) || form.is_shape(8, 32, 16);
  const bool accumulator = !multiplies && (form.which == 'c' || form.which == 'd');
  const bool fits = small     ? t == dtype::f64
                    : shallow ? t == (accumulator ? dtype::f32 : dtype::b32)
                              : deep && (accumulator ? t == dtype::f16 || t == dtype::f32 || t == dtype::s32
                                                     : t == dtype::f16 || t == dtype::bf16 || is_byte(t));
  if (!fits) unsupported();
  if (small || shallow || t == dtype::bf16) require_capability(8);
  else if (is_byte(t) || t == dtype::s32) require_capability(7, 2);
  else require_capability(7);
  if (t == dtype::f64) require_fp64();
  multiplies ? wmma_multiply(form) : wmma_access(form);
}

void selector::wmma_access(const matrix_form& form) {
  const bool stores = form.what == matrix_form::action::store, transposed = computed_transposed(form);
  const bool accumulator = form.which == 'c' || form.which == 'd';
  if (form.layouts != 1 || form.types != 1 || stores != (form.which == 'd')) unsupported();
  need(1);
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
  const std::size_t given = stores ? now_->src.size() - 1 : now_->dst.size();
  if (given != fragment && !(stores && given == fragment + 1))
    fail("'" + now_->source->mnemonic() + "' needs " + std::to_string(fragment) + " registers");
  const std::size_t stride_at = stores ? 1 + fragment : 1;
  const unsigned leading = form.which == 'a'   ? (column_major ? form.m : form.k)
                           : form.which == 'b' ? (column_major ? form.k : form.n)
                                               : (column_major ? form.m : form.n);
  x.stride = now_->src.size() > stride_at ? src(stride_at, dtype::b32) : immediate(leading);
  x.space = form.space == state_space::shared   ? isa::space::shared
            : form.space == state_space::global ? isa::space::global
                                                : isa::space::generic;
  lane_address(x);
  // All addresses are computed first, because their source registers may be overwritten.
  std::int64_t unused = 0;
  for (const matrix_access::place& u : x.units)
    for (unsigned e = 0; e < (x.contiguous ? 1 : x.run); ++e) matrix_address(x, u.major, u.minor + e, unused);
  for (unsigned u = 0; u < x.units.size(); ++u) stores ? store_unit(x, u) : load_unit(x, u);
  for (std::size_t k = distinct; k < fragment; ++k) copy(part_of_dst(k, 1), operand(part_of_dst(k % distinct, 1)));
}

/// The distance in bytes from a fragment's first element to the lane's: row lane / 4, column lane % 4 runs. Results
/// for the same stride are reused within a block.
selector::operand selector::lane_distance(const matrix_access& x) {
  if (lane_places_.block != block_) lane_places_ = {block_, {}, {}, {}};
  lane_places& known = lane_places_;
  if (known.group.reg == no_register) {
    const register_part lane = temp();
    known.group = temp();
    known.member = temp();
    put(opcode::s2r, lane, {}).base.sub = static_cast<std::uint8_t>(isa::special::laneid);
    put(opcode::shr, known.group, {lane, immediate(2)}).base.type = dtype::u32;
    put(opcode::lop3, known.member, {lane, immediate(3), zero()}).base.sub = 0xc0;
  }
  for (const lane_places::distance& d : known.distances)
    if (d.run == x.run && d.size == x.size && d.contiguous == x.contiguous && d.stride.kind == x.stride.kind &&
        d.stride.reg == x.stride.reg && d.stride.bank == x.stride.bank && d.stride.value == x.stride.value)
      return d.bytes;
  operand run = known.member;
  if (x.run > 1) {
    const register_part t = temp();
    put(opcode::shl, t, {known.member, immediate(log2_of(x.run))});
    run = t;
  }
  const register_part element = temp();
  multiply_lo(element, x.contiguous ? operand(known.group) : run, x.stride, x.contiguous ? run : operand(known.group));
  register_part bytes = element;
  if (x.size > 1) {
    bytes = temp();
    put(opcode::shl, bytes, {element, immediate(log2_of(x.size))});
  }
  if (!x.stride.is_reg() || f_.registers[x.stride.reg].single)
    known.distances.push_back({x.stride, x.run, x.size, x.contiguous, bytes});
  return bytes;
}

void selector::lane_address(matrix_access& x) {
  const bool narrow = x.space == isa::space::shared;
  const operand distance = lane_distance(x);
  const operand start = to_operand(now_->src[0], narrow || address_words(now_->src[0]) == 1 ? dtype::b32 : dtype::b64);
  if (narrow) {
    const register_part t = temp();
    put(opcode::iadd3, t, {distance, start, zero()});
    x.base = t;
  } else {
    const register_part t = temp(2);
    add_wide(t, {word(start, 0), start.count == 2 ? word(start, 1) : zero()}, {distance, zero()}, false);
    x.base = t;
  }
}

/// Address operand and offset of an element of the lane.
selector::operand selector::matrix_address(matrix_access& x, unsigned major, unsigned minor, std::int64_t& offset) {
  const unsigned distance = x.contiguous ? major : minor, near = x.contiguous ? minor : major;
  offset = now_->offset + std::int64_t{near} * x.size;
  if (distance == 0) return x.base;
  if (x.stride.is_immediate() && x.stride.value < (1u << 14)) {
    offset += std::int64_t{distance} * static_cast<std::int64_t>(x.stride.value) * x.size;
    return x.base;
  }
  for (const matrix_access::far_address& f : x.far)
    if (f.distance == distance) return f.address;
  const operand step = immediate(distance * x.size);
  register_part t = temp(x.space == isa::space::shared ? 1 : 2);
  if (t.count == 1) multiply_lo(t, x.stride, step, x.base);
  else multiply_wide_add(t, x.stride, step, {word(x.base, 0), word(x.base, 1)}, false);
  x.far.push_back({distance, t});
  return t;
}

/// Emits one load of `bytes` or, with data, one store.
void selector::matrix_move(matrix_access& x, unsigned major, unsigned minor, unsigned bytes, register_part d,
                           const operand* data) {
  std::int64_t offset = 0;
  const operand address = matrix_address(x, major, minor, offset);
  machine_instruction& i =
      data ? put(opcode::st, {no_register, 0, 0}, {address, *data}) : put(opcode::ld, d, {address});
  i.base.mem_space = x.space;
  i.base.offset = offset;
  i.base.type = bytes == 1   ? dtype::u8
                : bytes == 2 ? dtype::u16
                : bytes == 4 ? dtype::b32
                : bytes == 8 ? dtype::b64
                             : dtype::b128;
  if (now_->guard.what != value::kind::none) i.guard = {now_->guard.reg, now_->guard.negate};
}

void selector::load_unit(matrix_access& x, unsigned unit) {
  const auto [major, minor] = x.units[unit];
  const std::size_t first = std::size_t{unit} * x.registers;
  if (x.contiguous && x.registers > 1) {
    const register_part t = temp(2 * x.words);
    matrix_move(x, major, minor, 2 * x.size, t, nullptr);
    return spread(t, first, x.words);
  }
  if (x.contiguous || x.run == 1)
    return matrix_move(x, major, minor, x.run * x.size, part_of_dst(first, x.words), nullptr);
  if (x.size >= 4) {
    for (unsigned e = 0; e < x.run; ++e)
      matrix_move(x, major, minor + e, x.size, part_of_dst(first + e, x.words), nullptr);
    return;
  }
  register_part parts[4];
  for (unsigned e = 0; e < x.run; ++e) matrix_move(x, major, minor + e, x.size, parts[e] = temp(), nullptr);
  if (x.run == 4) {
    for (unsigned e = 0; e < 4; e += 2) {
      const register_part t = temp();
      put(opcode::prmt, t, {parts[e], immediate(0x0040), parts[e + 1]});
      parts[e / 2] = t;
    }
  }
  put(opcode::prmt, part_of_dst(first, 1), {parts[0], immediate(0x5410), parts[1]});
}

void selector::store_unit(matrix_access& x, unsigned unit) {
  const auto [major, minor] = x.units[unit];
  const std::size_t first = 1 + std::size_t{unit} * x.registers;
  const register_part none{no_register, 0, 0};
  if (x.contiguous) {
    const operand data = gather(first, x.registers, x.words);
    return matrix_move(x, major, minor, x.run * x.size, none, &data);
  }
  for (unsigned e = 0; e < x.run; ++e) {
    operand data = x.size == 2 ? src(first, dtype::b32) : src(first + e, x.words == 2 ? dtype::b64 : dtype::b32);
    if (x.size == 2 && e == 1) {
      const register_part high = temp();
      put(opcode::prmt, high, {data, immediate(0x4432), zero()});
      data = high;
    }
    matrix_move(x, major, minor + e, x.size, none, &data);
  }
}

/// An accumulator of four f32 from source `first` on, unpacked from halves if `halves`.
selector::operand selector::accumulators(std::size_t first, bool halves) {
  if (!halves) return gather(first, 4, 1);
  const register_part all = temp(4);
  for (unsigned e = 0; e < 4; ++e) {
    operand half = src(first + e / 2, dtype::b32);
    if (e % 2) {
      const register_part high = temp();
      put(opcode::prmt, high, {half, immediate(0x4432), zero()});
      half = high;
    }
    machine_instruction& i = put(opcode::f2f, {all.reg, static_cast<std::uint8_t>(e), 1}, {half});
    i.base.type = dtype::f32;
    i.base.src_type = dtype::f16;
  }
  return all;
}

/// One product of 16 rows and 8 columns into d; in two steps on chips before 8.0.
void selector::wmma_block(const block_product& p, register_part d) {
  using isa::matrix::b_other_sign;
  const bool newer = has_capability(8, 0);
  const std::uint8_t sign = p.other_sign ? b_other_sign : 0;
  const auto at = [](const operand& o, unsigned first, unsigned count) {
    operand part = o;
    part.part = static_cast<std::uint8_t>(o.part + first);
    part.count = static_cast<std::uint8_t>(count);
    return part;
  };
  const auto sub = [&](matrix_shape s) { return static_cast<std::uint8_t>(static_cast<std::uint8_t>(s) | sign); };
  if (is_byte(p.inputs)) {
    if (newer) {
      multiply_matrices(opcode::imma, sub(matrix_shape::m16n8k16), p.type, p.inputs, d, p.a, p.b, p.c).base.saturate =
          p.saturate;
      return;
    }
    for (unsigned h = 0; h < 2; ++h)  // rows 0 to 7 and 8 to 15
      multiply_matrices(opcode::imma, sub(matrix_shape::m8n8k16), p.type, p.inputs,
                        {d.reg, static_cast<std::uint8_t>(2 * h), 2}, at(p.a, h, 1), p.b, at(p.c, 2 * h, 2))
          .base.saturate = p.saturate;
    return;
  }
  if (p.inputs == dtype::b32 || newer) {
    const matrix_shape shape = p.inputs == dtype::b32 ? matrix_shape::m16n8k8 : matrix_shape::m16n8k16;
    multiply_matrices(opcode::hmma, sub(shape), p.type, p.inputs, d, p.a, p.b, p.c);
    return;
  }
  const register_part half = temp(d.count);
  multiply_matrices(opcode::hmma, sub(matrix_shape::m16n8k8), p.type, p.inputs, half, at(p.a, 0, 2), at(p.b, 0, 1),
                    p.c);
  multiply_matrices(opcode::hmma, sub(matrix_shape::m16n8k8), p.type, p.inputs, d, at(p.a, 2, 2), at(p.b, 1, 1), half);
}

void selector::wmma_multiply(const matrix_form& form) {
  const bool short_form = form.types == 2, transposed = computed_transposed(form), square = form.m == 16;
  if ((form.types != 2 && form.types != 4) || form.layouts != 2) unsupported();
  const dtype d_type = form.type[0], c_type = form.type[short_form ? 1 : 3];
  const dtype a_type = short_form ? dtype::f16 : form.type[1], b_type = short_form ? dtype::f16 : form.type[2];
  const auto is_half = [](dtype t) { return t == dtype::f16; };
  const dtype sum = is_byte(a_type) ? dtype::s32 : a_type == dtype::f64 ? dtype::f64 : dtype::f32;
  const auto holds = [&](dtype t) { return t == sum || (a_type == dtype::f16 && is_half(t)); };
  if (!holds(d_type) || !holds(c_type) || (is_byte(a_type) ? !is_byte(b_type) : a_type != b_type)) unsupported();
  if (a_type == dtype::f64) {
    if (now_->dst.size() != 2 || now_->src.size() != 4)
      fail("'" + now_->source->mnemonic() + "' needs 1, 1 and 2 registers");
    return multiply_doubles(form, 1, 1);
  }
  // Numbers of registers: a block of 16 rows of the first factor, a block of 8 columns of the second, and the
  // fragments.
  const unsigned tall = is_byte(a_type) ? 2 : 4, wide = tall / 2;
  const unsigned a_registers = a_type == dtype::f16 ? 8 : transposed ? wide : square ? tall : 2 * tall;
  const unsigned b_registers = a_type == dtype::f16 ? 8 : transposed ? 2 * tall : square ? 2 * wide : wide;
  const unsigned c_each = is_half(c_type) ? 2 : 4, d_each = is_half(d_type) ? 2 : 4;
  const std::size_t c_first = a_registers + b_registers;
  if (now_->dst.size() != 2 * d_each || now_->src.size() != c_first + 2 * c_each)
    fail("'" + now_->source->mnemonic() + "' needs " + std::to_string(a_registers) + ", " +
         std::to_string(b_registers) + ", " + std::to_string(2 * c_each) + " and " + std::to_string(2 * d_each) +
         " registers for a, b, c and d");
  const std::size_t first = transposed ? a_registers : 0, second = transposed ? 0 : a_registers;
  block_product p;
  p.inputs = transposed ? b_type : a_type;
  p.other_sign = a_type != b_type;
  p.saturate = form.saturate;
  p.type = is_half(d_type) && is_half(c_type) ? dtype::f16 : sum;
  register_part d[2];
  for (unsigned block = 0; block < 2; ++block) {
    p.a = square && block ? p.a : factor(first + (square ? 0 : block * tall), tall);
    p.b = !square && block ? p.b : factor(second + (square ? block * wide : 0), wide);
    p.c = p.type == dtype::f16 ? gather(c_first + 2 * block, 2, 1)
                               : accumulators(c_first + block * c_each, is_half(c_type));
    d[block] = temp(p.type == dtype::f16 ? 2 : 4);
    wmma_block(p, d[block]);
  }
  for (unsigned block = 0; block < 2; ++block) {
    if (!is_half(d_type) || p.type == dtype::f16) {
      spread(d[block], block * d_each, 1);
      continue;
    }
    for (unsigned e = 0; e < 2; ++e) {
      machine_instruction& i =
          put(opcode::f2f, part_of_dst(block * 2 + e, 1), {word(d[block], 2 * e + 1), word(d[block], 2 * e)});
      i.base.type = dtype::f16x2;
      i.base.src_type = dtype::f32;
    }
  }
}

}  // namespace heddle::ptx
