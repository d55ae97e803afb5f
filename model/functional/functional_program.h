// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "heddle/memory/common/address_ranges.h"
#include "heddle/sub_partition/dependence/decoded_program.h"

namespace heddle {

/// How an instruction is executed functionally.
enum class functional_kind : std::uint8_t { plain, branch, load, store, shared, other, followed };

/// One instruction, prepared for the loop that executes warps.
struct functional_step {
  simt::execute_function execute = nullptr;
  const decoded_instruction* decoded = nullptr;
  functional_kind kind = functional_kind::other;
  functional_kind unwatched = functional_kind::other;  // the kind without a watcher
  functional_kind usual = functional_kind::other;      // the kind while the watcher does not follow all instructions
  bool guarded = false;
  bool synchronises = false;  // lanes may have to wait for others first
  bool reads_time = false;
  bool touches_products = false;  // it accesses registers that products of a warpgroup write
  back_edge edge = back_edge::none;
  std::uint8_t bytes = 0;  // per lane of a load or store
  isa::predicate guard;
  address_ranges::hint where;  // address range of its last access
};

/// A program with its steps; the hints in them change during execution.
struct functional_program {
  std::shared_ptr<const decoded_program> decoded;
  std::vector<functional_step> steps;
  bool independent_blocks = false;  // see has_independent_blocks()
  /// `watched`: what a watcher is notified of has the kind other.
  functional_program(std::shared_ptr<const decoded_program> program, bool watched);
  /// Whether the watcher follows all instructions from now on: then all have the kind followed.
  void follow(bool all);
};

}  // namespace heddle
