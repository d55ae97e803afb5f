// SPDX-License-Identifier: MIT
// Every parameter of the model, said once: one row each, in the order of the INI file. The structs of parameters.h, the
// enumerations of choices.h and the table of parameter_table.h are made from it: each defines the row macros that it
// needs and includes this file, which has no include guard for that reason. Units are in the keys: _cycles are core
// cycles unless the row says otherwise, _bytes, _mhz. `source`, a parameter_source, says where the value of a chip is
// found. The defaults are those of gtx1080; configs/*.ini give each figure of a chip with its source.
//
//   HEDDLE_SECTION(member, name)   begins the section [name], which is gpu_config::member; HEDDLE_END ends it
//   HEDDLE_NUMBER(type, key, default, range, unit, source, sentence)
//                                  range: named in parameter_rows.cpp; unit: a parameter_unit
//   HEDDLE_NUMBER_WITH(choice, names, type, ...)
//                                  a number that acts only while `choice`, a key of the same section, is one of `names`
//   HEDDLE_FLAG(key, default, source, sentence), HEDDLE_TEXT(key, default, source, sentence)
//   HEDDLE_CHOICE(enumeration, key, default, (names), source, sentence)
//                                  names are the enumerators; one that is a word of C++ ends in '_', its name does not
//   HEDDLE_SAME(enumeration, key, default, source, sentence)           the names of an earlier row
//   HEDDLE_LISTED(enumeration, key, default, list, source, sentence)   the first column of a list below
//   HEDDLE_TABLED(enumeration, first, key, "default", source, sentence)
//                                  the names of a table that defines words_of(enumeration); its first one is a name of
//                                  C++
//   HEDDLE_LIST(key, default, range, source, sentence)                 ascending whole numbers of that range; the
//                                  default is HEDDLE_NUMBERS(n, ...)
//
// The limits are those of the machine model (a warp mask has 64 bits) or wide enough for any conceivable chip, and
// narrow enough to bound the memory that the model allocates.

// clang-format off
#ifndef HEDDLE_SCHEDULING_POLICIES

/// Exchangeable policies: X(name). The source file of a policy defines how it is created; see the header named here.
/// gpu/cwd/policies/placement_policy.h
#define HEDDLE_PLACEMENTS(X) X(breadth_first) X(depth_first) X(most_free)
/// memory/common/policies/replacement_policy.h
#define HEDDLE_REPLACEMENTS(X) X(lru) X(fifo) X(random)
/// sub_partition/policies/scheduling_policy.h
#define HEDDLE_SCHEDULING_POLICIES(X) \
  X(lrr) X(gto) X(oldest) X(cggty) X(two_level) X(prefetch_aware) X(memory_aware) X(ccws)
/// memory/dram/policies/dram_scheduler.h
#define HEDDLE_DRAM_SCHEDULERS(X) X(fr_fcfs) X(fcfs)
/// memory/dram/policies/row_policy.h
#define HEDDLE_ROW_POLICIES(X) X(open) X(closed) X(timeout)
/// memory/dram/policies/refresh_policy.h
#define HEDDLE_REFRESH_POLICIES(X) X(none) X(all_bank) X(per_bank)

#endif

#ifndef HEDDLE_SECTION
#define HEDDLE_SECTION(member, name)
#endif
#ifndef HEDDLE_END
#define HEDDLE_END(member, name)
#endif
#ifndef HEDDLE_NUMBER
#define HEDDLE_NUMBER(type, key, value, range, unit, source, sentence)
#endif
#ifndef HEDDLE_NUMBER_WITH
#define HEDDLE_NUMBER_WITH(choice, names, type, key, value, range, unit, source, sentence) \
  HEDDLE_NUMBER(type, key, value, range, unit, source, sentence)
#endif
#ifndef HEDDLE_FLAG
#define HEDDLE_FLAG(key, value, source, sentence)
#endif
#ifndef HEDDLE_TEXT
#define HEDDLE_TEXT(key, value, source, sentence)
#endif
#ifndef HEDDLE_SAME
#define HEDDLE_SAME(enumeration, key, value, source, sentence)
#endif
#ifndef HEDDLE_CHOICE
#define HEDDLE_CHOICE(enumeration, key, value, names, source, sentence) \
  HEDDLE_SAME(enumeration, key, value, source, sentence)
#endif
#ifndef HEDDLE_LISTED
#define HEDDLE_LISTED(enumeration, key, value, list, source, sentence) \
  HEDDLE_SAME(enumeration, key, value, source, sentence)
#endif
#ifndef HEDDLE_TABLED
#define HEDDLE_TABLED(enumeration, first, key, value, source, sentence) \
  HEDDLE_SAME(enumeration, key, value, source, sentence)
#endif
#ifndef HEDDLE_LIST
#define HEDDLE_LIST(key, value, range, source, sentence)
#endif
#define HEDDLE_NUMBERS(...) {__VA_ARGS__}

HEDDLE_SECTION(gpu, gpu)
HEDDLE_TEXT(name, "gtx1080", setting,
  "name of the configuration")
HEDDLE_TABLED(compute_capability, version_1_0, compute_capability, "6.1", guide,
  "compute capability, major.minor")
HEDDLE_NUMBER(unsigned, sm_count, 20, between(1, 1024), count, product,
  "streaming multiprocessors")
HEDDLE_NUMBER(unsigned, gpc_count, 4, between(1, 64), count, product,
  "graphics processing clusters (GPCs): the TPCs go to them in turn; a thread block cluster stays within one")
HEDDLE_NUMBER(unsigned, cpcs_per_gpc, 1, between(1, 16), count, product,
  "compute processing clusters (CPCs) of a GPC: its TPCs go to them in turn")
HEDDLE_NUMBER(unsigned, sms_per_tpc, 1, between(1, 8), count, product,
  "SMs of a texture processing cluster (TPC)")
HEDDLE_NUMBER(double, core_clock_mhz, 1607, clock_mhz, mhz, product,
  "SM clock: core cycles are cycles of this clock")
HEDDLE_NUMBER(unsigned, watchdog_cycles, 1000000, between(0, 4000000000), cycles, setting,
  "cycles without the begin or end of a block after which warps are examined; if all of them loop without "
  "effect or wait at barriers, the run ends as a deadlock; 0: never")
HEDDLE_END(gpu, gpu)

HEDDLE_SECTION(cwd, cwd)
HEDDLE_NUMBER(unsigned, launch_latency_cycles, 700, delay, cycles, measured,
  "doorbell to the first block offered")
HEDDLE_NUMBER(unsigned, launch_overhead_cycles, 0, delay, cycles, measured,
  "what a profiler's elapsed cycles of a launch hold besides kernel cycles, before its first block and after its last; "
  "changes no result: heddle correlate subtracts it, heddle run reports it separately; 0: unknown")
HEDDLE_NUMBER(double, dispatch_interval_cycles, 1, between(0.01, 100000), cycles, measured,
  "cycles between two dispatched blocks, on average")
HEDDLE_NUMBER(double, end_interval_cycles, 0, between(0, 100000), cycles, measured,
  "cycles between the ends of two blocks that the CWD processes: the block that follows one, and the end of the grid, "
  "wait for it; 0: it processes any number at once")
HEDDLE_NUMBER(unsigned, dispatch_latency_cycles, 4, latency, cycles, measured,
  "latency of a message from CWD to SM, and of one back: before a block's first instruction, and from its last "
  "one until its resources are free; at least 1")
HEDDLE_LISTED(placement, placement, breadth_first, HEDDLE_PLACEMENTS, design,
  "SM of the next block: breadth_first (the next one in turn) | depth_first (the first that has room) | "
  "most_free (the one with the fewest blocks)")
HEDDLE_NUMBER(unsigned, max_resident_grids, 32, between(1, 1024), count, guide,
  "grids that may have blocks resident at one time")
HEDDLE_END(cwd, cwd)

HEDDLE_SECTION(cluster, cluster)
HEDDLE_NUMBER(unsigned, max_blocks, 0, between(0, 16), count, guide,
  "blocks of a thread block cluster at most, of launches that allow sizes of which not every chip is capable; 0: the "
  "chip has no clusters")
HEDDLE_NUMBER(unsigned, barrier_latency_cycles, 89, between(4, 65536), cycles, measured,
  "barrier.cluster without memory order: from the arrival of the cluster's last warp until the warps that wait issue; "
  "half of it before the arrivals meet, half after")
HEDDLE_NUMBER(unsigned, tpc_hop_cycles, 78, between(4, 65536), cycles, measured,
  "one way between two SMs of a TPC, for accesses to shared memory of another block of a cluster")
HEDDLE_NUMBER(unsigned, hop_cycles, 90, between(4, 65536), cycles, measured,
  "the same between SMs of different TPCs of a GPC")
