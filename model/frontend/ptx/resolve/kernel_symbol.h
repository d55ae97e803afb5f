// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <string>
#include <unordered_map>
#include <vector>

#include "heddle/frontend/ptx/hir/hir.h"
#include "heddle/frontend/ptx/syntax/ast.h"

namespace heddle::ptx {

/// What a name of a kernel stands for.
struct kernel_symbol {
  enum class kind : std::uint8_t { reg, ranged, components, address, words, prototype };
  kind what = kind::reg;
  std::uint32_t first = 0;  // reg, ranged: virtual register
  std::uint32_t range = 0;
  std::uint32_t vector = 1;              // ranged: registers of one name
  std::vector<std::uint32_t> registers;  // components of a vector; words of a parameter of an inlined function
  state_space space = state_space::none;
  value address;
  value copy;               // of a kernel parameter in local memory, if its generic address is taken
  bool opaque = false;      // a texture, surface or sampler reference: `address` is the address of its handle
  bool parameter = false;   // a .param of a function or a call, placed in local memory
  std::uint32_t bytes = 0;  // its size in whole words
  std::uint64_t size = 0;   // declared size of a .param of a function or a call
  const ast_statement* targets = nullptr;
};

/// The names of one block.
struct scope {
  std::unordered_map<std::string, kernel_symbol> names;
  std::unordered_map<std::string, std::uint32_t> labels;
};

/// Makes the key of a range: %r<4> and a single %r may coexist, and no identifier contains this character.
inline std::string range_key(const std::string& name) { return name + "<"; }

}  // namespace heddle::ptx
