// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>

#include "heddle/frontend/ptx/hir/control_flow.h"
#include "heddle/frontend/ptx/loops/loop_plan.h"

namespace heddle::ptx {

/// Reads of each register in the whole function.
std::vector<std::uint32_t> count_reads(const hir_function& f);

/// The names that registers have in the bodies of one loop that follow each other. A value of one body has a register
/// of its own where that is known to be safe; the last body writes the registers of the program.
class body_names {
 public:
  /// `reads`: of count_reads(), before the function is changed.
  body_names(hir_function& f, const loop_plan& p, const dominance& dom, const std::vector<std::uint32_t>& reads);

  /// Starts a sequence of `count` bodies. Counters get a register that is written once, so that sums of it can be
  /// folded. Returns the moves for that. `first`: the sequence begins with the loop's first trip; `last`: it ends with
  /// the last one.
  std::vector<hir_instruction> start(unsigned count, bool first, bool last, const hir_instruction& like);

  void next_body() { ++body_; }

  /// The loop's instruction in the body that is made.
  hir_instruction copy(std::uint32_t block, std::uint32_t index);

 private:
  void read(value& v) const;
  std::uint32_t renew(std::uint32_t reg);

  hir_function& f_;
  const loop_plan& plan_;
  // Where a renamed register is last written as a whole.
  std::unordered_map<std::uint32_t, std::pair<std::uint32_t, std::uint32_t>> last_;
  std::unordered_map<std::uint32_t, std::uint32_t> now_;
  std::unordered_set<std::uint32_t> inner_;  // renamed registers that only the loop reads
  std::unordered_set<std::uint32_t> ended_;  // registers that nothing reads after the sequence
  std::uint32_t tested_ = no_register;       // what only the branch back reads
  unsigned count_ = 0, body_ = 0;
};

}  // namespace heddle::ptx
