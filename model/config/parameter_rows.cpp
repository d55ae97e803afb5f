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
       number(&p::core_clock_mhz, "core_clock_mhz", clock_mhz, unit::mhz,
              "SM clock: core cycles are cycles of this clock"),
       number(
           &p::watchdog_cycles, "watchdog_cycles", {0, 4000000000}, unit::cycles,
           "cycles without the begin or end of a block after which warps are examined; if all of them loop without effect or wait at barriers, the run ends as a deadlock; 0: never")});
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
           "latency of a message from CWD to SM, and of one back: before a block's first instruction, and from its last one until its resources are free; at least 1"),
       choice(
           &p::placement, "placement", {"breadth_first", "depth_first", "most_free"},
           "SM of the next block: breadth_first (the next one in turn) | depth_first (the first that has room) | most_free (the one with the fewest blocks)"),
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
              "whose registers are rounded up to the allocation unit: those of a warp | those of a block"),
       number(&p::warp_allocation_granularity, "warp_allocation_granularity", {1, 64}, unit::count,
              "block allocation: warps of a block are counted in multiples of this"),
       number(&p::barriers_per_block, "barriers_per_block", {1, 16}, unit::count, "named barriers of one block"),
       number(&p::barriers, "barriers", {0, 65536}, unit::count, "named barriers of the SM; 0: enough for every block"),
       number(&p::barrier_latency_cycles, "barrier_latency_cycles", latency, unit::cycles,
              "from the last arrival at a barrier to the next issue of the waiting warps"),
       choice(
           &p::warp_assignment, "warp_assignment", {"round_robin", "by_id"},
           "sub-partitions of a block's warps: round_robin (continuing after the previous block's last warp) | by_id (each block begins with the first sub-partition)")});
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
       choice(
           &p::dual_issue, "dual_issue", {"none", "any", "maxwell"},
           "pairing rule: none | any (two different units) | maxwell (two different units, one of the pair memory or quarter rate)"),
       number(&p::instruction_buffer_entries, "instruction_buffer_entries", {1, 64}, unit::count,
              "decoded instructions buffered per warp"),
       number(&p::fetch_latency_cycles, "fetch_latency_cycles", latency, unit::cycles,
              "instruction cache hit to instruction buffer"),
       number(&p::register_banks, "register_banks", {1, p::most_register_banks}, unit::count,
              "banks of the register file; register r is in bank r % register_banks"),
       number(&p::register_bank_bytes, "register_bank_bytes", powers_of_two(4, 8), unit::bytes,
              "32-bit operands per lane that a bank delivers in a cycle: 4 bytes are one, 8 are two"),
       number(
           &p::register_write_ports, "register_write_ports", {0, 8}, unit::count,
           "results that a bank accepts per cycle; a load's result waits for a port that results of fixed latency leave free; 0: any number"),
       choice(
           &p::operand_read, "operand_read", {"collector", "window"},
           "sources that conflict in a bank: collector (they are read while other instructions issue) | window (nothing issues until they are read), see [pipeline](pipeline.md)"),
       flag(
           &p::reuse_cache, "reuse_cache",
           "a source register takes no bank if the same warp issued right before and read the register for the same operand position"),
       choice(
           &p::dependence, "dependence", {"scoreboard", "software"},
           "how dependences are tracked: scoreboard | software (stall counts and six counters per warp, computed when a kernel is decoded); recorded kernels use the scoreboard"),
       number(&p::guard_latency_cycles, "guard_latency_cycles", {0, 15}, unit::cycles,
              "additional cycles until a fixed-latency predicate can serve as a guard, or be counted by a vote"),
       number(&p::fetch_group_warps, "fetch_group_warps", {1, 64}, unit::count,
              "two_level, prefetch_aware: warps of one fetch group"),
       number(&p::ccws_victim_tags, "ccws_victim_tags", {1, 1024}, unit::count,
              "ccws: evicted lines remembered per warp, to detect lost locality"),
       number(
           &p::ccws_base_score, "ccws_base_score", {1, 65536}, unit::count,
           "ccws: score of a warp that has lost no locality; warps may load in order of falling scores as long as these sum to at most this times the resident warps"),
       number(&p::ccws_throttle, "ccws_throttle", {0, 65536}, unit::count,
              "ccws: weight of lost locality in the score"),
       choice(&p::divergence, "divergence", {"stack", "independent"},
              "stack: a reconvergence stack per warp | independent: a program counter per lane, see "
              "[divergence](divergence.md)"),
       number(
           &p::convergence_patience_iterations, "convergence_patience_iterations", {1, 65536}, unit::count,
           "independent: iterations of a loop that may wait (atomics, volatile loads, nanosleep) before lanes at the reconvergence point after it continue alone"),
       flag(&p::states_by_warp, "states_by_warp",
            "count warp_cycles and warp_states for each warp id as well (metrics: sms[].warp_slots)")});
}