HEDDLE_NUMBER(double, bytes_per_cycle, 21.3, between(0.01, 65536), bytes_per_cycle, measured,
  "data that an SM sends to other SMs: operands of stores and atomics, and what it answers to loads and atomics")
HEDDLE_END(cluster, cluster)

HEDDLE_SECTION(tma, tma)
HEDDLE_NUMBER(unsigned, requests_in_flight, 0, between(0, 65536), count, design,
  "requests of at most 128 bytes that an SM's unit for bulk copies (TMA) has outstanding; 0: the chip has none")
HEDDLE_NUMBER(unsigned, latency_cycles, 100, between(1, 65536), cycles, measured,
  "from the issue of a bulk copy until the unit's first request to memory, without other copies before it")
HEDDLE_NUMBER(unsigned, issue_interval_cycles, 32, between(1, 65536), cycles, measured,
  "between the first requests of two bulk copies of an SM")
HEDDLE_NUMBER(unsigned, mbarrier_latency_cycles, 32, between(1, 65536), cycles, measured,
  "of mbarrier.try_wait: from its issue, or from the completion of the phase that it waits for, until its result may be "
  "used")
HEDDLE_NUMBER(unsigned, mbarrier_limit_cycles, 2048, between(1, 1000000), cycles, design,
  "for which mbarrier.try_wait suspends a warp at most, before it answers that the phase is not complete")
HEDDLE_END(tma, tma)

HEDDLE_SECTION(sm, sm)
HEDDLE_NUMBER(unsigned, sub_partitions, 4, between(1, 16), count, calculator,
  "sub-partitions (warp schedulers)")
HEDDLE_NUMBER(unsigned, max_threads, 2048, between(32, 8192), count, guide,
  "resident threads")
HEDDLE_NUMBER(unsigned, max_warps, 64, between(1, 256), count, guide,
  "resident warps (warp slots)")
HEDDLE_NUMBER(unsigned, max_blocks, 32, between(1, 1024), count, guide,
  "resident blocks (CTA slots)")
HEDDLE_NUMBER(unsigned, max_threads_per_block, 1024, between(1, 1024), count, guide,
  "threads of one block")
HEDDLE_NUMBER(unsigned, registers, 65536, between(32, 4194304), count, guide,
  "32-bit registers")
HEDDLE_NUMBER(unsigned, registers_per_block, 65536, between(32, 4194304), count, guide,
  "32-bit registers that one block may have")
HEDDLE_NUMBER(unsigned, registers_per_thread, 255, between(1, 255), count, guide,
  "architectural limit per thread")
HEDDLE_NUMBER(unsigned, register_allocation_unit, 256, between(1, 65536), count, calculator,
  "registers are allocated in multiples of this")
HEDDLE_CHOICE(register_allocation, register_allocation, warp, (warp, block), calculator,
  "whose registers are rounded up to the allocation unit: those of a warp | those of a block")
HEDDLE_NUMBER(unsigned, warp_allocation_granularity, 4, between(1, 64), count, calculator,
  "block allocation: warps of a block are counted in multiples of this")
HEDDLE_NUMBER(unsigned, barriers_per_block, 16, between(1, 16), count, guide,
  "named barriers of one block")
HEDDLE_NUMBER(unsigned, barriers, 0, between(0, 65536), count, calculator,
  "named barriers of the SM; 0: enough for every block")
HEDDLE_NUMBER(unsigned, barrier_latency_cycles, 5, latency, cycles, measured,
  "from the last arrival at a barrier to the next issue of the waiting warps")
HEDDLE_CHOICE(warp_assignment, warp_assignment, round_robin, (round_robin, by_id), measured,
  "sub-partitions of a block's warps: round_robin (continuing after the previous block's last warp) | by_id "
  "(each block begins with the first sub-partition)")
HEDDLE_END(sm, sm)

HEDDLE_SECTION(sub_partition, sub_partition)
HEDDLE_LISTED(scheduler, scheduler, gto, HEDDLE_SCHEDULING_POLICIES, design,
  "the scheduling policy, see [scheduling](scheduling.md)")
HEDDLE_NUMBER(unsigned, issue_width, 2, between(1, 2), count, design,
  "consecutive instructions of the selected warp issued per cycle, 1 or 2")
HEDDLE_CHOICE(dual_issue, dual_issue, maxwell, (none, any, maxwell), measured,
  "pairing rule: none | any (two different units) | maxwell (two different units, one of the pair memory or "
  "quarter rate)")
HEDDLE_NUMBER(unsigned, instruction_buffer_entries, 4, between(1, 64), count, design,
  "decoded instructions buffered per warp")
HEDDLE_NUMBER(unsigned, fetch_latency_cycles, 2, latency, cycles, design,
  "instruction cache hit to instruction buffer")
HEDDLE_NUMBER(unsigned, register_banks, 4, between(1, most_register_banks), count, measured,
  "banks of the register file; register r is in bank r % register_banks")
HEDDLE_NUMBER(unsigned, register_bank_bytes, 4, powers_of_two(4, 8), bytes, measured,
  "32-bit operands per lane that a bank delivers in a cycle: 4 bytes are one, 8 are two")
HEDDLE_NUMBER(unsigned, register_write_ports, 0, between(0, 8), count, measured,
  "results that a bank accepts per cycle; a load's result waits for a port that results of fixed latency leave "
  "free; 0: any number")
HEDDLE_CHOICE(operand_read, operand_read, window, (collector, window), measured,
  "sources that conflict in a bank: collector (they are read while other instructions issue) | window (nothing "
  "issues until they are read), see [pipeline](pipeline.md)")
HEDDLE_FLAG(reuse_cache, true, measured,
  "a source register needs no bank if the same warp issued right before and read the register for the same "
  "operand position")
HEDDLE_CHOICE(dependence, dependence, software, (scoreboard, software), measured,
  "how dependences are tracked: scoreboard | software (stall counts and six counters per warp, computed when a "
  "kernel is decoded); recorded kernels use the scoreboard")
HEDDLE_NUMBER(unsigned, starvation_cycles, 0, between(0, 1000000), cycles, setting,
  "when a warp has waited so long for other warps alone, those that have waited longest issue for a quarter of "
  "that time, whatever the scheduler; 0: never")
HEDDLE_NUMBER(unsigned, guard_latency_cycles, 0, between(0, 15), cycles, measured,
  "additional cycles until a fixed-latency predicate can serve as a guard, or be counted by a vote")
HEDDLE_NUMBER_WITH(scheduler, "two_level, prefetch_aware", unsigned, fetch_group_warps, 8, between(1, 64), count,
  setting, "warps of one fetch group")
HEDDLE_NUMBER_WITH(scheduler, "ccws", unsigned, ccws_victim_tags, 16, between(1, 1024), count, setting,
  "evicted lines remembered per warp, to detect lost locality")
HEDDLE_NUMBER_WITH(scheduler, "ccws", unsigned, ccws_base_score, 100, between(1, 65536), count, setting,
  "score of a warp that has lost no locality; warps may load in order of falling scores as long as these sum "
  "to at most this times the resident warps")
HEDDLE_NUMBER_WITH(scheduler, "ccws", unsigned, ccws_throttle, 8, between(0, 65536), count, setting,
  "weight of lost locality in the score")
HEDDLE_CHOICE(divergence, divergence, stack, (stack, independent), guide,
  "stack: a reconvergence stack per warp | independent: a program counter per lane, see "
  "[divergence](divergence.md)")
HEDDLE_NUMBER_WITH(divergence, "independent", unsigned, convergence_patience_iterations, 32, between(1, 65536), count,
  design, "iterations of a loop that may wait (atomics, volatile loads, nanosleep) before lanes at the reconvergence "
  "point after it continue alone")
HEDDLE_NUMBER(unsigned, crossing_latency_cycles, 0, delay, cycles, measured,
  "least latency of a result that another one of the units fp32, int and half reads next; 0: that of its unit")
HEDDLE_FLAG(states_by_warp, false, setting,
  "count warp_cycles and warp_states for each warp id as well (metrics: sms[].warp_slots)")
HEDDLE_END(sub_partition, sub_partition)

HEDDLE_SECTION(fp32, fp32)
HEDDLE_NUMBER(double, lanes, 32, lanes, per_cycle, guide,
  "results per cycle and sub-partition of add, multiply and fma, on its own lanes")
HEDDLE_NUMBER(unsigned, latency_cycles, 6, latency, cycles, measured,
  "dependent-issue latency of add, multiply and fma")
HEDDLE_NUMBER(double, minmax_lanes, 16, lanes, per_cycle, guide,
  "results per cycle and sub-partition of min and max")
