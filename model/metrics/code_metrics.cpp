// SPDX-License-Identifier: MIT
#include "heddle/metrics/code_metrics.h"

#include "heddle/sub_partition/account/launch_profile.h"
#include "heddle/sub_partition/dependence/decoded_program.h"

namespace heddle {

namespace {

void set_work(instruction_metrics& to, const decoded_instruction& d, const instruction_sum& sum) {
  const instruction_profile all = sum.profile();
  to.executed = all.executed;
  to.thread_executed = all.lanes;
  to.warp_states.add(all.stalls);
  if (!accesses_memory(d)) return;
  to.accesses = all.executed;
  to.replays = sum.traffic.replays;
  to.bank_conflicts = sum.bank_conflicts;
  to.memory.add(sum.traffic, requested_bytes(d, all));
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

void fill_code(kernel_metrics& k, const resident_launch& l, const launch_code& code, const std::vector<double>& joules,
               program_texts& texts) {
  const std::vector<program_texts::instruction>& program = texts.of(*l.program);
  k.code.resize(program.size());
  for (std::size_t i = 0; i < code.counts.size(); ++i) set_work(k.code[i], code.program->code[i], code.counts[i]);
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
