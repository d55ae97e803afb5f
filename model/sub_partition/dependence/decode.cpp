// SPDX-License-Identifier: MIT
#include "heddle/sub_partition/dependence/decode.h"

#include <algorithm>
#include <string>

#include "heddle/config/error.h"
#include "heddle/isa/matrix.h"
#include "heddle/isa/op_class.h"
#include "heddle/simt/warp/divergence.h"
#include "heddle/sub_partition/dependence/control_codes.h"
#include "heddle/sub_partition/dependence/crossings.h"
#include "heddle/sub_partition/dependence/tensor_times.h"

namespace heddle {

namespace {

bool arrives_at_barrier(isa::opcode op) { return op == isa::opcode::bar || op == isa::opcode::ucgabar_arv; }

/// Chips with few fp64 units convert from and to 64-bit types in them.
bool is_converted_by_fp64(isa::op_class c, const isa::instruction& i, const gpu_config& g) {
  return c == isa::op_class::conversion && g.fp64.conversion_lanes != 0 &&
         std::max(isa::size_of(i.type), isa::size_of(i.src_type)) == 8;
}

class_timing timing_of(isa::op_class c, const isa::instruction& i, const gpu_config& g) {
  using k = isa::op_class;
  switch (c) {
    case k::fp32_add: return {g.fp32.lanes, g.fp32.latency_cycles};
    case k::fp32_minmax: return {g.fp32.minmax_lanes, g.fp32.minmax_latency_cycles};
    case k::fp32_compare: return {g.fp32.compare_lanes, g.fp32.compare_latency_cycles};
    case k::int_add:
    case k::vote: return {g.integer.lanes, g.integer.latency_cycles};
    case k::int_shift: return {g.integer.shift_lanes, g.integer.shift_latency_cycles};
    case k::int_multiply:
      return {i.wide || i.high ? g.integer.wide_multiply_lanes : g.integer.multiply_lanes,
              g.integer.multiply_latency_cycles};
    case k::int_minmax: return {g.integer.minmax_lanes, g.integer.minmax_latency_cycles};
    case k::int_compare: return {g.integer.compare_lanes, g.integer.compare_latency_cycles};
    case k::special_register: return {g.integer.special_register_lanes, g.integer.special_register_latency_cycles};
    case k::fp64_add: return {g.fp64.lanes, g.fp64.latency_cycles};
    case k::fp64_fma: return {g.fp64.lanes, g.fp64.fma_latency_cycles};
    case k::fp64_compare: return {g.fp64.compare_lanes, g.fp64.compare_latency_cycles};
    case k::half_add: return {g.half.lanes, g.half.latency_cycles};
    case k::half_compare: return {g.half.compare_lanes, g.half.compare_latency_cycles};
    case k::sfu: return {g.sfu.lanes, g.sfu.latency_cycles};
    case k::bit_count: return {g.sfu.bit_count_lanes, g.sfu.bit_count_latency_cycles};
    case k::bit_scan: return {g.sfu.bit_scan_lanes, g.sfu.bit_scan_latency_cycles};
    case k::conversion:
      if (is_converted_by_fp64(c, i, g)) return {g.fp64.conversion_lanes, g.fp64.latency_cycles};
      return {g.sfu.conversion_lanes, g.sfu.conversion_latency_cycles};
    case k::load_store: return {static_cast<double>(isa::warp_size) / g.ldst.issue_interval_cycles, 0};
    case k::shuffle: return {g.ldst.shuffle_lanes, g.ldst.shuffle_latency_cycles};
    case k::branch:
      return {arrives_at_barrier(i.op) ? g.branch.barrier_lanes : isa::warp_size, g.branch.latency_cycles};
    case k::texture: return {g.texture.lanes, 0};
    case k::tensor: return tensor_timing(i, g);
    case k::count: break;
  }
  return {0, 1};
}

void execute_nothing(const isa::instruction&, simt::warp_state&, simt::lane_mask) {}

// If a core executes both, integer instructions use the fp32 lanes, slower ones for more cycles. From Volta on two
// pipes share the work: one adds and multiplies floats and multiplies integers, the other does the rest.
isa::unit unit_of(isa::op_class c, const isa::instruction& i, const gpu_config& g) {
  if (is_converted_by_fp64(c, i, g)) return isa::unit::fp64;
  if (g.integer.multiply_on_fp32 && c == isa::op_class::int_multiply) return isa::unit::fp32;
  if (g.fp32.compare_on_int && (c == isa::op_class::fp32_minmax || c == isa::op_class::fp32_compare))
    return isa::unit::integer;
  const isa::unit own = isa::unit_of(c);
  const bool by_core = own == isa::unit::integer && c != isa::op_class::special_register;
  return g.integer.on_fp32_lanes && by_core ? isa::unit::fp32 : own;
}

// Instructions below a core's full rate run only on the sub-partition's own lanes.
lane_use use_of_shared_lanes(const decoded_instruction& d, double lanes, const gpu_config& g) {
  if (d.unit != isa::unit::fp32 || g.fp32.shared_lanes == 0) return lane_use::none;
  if (d.timing == isa::op_class::fp32_add) return lane_use::any;
  return lanes >= g.integer.lanes ? lane_use::general : lane_use::none;
}

// Conversions that are no longer special functions: Volta widens halves as they are added, Ampere's integer pipe packs
// floats, from 8.6 on it converts integers, too.
isa::op_class class_of(const isa::instruction& i, const gpu_config& g) {
  using isa::dtype;
  const bool floats = i.src_type == dtype::f32, to_floats = i.type == dtype::f32;
  const bool to_halves =
      i.type == dtype::f16 || i.type == dtype::f16x2 || i.type == dtype::bf16 || i.type == dtype::bf16x2;
  if (i.op == isa::opcode::f2f && g.integer.packs_halves && floats && to_halves) return isa::op_class::int_add;
  if (i.op == isa::opcode::f2f && g.half.widens && to_floats && i.src_type == dtype::f16)
    return isa::op_class::half_add;
  const bool integers = i.src_type == dtype::s32 || i.src_type == dtype::u32;
  if (i.op == isa::opcode::i2f && g.integer.converts_integers && to_floats && integers) return isa::op_class::int_add;
  return isa::info(i.op).timing;
}

// An instruction of a trace whose unit the GPU lacks runs on the nearest unit that it has.
isa::op_class stand_in(isa::op_class c, const isa::instruction& i, const gpu_config& g) {
  while (c != isa::op_class::fp32_add && timing_of(c, i, g).lanes <= 0) c = isa::info(c).stand_in;
  return c;
}

lsu_kind access_of(const isa::instruction& i) {
  using isa::access_kind;
  switch (isa::info(i.op).access) {
    case access_kind::store: return lsu_kind::store;
    case access_kind::atomic: return lsu_kind::atomic;
    case access_kind::reduction: return lsu_kind::reduction;
    case access_kind::constant_load: return lsu_kind::constant_load;
    case access_kind::none:
    case access_kind::load:
    case access_kind::matrix_load:
    case access_kind::copy:
    case access_kind::sample:
    case access_kind::surface_load:
    case access_kind::surface_store: break;
  }
  return lsu_kind::load;
}

issue_kind kind_of(isa::opcode op) {
  using isa::flow_kind;
  const isa::opcode_info& about = isa::info(op);
  switch (about.flow) {
    case flow_kind::none: break;
    case flow_kind::branch: return issue_kind::branch;
    case flow_kind::exit: return issue_kind::exit;
    case flow_kind::barrier: return issue_kind::barrier;
    case flow_kind::fence: return issue_kind::fence;
    case flow_kind::sleep: return issue_kind::sleep;
    case flow_kind::trap: return issue_kind::trap;
    case flow_kind::system_call: return issue_kind::system_call;
    case flow_kind::copy_commit: return issue_kind::copy_commit;
    case flow_kind::copy_wait: return issue_kind::copy_wait;
    case flow_kind::product_fence: return issue_kind::product_fence;
    case flow_kind::product_commit: return issue_kind::product_commit;
    case flow_kind::product_wait: return issue_kind::product_wait;
    case flow_kind::register_change: return issue_kind::register_change;
    case flow_kind::bulk_copy: return issue_kind::bulk_copy;
  }
  return about.access == isa::access_kind::none ? issue_kind::arithmetic : issue_kind::memory;
}

void add_dependence(decoded_instruction& d, unsigned reg) {
  if (reg == isa::rz) return;
  for (unsigned i = 0; i < d.depends_count; ++i)
    if (d.depends[i] == reg) return;
  invariant(d.depends_count < sizeof d.depends, "an instruction names more registers than the scoreboard has ports");
  d.depends[d.depends_count++] = static_cast<std::uint8_t>(reg);
}

void collect_dependences(decoded_instruction& d) {
  const isa::instruction& i = *d.instruction;
  // More accumulators than an instruction names registers otherwise.
  const bool many = d.kind == issue_kind::product || (isa::is_warpgroup_product(i.op) && i.dst_count > 8);
  if (many && i.dst != isa::rz) d.accumulators = i.dst_count;
  for (const isa::operand& o : i.src) {
    const bool accumulators = many && &o == &i.src[2];
    if (o.is_reg() && o.reg != isa::rz && !accumulators)
      for (unsigned k = 0; k < o.count; ++k) add_dependence(d, o.reg + k);
    if (o.kind == isa::operand_kind::constant && !d.has_constant) {
      d.has_constant = true;
      d.constant_bank = o.bank;
      d.constant_offset = static_cast<std::uint32_t>(o.value);
    }
  }
  if (i.dst != isa::rz && !many)
    for (unsigned k = 0; k < i.dst_count; ++k) add_dependence(d, i.dst + k);
  auto use = [&](std::uint8_t p) {
    if (p != isa::pt) d.predicates |= static_cast<std::uint8_t>(1u << p);
  };
  use(i.guard.reg);
  for (const auto& p : i.psrc) use(p.reg);
  for (const auto p : i.pdst) {
    use(p);
    if (p != isa::pt) d.written_predicates |= static_cast<std::uint8_t>(1u << p);
  }
}

// True if the source's register was read for the same operand of the preceding instruction and not overwritten by it.
bool reused(const isa::instruction* before, const isa::operand& o, std::size_t place) {
  if (before == nullptr || o.count != 1) return false;
  const isa::operand& b = before->src[place];
  const bool overwritten = before->dst != isa::rz && o.reg >= before->dst && o.reg < before->dst + before->dst_count;
  return b.is_reg() && b.count == 1 && b.reg == o.reg && !overwritten;
}

// One operand per bank and cycle (a bank of 8 bytes reads two): cycles beyond `read_cycles` if sources conflict in a
// bank. `before`: the instruction whose operands are in the reuse cache, or null.
unsigned conflict_cycles_of(const isa::instruction& i, const sub_partition_parameters& p,
                            const isa::instruction* before, unsigned read_cycles) {
  constexpr unsigned most_banks = most_register_banks, most_sources = 16;
  unsigned reads[most_banks] = {};
  unsigned seen[most_sources];
  unsigned n = 0;
  const unsigned banks = p.register_banks;
  invariant(banks <= most_banks, "more register banks than their conflicts can be counted for");
  for (std::size_t place = 0; place < i.src.size(); ++place) {
    const isa::operand& o = i.src[place];
    if (!o.is_reg() || o.reg == isa::rz || reused(before, o, place)) continue;
    for (unsigned k = 0; k < o.count && n < most_sources; ++k) {
      const unsigned r = o.reg + k;
      if (std::find(seen, seen + n, r) != seen + n) continue;
      seen[n++] = r;
      ++reads[r % banks];
    }
  }
  const unsigned per_cycle = std::max(1u, p.register_bank_bytes / 4);
  unsigned worst = read_cycles;
  for (unsigned b = 0; b < banks; ++b) worst = std::max(worst, (reads[b] + per_cycle - 1) / per_cycle);
  return worst - read_cycles;
}

// Class of an instruction's result. Special functions, conversions, shuffles and special registers go through the queue
// to units that the sub-partitions share (Nsight's MIO: XU and LSU). So do instructions for a unit that the SM has
// once: according to maxas a barrier, not a stall count, guards their results.
producer result_of(const decoded_instruction& d, const gpu_config& g) {
  if (d.kind == issue_kind::memory)
    return d.global_access || d.unit == isa::unit::texture ? producer::long_latency : producer::short_latency;
  const bool queued =
      d.unit == isa::unit::sfu || d.unit == isa::unit::ldst || d.timing == isa::op_class::special_register;
  return queued || is_shared(d.unit, g) ? producer::short_latency : producer::fixed;
}

bool reads_registers(const isa::instruction& i) {
  return std::any_of(i.src.begin(), i.src.end(), [](const isa::operand& o) { return o.is_reg() && o.reg != isa::rz; });
}

// Cycles from the issue of a memory instruction until it has read its registers.
unsigned source_read_cycles(const isa::instruction& i, const ldst_parameters& p) {
  if (!reads_registers(i)) return 0;
  const isa::access_kind access = isa::info(i.op).access;
  const bool writes = access == isa::access_kind::store || access == isa::access_kind::reduction ||
                      access == isa::access_kind::surface_store;
  const bool shared = i.mem_space == isa::space::shared;
  if (access == isa::access_kind::constant_load) return p.constant_read_latency_cycles;
  // A copy reads one register of addresses more than a load, as a load reads one more than a load of shared memory.
  if (access == isa::access_kind::copy)
    return 2 * p.load_read_latency_cycles - std::min(p.shared_load_read_latency_cycles, p.load_read_latency_cycles);
  if (!writes) return shared ? p.shared_load_read_latency_cycles : p.load_read_latency_cycles;
  const unsigned first = shared ? p.shared_store_read_latency_cycles : p.store_read_latency_cycles;
  return first + p.store_read_cycles_per_word * (std::max(1u, simt::access_bytes(i) / 4) - 1);
}

bool can_wait(const isa::instruction& i) {
  const isa::opcode_info& row = isa::info(i.op);
  return row.access == isa::access_kind::atomic || row.flow == isa::flow_kind::sleep || i.op == isa::opcode::syncs ||
         (row.access == isa::access_kind::load &&
          (i.cache == isa::cache_op::volatile_ || i.cache == isa::cache_op::cv));
}

// Properties that matter only to warps with independent lanes.
void mark_convergence(decoded_program& p) {
  const std::vector<back_edge> edges = back_edges(*p.program);
  for (std::size_t k = 0; k < p.code.size(); ++k) {
    decoded_instruction& d = p.code[k];
    const isa::instruction& i = *d.instruction;
    const isa::operand* members = simt::member_operand(i);
    d.synchronises = members != nullptr && members->kind != isa::operand_kind::none;
    if (!p.program->follows) d.edge = edges[k];
  }
}

}  // namespace

// Every loop in the control flow contains a backward branch that spans all of its instructions.
std::vector<back_edge> back_edges(const isa::program& p) {
  std::vector<std::uint32_t> waiting(p.code.size() + 1, 0);  // number of such instructions before each one
  for (std::size_t k = 0; k < p.code.size(); ++k) waiting[k + 1] = waiting[k] + can_wait(p.code[k]);
  std::vector<back_edge> edges(p.code.size(), back_edge::none);
  for (std::size_t k = 0; k < p.code.size(); ++k) {
    const isa::instruction& i = p.code[k];
    if (i.op == isa::opcode::bra && i.target <= k)
      edges[k] = waiting[k + 1] != waiting[i.target] ? back_edge::waits : back_edge::plain;
  }
  return edges;
}

namespace {

// When the registers that the instruction reads and writes are free and available.
void set_register_times(decoded_instruction& d, const gpu_config& config) {
  const isa::instruction& i = *d.instruction;
  if (config.sub_partition.guard_latency_cycles != 0) {
    const std::uint8_t early = d.timing == isa::op_class::vote ? i.psrc[0].reg : isa::pt;
    d.guards = static_cast<std::uint8_t>((1u << i.guard.reg | 1u << early) & ~(1u << isa::pt));
    // A result that comes through a queue is available to guards and other uses at the same time.
    if (d.written_predicates != 0 && d.result == producer::fixed)
      d.guard_cycles = narrow<std::uint8_t>(config.sub_partition.guard_latency_cycles);
  }
  if (i.op == isa::opcode::ldc) {
    if (reads_registers(i)) d.index_cycles = narrow<std::uint16_t>(config.constant_cache.index_cycles);
  } else if (d.kind == issue_kind::memory && d.unit == isa::unit::ldst) {
    d.return_interval = narrow<std::uint16_t>(config.ldst.return_interval_cycles);
    const bool shared = i.mem_space == isa::space::shared;
    d.return_words = narrow<std::uint8_t>(shared ? config.ldst.shared_return_words : config.ldst.return_words);
  }
  if (d.kind == issue_kind::memory) d.source_read_cycles = source_read_cycles(i, config.ldst);
}

// The instruction's timing, given its class.
void set_unit_times(decoded_instruction& d, const isa::program& program, const gpu_config& config) {
  const isa::instruction& i = *d.instruction;
  d.unit = unit_of(d.timing, i, config);
  const class_timing t = timing_of(d.timing, i, config);
  if (t.lanes <= 0)
    throw input_error(program.file, i.line, i.column,
                      std::string("'") + isa::info(i.op).mnemonic + "' has no unit on " + config.gpu.name +
                          " (compute capability " + compute_capability_text(config) + ")");
  const double lanes = is_shared(d.unit, config) ? t.lanes * config.sm.sub_partitions : t.lanes;
  d.initiation_cycles = warp_cycles(lanes);
  d.latency_cycles = t.latency;
  d.partner = d.unit == isa::unit::ldst || d.unit == isa::unit::texture || d.unit == isa::unit::sfu;
  d.shared_use = use_of_shared_lanes(d, t.lanes, config);
}

void set_access(decoded_instruction& d) {
  const isa::instruction& i = *d.instruction;
  d.global_access = d.kind == issue_kind::memory && i.op != isa::opcode::ldc && i.mem_space != isa::space::shared &&
                    i.mem_space != isa::space::constant;
  if (d.kind == issue_kind::memory && d.unit == isa::unit::ldst) {
    d.access = access_of(i);
    d.access_bytes = narrow<std::uint8_t>(simt::access_bytes(i));
    d.read_only = i.cache == isa::cache_op::nc;
    d.bypass_l1 = i.cache == isa::cache_op::cg || i.cache == isa::cache_op::cv || i.cache == isa::cache_op::volatile_;
  }
  d.cached_load = d.global_access && (i.op == isa::opcode::ld || i.op == isa::opcode::ldgsts) && !d.bypass_l1;
}

// Bank conflicts of an arithmetic instruction. `before`: the instruction before it in the program; null: none.
void set_bank_conflicts(decoded_instruction& d, const decoded_instruction* before, const gpu_config& config) {
  const isa::instruction& i = *d.instruction;
  const bool keeps = config.sub_partition.reuse_cache && before != nullptr && before->kind == issue_kind::arithmetic;
  // Matrices are read during the cycles in which the tensor unit accepts them.
  const unsigned read_cycles = d.timing == isa::op_class::tensor ? d.initiation_cycles : 1;
  d.bank_conflicts = narrow<std::uint8_t>(conflict_cycles_of(i, config.sub_partition, nullptr, read_cycles));
  d.bank_conflicts_after = narrow<std::uint8_t>(
      conflict_cycles_of(i, config.sub_partition, keeps ? before->instruction : nullptr, read_cycles));
}

}  // namespace

std::shared_ptr<const decoded_program> decode(const std::shared_ptr<const isa::program>& program,
                                              const gpu_config& config, std::uint64_t code_address) {
  auto result = std::make_shared<decoded_program>();
  result->program = program;
  result->code_address = code_address;
  result->code.reserve(program->code.size());
  const bool recorded = !program->timing.empty();
  for (const isa::instruction& i : program->code) {
    decoded_instruction d;
    d.instruction = &i;
    d.execute = recorded || program->follows ? execute_nothing : simt::select(i);
    d.kind = kind_of(i.op);
    d.timing = recorded ? stand_in(program->timing[result->code.size()], i, config) : class_of(i, config);
    set_unit_times(d, *program, config);
    d.guard = i.guard;
    if (d.timing == isa::op_class::tensor) set_product(d, config, recorded);
    set_access(d);
    d.result = result_of(d, config);
    collect_dependences(d);
    for (unsigned k = 0; k < d.depends_count; ++k)
      result->scoreboard_registers = std::max(result->scoreboard_registers, d.depends[k] + 1u);
    if (d.accumulators != 0)
      result->scoreboard_registers = std::max(result->scoreboard_registers, 0u + i.dst + d.accumulators);
    set_register_times(d, config);
    if (d.kind == issue_kind::arithmetic)
      set_bank_conflicts(d, result->code.empty() ? nullptr : &result->code.back(), config);
    result->code.push_back(d);
    result->accesses.push_back(result->access_count);
    result->access_count += accesses_memory(d);
  }
  lengthen_crossings(*result, config.sub_partition.crossing_latency_cycles);
  // A trace does not hold the control codes of its chip.
  result->control_codes = config.sub_partition.dependence == choice::dependence::software && !recorded;
  if (result->control_codes) assign_control_codes(*result, config.sub_partition, config.ldst.operand_latency_cycles);
  if (config.context.saved_registers == choice::saved_registers::live && !recorded && !program->follows)
    result->live = isa::live_registers(*result->program);
  if (config.sub_partition.divergence == choice::divergence::independent && !recorded) mark_convergence(*result);
  return result;
}

}  // namespace heddle