HEDDLE_NUMBER(unsigned, minmax_latency_cycles, 6, latency, cycles, measured,
  "dependent-issue latency of min and max")
HEDDLE_NUMBER(double, compare_lanes, 16, lanes, per_cycle, guide,
  "results per cycle and sub-partition of compares, to predicate or register")
HEDDLE_NUMBER(unsigned, compare_latency_cycles, 12, latency, cycles, measured,
  "dependent-issue latency of compares")
HEDDLE_FLAG(compare_on_int, false, measured,
  "min, max and compares run in the int unit, whose lanes they occupy as long as their own rate says")
HEDDLE_NUMBER(unsigned, shared_lanes, 0, multiples_of_32(0, 128), lanes, product,
  "lanes that the SM's sub-partitions share, for the second fp32 instruction of a pair")
HEDDLE_END(fp32, fp32)

HEDDLE_SECTION(integer, int)
HEDDLE_NUMBER(double, lanes, 32, lanes, per_cycle, guide,
  "results per cycle and sub-partition of add, logic, move and select, on its own lanes")
HEDDLE_NUMBER(unsigned, latency_cycles, 6, latency, cycles, measured,
  "dependent-issue latency of add, logic, move and select")
HEDDLE_NUMBER(double, shift_lanes, 16, lanes, per_cycle, guide,
  "results per cycle and sub-partition of shifts and bit fields")
HEDDLE_NUMBER(unsigned, shift_latency_cycles, 6, latency, cycles, measured,
  "dependent-issue latency of shifts and bit fields")
HEDDLE_CHOICE(multiplier, multiplier, xmad, (imad, xmad), guide,
  "how integers are multiplied: imad (32-bit multiply-add) | xmad (16-bit multiply-adds, into which lowering "
  "expands the product)")
HEDDLE_NUMBER(double, multiply_lanes, 32, lanes, per_cycle, guide,
  "results per cycle and sub-partition of multiply-add")
HEDDLE_NUMBER(unsigned, multiply_latency_cycles, 6, latency, cycles, measured,
  "dependent-issue latency of multiply-add")
HEDDLE_NUMBER(double, wide_multiply_lanes, 32, lanes, per_cycle, measured,
  "results per cycle and sub-partition of multiply-add with a 64-bit sum, or of the product's high word")
HEDDLE_NUMBER(double, minmax_lanes, 16, lanes, per_cycle, guide,
  "results per cycle and sub-partition of min, max and absolute difference")
HEDDLE_NUMBER(unsigned, minmax_latency_cycles, 6, latency, cycles, measured,
  "dependent-issue latency of min, max and absolute difference")
HEDDLE_NUMBER(double, compare_lanes, 16, lanes, per_cycle, guide,
  "results per cycle and sub-partition of compares to predicate")
HEDDLE_NUMBER(unsigned, compare_latency_cycles, 12, latency, cycles, measured,
  "dependent-issue latency of compares to predicate")
HEDDLE_NUMBER(double, special_register_lanes, 16, lanes, per_cycle, measured,
  "results per cycle and sub-partition of S2R")
HEDDLE_NUMBER(unsigned, special_register_latency_cycles, 25, latency, cycles, measured,
  "dependent-issue latency of S2R")
HEDDLE_FLAG(multiply_on_fp32, false, measured,
  "multiplies run in the fp32 unit, whose lanes they occupy as long as their own rate says")
HEDDLE_FLAG(packs_halves, false, measured,
  "conversions of FP32 to FP16 and BF16 run here (F2FP), not in the sfu")
HEDDLE_FLAG(converts_integers, false, measured,
  "conversions of 32-bit integers to FP32 run here (I2FP), not in the sfu")
HEDDLE_FLAG(on_fp32_lanes, false, product,
  "integer instructions use the fp32 lanes, and occupy them longer where their own rate is lower")
HEDDLE_NUMBER(unsigned, shared_lanes, 0, multiples_of_32(0, 128), lanes, product,
  "those of fp32.shared_lanes that also execute integers at full rate, and fp32 min, max and compare")
HEDDLE_END(integer, int)

HEDDLE_SECTION(fp64, fp64)
HEDDLE_NUMBER(double, lanes, 1, optional_lanes, per_cycle, guide,
  "results per cycle and sub-partition of add, multiply and fma; 0: the chip has no fp64")
HEDDLE_NUMBER(unsigned, latency_cycles, 45, latency, cycles, measured,
  "dependent-issue latency of add and multiply")
HEDDLE_NUMBER(unsigned, fma_latency_cycles, 45, latency, cycles, measured,
  "dependent-issue latency of fma")
HEDDLE_NUMBER(double, compare_lanes, 1, optional_lanes, per_cycle, guide,
  "results per cycle and sub-partition of compares to predicate")
HEDDLE_NUMBER(unsigned, compare_latency_cycles, 51, latency, cycles, measured,
  "dependent-issue latency of compares to predicate")
HEDDLE_NUMBER(double, conversion_lanes, 1, optional_lanes, per_cycle, guide,
  "results per cycle and sub-partition of conversions from and to 64-bit types, with the latency of add; 0: the sfu "
  "section's unit converts them")
HEDDLE_FLAG(shared, true, product,
  "one unit per SM with the lanes of all sub-partitions, which use it in turn")
HEDDLE_FLAG(issues_alone, false, measured,
  "an fp64 instruction also takes an issue cycle of the SM's other sub-partitions")
HEDDLE_END(fp64, fp64)

HEDDLE_SECTION(half, half)
HEDDLE_NUMBER(double, lanes, 0.25, optional_lanes, per_cycle, guide,
  "f16x2 operations per cycle and sub-partition; 0: the chip has none")
HEDDLE_NUMBER(unsigned, latency_cycles, 6, latency, cycles, measured,
  "dependent-issue latency of add, multiply and fma")
HEDDLE_NUMBER(double, compare_lanes, 0.25, optional_lanes, per_cycle, guide,
  "f16x2 compares per cycle and sub-partition")
HEDDLE_NUMBER(unsigned, compare_latency_cycles, 12, latency, cycles, measured,
  "dependent-issue latency of compares")
HEDDLE_FLAG(widens, false, measured,
  "conversions of FP16 to FP32 run here (HADD2.F32), not in the sfu")
HEDDLE_FLAG(shared, true, product,
  "one unit per SM with the lanes of all sub-partitions, which use it in turn")
HEDDLE_END(half, half)

HEDDLE_SECTION(sfu, sfu)
HEDDLE_NUMBER(double, lanes, 8, lanes, per_cycle, guide,
  "results per cycle and sub-partition of MUFU")
HEDDLE_NUMBER(unsigned, latency_cycles, 14, latency, cycles, measured,
  "dependent-issue latency of MUFU")
HEDDLE_NUMBER(double, bit_count_lanes, 8, lanes, per_cycle, guide,
  "results per cycle and sub-partition of population count")
HEDDLE_NUMBER(unsigned, bit_count_latency_cycles, 14, latency, cycles, measured,
  "dependent-issue latency of population count")
HEDDLE_NUMBER(double, bit_scan_lanes, 8, lanes, per_cycle, guide,
  "results per cycle and sub-partition of find leading one and reverse")
HEDDLE_NUMBER(unsigned, bit_scan_latency_cycles, 14, latency, cycles, measured,
  "dependent-issue latency of find leading one and reverse")
HEDDLE_NUMBER(double, conversion_lanes, 8, lanes, per_cycle, guide,
  "results per cycle and sub-partition of type conversions")
HEDDLE_NUMBER(unsigned, conversion_latency_cycles, 14, latency, cycles, measured,
  "dependent-issue latency of type conversions")
HEDDLE_END(sfu, sfu)

HEDDLE_SECTION(tensor, tensor)
HEDDLE_NUMBER(double, f16_fma_per_cycle, 0, multiply_adds, per_cycle, product,
  "f16 multiply-adds per cycle and sub-partition, accumulated in f16; 0: not supported")
HEDDLE_NUMBER(double, f16_f32_fma_per_cycle, 0, multiply_adds, per_cycle, product,
  "f16 multiply-adds per cycle and sub-partition, accumulated in f32; 0: not supported")
HEDDLE_NUMBER(double, bf16_fma_per_cycle, 0, multiply_adds, per_cycle, product,
  "bf16 multiply-adds per cycle and sub-partition; 0: not supported")
HEDDLE_NUMBER(double, tf32_fma_per_cycle, 0, multiply_adds, per_cycle, product,
  "tf32 multiply-adds per cycle and sub-partition; 0: not supported")
HEDDLE_NUMBER(double, int8_fma_per_cycle, 0, multiply_adds, per_cycle, product,
  "8-bit integer multiply-adds per cycle and sub-partition; 0: not supported")
