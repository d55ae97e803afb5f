// SPDX-License-Identifier: MIT
#pragma once

#include <map>
#include <memory>

#include "scalar_operation.h"

namespace heddle::conformance {

/// An operand with its name resolved.
struct scalar_operand {
  enum class kind : std::uint8_t { none, reg, integer, f32, f64, special, address, vector, sink };
  kind what = kind::none;
  bool invert = false;               // !p
  std::uint32_t reg = 0;             // register, or special register's number
  std::uint64_t bits = 0;            // literal, or a variable's offset in its space
  std::int64_t offset = 0;           // of an address
  bool has_base = false;             // address: base register in reg (else `bits` is the base)
  std::vector<scalar_operand> list;  // vector
};

enum class special_register : std::uint32_t {
  tid,
  ntid = 3,
  ctaid = 6,
  nctaid = 9,
  laneid = 12,
  warpid,
  eq,
  lt,
  le,
  gt,
  ge
};

struct scalar_step {
  enum class kind : std::uint8_t {
    compute,
    pack,
    load,
    store,
    atomic,
    branch,
    leave,
    barrier,
    warp,
    to_generic,
    copy,
    nothing
  };
  kind what = kind::compute;
  scalar_operation op;
  ptx::state_space space = ptx::state_space::none;
  bool guarded = false, guard_negate = false;
  std::uint32_t guard = 0;
  std::vector<scalar_operand> d, s;
  std::size_t target = 0;
  unsigned line = 0;
};

/// A kernel prepared for execution thread by thread. Variables have offsets from 0 in their state spaces.
struct scalar_program {
  /// Resolves a kernel of the module: one body, nested scopes allowed, no calls. Throws reference_limit for
  /// unsupported features.
  scalar_program(const ptx::ast_module& module, const std::string& kernel);

  std::vector<isa::dtype> registers;  // declared types
  std::vector<scalar_step> steps;
  std::uint64_t shared_bytes = 0, local_bytes = 0, parameter_bytes = 0;
  std::vector<std::uint8_t> constants, globals;  // images of module variables
};

constexpr std::uint64_t shared_window = std::uint64_t{1} << 56, local_window = std::uint64_t{2} << 56,
                        module_window = std::uint64_t{3} << 56;

}  // namespace heddle::conformance
