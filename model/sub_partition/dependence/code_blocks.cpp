// SPDX-License-Identifier: MIT
#include "heddle/sub_partition/dependence/code_blocks.h"

#include <algorithm>
#include <array>

namespace heddle::control_codes {

namespace {
bool ends_block(const decoded_instruction& d) { return d.kind == issue_kind::branch || d.kind == issue_kind::exit; }
bool falls_through(const decoded_instruction& d) {
  return !ends_block(d) || d.instruction->guard.reg != isa::pt || d.instruction->guard.negate;
}
}  // namespace

std::vector<block> blocks_of(const decoded_program& p) {
  std::vector<bool> leads(p.code.size() + 1, false);
  leads[0] = true;
  for (std::size_t i = 0; i < p.code.size(); ++i) {
    if (!ends_block(p.code[i])) continue;
    leads[i + 1] = true;
    if (p.code[i].kind == issue_kind::branch && p.code[i].instruction->target < p.code.size())
      leads[p.code[i].instruction->target] = true;
  }
  std::vector<block> blocks;
  std::vector<std::size_t> at(p.code.size() + 1, 0);
  for (std::size_t i = 0; i < p.code.size(); ++i) {
    if (leads[i]) blocks.push_back({i, i, {}});
    at[i] = blocks.size() - 1;
    blocks.back().last = i + 1;
  }
  for (std::size_t b = 0; b < blocks.size(); ++b) {
    const decoded_instruction& end = p.code[blocks[b].last - 1];
    if (end.kind == issue_kind::branch && end.instruction->target < p.code.size())
      blocks[b].next.push_back(at[end.instruction->target]);
    if (falls_through(end) && blocks[b].last < p.code.size()) blocks[b].next.push_back(b + 1);
  }
  return blocks;
}

unsigned distance(const decoded_program& p, std::size_t first, std::size_t last, unsigned enough) {
  std::array<unsigned, static_cast<std::size_t>(isa::unit::count)> open{};
  unsigned cycle = 0;
  for (std::size_t k = first;; ++k) {
    const decoded_instruction& d = p.code[k];
    unsigned& unit_open = open[static_cast<std::size_t>(d.unit)];
    const bool own_lanes = d.shared_use == lane_use::none;  // shared lanes may be taken by others
    if (k != first) cycle += p.code[k - 1].stall;
    if (k != first && own_lanes) cycle = std::max(cycle, unit_open);
    if (k == last || cycle >= enough) return cycle;
    // Stall counts and latencies start when the operands are read; a unit is held from the issue on.
    const unsigned held =
        d.initiation_cycles - std::min<unsigned>(d.initiation_cycles, k == first ? d.bank_conflicts : 0);
    if (own_lanes) unit_open = cycle + held;
  }
}

}  // namespace heddle::control_codes