HEDDLE_NUMBER(double, f64_fma_per_cycle, 0, multiply_adds, per_cycle, product,
  "f64 multiply-adds per cycle and sub-partition; 0: not supported")
HEDDLE_NUMBER(unsigned, latency_cycles, 18, latency, cycles, measured,
  "dependent-issue latency with f16 and s32 accumulators, for shapes of at most half the largest depth k of "
  "their type (f16: 8)")
HEDDLE_NUMBER(unsigned, deep_latency_cycles, 25, latency, cycles, measured,
  "dependent-issue latency with f16 and s32 accumulators, at the largest depth (f16: 16, 8-bit integers: 32)")
HEDDLE_NUMBER(unsigned, f32_latency_cycles, 18, latency, cycles, measured,
  "dependent-issue latency with f32 accumulators, up to half the largest depth (f16, bf16: 8, tf32: 4)")
HEDDLE_NUMBER(unsigned, deep_f32_latency_cycles, 25, latency, cycles, measured,
  "dependent-issue latency with f32 accumulators, at the largest depth (f16, bf16: 16, tf32: 8)")
HEDDLE_NUMBER(unsigned, m8n8k16_latency_cycles, 16, latency, cycles, measured,
  "dependent-issue latency of 8-bit integers in the shape m8n8k16")
HEDDLE_NUMBER(unsigned, f64_latency_cycles, 26, latency, cycles, measured,
  "dependent-issue latency of f64 products")
HEDDLE_NUMBER(double, warpgroup_f16_fma_per_cycle, 0, multiply_adds, per_cycle, product,
  "f16 and bf16 multiply-adds per cycle and sub-partition in products of a warpgroup (wgmma); 0: not supported")
HEDDLE_NUMBER(double, warpgroup_tf32_fma_per_cycle, 0, multiply_adds, per_cycle, product,
  "tf32 multiply-adds per cycle and sub-partition in products of a warpgroup; 0: not supported")
HEDDLE_NUMBER(double, warpgroup_8bit_fma_per_cycle, 0, multiply_adds, per_cycle, product,
  "multiply-adds of 8-bit integers and floats per cycle and sub-partition in products of a warpgroup; 0: not supported")
HEDDLE_NUMBER(unsigned, warpgroup_issue_cycles, 1, between(1, 1024), cycles, measured,
  "cycles between two products of a warpgroup that a sub-partition issues")
HEDDLE_NUMBER(unsigned, warpgroup_tail_cycles, 0, delay, cycles, measured,
  "cycles from the end of a warpgroup's product in the unit until a wait for it is over")
HEDDLE_NUMBER(unsigned, warpgroup_queue_entries, 8, between(1, 1024), count, measured,
  "products of warpgroups that a sub-partition holds, with the one that its unit computes")
HEDDLE_NUMBER(unsigned, sum_products, 16, between(2, 32), count, measured,
  "products of 16-bit floats that are added to c in one sum; of tf32 half of them, of 8-bit floats twice as many")
HEDDLE_NUMBER(unsigned, sum_fraction_bits, 25, between(8, 25), count, measured,
  "bits of a term of a sum behind the point, relative to the largest exponent; what lies below is cut")
HEDDLE_NUMBER(unsigned, byte_sum_fraction_bits, 13, between(8, 25), count, measured,
  "the same of 8-bit floats; f32 results have as many bits")
HEDDLE_END(tensor, tensor)

HEDDLE_SECTION(branch, branch)
HEDDLE_NUMBER(unsigned, latency_cycles, 6, latency, cycles, measured,
  "branch issue to the next instruction's fetch")
HEDDLE_NUMBER(double, barrier_lanes, 16, lanes, per_cycle, guide,
  "threads that arrive at a barrier per cycle and sub-partition")
HEDDLE_END(branch, branch)

HEDDLE_SECTION(ldst, ldst)
HEDDLE_NUMBER(double, lanes, 8, lanes, per_cycle, product,
  "addresses per cycle and sub-partition")
HEDDLE_NUMBER(double, shuffle_lanes, 8, lanes, per_cycle, guide,
  "results of SHFL per cycle and sub-partition")
HEDDLE_NUMBER(unsigned, shuffle_latency_cycles, 24, latency, cycles, measured,
  "dependent-issue latency of SHFL")
HEDDLE_NUMBER(unsigned, fence_latency_cycles, 0, between(0, 65535), cycles, measured,
  "least cycles of a releasing fence of cluster scope or wider, also where the warp has no access in flight")
HEDDLE_NUMBER(unsigned, fence_interval_cycles, 0, between(0, 65535), cycles, measured,
  "cycles from the beginning of such a fence to that of the sub-partition's next one")
HEDDLE_NUMBER(unsigned, queue_entries, 4, entries, count, measured,
  "memory instructions queued in front of the load/store unit, per sub-partition")
HEDDLE_NUMBER(unsigned, issue_interval_cycles, 4, between(1, 1024), cycles, measured,
  "cycles between two memory instructions that a sub-partition issues while its queue has room")
HEDDLE_NUMBER(unsigned, accept_interval_cycles, 1, between(1, 1024), cycles, measured,
  "cycles between two memory instructions that the SM's load/store unit accepts from the queues")
HEDDLE_NUMBER(unsigned, pending_instructions, 128, entries, count, design,
  "memory instructions in flight in the load/store unit")
HEDDLE_NUMBER(unsigned, address_latency_cycles, 4, latency, cycles, measured,
  "issue to the first tag look-up or shared-memory pass")
HEDDLE_NUMBER(unsigned, load_read_latency_cycles, 20, latency, cycles, measured,
  "software dependence: from the issue of a load or atomic until its source registers may be overwritten")
HEDDLE_NUMBER(unsigned, store_read_latency_cycles, 20, latency, cycles, measured,
  "software dependence: from the issue of a store or reduction of 32 bits per lane until its source registers "
  "may be overwritten")
HEDDLE_NUMBER(unsigned, shared_load_read_latency_cycles, 20, latency, cycles, measured,
  "software dependence: from the issue of a load or atomic in shared memory until its source registers may be "
  "overwritten")
HEDDLE_NUMBER(unsigned, shared_store_read_latency_cycles, 20, latency, cycles, measured,
  "software dependence: from the issue of a store of 32 bits per lane to shared memory until its source "
  "registers may be overwritten")
HEDDLE_NUMBER(unsigned, constant_read_latency_cycles, 20, latency, cycles, measured,
  "software dependence: from the issue of LDC until its index register may be overwritten")
HEDDLE_NUMBER(unsigned, operand_latency_cycles, 0, between(0, 240), cycles, measured,
  "software dependence: additional cycles until a memory instruction can use a result of fixed latency for which stall "
  "counts wait, one of at most 15 cycles")
HEDDLE_NUMBER(unsigned, store_read_cycles_per_word, 0, delay, cycles, measured,
  "software dependence: cycles that each further 32 bits per lane add to a store's read latency")
HEDDLE_NUMBER(unsigned, return_interval_cycles, 0, between(0, 1024), cycles, measured,
  "a load of more than 32 bits per lane returns in several transfers: cycles between two of them; 0: a single "
  "transfer")
HEDDLE_NUMBER(unsigned, return_words, 1, between(1, 4), count, measured,
  "32-bit words per lane in one such transfer from global memory")
HEDDLE_NUMBER(unsigned, shared_return_words, 1, between(1, 4), count, measured,
  "32-bit words per lane in one such transfer from shared memory")
HEDDLE_NUMBER(unsigned, reexecution_entries, 0, between(0, 4096), count, design,
  "loads that found no room in the L1 and wait in a queue of their own, so that later loads can bypass them; "
  "0: no such queue")
HEDDLE_CHOICE(coalescing, coalescing, warp, (warp, half_warp), guide,
  "lanes whose accesses are combined: those of a warp, by line and sector | those of half a warp, if in order "
  "and aligned")
HEDDLE_CHOICE(replay, replay, unit, (unit, issue), measured,
  "what further passes of a memory instruction take: time in the load/store unit (unit) | an issue slot each "
  "as well (issue)")
HEDDLE_END(ldst, ldst)

HEDDLE_SECTION(texture, texture)
HEDDLE_NUMBER(double, lanes, 2, lanes, per_cycle, product,
  "coordinates per cycle and sub-partition")
HEDDLE_NUMBER(unsigned, queue_entries, 8, entries, count, design,
  "outstanding texture and surface instructions per sub-partition")
HEDDLE_NUMBER(unsigned, filter_latency_cycles, 4, latency, cycles, design,
  "from the arrival of the texels to dependent issue")
HEDDLE_END(texture, texture)

HEDDLE_SECTION(l1, l1)
HEDDLE_NUMBER(unsigned, size_bytes, 24576, between(128, 16777216), bytes, product,
  "data capacity; with a unified cache, what the largest carve-out leaves: a smaller carve-out enlarges the L1")
