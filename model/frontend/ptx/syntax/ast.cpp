// SPDX-License-Identifier: MIT
#include "heddle/frontend/ptx/syntax/ast.h"

#include <algorithm>

namespace heddle::ptx {

std::string ast_instruction::mnemonic() const {
  std::string text = opcode;
  for (const std::string& modifier : modifiers) text.append(1, '.').append(modifier);
  return text;
}

bool ast_instruction::has(const char* modifier) const {
  return std::find(modifiers.begin(), modifiers.end(), modifier) != modifiers.end();
}

std::uint64_t ast_variable::element_bytes() const {
  constexpr std::uint64_t reference_bytes = 8;  // .texref, .samplerref, .surfref: an opaque 64-bit handle
  const bool opaque = type == isa::dtype::none;
  return (opaque ? reference_bytes : std::uint64_t{isa::size_of(type)}) * vector;
}

std::uint64_t ast_variable::elements() const {
  std::uint64_t count = 1;
  for (const std::int64_t dimension : dims) count *= dimension < 0 ? 0 : static_cast<std::uint64_t>(dimension);
  return count;
}

std::uint64_t ast_variable::size_bytes() const { return elements() * element_bytes(); }

std::uint32_t ast_variable::alignment() const {
  if (align != 0) return align;
  return std::max<std::uint32_t>(1, static_cast<std::uint32_t>(element_bytes()));
}

}  // namespace heddle::ptx
