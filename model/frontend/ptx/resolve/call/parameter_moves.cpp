// SPDX-License-Identifier: MIT
#include "heddle/frontend/ptx/resolve/call/parameter_moves.h"

#include <algorithm>
#include <utility>

namespace heddle::ptx {

namespace {

isa::dtype bits_type(unsigned bytes) {
  return bytes == 1 ? isa::dtype::b8 : bytes == 2 ? isa::dtype::b16 : bytes == 4 ? isa::dtype::b32 : isa::dtype::b64;
}

std::vector<std::uint32_t> registers_of(const std::vector<std::uint32_t>& words, std::uint32_t first) {
  return words.empty() ? std::vector<std::uint32_t>{first} : words;
}

}  // namespace

hir_instruction move_like(const hir_instruction& like, value to, value from, isa::dtype type) {
  hir_instruction h;
  h.where = like.where;
  h.source = like.source;
  h.guard = like.guard;
  h.op = ptx_op::mov;
  h.m.type = type;
  h.dst = {to};
  h.src = {from};
  return h;
}

hir_instruction parameter_moves::access_local(ptx_op op, const kernel_symbol& place, std::uint32_t at, unsigned bytes,
                                              const std::vector<value>& data) const {
  hir_instruction h;
  h.op = op;
  h.m.type = bits_type(bytes);
  h.m.types = 1;
  h.m.space = state_space::local;
  h.m.vector = static_cast<unsigned>(data.size());
  h.src = {place.address};
  h.offset = at;
  auto& list = op == ptx_op::ld ? h.dst : h.src;
  list.insert(list.end(), data.begin(), data.end());
  return h;
}

/// Copies a parameter to another, if at least one of them is in memory, in words as large as the alignment of both
/// allows.
void parameter_moves::transfer(const kernel_symbol& to, const kernel_symbol& from) {
  const auto bytes = [](const kernel_symbol& s) {
    return s.parameter ? s.bytes : static_cast<std::uint32_t>(4 * s.registers.size());
  };
  const std::uint32_t end = std::min(bytes(to), bytes(from));
  for (std::uint32_t at = 0; at < end; at += 4) {
    value word;
    if (from.parameter) {
      word = register_value(to.parameter ? code_.new_register(1, 32) : to.registers[at / 4]);
      code_.append(access_local(ptx_op::ld, from, at, 4, {word}));
    } else {
      word = register_value(from.registers[at / 4]);
    }
    if (to.parameter) code_.append(access_local(ptx_op::st, to, at, 4, {word}));
  }
}

/// The same for a register or a literal in place of a parameter.
void parameter_moves::transfer(const kernel_symbol& place, value data, bool store, const location& where) {
  const unsigned words = data.is_reg() ? code_.registers()[data.reg].words : place.bytes > 4 ? 2 : 1;
  if (words == 0 || words > 2 || words * 4 != place.bytes)
    code_.fail(where, "argument of '" + code_.current()->mnemonic() + "' does not fit the parameter");
  code_.append(access_local(store ? ptx_op::st : ptx_op::ld, place, 0, 4 * words, {data}));
}

/// Copies the words of one parameter to another of the same kind.
void parameter_moves::copy_words(const kernel_symbol& to, const kernel_symbol& from) {
  if (to.parameter || from.parameter) return transfer(to, from);
  const auto a = registers_of(to.registers, to.first), b = registers_of(from.registers, from.first);
  for (std::size_t k = 0; k < std::min(a.size(), b.size()); ++k) {
    const unsigned words = code_.registers()[a[k]].words;
    const isa::dtype type = words == 0   ? isa::dtype::pred
                            : words == 1 ? isa::dtype::b32
                            : words == 2 ? isa::dtype::b64
                                         : isa::dtype::b128;
    code_.append(new_instruction(ptx_op::mov, type, {register_value(a[k])}, {register_value(b[k])}));
  }
}

void parameter_moves::check_place(const kernel_symbol& s, const ast_operand& address, std::uint64_t at,
                                  unsigned size) const {
  if (at % size != 0 || at + size > s.registers.size() * 4)
    code_.fail(address.where, "access outside parameter '" + address.text + "'");
}

void parameter_moves::load_words(const hir_instruction& h, const kernel_symbol& s, const ast_operand& address) {
  std::vector<value> to;
  in_.elements(code_.current()->operands[0], h.m.type, to, true, h.where);
  const unsigned size = isa::size_of(h.m.type);
  std::uint64_t at = static_cast<std::uint64_t>(address.offset);
  for (const value& d : to) {
    check_place(s, address, at, size);
    const value word = register_value(s.registers[at / 4]);
    hir_instruction one = move_like(h, d, word, h.m.type);
    if (size == 8) {
      one.op = ptx_op::pack;
      one.src.push_back(register_value(s.registers[at / 4 + 1]));
    } else if (size < 4) {
      one.op = ptx_op::bfe;
      one.m.type = isa::is_signed(h.m.type) ? isa::dtype::s32 : isa::dtype::u32;
      one.src.push_back(immediate_value(at % 4 * 8));
      one.src.push_back(immediate_value(size * 8));
    }
    code_.append(std::move(one));
    at += size;
  }
}

void parameter_moves::store_words(const hir_instruction& h, const kernel_symbol& s, const ast_operand& address) {
  std::vector<value> from;
  in_.elements(code_.current()->operands[1], h.m.type, from, false, h.where);
  const unsigned size = isa::size_of(h.m.type);
  std::uint64_t at = static_cast<std::uint64_t>(address.offset);
  for (const value& v : from) {
    check_place(s, address, at, size);
    const value word = register_value(s.registers[at / 4]);
    hir_instruction one = move_like(h, word, v, h.m.type);
    if (size == 8) {
      one.op = ptx_op::unpack;
      one.dst.push_back(register_value(s.registers[at / 4 + 1]));
    } else if (size < 4) {
      one.op = ptx_op::bfi;
      one.m.type = isa::dtype::b32;
      one.src = {v, word, immediate_value(at % 4 * 8), immediate_value(size * 8)};
    }
    code_.append(std::move(one));
    at += size;
  }
}

}  // namespace heddle::ptx