HEDDLE_NUMBER(unsigned, ways, 48, cache_ways, count, measured,
  "associativity")
HEDDLE_NUMBER(unsigned, line_bytes, 128, between(128, 128), bytes, measured,
  "bytes of a line, which has one tag")
HEDDLE_NUMBER(unsigned, sector_bytes, 32, powers_of_two(32, 128), bytes, measured,
  "bytes of a sector, the unit of a fill")
HEDDLE_NUMBER(unsigned, latency_cycles, 82, latency, cycles, measured,
  "load issue to dependent issue on a hit")
HEDDLE_NUMBER(unsigned, banks, 2, powers_of_two(1, 4), count, measured,
  "data banks, each a sector wide: a hit reads one sector of each at a time")
HEDDLE_NUMBER(double, read_cycles, 1, between(1, 1000), cycles, measured,
  "cycles in which each bank reads one sector, on average")
HEDDLE_FLAG(cache_global_loads, false, guide,
  "plain global loads are cached (read-only loads always are)")
HEDDLE_FLAG(cache_local, true, guide,
  "local memory is cached in the L1")
HEDDLE_NUMBER(unsigned, mshr_entries, 256, entries, count, design,
  "outstanding missed lines")
HEDDLE_NUMBER(unsigned, mshr_merges, 8, entries, count, design,
  "requests merged into one outstanding line")
HEDDLE_NUMBER(unsigned, miss_queue_entries, 16, entries, count, design,
  "requests waiting for the interconnect")
HEDDLE_NUMBER(unsigned, prefetch_lines, 0, between(0, 3), count, design,
  "next lines fetched after a miss, within 512 bytes; 0: no prefetcher")
HEDDLE_FLAG(fence_invalidates, false, design,
  "a fence of GPU scope or wider invalidates the SM's L1, which is not coherent")
HEDDLE_CHOICE(store_hit, store_hit, invalidate, (update, invalidate), measured,
  "what a store to global memory does with sectors that the L1 holds; stores to local memory always update them")
HEDDLE_FLAG(store_allocates, false, measured,
  "a store to global memory takes a line for its sectors, where later stores find them")
HEDDLE_NUMBER(double, atomic_return_cycles, 0, delay, cycles, measured,
  "for which the results of an atomic hold the L1's port to the interconnect: for each of the lanes that use one word, "
  "one after another")
HEDDLE_LISTED(replacement, replacement, lru, HEDDLE_REPLACEMENTS, design,
  "which line of a set is replaced")
HEDDLE_END(l1, l1)

HEDDLE_SECTION(shared_memory, shared_memory)
HEDDLE_NUMBER(unsigned, size_bytes, 98304, shared_bytes, bytes, guide,
  "shared memory of the SM: the largest carve-out")
HEDDLE_NUMBER(unsigned, max_per_block_bytes, 49152, shared_bytes, bytes, guide,
  "static + dynamic shared memory of a block that does not opt in to more")
HEDDLE_NUMBER(unsigned, opt_in_per_block_bytes, 49152, shared_bytes, bytes, guide,
  "static + dynamic shared memory of a block that opts in")
HEDDLE_NUMBER(unsigned, reserved_per_block_bytes, 0, shared_bytes, bytes, calculator,
  "shared memory that the system reserves in each block's allocation")
HEDDLE_NUMBER(unsigned, allocation_unit_bytes, 256, between(1, 65536), bytes, calculator,
  "allocations are rounded up to this")
HEDDLE_LIST(carveouts_kb, HEDDLE_NUMBERS(96), carveout_kb, guide,
  "sizes that the carve-out can take, KiB")
HEDDLE_NUMBER(unsigned, unified_bytes, 0, between(0, 33554432), bytes, guide,
  "capacity that L1 and shared memory share; 0: they are separate")
HEDDLE_NUMBER(unsigned, banks, 32, powers_of_two(1, most_shared_memory_banks), count, guide,
  "banks of shared memory")
HEDDLE_NUMBER(unsigned, bank_bytes, 4, powers_of_two(4, 8), bytes, guide,
  "width of a bank")
HEDDLE_NUMBER(unsigned, latency_cycles, 23, latency, cycles, measured,
  "load issue to dependent issue without conflict")
HEDDLE_NUMBER(double, pass_cycles, 1.1, between(1, 1000), cycles, measured,
  "cycles for which a pass occupies the banks, on average")
HEDDLE_NUMBER(unsigned, conflict_cycles, 2, delay, cycles, measured,
  "latency added by each further pass")
HEDDLE_NUMBER(unsigned, atomic_interval_cycles, 2, delay, cycles, measured,
  "latency added by each further pass of an atomic; lanes that access one word take a pass each")
HEDDLE_NUMBER(double, atomic_pass_cycles, 0, delay, cycles, measured,
  "cycles for which a pass of an atomic occupies the banks, on average; 0: pass_cycles")
HEDDLE_END(shared_memory, shared_memory)

HEDDLE_SECTION(constant_cache, constant_cache)
HEDDLE_NUMBER(unsigned, size_bytes, 2048, between(64, 1048576), bytes, measured,
  "size of the first-level constant cache")
HEDDLE_NUMBER(unsigned, line_bytes, 64, powers_of_two(16, 4096), bytes, measured,
  "bytes of a line")
HEDDLE_NUMBER(unsigned, ways, 4, cache_ways, count, measured,
  "associativity")
HEDDLE_NUMBER(unsigned, latency_cycles, 25, latency, cycles, measured,
  "LDC issue to dependent issue on a hit")
HEDDLE_NUMBER(unsigned, index_cycles, 0, between(0, 1024), cycles, measured,
  "latency that an index register adds")
HEDDLE_NUMBER(unsigned, miss_latency_cycles, 87, latency, cycles, measured,
  "LDC issue to dependent issue from the second level (L1.5)")
HEDDLE_END(constant_cache, constant_cache)

HEDDLE_SECTION(instruction_cache, instruction_cache)
HEDDLE_NUMBER(unsigned, size_bytes, 8192, between(64, 16777216), bytes, measured,
  "size of the first level, nearest to the schedulers")
HEDDLE_NUMBER(unsigned, line_bytes, 128, powers_of_two(16, 4096), bytes, measured,
  "bytes of a line")
HEDDLE_NUMBER(unsigned, ways, 4, cache_ways, count, measured,
  "associativity")
HEDDLE_NUMBER(unsigned, instruction_bytes, 8, powers_of_two(8, 16), bytes, measured,
  "bytes of one machine instruction")
HEDDLE_NUMBER(unsigned, miss_latency_cycles, 32, latency, cycles, measured,
  "cycles to fetch a line from the second level")
HEDDLE_NUMBER(unsigned, prefetch_lines, 1, between(0, 64), count, measured,
  "lines prefetched after the one requested")
HEDDLE_FLAG(per_sub_partition, false, product,
  "each sub-partition has a first level (L0) of its own")
HEDDLE_NUMBER(unsigned, second_level_bytes, 32768, between(0, 16777216), bytes, measured,
  "size of the SM's second level; 0: none, and a miss of the first level takes miss_latency_cycles")
HEDDLE_NUMBER(unsigned, second_level_line_bytes, 256, powers_of_two(16, 4096), bytes, measured,
  "bytes of a line of the second level")
HEDDLE_NUMBER(unsigned, second_level_ways, 8, cache_ways, count, measured,
  "associativity of the second level")
HEDDLE_CHOICE(second_level_misses, second_level_misses, l2, (fixed, l2), design,
  "what serves a miss of the second level: fixed (a latency, as if the code were always in the L2) | l2 (reads of the L2, "
  "which compete with data and may miss; not with memory.model = external, whose memory holds no code)")
HEDDLE_NUMBER(unsigned, second_level_miss_latency_cycles, 138, latency, cycles, measured,
  "additional cycles if the line misses in the second level and is in the L2; with l2 without load, and at least the way "
  "to the L2 and back")
HEDDLE_NUMBER(unsigned, launch_prefetch_bytes, 0, between(0, 16777216), bytes, measured,
  "first bytes of a kernel's code that are in the second level when its first block starts; a launch's overhead hides their "
  "transfer")
HEDDLE_END(instruction_cache, instruction_cache)

HEDDLE_SECTION(tlb, tlb)
HEDDLE_NUMBER(unsigned, entries, 0, between(0, 65536), count, measured,
  "translations that an SM's TLB holds; 0: no translation, addresses are physical")
HEDDLE_NUMBER(unsigned, page_bytes, 2097152, powers_of_two(128, 1073741824), bytes, measured,
  "memory that one translation covers")