std::vector<parameter> fp32_rows() {
  using p = fp32_parameters;
  return section<p>(&gpu_config::fp32, "fp32",
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
                            "lanes that the SM's sub-partitions share, for the second fp32 instruction of a pair")});
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
       choice(
           &p::multiplier, "multiplier", {"imad", "xmad"},
           "how integers are multiplied: imad (32-bit multiply-add) | xmad (16-bit multiply-adds, into which lowering expands the product)"),
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
            "integer instructions use the fp32 lanes, and occupy them longer where their own rate is lower"),
       number(&p::shared_lanes, "shared_lanes", multiples_of_32(0, 128), unit::lanes,
              "those of fp32.shared_lanes that also execute integers at full rate, and fp32 min, max and compare")});
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
       flag(&p::shared, "shared", "one unit per SM with the lanes of all sub-partitions, which use it in turn"),
       flag(&p::issues_alone, "issues_alone",
            "an fp64 instruction also takes an issue cycle of the SM's other sub-partitions")});
}

std::vector<parameter> half_rows() {
  using p = half_parameters;
  return section<p>(
      &gpu_config::half, "half",
      {number(&p::lanes, "lanes", optional_lanes, unit::per_cycle,
              "f16x2 operations per cycle and sub-partition; 0: the chip has none"),
       number(&p::latency_cycles, "latency_cycles", latency, unit::cycles,
              "dependent-issue latency of add, multiply and fma"),
       number(&p::compare_lanes, "compare_lanes", optional_lanes, unit::per_cycle,
              "f16x2 compares per cycle and sub-partition"),
       number(&p::compare_latency_cycles, "compare_latency_cycles", latency, unit::cycles,
              "dependent-issue latency of compares"),
       flag(&p::shared, "shared", "one unit per SM with the lanes of all sub-partitions, which use it in turn")});
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
              "f16 multiply-adds per cycle and sub-partition, accumulated in f16; 0: not supported"),
       number(&p::f16_f32_fma_per_cycle, "f16_f32_fma_per_cycle", multiply_adds, unit::per_cycle,
              "f16 multiply-adds per cycle and sub-partition, accumulated in f32; 0: not supported"),
       number(&p::bf16_fma_per_cycle, "bf16_fma_per_cycle", multiply_adds, unit::per_cycle,
              "bf16 multiply-adds per cycle and sub-partition; 0: not supported"),
       number(&p::tf32_fma_per_cycle, "tf32_fma_per_cycle", multiply_adds, unit::per_cycle,
              "tf32 multiply-adds per cycle and sub-partition; 0: not supported"),
       number(&p::int8_fma_per_cycle, "int8_fma_per_cycle", multiply_adds, unit::per_cycle,
              "8-bit integer multiply-adds per cycle and sub-partition; 0: not supported"),
       number(&p::f64_fma_per_cycle, "f64_fma_per_cycle", multiply_adds, unit::per_cycle,
              "f64 multiply-adds per cycle and sub-partition; 0: not supported"),
       number(
           &p::latency_cycles, "latency_cycles", latency, unit::cycles,
           "dependent-issue latency with f16 and s32 accumulators, for shapes of at most half the largest depth k of their type (f16: 8)"),
       number(
           &p::deep_latency_cycles, "deep_latency_cycles", latency, unit::cycles,
           "dependent-issue latency with f16 and s32 accumulators, at the largest depth (f16: 16, 8-bit integers: 32)"),
       number(&p::f32_latency_cycles, "f32_latency_cycles", latency, unit::cycles,
              "dependent-issue latency with f32 accumulators, up to half the largest depth (f16, bf16: 8, tf32: 4)"),
       number(&p::deep_f32_latency_cycles, "deep_f32_latency_cycles", latency, unit::cycles,
              "dependent-issue latency with f32 accumulators, at the largest depth (f16, bf16: 16, tf32: 8)"),
       number(&p::m8n8k16_latency_cycles, "m8n8k16_latency_cycles", latency, unit::cycles,
              "dependent-issue latency of 8-bit integers in the shape m8n8k16"),
       number(&p::f64_latency_cycles, "f64_latency_cycles", latency, unit::cycles,
              "dependent-issue latency of f64 products")});
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
              "cycles between two memory instructions that the SM's load/store unit accepts from the queues"),
       number(&p::pending_instructions, "pending_instructions", entries, unit::count,
              "memory instructions in flight in the load/store unit"),
       number(&p::address_latency_cycles, "address_latency_cycles", latency, unit::cycles,
              "issue to the first tag look-up or shared-memory pass"),
       number(&p::load_read_latency_cycles, "load_read_latency_cycles", latency, unit::cycles,
              "software dependence: from the issue of a load or atomic until its source registers may be overwritten"),
       number(
           &p::store_read_latency_cycles, "store_read_latency_cycles", latency, unit::cycles,
           "software dependence: from the issue of a store or reduction of 32 bits per lane until its source registers may be overwritten"),
       number(
           &p::shared_load_read_latency_cycles, "shared_load_read_latency_cycles", latency, unit::cycles,
           "software dependence: from the issue of a load or atomic in shared memory until its source registers may be overwritten"),
       number(
           &p::shared_store_read_latency_cycles, "shared_store_read_latency_cycles", latency, unit::cycles,
           "software dependence: from the issue of a store of 32 bits per lane to shared memory until its source registers may be overwritten"),
       number(&p::constant_read_latency_cycles, "constant_read_latency_cycles", latency, unit::cycles,
              "software dependence: from the issue of LDC until its index register may be overwritten"),
       number(&p::operand_latency_cycles, "operand_latency_cycles", {0, 1024}, unit::cycles,
              "software dependence: additional cycles until a memory instruction can use a result of fixed latency"),
       number(&p::store_read_cycles_per_word, "store_read_cycles_per_word", delay, unit::cycles,
              "software dependence: cycles that each further 32 bits per lane add to a store's read latency"),
       number(
           &p::return_interval_cycles, "return_interval_cycles", {0, 1024}, unit::cycles,
           "a load of more than 32 bits per lane returns in several transfers: cycles between two of them; 0: a single transfer"),
       number(&p::return_words, "return_words", {1, 4}, unit::count,
              "32-bit words per lane in one such transfer from global memory"),
       number(&p::shared_return_words, "shared_return_words", {1, 4}, unit::count,
              "32-bit words per lane in one such transfer from shared memory"),
       number(
           &p::reexecution_entries, "reexecution_entries", {0, 4096}, unit::count,
           "loads that found no room in the L1 and wait in a queue of their own, so that later loads can bypass them; 0: no such queue"),
       choice(
           &p::coalescing, "coalescing", {"warp", "half_warp"},
           "lanes whose accesses are combined: those of a warp, by line and sector | those of half a warp, if in order and aligned"),
       choice(
           &p::replay, "replay", {"unit", "issue"},
           "what further passes of a memory instruction take: time in the load/store unit (unit) | an issue slot each as well (issue)")});
}

