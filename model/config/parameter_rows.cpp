// SPDX-License-Identifier: MIT
// One row per parameter: member, key, range and unit of a number or the names of a choice, and a sentence. The limits
// are those of the machine model (a warp mask has 64 bits) or wide enough for any conceivable chip, and narrow enough
// to bound the memory that the model allocates.
#include "heddle/config/parameter_rows.h"

#include <initializer_list>
#include <type_traits>
#include <utility>

namespace heddle {
namespace {

using unit = parameter_unit;
using form = numeric_range::form;

constexpr numeric_range powers_of_two(double lowest, double highest) { return {lowest, highest, form::powers_of_two}; }
constexpr numeric_range multiples_of_32(double lowest, double highest) {
  return {lowest, highest, form::multiples_of_32};
}

constexpr numeric_range latency{1, 100000};
constexpr numeric_range delay{0, 100000};  // for latencies that may be 0
constexpr numeric_range lanes{1.0 / 64, 128};
// Nothing between zero and the narrowest unit is allowed: an instruction would take millions of cycles.
constexpr numeric_range optional_lanes{1.0 / 64, 128, form::or_zero};
constexpr numeric_range multiply_adds{1.0 / 64, 65536, form::or_zero};
constexpr numeric_range entries{1, 65536};
constexpr numeric_range clock_mhz{1, 100000};
constexpr numeric_range port_bytes{1, 4096};
constexpr numeric_range shared_bytes{0, 16777216};
constexpr numeric_range cache_ways{1, 4096};

/// A row of the section whose parameters are the struct S.
template <class S>
struct row {
  parameter about;
  std::function<value_pointer(S&)> in;
};

template <class S, class T>
row<S> number(T S::*member, const char* key, const numeric_range& range, unit u, const char* description) {
  return {{"", key, description, u, range, {}, "", {}}, [member](S& s) -> value_pointer { return &(s.*member); }};
}
template <class S>
row<S> flag(bool S::*member, const char* key, const char* description) {
  return {{"", key, description, unit::none, {}, {}, "", {}}, [member](S& s) -> value_pointer { return &(s.*member); }};
}
template <class S>
row<S> text(std::string S::*member, const char* key, const char* description) {
  return {{"", key, description, unit::none, {}, {}, "", {}}, [member](S& s) -> value_pointer { return &(s.*member); }};
}
/// `names`: of the enumerators, starting with value 0.
template <class S, class E>
row<S> choice(E S::*member, const char* key, std::initializer_list<const char*> names, const char* description) {
  static_assert(std::is_same<std::underlying_type_t<E>, std::uint8_t>::value, "choices.h: enumerations are bytes");
  return {{"", key, description, unit::none, {}, {names.begin(), names.end()}, "", {}},
          [member](S& s) -> value_pointer { return choice_value{reinterpret_cast<std::uint8_t*>(&(s.*member))}; }};
}

template <class S>
std::vector<parameter> section(S gpu_config::*where, const char* name, std::vector<row<S>> rows) {
  std::vector<parameter> all;
  for (row<S>& r : rows) {
    r.about.section = name;
    r.about.in = [where, in = std::move(r.in)](gpu_config& config) { return in(config.*where); };
    all.push_back(std::move(r.about));
  }
  return all;
}

std::vector<parameter> gpu_rows() {
  using p = gpu_parameters;
  return section<p>(
      &gpu_config::gpu, "gpu",
      {text(&p::name, "name", "name of the configuration"),
       text(&p::compute_capability, "compute_capability", "compute capability, major.minor, such as 6.1"),
       number(&p::sm_count, "sm_count", {1, 1024}, unit::count, "streaming multiprocessors"),
       number(&p::core_clock_mhz, "core_clock_mhz", clock_mhz, unit::mhz, "SM clock; all cycles are of this clock"),
       number(&p::watchdog_cycles, "watchdog_cycles", {0, 4000000000}, unit::cycles,
              "when no block has begun or ended for so long, warps that only go round in circles end the run as a "
              "deadlock; 0: never")});
}

std::vector<parameter> cwd_rows() {
  using p = cwd_parameters;
  return section<p>(
      &gpu_config::cwd, "cwd",
      {number(&p::launch_latency_cycles, "launch_latency_cycles", delay, unit::cycles,
              "doorbell to the first block offered"),
       number(&p::dispatch_interval_cycles, "dispatch_interval_cycles", {1, 100000}, unit::cycles,
              "cycles between two dispatched blocks, on average"),
       number(
           &p::dispatch_latency_cycles, "dispatch_latency_cycles", latency, unit::cycles,
           "CWD to SM and back, each way, at least 1: what a block costs before its first and after its last instruction"),
       choice(&p::placement, "placement", {"breadth_first", "depth_first", "most_free"},
              "SM of the next block: the next one in turn | the first that has room | the one with the fewest blocks"),
       number(&p::max_resident_grids, "max_resident_grids", {1, 1024}, unit::count,
              "grids that may have blocks resident at one time")});
}

std::vector<parameter> sm_rows() {
  using p = sm_parameters;
  return section<p>(
      &gpu_config::sm, "sm",
      {number(&p::sub_partitions, "sub_partitions", {1, 16}, unit::count, "sub-partitions (warp schedulers)"),
       number(&p::max_threads, "max_threads", {32, 8192}, unit::count, "resident threads"),
       number(&p::max_warps, "max_warps", {1, 256}, unit::count, "resident warps (warp slots)"),
       number(&p::max_blocks, "max_blocks", {1, 1024}, unit::count, "resident blocks (CTA slots)"),
       number(&p::max_threads_per_block, "max_threads_per_block", {1, 1024}, unit::count, "threads of one block"),
       number(&p::registers, "registers", {32, 4194304}, unit::count, "32-bit registers"),
       number(&p::registers_per_block, "registers_per_block", {32, 4194304}, unit::count,
              "32-bit registers that one block may have"),
       number(&p::registers_per_thread, "registers_per_thread", {1, 255}, unit::count,
              "architectural limit per thread"),
       number(&p::register_allocation_unit, "register_allocation_unit", {1, 65536}, unit::count,
              "registers are allocated in multiples of this"),
       choice(&p::register_allocation, "register_allocation", {"warp", "block"},
              "what the allocation unit rounds: the registers of a warp | of a block"),
       number(&p::warp_allocation_granularity, "warp_allocation_granularity", {1, 64}, unit::count,
              "block allocation: warps of a block are counted in multiples of this"),
       number(&p::barriers_per_block, "barriers_per_block", {1, 16}, unit::count, "named barriers of one block"),
       number(&p::barriers, "barriers", {0, 65536}, unit::count, "named barriers of the SM, 0: enough for every block"),
       number(&p::barrier_latency_cycles, "barrier_latency_cycles", latency, unit::cycles,
              "last arrival at a barrier to the waiting warps' next issue"),
       choice(&p::warp_assignment, "warp_assignment", {"round_robin", "by_id"},
              "how a block's warps go to sub-partitions: in turn (round_robin) | by warp id (by_id)")});
}

std::vector<parameter> sub_partition_rows() {
  using p = sub_partition_parameters;
  return section<p>(
      &gpu_config::sub_partition, "sub_partition",
      {choice(&p::scheduler, "scheduler",
#define HEDDLE_X(name, policy) #name,
              {HEDDLE_SCHEDULING_POLICIES(HEDDLE_X)},
#undef HEDDLE_X
              "the scheduling policy, see [scheduling](scheduling.md)"),
       number(&p::issue_width, "issue_width", {1, 2}, unit::count,
              "consecutive instructions of the selected warp issued per cycle, 1 or 2"),
       choice(&p::dual_issue, "dual_issue", {"none", "any", "maxwell"},
              "pairing rule: none | any (two free units) | maxwell (one of the pair memory or quarter rate)"),
       number(&p::instruction_buffer_entries, "instruction_buffer_entries", {1, 64}, unit::count,
              "decoded instructions buffered per warp"),
       number(&p::fetch_latency_cycles, "fetch_latency_cycles", latency, unit::cycles,
              "instruction cache hit to instruction buffer"),
       number(&p::register_banks, "register_banks", {1, p::most_register_banks}, unit::count,
              "register file banks, bank = register % banks"),
       number(&p::register_bank_bytes, "register_bank_bytes", powers_of_two(4, 8), unit::bytes,
              "4: one 32-bit operand per bank and cycle; 8: two"),
       number(&p::register_write_ports, "register_write_ports", {0, 8}, unit::count,
              "results that a bank takes in a cycle; those of loads wait for those of fixed latency; 0: any number"),
       choice(&p::operand_read, "operand_read", {"collector", "window"},
              "conflicts in banks: collector (operands are gathered while others issue) | window (nothing issues "
              "meanwhile), see [pipeline](pipeline.md)"),
       flag(&p::reuse_cache, "reuse_cache",
            "a source register that the warp's instruction right before read for the same operand needs no bank"),
       choice(
           &p::dependence, "dependence", {"scoreboard", "software"},
           "scoreboard: of registers | software: stall counts and six counters a warp, set when a kernel is lowered; "
           "recorded kernels have the scoreboard"),
       number(&p::guard_latency_cycles, "guard_latency_cycles", {0, 15}, unit::cycles,
              "cycles that an instruction waits longer for its guard, and a vote for its predicate, than others for a "
              "predicate that they compute with"),
       number(&p::fetch_group_warps, "fetch_group_warps", {1, 64}, unit::count,
              "two_level, prefetch_aware: warps of one fetch group"),
       number(&p::ccws_victim_tags, "ccws_victim_tags", {1, 1024}, unit::count,
              "ccws: lost lines that are remembered per warp"),
       number(&p::ccws_base_score, "ccws_base_score", {1, 65536}, unit::count,
              "ccws: score of a warp that has lost no locality, per warp of the stack's height"),
       number(&p::ccws_throttle, "ccws_throttle", {0, 65536}, unit::count,
              "ccws: weight of lost locality in the score"),
       choice(&p::divergence, "divergence", {"stack", "independent"},
              "stack: a reconvergence stack per warp | independent: a program counter per lane, see "
              "[divergence](divergence.md)"),
       number(&p::convergence_patience_iterations, "convergence_patience_iterations", {1, 65536}, unit::count,
              "independent: turns of a loop with atomics or volatile loads before lanes that wait behind it go on "
              "alone"),
       flag(&p::states_by_warp, "states_by_warp",
            "count warp_cycles and warp_states for each warp id as well (metrics: sms[].warp_slots)")});
}

std::vector<parameter> fp32_rows() {
  using p = fp32_parameters;
  return section<p>(
      &gpu_config::fp32, "fp32",
      {number(&p::lanes, "lanes", lanes, unit::per_cycle,
              "results per cycle and sub-partition of add, multiply and fma"),
       number(&p::latency_cycles, "latency_cycles", latency, unit::cycles,
              "dependent-issue latency of add, multiply and fma"),
       number(&p::minmax_lanes, "minmax_lanes", lanes, unit::per_cycle,
              "results per cycle and sub-partition of min and max"),
       number(&p::minmax_latency_cycles, "minmax_latency_cycles", latency, unit::cycles,
              "dependent-issue latency of min and max"),
       number(&p::compare_lanes, "compare_lanes", lanes, unit::per_cycle,
              "results per cycle and sub-partition of compares, to predicate or register"),
       number(&p::compare_latency_cycles, "compare_latency_cycles", latency, unit::cycles,
              "dependent-issue latency of compares"),
       number(&p::shared_lanes, "shared_lanes", multiples_of_32(0, 128), unit::lanes,
              "lanes of the SM that sub-partitions share, for the second fp32 instruction of a pair: a multiple of "
              "32")});
}

std::vector<parameter> integer_rows() {
  using p = int_parameters;
  return section<p>(
      &gpu_config::integer, "int",
      {number(&p::lanes, "lanes", lanes, unit::per_cycle,
              "results per cycle and sub-partition of add, logic, move and select"),
       number(&p::latency_cycles, "latency_cycles", latency, unit::cycles,
              "dependent-issue latency of add, logic, move and select"),
       number(&p::shift_lanes, "shift_lanes", lanes, unit::per_cycle,
              "results per cycle and sub-partition of shifts and bit fields"),
       number(&p::shift_latency_cycles, "shift_latency_cycles", latency, unit::cycles,
              "dependent-issue latency of shifts and bit fields"),
       choice(&p::multiplier, "multiplier", {"imad", "xmad"},
              "how integers are multiplied: by imad, 32-bit multiply-add | by xmad, 16-bit multiply-add, to which "
              "lowering expands"),
       number(&p::multiply_lanes, "multiply_lanes", lanes, unit::per_cycle,
              "results per cycle and sub-partition of multiply-add"),
       number(&p::multiply_latency_cycles, "multiply_latency_cycles", latency, unit::cycles,
              "dependent-issue latency of multiply-add"),
       number(&p::minmax_lanes, "minmax_lanes", lanes, unit::per_cycle,
              "results per cycle and sub-partition of min, max and absolute difference"),
       number(&p::minmax_latency_cycles, "minmax_latency_cycles", latency, unit::cycles,
              "dependent-issue latency of min, max and absolute difference"),
       number(&p::compare_lanes, "compare_lanes", lanes, unit::per_cycle,
              "results per cycle and sub-partition of compares to predicate"),
       number(&p::compare_latency_cycles, "compare_latency_cycles", latency, unit::cycles,
              "dependent-issue latency of compares to predicate"),
       number(&p::special_register_lanes, "special_register_lanes", lanes, unit::per_cycle,
              "results per cycle and sub-partition of S2R"),
       number(&p::special_register_latency_cycles, "special_register_latency_cycles", latency, unit::cycles,
              "dependent-issue latency of S2R"),
       flag(&p::on_fp32_lanes, "on_fp32_lanes",
            "integer instructions take the lanes of fp32, those with fewer results a cycle for longer"),
       number(
           &p::shared_lanes, "shared_lanes", multiples_of_32(0, 128), unit::lanes,
           "those of fp32.shared_lanes that do integers at full rate, and fp32 min, max and compare, too: a multiple "
           "of 32")});
}

std::vector<parameter> fp64_rows() {
  using p = fp64_parameters;
  return section<p>(
      &gpu_config::fp64, "fp64",
      {number(&p::lanes, "lanes", optional_lanes, unit::per_cycle,
              "results per cycle and sub-partition of add, multiply and fma; 0: the chip has no fp64"),
       number(&p::latency_cycles, "latency_cycles", latency, unit::cycles,
              "dependent-issue latency of add and multiply"),
       number(&p::fma_latency_cycles, "fma_latency_cycles", latency, unit::cycles, "dependent-issue latency of fma"),
       number(&p::compare_lanes, "compare_lanes", optional_lanes, unit::per_cycle,
              "results per cycle and sub-partition of compares to predicate"),
       number(&p::compare_latency_cycles, "compare_latency_cycles", latency, unit::cycles,
              "dependent-issue latency of compares to predicate"),
       flag(&p::shared, "shared", "the SM's sub-partitions have one unit with the lanes of all"),
       flag(&p::issues_alone, "issues_alone",
            "an fp64 instruction takes an issue cycle of the SM's other sub-partitions, too")});
}

std::vector<parameter> half_rows() {
  using p = half_parameters;
  return section<p>(&gpu_config::half, "half",
                    {number(&p::lanes, "lanes", optional_lanes, unit::per_cycle,
                            "f16x2 operations per cycle and sub-partition; 0: the chip has none"),
                     number(&p::latency_cycles, "latency_cycles", latency, unit::cycles,
                            "dependent-issue latency of add, multiply and fma"),
                     number(&p::compare_lanes, "compare_lanes", optional_lanes, unit::per_cycle,
                            "f16x2 compares per cycle and sub-partition"),
                     number(&p::compare_latency_cycles, "compare_latency_cycles", latency, unit::cycles,
                            "dependent-issue latency of compares"),
                     flag(&p::shared, "shared", "the SM's sub-partitions have one unit with the lanes of all")});
}

std::vector<parameter> sfu_rows() {
  using p = sfu_parameters;
  return section<p>(
      &gpu_config::sfu, "sfu",
      {number(&p::lanes, "lanes", lanes, unit::per_cycle, "results per cycle and sub-partition of MUFU"),
       number(&p::latency_cycles, "latency_cycles", latency, unit::cycles, "dependent-issue latency of MUFU"),
       number(&p::bit_count_lanes, "bit_count_lanes", lanes, unit::per_cycle,
              "results per cycle and sub-partition of population count"),
       number(&p::bit_count_latency_cycles, "bit_count_latency_cycles", latency, unit::cycles,
              "dependent-issue latency of population count"),
       number(&p::bit_scan_lanes, "bit_scan_lanes", lanes, unit::per_cycle,
              "results per cycle and sub-partition of find leading one and reverse"),
       number(&p::bit_scan_latency_cycles, "bit_scan_latency_cycles", latency, unit::cycles,
              "dependent-issue latency of find leading one and reverse"),
       number(&p::conversion_lanes, "conversion_lanes", lanes, unit::per_cycle,
              "results per cycle and sub-partition of type conversions"),
       number(&p::conversion_latency_cycles, "conversion_latency_cycles", latency, unit::cycles,
              "dependent-issue latency of type conversions")});
}

std::vector<parameter> tensor_rows() {
  using p = tensor_parameters;
  return section<p>(
      &gpu_config::tensor, "tensor",
      {number(&p::f16_fma_per_cycle, "f16_fma_per_cycle", multiply_adds, unit::per_cycle,
              "multiply-adds per cycle and sub-partition, f16 added up in f16; 0: cannot"),
       number(&p::f16_f32_fma_per_cycle, "f16_f32_fma_per_cycle", multiply_adds, unit::per_cycle,
              "multiply-adds per cycle and sub-partition, f16 added up in f32; 0: cannot"),
       number(&p::bf16_fma_per_cycle, "bf16_fma_per_cycle", multiply_adds, unit::per_cycle,
              "multiply-adds per cycle and sub-partition of bf16; 0: cannot"),
       number(&p::tf32_fma_per_cycle, "tf32_fma_per_cycle", multiply_adds, unit::per_cycle,
              "multiply-adds per cycle and sub-partition of tf32; 0: cannot"),
       number(&p::int8_fma_per_cycle, "int8_fma_per_cycle", multiply_adds, unit::per_cycle,
              "multiply-adds per cycle and sub-partition of 8-bit integers; 0: cannot"),
       number(&p::f64_fma_per_cycle, "f64_fma_per_cycle", multiply_adds, unit::per_cycle,
              "multiply-adds per cycle and sub-partition of f64; 0: cannot"),
       number(
           &p::latency_cycles, "latency_cycles", latency, unit::cycles,
           "dependent-issue latency of sums in f16 and s32, of shapes up to half the largest depth k of a type (f16: "
           "8)"),
       number(&p::deep_latency_cycles, "deep_latency_cycles", latency, unit::cycles,
              "dependent-issue latency of sums in f16 and s32 at the largest depth (f16: 16, 8-bit integers: 32)"),
       number(&p::f32_latency_cycles, "f32_latency_cycles", latency, unit::cycles,
              "dependent-issue latency of sums in f32, up to half the largest depth (f16, bf16: 8, tf32: 4)"),
       number(&p::deep_f32_latency_cycles, "deep_f32_latency_cycles", latency, unit::cycles,
              "dependent-issue latency of sums in f32 at the largest depth (f16, bf16: 16, tf32: 8)"),
       number(&p::m8n8k16_latency_cycles, "m8n8k16_latency_cycles", latency, unit::cycles,
              "dependent-issue latency of 8-bit integers of the shape m8n8k16"),
       number(&p::f64_latency_cycles, "f64_latency_cycles", latency, unit::cycles,
              "dependent-issue latency of products of f64")});
}

std::vector<parameter> branch_rows() {
  using p = branch_parameters;
  return section<p>(&gpu_config::branch, "branch",
                    {number(&p::latency_cycles, "latency_cycles", latency, unit::cycles,
                            "branch issue to the next instruction's fetch"),
                     number(&p::barrier_lanes, "barrier_lanes", lanes, unit::per_cycle,
                            "threads that arrive at a barrier per cycle and sub-partition")});
}

std::vector<parameter> ldst_rows() {
  using p = ldst_parameters;
  return section<p>(
      &gpu_config::ldst, "ldst",
      {number(&p::lanes, "lanes", lanes, unit::per_cycle, "addresses per cycle and sub-partition"),
       number(&p::shuffle_lanes, "shuffle_lanes", lanes, unit::per_cycle,
              "results of SHFL per cycle and sub-partition"),
       number(&p::shuffle_latency_cycles, "shuffle_latency_cycles", latency, unit::cycles,
              "dependent-issue latency of SHFL"),
       number(&p::queue_entries, "queue_entries", entries, unit::count,
              "memory instructions queued in front of the load/store unit, per sub-partition"),
       number(&p::issue_interval_cycles, "issue_interval_cycles", {1, 1024}, unit::cycles,
              "cycles between two memory instructions that a sub-partition issues while its queue has room"),
       number(&p::accept_interval_cycles, "accept_interval_cycles", {1, 1024}, unit::cycles,
              "cycles between two memory instructions that the SM's load/store unit takes from the queues"),
       number(&p::pending_instructions, "pending_instructions", entries, unit::count,
              "memory instructions in flight in the load/store unit"),
       number(&p::address_latency_cycles, "address_latency_cycles", latency, unit::cycles,
              "issue to the first tag look-up or shared-memory pass"),
       number(&p::load_read_latency_cycles, "load_read_latency_cycles", latency, unit::cycles,
              "software dependence: issue of a load or atomic until its source registers may be overwritten"),
       number(&p::store_read_latency_cycles, "store_read_latency_cycles", latency, unit::cycles,
              "software dependence: issue of a store or reduction of 32 bits a lane until its source registers may "
              "be overwritten"),
       number(&p::shared_load_read_latency_cycles, "shared_load_read_latency_cycles", latency, unit::cycles,
              "software dependence: issue of a load or atomic in shared memory until its source registers may be "
              "overwritten"),
       number(&p::shared_store_read_latency_cycles, "shared_store_read_latency_cycles", latency, unit::cycles,
              "software dependence: issue of a store in shared memory of 32 bits a lane until its source registers "
              "may be overwritten"),
       number(&p::constant_read_latency_cycles, "constant_read_latency_cycles", latency, unit::cycles,
              "software dependence: issue of LDC with an index register until that may be overwritten"),
       number(&p::operand_latency_cycles, "operand_latency_cycles", {0, 1024}, unit::cycles,
              "software dependence: cycles that a memory instruction waits longer for a result of fixed latency than "
              "others"),
       number(&p::store_read_cycles_per_word, "store_read_cycles_per_word", delay, unit::cycles,
              "software dependence: cycles more for each further 32 bits a lane that a store has"),
       number(&p::return_interval_cycles, "return_interval_cycles", {0, 1024}, unit::cycles,
              "cycles between the parts of a load of more than 32 bits a lane; 0: all of it comes at once"),
       number(&p::return_words, "return_words", {1, 4}, unit::count,
              "words of 32 bits a lane that are such a part of a load from global memory"),
       number(&p::shared_return_words, "shared_return_words", {1, 4}, unit::count,
              "words of 32 bits a lane that are such a part of a load from shared memory"),
       number(&p::reexecution_entries, "reexecution_entries", {0, 4096}, unit::count,
              "loads without room in the L1 that wait aside while later ones go by; 0: none do"),
       choice(&p::coalescing, "coalescing", {"warp", "half_warp"},
              "lanes whose accesses become one: of the warp by sectors, or of half a warp if in order and aligned"),
       choice(&p::replay, "replay", {"unit", "issue"},
              "what a memory instruction's further passes take: another issue each, or time in the load/store unit "
              "alone")});
}

std::vector<parameter> texture_rows() {
  using p = texture_parameters;
  return section<p>(&gpu_config::texture, "texture",
                    {number(&p::lanes, "lanes", lanes, unit::per_cycle, "coordinates per cycle and sub-partition"),
                     number(&p::queue_entries, "queue_entries", entries, unit::count,
                            "texture and surface instructions under way per sub-partition"),
                     number(&p::filter_latency_cycles, "filter_latency_cycles", latency, unit::cycles,
                            "texels there to dependent issue")});
}

std::vector<parameter> l1_rows() {
  using p = l1_parameters;
  return section<p>(
      &gpu_config::l1, "l1",
      {number(&p::size_bytes, "size_bytes", {128, 16777216}, unit::bytes,
              "data; with a unified cache this is what the largest carve-out leaves, and a smaller one adds to it"),
       number(&p::ways, "ways", cache_ways, unit::count, "associativity"),
       number(&p::line_bytes, "line_bytes", {128, 128}, unit::bytes, "bytes of a line, which a tag stands for"),
       number(&p::sector_bytes, "sector_bytes", powers_of_two(32, 128), unit::bytes,
              "bytes of a sector, which is filled at once"),
       number(&p::latency_cycles, "latency_cycles", latency, unit::cycles, "load issue to dependent issue on a hit"),
       number(&p::banks, "banks", powers_of_two(1, 4), unit::count,
              "banks of the data, a sector wide: a hit reads a sector of each in a cycle; 1, 2 or 4"),
       number(&p::read_cycles, "read_cycles", {1, 1000}, unit::cycles,
              "cycles in which the banks read a sector each, on average"),
       flag(&p::cache_global_loads, "cache_global_loads", "plain global loads are cached (read-only loads always are)"),
       flag(&p::cache_local, "cache_local", "local memory is cached"),
       number(&p::mshr_entries, "mshr_entries", entries, unit::count, "outstanding missed lines"),
       number(&p::mshr_merges, "mshr_merges", entries, unit::count, "requests merged into one outstanding line"),
       number(&p::miss_queue_entries, "miss_queue_entries", entries, unit::count,
              "requests waiting for the interconnect"),
       number(&p::prefetch_lines, "prefetch_lines", {0, 3}, unit::count,
              "next lines fetched after a miss, within 512 bytes; 0: no prefetcher"),
       flag(&p::fence_invalidates, "fence_invalidates",
            "a fence of the GPU's scope or wider empties the SM's L1, which is not coherent"),
       choice(&p::store_hit, "store_hit", {"update", "invalidate"},
              "what a store to global memory does with sectors that are here; local memory's are updated"),
       choice(&p::replacement, "replacement", {"lru", "fifo", "random"}, "which line of a set gives way")});
}

std::vector<parameter> shared_memory_rows() {
  using p = shared_memory_parameters;
  return section<p>(
      &gpu_config::shared_memory, "shared_memory",
      {number(&p::size_bytes, "size_bytes", shared_bytes, unit::bytes, "shared memory of the SM, largest carve-out"),
       number(&p::max_per_block_bytes, "max_per_block_bytes", shared_bytes, unit::bytes,
              "static + dynamic of one block without opt-in"),
       number(&p::opt_in_per_block_bytes, "opt_in_per_block_bytes", shared_bytes, unit::bytes,
              "static + dynamic of one block with opt-in"),
       number(&p::reserved_per_block_bytes, "reserved_per_block_bytes", shared_bytes, unit::bytes,
              "taken by the system from each block's allocation"),
       number(&p::allocation_unit_bytes, "allocation_unit_bytes", {1, 65536}, unit::bytes,
              "allocations are rounded up to this"),
       text(&p::carveouts_kb, "carveouts_kb", "sizes that the carve-out can take, KiB, comma separated"),
       number(&p::unified_bytes, "unified_bytes", {0, 33554432}, unit::bytes,
              "L1 and shared memory together; 0: separate"),
       number(&p::banks, "banks", powers_of_two(1, p::most_banks), unit::count, "banks of shared memory"),
       number(&p::bank_bytes, "bank_bytes", powers_of_two(4, 8), unit::bytes, "width of a bank"),
       number(&p::latency_cycles, "latency_cycles", latency, unit::cycles,
              "load issue to dependent issue without conflict"),
       number(&p::pass_cycles, "pass_cycles", {1, 1000}, unit::cycles,
              "cycles that a pass holds the banks, on average"),
       number(&p::conflict_cycles, "conflict_cycles", delay, unit::cycles, "latency added by each further pass"),
       number(&p::atomic_interval_cycles, "atomic_interval_cycles", delay, unit::cycles,
              "latency added by each further pass of an atomic, whose lanes on one word take a pass each")});
}

std::vector<parameter> constant_cache_rows() {
  using p = constant_cache_parameters;
  return section<p>(
      &gpu_config::constant_cache, "constant_cache",
      {number(&p::size_bytes, "size_bytes", {64, 1048576}, unit::bytes, "size of the first-level constant cache"),
       number(&p::line_bytes, "line_bytes", powers_of_two(16, 4096), unit::bytes, "bytes of a line"),
       number(&p::ways, "ways", cache_ways, unit::count, "associativity"),
       number(&p::latency_cycles, "latency_cycles", latency, unit::cycles, "LDC issue to dependent issue on a hit"),
       number(&p::index_cycles, "index_cycles", {0, 1024}, unit::cycles, "latency that an index register adds"),
       number(&p::miss_latency_cycles, "miss_latency_cycles", latency, unit::cycles,
              "LDC issue to dependent issue from the second level (L1.5)")});
}

std::vector<parameter> instruction_cache_rows() {
  using p = instruction_cache_parameters;
  return section<p>(
      &gpu_config::instruction_cache, "instruction_cache",
      {number(&p::size_bytes, "size_bytes", {64, 16777216}, unit::bytes, "size of the level nearest to the schedulers"),
       number(&p::line_bytes, "line_bytes", powers_of_two(16, 4096), unit::bytes, "bytes of a line"),
       number(&p::ways, "ways", cache_ways, unit::count, "associativity"),
       number(&p::instruction_bytes, "instruction_bytes", powers_of_two(8, 16), unit::bytes,
              "bytes of one machine instruction"),
       number(&p::miss_latency_cycles, "miss_latency_cycles", latency, unit::cycles,
              "cycles to bring a line from the second level"),
       number(&p::prefetch_lines, "prefetch_lines", {0, 64}, unit::count, "lines streamed ahead of the one asked for"),
       flag(&p::per_sub_partition, "per_sub_partition", "each sub-partition has a first level (L0) of its own"),
       number(&p::second_level_bytes, "second_level_bytes", {0, 16777216}, unit::bytes,
              "second level, of the SM; 0: none, all that misses the first level comes after miss_latency_cycles"),
       number(&p::second_level_line_bytes, "second_level_line_bytes", powers_of_two(16, 4096), unit::bytes,
              "bytes of a line of the second level"),
       number(&p::second_level_ways, "second_level_ways", cache_ways, unit::count, "associativity of the second level"),
       number(&p::second_level_miss_latency_cycles, "second_level_miss_latency_cycles", latency, unit::cycles,
              "cycles more from beyond the second level")});
}

std::vector<parameter> tlb_rows() {
  using p = tlb_parameters;
  return section<p>(&gpu_config::tlb, "tlb",
                    {number(&p::entries, "entries", {0, 65536}, unit::count,
                            "translations that an SM holds, 0: addresses cost nothing to translate"),
                     number(&p::page_bytes, "page_bytes", powers_of_two(128, 1073741824), unit::bytes,
                            "memory of one translation, a power of two"),
                     number(&p::miss_latency_cycles, "miss_latency_cycles", latency, unit::cycles,
                            "latency added to an access whose translation is not here")});
}

std::vector<parameter> interconnect_rows() {
  using p = interconnect_parameters;
  return section<p>(
      &gpu_config::interconnect, "interconnect",
      {number(&p::clock_mhz, "clock_mhz", clock_mhz, unit::mhz,
              "clock of interconnect and L2; their cycles are of this clock"),
       number(&p::latency_cycles, "latency_cycles", latency, unit::l2_cycles, "latency of one way, without load"),
       number(&p::request_bytes_per_cycle, "request_bytes_per_cycle", port_bytes, unit::bytes_per_cycle,
              "bandwidth of a port from SM to L2"),
       number(&p::response_bytes_per_cycle, "response_bytes_per_cycle", port_bytes, unit::bytes_per_cycle,
              "bandwidth of a port from L2 to SM"),
       number(&p::header_bytes, "header_bytes", {0, 4096}, unit::bytes, "bytes of each packet besides its data"),
       number(&p::input_queue_entries, "input_queue_entries", entries, unit::count, "packets queued at an input port"),
       number(&p::output_queue_entries, "output_queue_entries", entries, unit::count,
              "packets queued at an output port")});
}

std::vector<parameter> l2_rows() {
  using p = l2_parameters;
  return section<p>(
      &gpu_config::l2, "l2",
      {number(&p::size_bytes, "size_bytes", {128, 1073741824}, unit::bytes,
              "all slices together; there is one slice per memory channel"),
       number(&p::ways, "ways", cache_ways, unit::count, "associativity"),
       number(&p::line_bytes, "line_bytes", {128, 128}, unit::bytes, "bytes of a line, which a tag stands for"),
       number(&p::sector_bytes, "sector_bytes", {32, 32}, unit::bytes, "bytes of a sector, which is filled at once"),
       number(&p::latency_cycles, "latency_cycles", latency, unit::cycles,
              "load issue to dependent issue on an L2 hit, without load; core cycles"),
       number(&p::lookup_interval_cycles, "lookup_interval_cycles", latency, unit::l2_cycles,
              "cycles between two look-ups in a slice"),
       number(&p::mshr_entries, "mshr_entries", entries, unit::count, "outstanding missed lines per slice"),
       number(&p::mshr_merges, "mshr_merges", entries, unit::count, "requests merged into one outstanding line"),
       number(&p::queue_entries, "queue_entries", entries, unit::count, "requests queued in front of a slice"),
       number(&p::atomic_interval_cycles, "atomic_interval_cycles", delay, unit::l2_cycles,
              "latency that each further lane of an atomic on one address adds"),
       number(&p::atomic_contention_cycles, "atomic_contention_cycles", delay, unit::l2_cycles,
              "latency added once when several lanes of an atomic want one address"),
       number(&p::atomic_limit_cycles, "atomic_limit_cycles", delay, unit::l2_cycles,
              "the most that all further lanes of an atomic add; 0: no limit"),
       choice(&p::hash, "hash", {"none", "xor"},
              "slice of an address: its bits as they are (none) | folded by exclusive or (xor)"),
       number(&p::interleave_bytes, "interleave_bytes", powers_of_two(128, 1048576), unit::bytes,
              "consecutive bytes in one slice"),
       flag(&p::flush_at_completion, "flush_at_completion", "write dirty lines back before a launch completes"),
       choice(&p::replacement, "replacement", {"lru", "fifo", "random"}, "which line of a set gives way")});
}

std::vector<parameter> memory_rows() {
  using p = memory_parameters;
  return section<p>(
      &gpu_config::memory, "memory",
      {choice(
           &p::model, "model", {"dram", "fixed", "external"},
           "behind the L2: DRAM channels | a fixed latency and bandwidth | what a program binds to gpu.memory_socket"),
       number(&p::channels, "channels", {1, 256}, unit::count, "memory channels and L2 slices"),
       number(&p::latency_cycles, "latency_cycles", latency, unit::cycles,
              "fixed: slice to memory and back; core cycles"),
       number(&p::bytes_per_cycle, "bytes_per_cycle", {1.0 / 64, 65536}, unit::bytes_per_cycle,
              "fixed: bandwidth per channel; core cycles"),
       number(&p::max_transfer_bytes, "max_transfer_bytes", powers_of_two(1, 128), unit::bytes,
              "external: longest transfer that the memory takes, a power of two; a line is split"),
       flag(&p::byte_enables, "byte_enables",
            "external: the memory knows byte enables; else runs of bytes are written one by one"),
       choice(&p::addresses, "addresses", {"device", "channel"},
              "external: device (the memory is addressed as programs do) | channel (each channel's bytes lie side by "
              "side)"),
       number(&p::base_mib, "base_mib", {0, 4294967295.0}, unit::mib,
              "external: where device memory begins in the memory, MiB; for programs it begins at 256"),
       number(&p::capacity_mib, "capacity_mib", {16, 16777216}, unit::mib,
              "device memory that CUDA programs may allocate (heddle exec)")});
}

std::vector<parameter> dram_rows() {
  using p = dram_parameters;
  return section<p>(
      &gpu_config::dram, "dram",
      {choice(&p::preset, "preset", {"none", "gddr5", "gddr5x", "gddr6", "gddr6x", "hbm2", "hbm2e", "hbm3"},
              "kind of memory: where it is set, sets clock, width, banks, rows and times below, which may follow"),
       number(&p::clock_mhz, "clock_mhz", clock_mhz, unit::mhz, "command clock; all cycles of this section are of it"),
       number(&p::bytes_per_cycle, "bytes_per_cycle", port_bytes, unit::bytes_per_cycle,
              "data bytes per command clock and channel"),
       number(&p::burst_bytes, "burst_bytes", powers_of_two(1, 4096), unit::bytes, "bytes of a burst"),
       number(&p::banks, "banks", {1, 1024}, unit::count, "banks of a channel"),
       number(&p::row_bytes, "row_bytes", powers_of_two(128, 1048576), unit::bytes, "row buffer of a bank"),
       number(&p::queue_entries, "queue_entries", {1, 4096}, unit::count, "requests the scheduler sees"),
       number(&p::controller_latency_cycles, "controller_latency_cycles", delay, unit::dram_cycles,
              "controller and pads, both ways together"),
       number(&p::t_rcd_cycles, "t_rcd_cycles", latency, unit::dram_cycles, "activate to column command"),
       number(&p::t_rp_cycles, "t_rp_cycles", latency, unit::dram_cycles, "precharge to activate"),
       number(&p::t_cl_cycles, "t_cl_cycles", latency, unit::dram_cycles, "read command to data"),
       number(&p::t_wl_cycles, "t_wl_cycles", delay, unit::dram_cycles, "write command to data"),
       number(&p::t_ras_cycles, "t_ras_cycles", delay, unit::dram_cycles, "activate to precharge"),
       number(&p::t_ccd_cycles, "t_ccd_cycles", latency, unit::dram_cycles, "column to column command"),
       number(&p::t_rrd_cycles, "t_rrd_cycles", delay, unit::dram_cycles, "activate to activate, different banks"),
       number(&p::t_wr_cycles, "t_wr_cycles", delay, unit::dram_cycles, "end of write data to precharge"),
       number(&p::t_rtp_cycles, "t_rtp_cycles", delay, unit::dram_cycles, "read to precharge"),
       number(&p::t_wtr_cycles, "t_wtr_cycles", delay, unit::dram_cycles, "end of write data to read command"),
       number(&p::t_refi_cycles, "t_refi_cycles", {0, 100000000}, unit::dram_cycles, "refresh interval, 0: no refresh"),
       number(&p::t_rfc_cycles, "t_rfc_cycles", {0, 10000000}, unit::dram_cycles, "refresh duration")});
}

std::vector<parameter> context_rows() {
  using p = context_parameters;
  return section<p>(
      &gpu_config::context, "context",
      {choice(&p::preemption, "preemption", {"block", "instruction"},
              "where running blocks can be stopped: block (at their end) | instruction (between two)"),
       choice(&p::priority_preemption, "priority_preemption", {"none", "drain", "switch", "flush", "auto"},
              "how less urgent blocks make room for a launch of higher priority that fits nowhere: not at all | "
              "they end (drain) | they are saved (switch) | they are dropped and begin anew (flush) | what is "
              "cheapest for each (auto)"),
       number(&p::time_slice_cycles, "time_slice_cycles", {0, 4000000000}, unit::cycles,
              "after so long on an SM, blocks are switched out for those of another stream that wait; 0: never"),
       number(&p::lines_in_flight, "lines_in_flight", {1, 4096}, unit::count,
              "128-byte lines of a context on their way to or from memory, per SM"),
       choice(&p::saved_registers, "saved_registers", {"used", "live"},
              "registers of a context: used (all that the kernel uses) | live (those that the warp's threads may still "
              "read)"),
       number(&p::area_mib, "area_mib", {512, 1073741824}, unit::mib,
              "device address of the area that contexts are saved in, MiB; beyond all allocations")});
}

std::vector<parameter> host_link_rows() {
  using p = host_link_parameters;
  return section<p>(
      &gpu_config::host_link, "host_link",
      {number(&p::bandwidth_gbs, "bandwidth_gbs", {0.001, 100000}, unit::gb_per_second,
              "copies between a CUDA program's memory and the GPU's, each way (heddle exec)"),
       number(&p::latency_us, "latency_us", {0, 1000000}, unit::us, "what each such copy takes besides")});
}

std::vector<parameter> tlm_rows() {
  using p = tlm_parameters;
  return section<p>(&gpu_config::tlm, "tlm",
                    {flag(&p::check, "check", "a protocol monitor on every memory socket"),
                     number(&p::random_delay_cycles, "random_delay_cycles", delay, unit::cycles,
                            "every phase on a memory socket comes up to so much later, 0: none; core cycles"),
                     number(&p::random_delay_seed, "random_delay_seed", {0, 4294967295.0}, unit::count,
                            "seed of the random delays")});
}

}  // namespace

std::vector<parameter> parameter_rows() {
  std::vector<parameter> all;
  for (std::vector<parameter> (*rows)() : {gpu_rows,
                                           cwd_rows,
                                           sm_rows,
                                           sub_partition_rows,
                                           fp32_rows,
                                           integer_rows,
                                           fp64_rows,
                                           half_rows,
                                           sfu_rows,
                                           tensor_rows,
                                           branch_rows,
                                           ldst_rows,
                                           texture_rows,
                                           l1_rows,
                                           shared_memory_rows,
                                           constant_cache_rows,
                                           instruction_cache_rows,
                                           tlb_rows,
                                           interconnect_rows,
                                           l2_rows,
                                           memory_rows,
                                           dram_rows,
                                           context_rows,
                                           host_link_rows,
                                           tlm_rows})
    for (parameter& p : rows()) all.push_back(std::move(p));
  return all;
}

}  // namespace heddle