HEDDLE_NUMBER(unsigned, miss_latency_cycles, 11, latency, cycles, measured,
  "latency added to an access that misses in the TLB")
HEDDLE_END(tlb, tlb)

HEDDLE_SECTION(interconnect, interconnect)
HEDDLE_NUMBER(double, clock_mhz, 1607, clock_mhz, mhz, design,
  "clock of interconnect and L2: L2 cycles are cycles of this clock")
HEDDLE_NUMBER(unsigned, latency_cycles, 20, latency, l2_cycles, design,
  "latency of one direction, without load")
HEDDLE_NUMBER(unsigned, request_bytes_per_cycle, 32, port_bytes, bytes_per_cycle, design,
  "bandwidth of a port from SM to L2")
HEDDLE_NUMBER(unsigned, response_bytes_per_cycle, 64, port_bytes, bytes_per_cycle, measured,
  "bandwidth of a port from L2 to SM")
HEDDLE_NUMBER(unsigned, sm_request_bytes_per_cycle, 0, optional_port_bytes, bytes_per_core_cycle, measured,
  "bandwidth of the port at which an SM sends, if it is not that of a slice, request_bytes_per_cycle; 0: it is")
HEDDLE_NUMBER(unsigned, sm_response_bytes_per_cycle, 0, optional_port_bytes, bytes_per_core_cycle, measured,
  "bandwidth of the port at which an SM receives, if it is not that of a slice, response_bytes_per_cycle; 0: it is")
HEDDLE_NUMBER(unsigned, cpc_response_bytes_per_cycle, 0, between(0, 65536), bytes_per_core_cycle, measured,
  "what the SMs of a CPC receive together at most; 0: as much as their ports")
HEDDLE_NUMBER(unsigned, gpc_response_bytes_per_cycle, 0, between(0, 65536), bytes_per_core_cycle, measured,
  "the same of a GPC")
HEDDLE_NUMBER(unsigned, header_bytes, 8, between(0, 4096), bytes, design,
  "bytes of each packet besides its data")
HEDDLE_NUMBER(unsigned, mask_bytes, 0, between(0, 4096), bytes, measured,
  "bytes that a store of parts of sectors carries besides its sectors; 0: its byte mask travels next to the data")
HEDDLE_NUMBER(unsigned, input_queue_entries, 8, entries, count, design,
  "packets queued at an input port")
HEDDLE_NUMBER(unsigned, output_queue_entries, 8, entries, count, design,
  "packets queued at an output port")
HEDDLE_END(interconnect, interconnect)

HEDDLE_SECTION(l2, l2)
HEDDLE_NUMBER(unsigned, size_bytes, 2097152, between(128, 1073741824), bytes, product,
  "all slices together")
HEDDLE_NUMBER(unsigned, ways, 16, cache_ways, count, measured,
  "associativity")
HEDDLE_NUMBER(unsigned, line_bytes, 128, between(128, 128), bytes, measured,
  "bytes of a line, which has one tag")
HEDDLE_NUMBER(unsigned, sector_bytes, 32, between(32, 32), bytes, measured,
  "bytes of a sector, the unit of a fill")
HEDDLE_NUMBER(unsigned, latency_cycles, 216, latency, cycles, measured,
  "load issue to dependent issue on an L2 hit, without load; core cycles")
HEDDLE_NUMBER(unsigned, far_latency_cycles, 0, delay, cycles, measured,
  "added where data crosses between the two partitions of the L2, each of which has half of the slices and serves half "
  "of the GPCs: stores, atomics, misses, and hits of sectors that the SM's partition has not read since they were "
  "written; core cycles; 0: one partition")
HEDDLE_NUMBER(unsigned, partition_bytes, 4096, powers_of_two(128, 1048576), bytes, measured,
  "aligned blocks of this size belong to one of the two partitions (far_latency_cycles), and of each two one to each")
HEDDLE_NUMBER(unsigned, fetch_bytes, 32, powers_of_two(32, 128), bytes, measured,
  "size of the aligned block that a miss fetches, without the sectors that the line already has")
HEDDLE_FLAG(fills_parts, false, measured,
  "a sector that was stored in part is read from the memory before it is written back; else it is written with a mask")
HEDDLE_NUMBER(unsigned, write_interval_cycles, 0, delay, l2_cycles, measured,
  "busy time of a slice's array per sector that a store, an atomic or a fetch from memory writes: the next store or "
  "atomic waits, hits of loads do not; 0: it takes any number at once")
HEDDLE_NUMBER(unsigned, slices_per_channel, 1, between(1, 8), count, product,
  "slices before each memory channel; each has its port of the interconnect, its look-ups and its misses")
HEDDLE_NUMBER(unsigned, lookup_interval_cycles, 1, latency, l2_cycles, design,
  "cycles between two look-ups in a slice")
HEDDLE_NUMBER(unsigned, mshr_entries, 64, entries, count, design,
  "outstanding missed lines per slice")
HEDDLE_NUMBER(unsigned, mshr_merges, 16, entries, count, design,
  "requests merged into one outstanding line")
HEDDLE_NUMBER(unsigned, queue_entries, 16, entries, count, design,
  "requests queued in front of a slice")
HEDDLE_NUMBER(double, atomic_interval_cycles, 20, delay, l2_cycles, measured,
  "latency that each further lane of an atomic on one address adds")
HEDDLE_NUMBER(double, atomic_occupancy_cycles, 0, delay, l2_cycles, measured,
  "busy time of the atomic unit per further lane of an atomic on one address; 0: as long as its latency, "
  "atomic_interval_cycles")
HEDDLE_NUMBER(double, atomic_sector_cycles, 0, delay, l2_cycles, measured,
  "busy time of the atomic unit per sector of an atomic, at least")
HEDDLE_NUMBER(unsigned, atomic_contention_cycles, 0, delay, l2_cycles, measured,
  "latency added once if several lanes of an atomic access one address")
HEDDLE_NUMBER(unsigned, atomic_limit_cycles, 21, delay, l2_cycles, measured,
  "upper bound of what all further lanes of an atomic add; 0: no bound")
HEDDLE_CHOICE(hash, hash, xor_, (none, xor_), design,
  "slice of an address: none (address bits unchanged) | xor (upper bits folded in by exclusive or)")
HEDDLE_NUMBER(unsigned, interleave_bytes, 256, powers_of_two(128, 1048576), bytes, design,
  "consecutive bytes that map to one slice")
HEDDLE_FLAG(flush_at_completion, false, design,
  "write dirty lines back before a launch completes")
HEDDLE_SAME(replacement, replacement, lru, design,
  "which line of a set is replaced")
HEDDLE_END(l2, l2)

HEDDLE_SECTION(memory, memory)
HEDDLE_CHOICE(memory_model, model, dram, (dram, fixed, external), setting,
  "what is behind the L2: dram (DRAM channels) | fixed (constant latency and bandwidth) | external (what a "
  "program binds to gpu.memory_socket)")
HEDDLE_NUMBER(unsigned, channels, 8, between(1, 256), count, product,
  "memory channels")
HEDDLE_NUMBER(unsigned, latency_cycles, 246, latency, cycles, measured,
  "fixed: slice to memory and back; core cycles")
HEDDLE_NUMBER(double, bytes_per_cycle, 24.9, between(1.0 / 64, 65536), bytes_per_cycle, product,
  "fixed: bandwidth per channel; core cycles")
HEDDLE_NUMBER(unsigned, max_transfer_bytes, 128, powers_of_two(1, 128), bytes, design,
  "external: longest transfer that the memory accepts; longer ones are split")
HEDDLE_FLAG(byte_enables, true, setting,
  "external: the memory supports byte enables; without them each run of bytes is a write of its own")
HEDDLE_CHOICE(addresses, addresses, device, (device, channel), setting,
  "external: device (all channels together, with the addresses of programs) | channel (each channel on its "
  "own, its bytes contiguous)")
HEDDLE_NUMBER(unsigned, base_mib, 256, between(0, 4294967295.0), mib, setting,
  "external: address in the memory at which device memory begins, MiB; for programs it begins at 256")
HEDDLE_NUMBER(unsigned, capacity_mib, 8192, between(16, 16777216), mib, product,
  "device memory that CUDA programs may allocate (heddle exec)")
HEDDLE_END(memory, memory)

HEDDLE_SECTION(dram, dram)
HEDDLE_TABLED(dram_preset, none, preset, "gddr5x", product,
  "memory type: sets the clock, width, banks, rows and times below; keys after it override them")
HEDDLE_TABLED(dram_standard, generic, standard, "generic", data_sheet,
  "standard whose levels and commands the channel has: where it is set, sets clock, width, ranks, groups, "
  "banks, rows and times below, which may follow; generic has all, with the values below "
  "([memory](memory.md#dram))")