std::vector<parameter> texture_rows() {
  using p = texture_parameters;
  return section<p>(&gpu_config::texture, "texture",
                    {number(&p::lanes, "lanes", lanes, unit::per_cycle, "coordinates per cycle and sub-partition"),
                     number(&p::queue_entries, "queue_entries", entries, unit::count,
                            "outstanding texture and surface instructions per sub-partition"),
                     number(&p::filter_latency_cycles, "filter_latency_cycles", latency, unit::cycles,
                            "from the arrival of the texels to dependent issue")});
}

std::vector<parameter> l1_rows() {
  using p = l1_parameters;
  return section<p>(
      &gpu_config::l1, "l1",
      {number(
           &p::size_bytes, "size_bytes", {128, 16777216}, unit::bytes,
           "data capacity; with a unified cache, what the largest carve-out leaves: a smaller carve-out enlarges the L1"),
       number(&p::ways, "ways", cache_ways, unit::count, "associativity"),
       number(&p::line_bytes, "line_bytes", {128, 128}, unit::bytes, "bytes of a line, which has one tag"),
       number(&p::sector_bytes, "sector_bytes", powers_of_two(32, 128), unit::bytes,
              "bytes of a sector, the unit of a fill"),
       number(&p::latency_cycles, "latency_cycles", latency, unit::cycles, "load issue to dependent issue on a hit"),
       number(&p::banks, "banks", powers_of_two(1, 4), unit::count,
              "data banks, each a sector wide: a hit reads one sector of each at a time"),
       number(&p::read_cycles, "read_cycles", {1, 1000}, unit::cycles,
              "cycles in which each bank reads one sector, on average"),
       flag(&p::cache_global_loads, "cache_global_loads", "plain global loads are cached (read-only loads always are)"),
       flag(&p::cache_local, "cache_local", "local memory is cached in the L1"),
       number(&p::mshr_entries, "mshr_entries", entries, unit::count, "outstanding missed lines"),
       number(&p::mshr_merges, "mshr_merges", entries, unit::count, "requests merged into one outstanding line"),
       number(&p::miss_queue_entries, "miss_queue_entries", entries, unit::count,
              "requests waiting for the interconnect"),
       number(&p::prefetch_lines, "prefetch_lines", {0, 3}, unit::count,
              "next lines fetched after a miss, within 512 bytes; 0: no prefetcher"),
       flag(&p::fence_invalidates, "fence_invalidates",
            "a fence of GPU scope or wider invalidates the SM's L1, which is not coherent"),
       choice(
           &p::store_hit, "store_hit", {"update", "invalidate"},
           "what a store to global memory does with sectors that the L1 holds; stores to local memory always update them"),
       choice(&p::replacement, "replacement", {"lru", "fifo", "random"}, "which line of a set is replaced")});
}

