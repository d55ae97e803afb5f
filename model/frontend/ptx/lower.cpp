// SPDX-License-Identifier: MIT
#include "heddle/frontend/ptx/lower.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <set>
#include <utility>

#include "heddle/config/error.h"
#include "heddle/config/suggestion.h"
#include "heddle/frontend/ptx/hir/if_convert.h"
#include "heddle/frontend/ptx/hir/optimise.h"
#include "heddle/frontend/ptx/kernel_list.h"
#include "heddle/frontend/ptx/loops/shared_addresses.h"
#include "heddle/frontend/ptx/loops/unroll.h"
#include "heddle/frontend/ptx/machine/balance_pipes.h"
#include "heddle/frontend/ptx/machine/emit.h"
#include "heddle/frontend/ptx/machine/machine_passes.h"
#include "heddle/frontend/ptx/machine/register_allocation.h"
#include "heddle/frontend/ptx/machine/register_ceiling.h"
#include "heddle/frontend/ptx/machine/schedule/schedule.h"
#include "heddle/frontend/ptx/resolve/align_up.h"
#include "heddle/frontend/ptx/resolve/translate/resolver.h"
#include "heddle/frontend/ptx/select/code/hopper_code.h"
#include "heddle/frontend/ptx/select/contract.h"
#include "heddle/frontend/ptx/select/selector.h"
#include "heddle/frontend/ptx/syntax/link.h"
#include "heddle/frontend/ptx/syntax/malformed_code.h"