HEDDLE_NUMBER(double, clock_mhz, 1251, clock_mhz, mhz, product,
  "command clock: DRAM cycles are cycles of this clock")
HEDDLE_NUMBER(unsigned, bytes_per_cycle, 32, port_bytes, bytes_per_cycle, product,
  "data bytes per command clock and channel")
HEDDLE_NUMBER(unsigned, burst_bytes, 32, powers_of_two(1, 4096), bytes, data_sheet,
  "bytes of a burst")
HEDDLE_NUMBER(unsigned, ranks, 1, powers_of_two(1, 16), count, data_sheet,
  "ranks of a channel")
HEDDLE_NUMBER(unsigned, bank_groups, 1, powers_of_two(1, 64), count, data_sheet,
  "bank groups of a rank; 1: none, and a request's bursts follow one another")
HEDDLE_NUMBER(unsigned, banks, 16, between(1, 1024), count, data_sheet,
  "banks of a channel, in all ranks and groups together")
HEDDLE_NUMBER(unsigned, row_bytes, 2048, powers_of_two(128, 1048576), bytes, data_sheet,
  "row buffer of a bank")
HEDDLE_NUMBER(unsigned, queue_entries, 64, between(1, 4096), count, design,
  "requests among which the channel's scheduler chooses")
HEDDLE_NUMBER(unsigned, controller_latency_cycles, 143, delay, dram_cycles, design,
  "controller and pads, both ways together")
HEDDLE_LISTED(dram_scheduler, scheduler, fr_fcfs, HEDDLE_DRAM_SCHEDULERS, design,
  "which request's command issues: row hits first, then the oldest | always the oldest's")
HEDDLE_NUMBER_WITH(scheduler, "fr_fcfs", unsigned, starvation_cycles, 512, between(0, 100000000), dram_cycles, design,
  "a request that has waited longer has priority over all others; 0: never")
HEDDLE_LISTED(row_policy, row_policy, open, HEDDLE_ROW_POLICIES, design,
  "when a row is closed that no waiting request needs: never | with the last column command | after "
  "row_timeout_cycles")
HEDDLE_NUMBER_WITH(row_policy, "timeout", unsigned, row_timeout_cycles, 200, delay, dram_cycles, design,
  "from a row's last column command until it is closed")
HEDDLE_LISTED(refresh, refresh, all_bank, HEDDLE_REFRESH_POLICIES, data_sheet,
  "what a refresh takes: there is none | all banks of the channel, each t_refi | one bank after the other, "
  "each of them once in t_refi")
HEDDLE_NUMBER(unsigned, t_rcd_cycles, 16, latency, dram_cycles, data_sheet,
  "activate to column command")
HEDDLE_NUMBER(unsigned, t_rp_cycles, 16, latency, dram_cycles, data_sheet,
  "precharge to activate")
HEDDLE_NUMBER(unsigned, t_cl_cycles, 16, latency, dram_cycles, data_sheet,
  "read command to data")
HEDDLE_NUMBER(unsigned, t_wl_cycles, 6, delay, dram_cycles, data_sheet,
  "write command to data")
HEDDLE_NUMBER(unsigned, t_ras_cycles, 37, delay, dram_cycles, data_sheet,
  "activate to precharge")
HEDDLE_NUMBER(unsigned, t_rc_cycles, 0, delay, dram_cycles, data_sheet,
  "activate to activate, same bank; 0: t_ras and t_rp say it")
HEDDLE_NUMBER(unsigned, t_ccd_cycles, 1, latency, dram_cycles, data_sheet,
  "column to column command (tCCD_S: of different bank groups)")
HEDDLE_NUMBER(unsigned, t_ccd_l_cycles, 0, delay, dram_cycles, data_sheet,
  "the same in one bank group (tCCD_L)")
HEDDLE_NUMBER(unsigned, t_rrd_cycles, 8, delay, dram_cycles, data_sheet,
  "activate to activate, different banks (tRRD_S: of different bank groups)")
HEDDLE_NUMBER(unsigned, t_rrd_l_cycles, 0, delay, dram_cycles, data_sheet,
  "the same in one bank group (tRRD_L)")
HEDDLE_NUMBER(unsigned, t_faw_cycles, 0, delay, dram_cycles, data_sheet,
  "window of at most four activates of a rank; 0: no limit")
HEDDLE_NUMBER(unsigned, t_wr_cycles, 16, delay, dram_cycles, data_sheet,
  "end of write data to precharge")
HEDDLE_NUMBER(unsigned, t_rtp_cycles, 3, delay, dram_cycles, data_sheet,
  "read to precharge")
HEDDLE_NUMBER(unsigned, t_wtr_cycles, 7, delay, dram_cycles, data_sheet,
  "end of write data to read command (tWTR_S: of different bank groups)")
HEDDLE_NUMBER(unsigned, t_wtr_l_cycles, 0, delay, dram_cycles, data_sheet,
  "the same in one bank group (tWTR_L)")
HEDDLE_NUMBER(unsigned, t_rtw_cycles, 1, delay, dram_cycles, data_sheet,
  "idle cycles of the data bus between read and write data")
HEDDLE_NUMBER(unsigned, t_cs_cycles, 0, delay, dram_cycles, data_sheet,
  "idle cycles of the data bus between data of two ranks")
HEDDLE_NUMBER(unsigned, t_refi_cycles, 0, between(0, 100000000), dram_cycles, data_sheet,
  "interval in which every bank is refreshed, 0: no refresh")
HEDDLE_NUMBER(unsigned, t_rfc_cycles, 0, between(0, 10000000), dram_cycles, data_sheet,
  "refresh duration, all banks")
HEDDLE_NUMBER(unsigned, t_rfc_pb_cycles, 0, between(0, 10000000), dram_cycles, data_sheet,
  "refresh duration, one bank")
HEDDLE_END(dram, dram)

HEDDLE_SECTION(context, context)
HEDDLE_CHOICE(preemption, preemption, instruction, (block, instruction), product,
  "where a running block can be preempted: block (only at its end) | instruction (between two instructions)")
HEDDLE_CHOICE(priority_preemption, priority_preemption, none, (none, drain, switch_, flush, auto_), design,
  "how less urgent blocks make room for a launch of higher priority that fits nowhere: none (they do not) | "
  "drain (they run to their end) | switch (they are saved) | flush (they are dropped and restart) | auto (what "
  "costs each block least)")
HEDDLE_NUMBER(unsigned, time_slice_cycles, 0, between(0, 4000000000), cycles, design,
  "time on an SM after which blocks are switched out for waiting blocks of another stream; 0: no limit")
HEDDLE_NUMBER(unsigned, lines_in_flight, 128, between(1, 4096), count, design,
  "outstanding 128-byte lines while an SM saves or restores contexts")
HEDDLE_CHOICE(saved_registers, saved_registers, used, (used, live), design,
  "registers of a context: used (all that the kernel uses) | live (those that the warp's threads may still "
  "read)")
HEDDLE_NUMBER(unsigned, area_mib, 1048576, between(512, 1073741824), mib, design,
  "device address of the area in which contexts are saved, MiB; above all allocations")
HEDDLE_END(context, context)

HEDDLE_SECTION(host_link, host_link)
HEDDLE_NUMBER(double, bandwidth_gbs, 12, between(0.001, 100000), gb_per_second, product,
  "bandwidth of copies between the memories of a CUDA program and the GPU, in each direction (heddle exec)")
HEDDLE_NUMBER(double, latency_us, 1.3, between(0, 1000000), us, measured,
  "latency of each such copy")
HEDDLE_END(host_link, host_link)

HEDDLE_SECTION(energy, energy)
HEDDLE_FLAG(account, true, setting,
  "the metrics have energies and powers ([energy](energy.md)); false, also for a file without this section and "
  "without base: they have none")
HEDDLE_NUMBER(double, constant_watts, 36, watts, watts, power,
  "power of the board whatever the chip does: regulators, fans, DRAM at rest, clocks outside the SMs")
HEDDLE_NUMBER(double, active_sm_watts, 0.9, watts, watts, power,
  "leakage and clock of an SM that has warps")
HEDDLE_NUMBER(double, idle_sm_watts, 0.45, watts, watts, power,
  "the same of an SM without warps")
HEDDLE_NUMBER(double, leakage_share, 0.6, between(0, 1), count, power,
  "part of active_sm_watts and idle_sm_watts that leaks, so that it scales with the voltage; the rest, the clock's, "
  "scales with the core clock and the square of the voltage")
HEDDLE_NUMBER(double, instruction_pj, 66.3, picojoules, pj, power,
  "fetch, decode, scheduling and dispatch of a warp instruction; a replay costs it again")