std::vector<parameter> shared_memory_rows() {
  using p = shared_memory_parameters;
  return section<p>(
      &gpu_config::shared_memory, "shared_memory",
      {number(&p::size_bytes, "size_bytes", shared_bytes, unit::bytes,
              "shared memory of the SM: the largest carve-out"),
       number(&p::max_per_block_bytes, "max_per_block_bytes", shared_bytes, unit::bytes,
              "static + dynamic shared memory of a block that does not opt in to more"),
       number(&p::opt_in_per_block_bytes, "opt_in_per_block_bytes", shared_bytes, unit::bytes,
              "static + dynamic shared memory of a block that opts in"),
       number(&p::reserved_per_block_bytes, "reserved_per_block_bytes", shared_bytes, unit::bytes,
              "shared memory that the system reserves in each block's allocation"),
       number(&p::allocation_unit_bytes, "allocation_unit_bytes", {1, 65536}, unit::bytes,
              "allocations are rounded up to this"),
       text(&p::carveouts_kb, "carveouts_kb", "sizes that the carve-out can take, KiB, comma separated"),
       number(&p::unified_bytes, "unified_bytes", {0, 33554432}, unit::bytes,
              "capacity that L1 and shared memory share; 0: they are separate"),
       number(&p::banks, "banks", powers_of_two(1, p::most_banks), unit::count, "banks of shared memory"),
       number(&p::bank_bytes, "bank_bytes", powers_of_two(4, 8), unit::bytes, "width of a bank"),
       number(&p::latency_cycles, "latency_cycles", latency, unit::cycles,
              "load issue to dependent issue without conflict"),
       number(&p::pass_cycles, "pass_cycles", {1, 1000}, unit::cycles,
              "cycles for which a pass occupies the banks, on average"),
       number(&p::conflict_cycles, "conflict_cycles", delay, unit::cycles, "latency added by each further pass"),
       number(&p::atomic_interval_cycles, "atomic_interval_cycles", delay, unit::cycles,
              "latency added by each further pass of an atomic; lanes that access one word take a pass each")});
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
      {number(&p::size_bytes, "size_bytes", {64, 16777216}, unit::bytes,
              "size of the first level, nearest to the schedulers"),
       number(&p::line_bytes, "line_bytes", powers_of_two(16, 4096), unit::bytes, "bytes of a line"),
       number(&p::ways, "ways", cache_ways, unit::count, "associativity"),
       number(&p::instruction_bytes, "instruction_bytes", powers_of_two(8, 16), unit::bytes,
              "bytes of one machine instruction"),
       number(&p::miss_latency_cycles, "miss_latency_cycles", latency, unit::cycles,
              "cycles to fetch a line from the second level"),
       number(&p::prefetch_lines, "prefetch_lines", {0, 64}, unit::count, "lines prefetched after the one requested"),
       flag(&p::per_sub_partition, "per_sub_partition", "each sub-partition has a first level (L0) of its own"),
       number(&p::second_level_bytes, "second_level_bytes", {0, 16777216}, unit::bytes,
              "size of the SM's second level; 0: none, and a miss of the first level takes miss_latency_cycles"),
       number(&p::second_level_line_bytes, "second_level_line_bytes", powers_of_two(16, 4096), unit::bytes,
              "bytes of a line of the second level"),
       number(&p::second_level_ways, "second_level_ways", cache_ways, unit::count, "associativity of the second level"),
       number(&p::second_level_miss_latency_cycles, "second_level_miss_latency_cycles", latency, unit::cycles,
              "additional cycles if the line misses in the second level")});
}

