// SPDX-License-Identifier: MIT
#include "heddle/sub_partition/dependence/control_codes.h"

#include <algorithm>
#include <array>
#include <cstddef>

#include "heddle/config/error.h"
#include "heddle/isa/set_bits.h"
#include "heddle/sub_partition/dependence/code_blocks.h"
#include "heddle/sub_partition/dependence/counter_allocation.h"

namespace heddle {

namespace {

using namespace control_codes;

// True if the pairing rule allows two neighbours by their units alone; the issue stage checks the rest.
bool pairing_allows(const decoded_instruction& first, const decoded_instruction& second,
                    const sub_partition_parameters& parameters) {
  if (parameters.issue_width < 2 || parameters.dual_issue == choice::dual_issue::none) return false;
  if (first.kind != issue_kind::arithmetic && first.kind != issue_kind::memory) return false;
  if (second.kind != issue_kind::arithmetic && second.kind != issue_kind::memory) return false;
  if (first.unit == second.unit && std::max(first.shared_use, second.shared_use) == lane_use::none) return false;
  return parameters.dual_issue != choice::dual_issue::maxwell || first.partner || second.partner;
}

// Each instruction issues as early as its producers' results allow: the stall count before it is the part of a
// producer's latency that the distance to the producer does not cover. A held unit needs no stall count, since the
// issue stage waits for it. Results of fixed latency are forwarded, but not to memory instructions, which wait
// `memory_operands` cycles longer.
void assign_stalls(decoded_program& p, const sub_partition_parameters& parameters, unsigned memory_operands) {
  std::array<std::size_t, name_count> writer{};  // index + 1 of the name's last writer without a counter; 0: none
  bool paired = false;                           // the last instruction is the second of a pair
  for (std::size_t i = 0; i < p.code.size(); ++i) {
    const decoded_instruction& d = p.code[i];
    if (i != 0) {
      decoded_instruction& last = p.code[i - 1];
      unsigned stall = 0;
      const auto wait_for = [&](unsigned n, unsigned longer) {
        if (writer[n] == 0) return;
        const std::size_t by = writer[n] - 1;
        const unsigned latency = p.code[by].latency_cycles + longer;
        const unsigned apart = distance(p, by, i - 1, latency);
        if (apart < latency) stall = std::max(stall, latency - apart);
      };
      each_name(d, [&](unsigned n) { wait_for(n, 0); });
      for (const unsigned guard : set_bits(d.guards)) {
        const unsigned n = register_count + guard;
        if (writer[n] != 0) wait_for(n, p.code[writer[n] - 1].guard_cycles);
      }
      if (memory_operands != 0 && d.kind == issue_kind::memory)
        each_source(d, [&](unsigned n) { wait_for(n, memory_operands); });
      paired = !paired && stall == 0 && pairing_allows(last, d, parameters);
      last.stall = narrow<std::uint8_t>(std::max(stall, paired ? 0u : 1u));
    }
    if (!needs_counter(d)) each_result(d, [&](unsigned n) { writer[n] = i + 1; });
  }
}

}  // namespace

void assign_control_codes(decoded_program& program, const sub_partition_parameters& parameters,
                          unsigned memory_operands) {
  if (program.code.empty()) return;
  const std::vector<block> blocks = blocks_of(program);
  assign_stalls(program, parameters, memory_operands);
  assign_counters(program, blocks);
}

}  // namespace heddle