HEDDLE_NUMBER(double, fp32_pj, 14.6, picojoules, pj, power,
  "FP32 operation of one active lane")
HEDDLE_NUMBER(double, int_pj, 3.66, picojoules, pj, power,
  "integer operation of one active lane, without multiplication")
HEDDLE_NUMBER(double, int_multiply_pj, 10.3, picojoules, pj, power,
  "integer multiplication or multiply-add of one active lane")
HEDDLE_NUMBER(double, fp64_pj, 118, picojoules, pj, power,
  "FP64 operation of one active lane")
HEDDLE_NUMBER(double, half_pj, 9.6, picojoules, pj, power,
  "operation of one active lane on two half-precision numbers")
HEDDLE_NUMBER(double, sfu_pj, 29.7, picojoules, pj, power,
  "special function, conversion or bit count of one active lane")
HEDDLE_NUMBER(double, ldst_pj, 3.66, picojoules, pj, power,
  "address of one active lane, or its part of a shuffle")
HEDDLE_NUMBER(double, branch_pj, 1.83, picojoules, pj, power,
  "branch, barrier or other control instruction, one active lane")
HEDDLE_NUMBER(double, texture_pj, 36.6, picojoules, pj, power,
  "texture or surface access of one active lane: addressing and filter")
HEDDLE_NUMBER(double, tensor_f16_pj, 2.88, picojoules, pj, power,
  "a multiply-add of a matrix instruction on f16 or bf16")
HEDDLE_NUMBER(double, tensor_tf32_pj, 5.76, picojoules, pj, power,
  "the same on tf32")
HEDDLE_NUMBER(double, tensor_int8_pj, 1.44, picojoules, pj, power,
  "the same on 8-bit integers")
HEDDLE_NUMBER(double, tensor_f64_pj, 57.1, picojoules, pj, power,
  "the same on f64")
HEDDLE_NUMBER(double, register_read_pj, 1.2, picojoules, pj, power,
  "read of a 32-bit register by one active lane")
HEDDLE_NUMBER(double, register_write_pj, 1.68, picojoules, pj, power,
  "write of a 32-bit register by one active lane")
HEDDLE_NUMBER(double, shared_pj, 599, picojoules, pj, power,
  "pass (wavefront) of a shared-memory access over all banks")
HEDDLE_NUMBER(double, constant_pj, 229, picojoules, pj, power,
  "look-up in the constant cache")
HEDDLE_NUMBER(double, l1_read_hit_pj, 853, picojoules, pj, power,
  "load of 32 bytes, counted in 4-byte words, of sectors that are in the L1 or being fetched")
HEDDLE_NUMBER(double, l1_read_miss_pj, 853, picojoules, pj, power,
  "load that fetches a 32-byte sector: look-up, fill and read")
HEDDLE_NUMBER(double, l1_write_hit_pj, 853, picojoules, pj, power,
  "store to a 32-byte sector that is in the L1")
HEDDLE_NUMBER(double, l1_write_miss_pj, 853, picojoules, pj, power,
  "store to a 32-byte sector that is not")
HEDDLE_NUMBER(double, tlb_pj, 11.4, picojoules, pj, power,
  "look-up in an SM's TLB")
HEDDLE_NUMBER(double, flit_pj, 1100, picojoules, pj, power,
  "32 bytes, or the header of a request, through the interconnect")
HEDDLE_NUMBER(double, cluster_flit_pj, 1100, picojoules, pj, power,
  "the same through the network between the SMs of a cluster")
HEDDLE_NUMBER(double, l2_read_hit_pj, 1380, picojoules, pj, power,
  "load of a 32-byte sector that is in the L2")
HEDDLE_NUMBER(double, l2_read_miss_pj, 1380, picojoules, pj, power,
  "load of a 32-byte sector that is not: look-up and fill")
HEDDLE_NUMBER(double, l2_write_hit_pj, 1380, picojoules, pj, power,
  "store to a 32-byte sector whose line is in the L2; an atomic's request")
HEDDLE_NUMBER(double, l2_write_miss_pj, 1380, picojoules, pj, power,
  "store to a 32-byte sector whose line is not")
HEDDLE_NUMBER(double, dram_read_pj, 5940, picojoules, pj, power,
  "read of 32 bytes from device memory, with its controller")
HEDDLE_NUMBER(double, dram_write_pj, 5940, picojoules, pj, power,
  "write of 32 bytes to device memory, with its controller")
HEDDLE_NUMBER(double, context_line_pj, 45.7, picojoules, pj, power,
  "128 bytes of a context saved or restored in the SM, without the memory system")
HEDDLE_NUMBER(double, reference_clock_mhz, 1607, clock_mhz, mhz, power,
  "core clock for which the figures of this section hold")
HEDDLE_CHOICE(voltage_curve, voltage_curve, points, (line, points), power,
  "how the core voltage follows the core clock: by reference_volts, volts_per_ghz and least_volts, or by known points, "
  "voltage_points_mv, and straight lines between them")
HEDDLE_NUMBER_WITH(voltage_curve, "line", double, reference_volts, 1, volts, volts, power,
  "core voltage at reference_clock_mhz")
HEDDLE_NUMBER(double, volts, 0, optional_volts, volts, setting,
  "core voltage of the run: energies scale with its square, powers of SMs by leakage_share, from that at the reference "
  "clock; 0: what voltage_curve gives for the core clock")
HEDDLE_NUMBER_WITH(voltage_curve, "line", double, volts_per_ghz, 0.25, between(0, 10), volts, power,
  "change of the voltage with the core clock, per GHz")
HEDDLE_NUMBER_WITH(voltage_curve, "line", double, least_volts, 0.7, volts, volts, power,
  "lowest voltage at which the chip works")
HEDDLE_LIST(voltage_clocks_mhz, HEDDLE_NUMBERS(291, 1696, 2038), voltage_points, power,
  "points: core clocks whose voltages are known, MHz; 0: none")
HEDDLE_LIST(voltage_points_mv, HEDDLE_NUMBERS(625, 825, 1060), voltage_points, power,
  "points: core voltages at these clocks, mV; the first holds for all lower clocks; the last straight line goes on "
  "upwards; 0: none")
HEDDLE_NUMBER(double, operand_activity, 1, between(0, 1), count, setting,
  "how much operands and data change from one operation to the next: 1 like random numbers, 0 not at all (constants); "
  "energies in between are proportional ([energy](energy.md#values-of-operands))")
HEDDLE_NUMBER(double, still_lane_share, 0.25, between(0, 1), count, power,
  "what energies of lanes and registers are at operand_activity 0, as a share of those at 1")
HEDDLE_NUMBER(double, still_tensor_share, 0.26, between(0, 1), count, power,
  "the same of multiply-adds of matrix instructions")
HEDDLE_NUMBER(double, still_data_share, 0.33, between(0, 1), count, power,
  "the same of shared memory, L1, L2, interconnect and contexts")
HEDDLE_NUMBER(double, still_dram_share, 0.66, between(0, 1), count, power,
  "the same of device memory")
HEDDLE_NUMBER(double, power_cap_watts, 0, watts, watts, setting,
  "power limit, kept by a lower core clock and voltage ([energy](energy.md#power-cap)); 0: no cap")
HEDDLE_NUMBER(unsigned, power_cap_interval_cycles, 1024, between(256, 1 << 24), cycles, design,
  "time over which the mean power is compared with the cap, and after which the clock may change")
HEDDLE_NUMBER(double, clock_step_mhz, 15, clock_mhz, mhz, product,
  "distance of the clocks that the power cap chooses from")
HEDDLE_NUMBER(double, least_clock_mhz, 210, clock_mhz, mhz, product,
  "lowest of them, but at least an eighth of gpu.core_clock_mhz")
HEDDLE_END(energy, energy)

HEDDLE_SECTION(tlm, tlm)
HEDDLE_FLAG(check, false, setting,
  "a protocol monitor on every connection of the memory path")
HEDDLE_NUMBER(unsigned, random_delay_cycles, 0, delay, cycles, setting,
  "upper bound of a random delay of every phase on a memory socket; 0: none")
HEDDLE_NUMBER(unsigned, random_delay_seed, 1, between(0, 4294967295.0), count, setting,
  "seed of the random delays")
HEDDLE_END(tlm, tlm)

#undef HEDDLE_SECTION
#undef HEDDLE_END
#undef HEDDLE_NUMBER
#undef HEDDLE_NUMBER_WITH
#undef HEDDLE_FLAG
#undef HEDDLE_TEXT
#undef HEDDLE_SAME
#undef HEDDLE_CHOICE
#undef HEDDLE_LISTED
#undef HEDDLE_TABLED
#undef HEDDLE_LIST
#undef HEDDLE_NUMBERS
// clang-format on