std::vector<parameter> tlb_rows() {
  using p = tlb_parameters;
  return section<p>(&gpu_config::tlb, "tlb",
                    {number(&p::entries, "entries", {0, 65536}, unit::count,
                            "translations that an SM's TLB holds; 0: no translation, addresses are physical"),
                     number(&p::page_bytes, "page_bytes", powers_of_two(128, 1073741824), unit::bytes,
                            "memory that one translation covers"),
                     number(&p::miss_latency_cycles, "miss_latency_cycles", latency, unit::cycles,
                            "latency added to an access that misses in the TLB")});
}

std::vector<parameter> interconnect_rows() {
  using p = interconnect_parameters;
  return section<p>(
      &gpu_config::interconnect, "interconnect",
      {number(&p::clock_mhz, "clock_mhz", clock_mhz, unit::mhz,
              "clock of interconnect and L2: L2 cycles are cycles of this clock"),
       number(&p::latency_cycles, "latency_cycles", latency, unit::l2_cycles, "latency of one direction, without load"),
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
       number(&p::line_bytes, "line_bytes", {128, 128}, unit::bytes, "bytes of a line, which has one tag"),
       number(&p::sector_bytes, "sector_bytes", {32, 32}, unit::bytes, "bytes of a sector, the unit of a fill"),
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
              "latency added once if several lanes of an atomic access one address"),
       number(&p::atomic_limit_cycles, "atomic_limit_cycles", delay, unit::l2_cycles,
              "upper bound of what all further lanes of an atomic add; 0: no bound"),
       choice(&p::hash, "hash", {"none", "xor"},
              "slice of an address: none (its bits as they are) | xor (upper bits folded in by exclusive or)"),
       number(&p::interleave_bytes, "interleave_bytes", powers_of_two(128, 1048576), unit::bytes,
              "consecutive bytes that map to one slice"),
       flag(&p::flush_at_completion, "flush_at_completion", "write dirty lines back before a launch completes"),
       choice(&p::replacement, "replacement", {"lru", "fifo", "random"}, "which line of a set is replaced")});
}

std::vector<parameter> memory_rows() {
  using p = memory_parameters;
  return section<p>(
      &gpu_config::memory, "memory",
      {choice(
           &p::model, "model", {"dram", "fixed", "external"},
           "what is behind the L2: dram (DRAM channels) | fixed (constant latency and bandwidth) | external (what a program binds to gpu.memory_socket)"),
       number(&p::channels, "channels", {1, 256}, unit::count, "memory channels and L2 slices"),
       number(&p::latency_cycles, "latency_cycles", latency, unit::cycles,
              "fixed: slice to memory and back; core cycles"),
       number(&p::bytes_per_cycle, "bytes_per_cycle", {1.0 / 64, 65536}, unit::bytes_per_cycle,
              "fixed: bandwidth per channel; core cycles"),
       number(&p::max_transfer_bytes, "max_transfer_bytes", powers_of_two(1, 128), unit::bytes,
              "external: longest transfer that the memory accepts; longer ones are split"),
       flag(&p::byte_enables, "byte_enables",
            "external: the memory supports byte enables; without them each run of bytes is a write of its own"),
       choice(
           &p::addresses, "addresses", {"device", "channel"},
           "external: device (all channels together, with the addresses of programs) | channel (each channel on its own, its bytes contiguous)"),
       number(&p::base_mib, "base_mib", {0, 4294967295.0}, unit::mib,
              "external: address in the memory at which device memory begins, MiB; for programs it begins at 256"),
       number(&p::capacity_mib, "capacity_mib", {16, 16777216}, unit::mib,
              "device memory that CUDA programs may allocate (heddle exec)")});
}

