// SPDX-License-Identifier: MIT
#include "heddle/metrics/code_metrics.h"

#include "heddle/gpu/gpu.h"
#include "heddle/metrics/launch_sums.h"
#include "heddle/sm/sm.h"
#include "heddle/sub_partition/account/launch_profile.h"
#include "heddle/sub_partition/dependence/decoded_program.h"

namespace heddle {

namespace {

void add(instruction_metrics& to, const launch_profile& profile, std::size_t i) {
  const decoded_instruction& d = profile.program()->code[i];
  const instruction_profile at = profile.at(i);
  to.executed += at.executed;
  to.thread_executed += at.lanes;
  to.warp_states.add(at.stalls);
  if (!accesses_memory(d)) return;
  const instruction_traffic moved = profile.traffic(i);
  to.accesses += at.executed;
  to.replays += moved.replays;
  to.memory.add(moved, requested_bytes(d, at));
  // A product's passes are those that its operands need.
  if (d.kind != issue_kind::product && moved.shared_passes > at.executed)
    to.bank_conflicts += moved.shared_passes - at.executed;
}

void add(flop_counts& to, isa::flop_unit unit, std::uint64_t n) {
  switch (unit) {
    case isa::flop_unit::fp32: to.fp32 += n; break;
    case isa::flop_unit::fp64: to.fp64 += n; break;
    case isa::flop_unit::half: to.half += n; break;
    case isa::flop_unit::tensor: to.tensor += n; break;
    case isa::flop_unit::none: break;
  }
}

}  // namespace

std::uint64_t requested_bytes(const decoded_instruction& d, const instruction_profile& counts) {
  if (d.kind == issue_kind::bulk_copy) return 0;
  return d.kind == issue_kind::product ? counts.executed * d.operand_bytes : counts.lanes * d.access_bytes;
}

const std::vector<program_texts::instruction>& program_texts::of(const isa::program& p) {
  std::vector<instruction>& all = known_[&p];
  for (std::size_t i = all.size(); i < p.code.size(); ++i) all.push_back({isa::text_of(p, i), isa::flops_of(p, i)});
  return all;
}

void fill_code(kernel_metrics& k, const gpu& g, const resident_launch& l, const std::vector<double>& joules,
               program_texts& texts) {
  const std::vector<program_texts::instruction>& program = texts.of(*l.program);
  k.code.resize(program.size());
  for (unsigned m = 0; m < g.sm_count(); ++m) {
    const launch_profile& profile = g.sm_at(m).profiles.at(l.launch_id);
    for (std::size_t i = 0; i < profile.size(); ++i) add(k.code[i], profile, i);
  }
  for (std::size_t i = 0; i < k.code.size(); ++i) {
    instruction_metrics& c = k.code[i];
    const isa::flops& work = program[i].flops;
    c.line = l.program->code[i].line;
    c.text = program[i].text;
    c.flops = c.thread_executed * work.of_lane + c.executed * work.of_warp;
    if (i < joules.size()) c.joules = joules[i];
    add(k.flops, work.unit, c.flops);
  }
}

}  // namespace heddle