namespace heddle::ptx {

namespace {

const ast_function& find_kernel(const ast_module& m, const std::string& name) {
  std::vector<std::string> known;
  for (const ast_function& f : m.functions) {
    if (!f.is_entry || !f.has_body) continue;
    if (f.name == name) return f;
    known.push_back(f.name);
  }
  throw input_error(m.file + ": no kernel '" + name + "', expected one of: " +
                    (known.empty() ? "(the module has none)" : kernel_list(known)) + suggestion(name, known));
}

void add_parameters(isa::program& p, const ast_function& kernel, const std::string& file) {
  std::uint64_t offset = 0;
  for (const ast_variable& v : kernel.parameters) {
    isa::kernel_parameter k;
    offset = align_up(offset, v.alignment());
    if (offset + v.size_bytes() > 32764)
      throw input_error(file, v.where.line, v.where.column, "kernel parameters exceed 32764 bytes");
    k.name = v.name;
    k.offset = static_cast<std::uint32_t>(offset);
    k.size = static_cast<std::uint32_t>(v.size_bytes());
    k.align = v.alignment();
    offset += v.size_bytes();
    p.parameters.push_back(std::move(k));
  }
  p.parameter_bytes = static_cast<std::uint32_t>(offset);
}

/// Registers that allocation may use: the caller's requested, or what the architecture and the kernel's directives
/// leave.
unsigned register_limit(const gpu_config& gpu, const ast_function& kernel, unsigned requested) {
  return requested ? std::min({requested, gpu.sm.registers_per_thread, 255u}) : register_ceiling(gpu, kernel);
}

/// Registers that a warp has at most by setmaxnreg; 0: it has none.
unsigned most_registers_taken(const machine_function& f) {
  unsigned most = 0;
  for (const machine_block& b : f.blocks)
    for (const machine_instruction& i : b.code)
      if (i.base.op == isa::opcode::setmaxreg) most = std::max(most, std::min(8u * i.base.sub, 255u));
  return most;
}

/// Without a limit of registers, setmaxnreg has no effect, as ptxas decides too.
void ignore_register_changes(machine_function& f) {
  for (machine_block& b : f.blocks)
    b.code.erase(std::remove_if(b.code.begin(), b.code.end(),
                                [](const machine_instruction& i) { return i.base.op == isa::opcode::setmaxreg; }),
                 b.code.end());
}

/// What is known of a kernel before its registers are.
struct unscheduled_kernel {
  machine_function code;
  std::uint32_t shared_bytes = 0;
  std::uint32_t barriers = 0;
  bool cluster_barrier = false;
  bool leaves_block = false;
  std::vector<isa::parameter_copy> parameter_copies;
};

/// `share`: values that are computed again.
void tidy(machine_function& machine, bool hopper_code, bool share) {
  if (hopper_code) widen_shared_loads(machine);
  propagate_copies(machine);
  if (share) share_values(machine);
  remove_dead_code(machine);
  merge_chains(machine);
  if (hopper_code) {
    join_shifted_sums(machine);
    join_logic(machine);
  }
  remove_dead_code(machine);
  narrow_fetches(machine);
  split_at_slow_paths(machine);
  if (hopper_code) hold_constants(machine);
  legalise(machine, hopper_code ? constant_access::loads : constant_access::operands);
  rename_after_copies(machine);
  compute_in_place(machine);
  load_into_variables(machine);
  if (hopper_code) load_constants(machine);
}

bool has_loops(const hir_function& f) {
  for (std::uint32_t b = 0; b < f.blocks.size(); ++b)
    for (const std::uint32_t s : f.blocks[b].successors)
      if (s <= b) return true;
  return false;
}

/// Unrolls loops, those around unrolled ones afterwards. The instructions selected decide by how much, before copies
/// among them go: ptxas counts early, too.
void unroll(hir_function& hir, const loaded_module& m, const gpu_config& gpu, bool has_imad, bool hopper_code) {
  constexpr unsigned most_rounds = 3;
  bool again = true;
  for (unsigned round = 0; again && round < most_rounds && !hir.rolled && has_loops(hir); ++round) {
    std::vector<block_cost> costs;
    for (const machine_block& b : selector(hir, gpu, m.ast->file).run().blocks) {
      const auto calls = [](const machine_instruction& i) { return i.base.op == isa::opcode::assist; };
      costs.push_back({b.code.size(), std::any_of(b.code.begin(), b.code.end(), calls)});
    }
    const unrolling made = unroll_loops(hir, costs);
    again = made.again;
    if (!made.changed) return;
    optimise(hir, has_imad, hopper_code);
    convert_branches(hir, hopper_code);
    join_counters(hir, made.counters);
  }
}

/// Machine instructions over virtual registers, in the order written. The stages before are freed: kernels may be
/// large.
unscheduled_kernel select_instructions(const loaded_module& m, const ast_function& kernel, const gpu_config& gpu,
                                       bool share = true) {
  const bool has_imad = gpu.integer.multiplier != choice::multiplier::xmad, hopper_code = has_hopper_code(gpu);
  hir_function hir;
  resolver(m, kernel, hir).run();
  optimise(hir, has_imad, hopper_code);
  convert_branches(hir, hopper_code);
  unroll(hir, m, gpu, has_imad, hopper_code);
  share_addresses(hir);
  contract_products(hir);
  unscheduled_kernel made{selector(hir, gpu, m.ast->file).run(),
                          hir.shared_bytes,
                          hir.barriers,
                          hir.cluster_barrier,
                          hir.leaves_block,
                          hir.parameter_copies};
  hir = {};
  tidy(made.code, hopper_code, share);
  return made;
}

/// From Fermi on R1 is the stack pointer. From Volta on two registers are counted beyond the highest.
register_rules rules_of(const gpu_config& gpu, unsigned limit) {
  register_rules r;
  const int major = compute_capability(gpu) / 10;
  r.limit = limit;
  r.free_of_cost = gpu.sm.registers / std::max(gpu.sm.max_warps * isa::warp_size, 1u) / 8 *
                   8;  // with so many the SM holds all its warps
  r.step = std::clamp(gpu.sm.register_allocation_unit / isa::warp_size, 1u, 8u);
  r.banks = gpu.sub_partition.register_banks;
  r.stack_pointer = major >= 2;
  r.beyond = major >= 7 ? 2 : 0;
  return r;
}

code_rules code_rules_of(const gpu_config& gpu) {
  const int major = compute_capability(gpu) / 10;
  code_rules r;
  r.stack_pointer = major >= 2;
  r.descriptor = major >= 8;
  r.exits_apart = has_hopper_code(gpu);
  r.convergence = major >= 8   ? convergence_code::barriers
                  : major == 7 ? convergence_code::saved_barriers
                               : convergence_code::none;
  return r;
}

/// Puts the instructions into the order that pays most. Where the registers of the natural one keep warps off an SM,
/// ptxas (for Volta and later) goes back by whole units in which registers are handed out: on 8.0 it counts between 33
/// and 39 for 19 of 906 kernels, and 32 for 194, many of which wait for memory twice as often as they would with 40. So
/// do orders that take fewer units here, if a warp alone does not take more than twice as long.
void schedule_for_occupancy(machine_function& f, const register_rules& rules, const schedule_freedom& most = {}) {
  constexpr std::size_t most_instructions = 8192, whole = 1000;  // each order takes time
  constexpr int stride = 4, tries = 8;                           // words
  constexpr double most_slower = 2;
  std::size_t instructions = 0;
  for (const machine_block& b : f.blocks) instructions += b.code.size();
  const machine_function as_written = f;
  schedule_planner planner(as_written, rules);
  const schedule_plan natural = planner.plan(0, most);
  f = in_order(as_written, natural);
  const unsigned needed = registers_needed(f, rules);
  if (rules.beyond == 0 || needed <= rules.free_of_cost || natural.words == 0 || instructions > most_instructions)
    return;
  const auto units = [&](unsigned registers) {
    return std::max((registers + rules.step - 1) / rules.step * rules.step, rules.free_of_cost);
  };
  unsigned least = units(needed);
  double best = natural.cycles;
  std::set<std::vector<std::uint32_t>> tried;
  // Few words live at a time, or instructions that stay near where they were written: there their operands are.
  for (const schedule_freedom freedom : {schedule_freedom{}, {whole, false}, {64, true}, {32, true}, {16, true}})
    for (int k = freedom.reach == whole && freedom.needed_first ? 1 : 0; k <= tries && natural.words > stride * k;
         ++k) {
      const schedule_plan tight = planner.plan(natural.words - stride * k, freedom);
      const auto pays = [&](unsigned registers) {
        return registers < units(needed) ? tight.cycles <= most_slower * natural.cycles
                                         : tight.cycles <= natural.cycles;
      };
      if (!pays(rules.free_of_cost) || !tried.insert(tight.order).second) continue;
      machine_function attempt = in_order(as_written, tight);
      const unsigned registers = registers_needed(attempt, rules);
      if (registers == 0 || !pays(units(registers)) || units(registers) > least) continue;
      if (units(registers) == least && (tight.cycles >= best || least == units(needed))) continue;
      least = units(registers);
      best = tight.cycles;
      f = std::move(attempt);
    }
}

/// Values that serve again live long, and so do those of loads that come in the order of need. Where some are spilled,
/// the kernel is lowered without the one or the other, and kept so if that spills less.
void spill_less(const loaded_module& m, const ast_function& kernel, const gpu_config& gpu, const register_rules& rules,
                machine_function& code, register_allocation& allocation) {
  schedule_freedom as_ready;
  as_ready.needed_first = false;
  for (const bool share : {true, false}) {
    machine_function other = std::move(select_instructions(m, kernel, gpu, share).code);
    if (rules.limit >= 255) ignore_register_changes(other);
    schedule_for_occupancy(other, rules, as_ready);
    register_allocation of_other;
    if (!allocate_registers(other, rules, of_other) || other.local_bytes >= code.local_bytes) continue;
    code = std::move(other);
    allocation = std::move(of_other);
  }
}

/// Where registers keep warps off an SM, ptxas loads constants again in each block that reads them, for 9.0 and later:
/// an instruction more, for a register or two less.
void reload_for_occupancy(machine_function unscheduled, const register_rules& rules, machine_function& code,
                          register_allocation& allocation) {
  if (allocation.registers <= rules.free_of_cost || !reload_constants(unscheduled)) return;
  const std::uint32_t local_bytes = unscheduled.local_bytes;
  schedule_for_occupancy(unscheduled, rules);
  register_allocation other;
  if (!allocate_registers(unscheduled, rules, other) || unscheduled.local_bytes != local_bytes) return;
  const auto units = [&](unsigned registers) { return (registers + rules.step - 1) / rules.step; };
  if (std::max(units(other.registers), units(rules.free_of_cost)) >= units(allocation.registers)) return;
  code = std::move(unscheduled);
  allocation = std::move(other);
}

/// With how many registers a function that does not go with those of `rules` can do.
std::string least_registers(const machine_function& f, register_rules rules) {
  for (++rules.limit; rules.limit <= 255; ++rules.limit) {
    machine_function attempt = in_order(f, schedule_planner(f, rules).plan());
    register_allocation allocation;
    if (allocate_registers(attempt, rules, allocation)) return ", expected at least " + std::to_string(rules.limit);
  }
  return "";
}

}  // namespace

std::vector<std::string> kernels(const ast_module& m) {
  std::vector<std::string> names;
  for (const ast_function& f : m.functions)
    if (f.is_entry && f.has_body) names.push_back(f.name);
  return names;
}

bool calls_malloc(const ast_module& m) {
  return std::any_of(m.functions.begin(), m.functions.end(),
                     [](const ast_function& f) { return f.name == "malloc" && !f.has_body; });
}

namespace {

std::shared_ptr<const isa::program> lower_kernel(const loaded_module& m, const std::string& kernel,
                                                 const gpu_config& gpu, unsigned max_registers) {
  const ast_function& function = find_kernel(*m.ast, kernel);
  auto p = std::make_shared<isa::program>();
  p->kernel = kernel;
  p->file = m.ast->file;
  p->source = m.ast->source;
  add_parameters(*p, function, m.ast->file);
  p->narrow_addresses = m.ast->address_size == 32;
  std::copy(std::begin(function.max_threads), std::end(function.max_threads), std::begin(p->max_threads));
  std::copy(std::begin(function.required_threads), std::end(function.required_threads),
            std::begin(p->required_threads));
  std::copy(std::begin(function.required_cluster), std::end(function.required_cluster),
            std::begin(p->required_cluster));
  p->most_cluster_blocks = function.max_cluster_rank;
  p->needs_cluster = function.explicit_cluster;
  p->grid_of_clusters = function.blocks_are_clusters;

  unscheduled_kernel selected = select_instructions(m, function, gpu);
  machine_function machine = std::move(selected.code);
  const unsigned ceiling = register_limit(gpu, function, max_registers);
  if (ceiling >= 255) ignore_register_changes(machine);
  const unsigned taken = most_registers_taken(machine);
  const register_rules rules = rules_of(gpu, std::max(ceiling, taken));
  const machine_function unscheduled = has_hopper_code(gpu) ? machine : machine_function();
  schedule_for_occupancy(machine, rules);
  register_allocation allocation;
  const std::uint32_t own_bytes = machine.local_bytes;
  const bool fits = allocate_registers(machine, rules, allocation);
  if (fits && machine.local_bytes != own_bytes) spill_less(m, function, gpu, rules, machine, allocation);
  else if (fits) reload_for_occupancy(unscheduled, rules, machine, allocation);
  if (!fits)
    throw input_error(m.ast->file, function.where.line, function.where.column,
                      "kernel '" + kernel + "' cannot be compiled with " + std::to_string(rules.limit) +
                          " registers per thread" + least_registers(select_instructions(m, function, gpu).code, rules));
  verify_allocation(machine, allocation);
  if (has_hopper_code(gpu)) {
    load_uniform_constants(machine);
    count_slow_paths(machine);
  }

  p->code = emit(machine, allocation, code_rules_of(gpu));
  balance_pipes(p->code, gpu);
  p->bank2.resize(8 * machine.literals.size());
  if (!p->bank2.empty()) std::memcpy(p->bank2.data(), machine.literals.data(), p->bank2.size());
  p->registers = taken != 0 ? ceiling : allocation.registers;  // warps begin with what the kernel may have
  if (taken != 0) p->most_registers = std::max(allocation.registers, ceiling);
  p->shared_bytes = selected.shared_bytes;
  if (machine.local_bytes != own_bytes) {
    p->spill_bytes = machine.local_bytes - own_bytes;
    p->register_limit = rules.limit;
    p->register_limit_of = max_registers != 0 ? "registers_per_thread" : limiting_directive(gpu, function);
  }
  p->local_bytes = (machine.local_bytes + 7) / 8 * 8;
  p->barriers = selected.barriers;
  p->cluster_barrier = selected.cluster_barrier;
  p->leaves_block = selected.leaves_block;
  p->parameter_copies = std::move(selected.parameter_copies);
  return p;
}

}  // namespace

std::shared_ptr<const isa::program> lower(const loaded_module& m, const std::string& kernel, const gpu_config& gpu,
                                          unsigned max_registers) {
  try {
    return lower_kernel(m, kernel, gpu, max_registers);
  } catch (const malformed_code& e) {
    throw malformed_code(with_own_places(*m.ast, e.what()));
  } catch (const input_error& e) {
    throw input_error(with_own_places(*m.ast, e.what()));
  }
}

}  // namespace heddle::ptx