std::vector<parameter> dram_rows() {
  using p = dram_parameters;
  return section<p>(
      &gpu_config::dram, "dram",
      {choice(&p::preset, "preset", {"none", "gddr5", "gddr5x", "gddr6", "gddr6x", "hbm2", "hbm2e", "hbm3"},
              "memory type: sets the clock, width, banks, rows and times below; keys after it override them"),
       choice(
           &p::standard, "standard",
           {"generic", "ddr4", "ddr5", "gddr5", "gddr5x", "gddr6", "gddr6x", "hbm2", "hbm2e", "hbm3"},
           "standard whose levels and commands the channel has: where it is set, sets clock, width, ranks, groups, "
           "banks, rows and times below, which may follow; generic has all, with the values below ([memory](memory.md#dram))"),
       number(&p::clock_mhz, "clock_mhz", clock_mhz, unit::mhz, "command clock: DRAM cycles are cycles of this clock"),
       number(&p::bytes_per_cycle, "bytes_per_cycle", port_bytes, unit::bytes_per_cycle,
              "data bytes per command clock and channel"),
       number(&p::burst_bytes, "burst_bytes", powers_of_two(1, 4096), unit::bytes, "bytes of a burst"),
       number(&p::ranks, "ranks", powers_of_two(1, 16), unit::count, "ranks of a channel"),
       number(&p::bank_groups, "bank_groups", powers_of_two(1, 64), unit::count,
              "bank groups of a rank; 1: none, and a request's bursts follow one another"),
       number(&p::banks, "banks", {1, 1024}, unit::count, "banks of a channel, in all ranks and groups together"),
       number(&p::row_bytes, "row_bytes", powers_of_two(128, 1048576), unit::bytes, "row buffer of a bank"),
       number(&p::queue_entries, "queue_entries", {1, 4096}, unit::count,
              "requests among which the channel's scheduler chooses"),
       number(&p::controller_latency_cycles, "controller_latency_cycles", delay, unit::dram_cycles,
              "controller and pads, both ways together"),
       choice(&p::scheduler, "scheduler", {"fr_fcfs", "fcfs"},
              "which request's command issues: row hits first, then the oldest | always the oldest's"),
       number(&p::starvation_cycles, "starvation_cycles", {0, 100000000}, unit::dram_cycles,
              "fr_fcfs: a request that has waited longer has priority over all others; 0: never"),
       choice(&p::row_policy, "row_policy", {"open", "closed", "timeout"},
              "when a row is closed that no waiting request needs: never | with the last column command | after "
              "row_timeout_cycles"),
       number(&p::row_timeout_cycles, "row_timeout_cycles", delay, unit::dram_cycles,
              "timeout: from a row's last column command until it is closed"),
       choice(&p::refresh, "refresh", {"none", "all_bank", "per_bank"},
              "what a refresh takes: there is none | all banks of the channel, each t_refi | one bank after the other, "
              "each of them once in t_refi"),
       number(&p::t_rcd_cycles, "t_rcd_cycles", latency, unit::dram_cycles, "activate to column command"),
       number(&p::t_rp_cycles, "t_rp_cycles", latency, unit::dram_cycles, "precharge to activate"),
       number(&p::t_cl_cycles, "t_cl_cycles", latency, unit::dram_cycles, "read command to data"),
       number(&p::t_wl_cycles, "t_wl_cycles", delay, unit::dram_cycles, "write command to data"),
       number(&p::t_ras_cycles, "t_ras_cycles", delay, unit::dram_cycles, "activate to precharge"),
       number(&p::t_rc_cycles, "t_rc_cycles", delay, unit::dram_cycles,
              "activate to activate, same bank; 0: t_ras and t_rp say it"),
       number(&p::t_ccd_cycles, "t_ccd_cycles", latency, unit::dram_cycles,
              "column to column command (tCCD_S: of different bank groups)"),
       number(&p::t_ccd_l_cycles, "t_ccd_l_cycles", delay, unit::dram_cycles, "the same in one bank group (tCCD_L)"),
       number(&p::t_rrd_cycles, "t_rrd_cycles", delay, unit::dram_cycles,
              "activate to activate, different banks (tRRD_S: of different bank groups)"),
       number(&p::t_rrd_l_cycles, "t_rrd_l_cycles", delay, unit::dram_cycles, "the same in one bank group (tRRD_L)"),
       number(&p::t_faw_cycles, "t_faw_cycles", delay, unit::dram_cycles,
              "window of at most four activates of a rank; 0: no limit"),
       number(&p::t_wr_cycles, "t_wr_cycles", delay, unit::dram_cycles, "end of write data to precharge"),
       number(&p::t_rtp_cycles, "t_rtp_cycles", delay, unit::dram_cycles, "read to precharge"),
       number(&p::t_wtr_cycles, "t_wtr_cycles", delay, unit::dram_cycles,
              "end of write data to read command (tWTR_S: of different bank groups)"),
       number(&p::t_wtr_l_cycles, "t_wtr_l_cycles", delay, unit::dram_cycles, "the same in one bank group (tWTR_L)"),
       number(&p::t_rtw_cycles, "t_rtw_cycles", delay, unit::dram_cycles,
              "idle cycles of the data bus between read and write data"),
       number(&p::t_cs_cycles, "t_cs_cycles", delay, unit::dram_cycles,
              "idle cycles of the data bus between data of two ranks"),
       number(&p::t_refi_cycles, "t_refi_cycles", {0, 100000000}, unit::dram_cycles,
              "interval in which every bank is refreshed, 0: no refresh"),
       number(&p::t_rfc_cycles, "t_rfc_cycles", {0, 10000000}, unit::dram_cycles, "refresh duration, all banks"),
       number(&p::t_rfc_pb_cycles, "t_rfc_pb_cycles", {0, 10000000}, unit::dram_cycles, "refresh duration, one bank")});
}

std::vector<parameter> context_rows() {
  using p = context_parameters;
  return section<p>(
      &gpu_config::context, "context",
      {choice(
           &p::preemption, "preemption", {"block", "instruction"},
           "where a running block can be preempted: block (only at its end) | instruction (between two instructions)"),
       choice(
           &p::priority_preemption, "priority_preemption", {"none", "drain", "switch", "flush", "auto"},
           "how less urgent blocks make room for a launch of higher priority that fits nowhere: none (they do not) | drain (they run to their end) | switch (they are saved) | flush (they are dropped and restart) | auto (what costs each block least)"),
       number(&p::time_slice_cycles, "time_slice_cycles", {0, 4000000000}, unit::cycles,
              "time on an SM after which blocks are switched out for waiting blocks of another stream; 0: no limit"),
       number(&p::lines_in_flight, "lines_in_flight", {1, 4096}, unit::count,
              "outstanding 128-byte lines while an SM saves or restores contexts"),
       choice(&p::saved_registers, "saved_registers", {"used", "live"},
              "registers of a context: used (all that the kernel uses) | live (those that the warp's threads may still "
              "read)"),
       number(&p::area_mib, "area_mib", {512, 1073741824}, unit::mib,
              "device address of the area in which contexts are saved, MiB; above all allocations")});
}

std::vector<parameter> host_link_rows() {
  using p = host_link_parameters;
  return section<p>(
      &gpu_config::host_link, "host_link",
      {number(
           &p::bandwidth_gbs, "bandwidth_gbs", {0.001, 100000}, unit::gb_per_second,
           "bandwidth of copies between the memories of a CUDA program and the GPU, in each direction (heddle exec)"),
       number(&p::latency_us, "latency_us", {0, 1000000}, unit::us, "latency of each such copy")});
}

std::vector<parameter> tlm_rows() {
  using p = tlm_parameters;
  return section<p>(&gpu_config::tlm, "tlm",
                    {flag(&p::check, "check", "a protocol monitor on every connection of the memory path"),
                     number(&p::random_delay_cycles, "random_delay_cycles", delay, unit::cycles,
                            "upper bound of a random delay of every phase on a memory socket; 0: none"),
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
