// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <string>

namespace heddle {

/// Every parameter of the model: one struct per unit, member names are the INI keys, defaults are those of gtx1080.
/// `visit(v)` calls v(key, member, description) for each; configs/*.ini gives each figure with its source.
/// Units are in the names: _cycles are core cycles unless the description says otherwise, _bytes, _mhz.

struct gpu_parameters {
  std::string name = "gtx1080";
  std::string compute_capability = "6.1";
  unsigned sm_count = 20;
  double core_clock_mhz = 1607;
  unsigned watchdog_cycles = 1000000;

  template <class V> void visit(V& v) {
    v("name", name, "name of the configuration");
    v("compute_capability", compute_capability, "major.minor");
    v("sm_count", sm_count, "streaming multiprocessors");
    v("core_clock_mhz", core_clock_mhz, "SM clock; all cycles are of this clock");
    v("watchdog_cycles", watchdog_cycles,
      "when no block has begun or ended for so long, warps that only go round in circles end the run as a deadlock; 0: never");
  }
};

struct cwd_parameters {
  unsigned launch_latency_cycles = 700;
  unsigned dispatch_interval_cycles = 1;
  unsigned dispatch_latency_cycles = 4;
  std::string placement = "breadth_first";
  unsigned max_resident_grids = 32;

  template <class V> void visit(V& v) {
    v("launch_latency_cycles", launch_latency_cycles, "doorbell to the first block offered");
    v("dispatch_interval_cycles", dispatch_interval_cycles, "cycles between two dispatched blocks");
    v("dispatch_latency_cycles", dispatch_latency_cycles, "CWD to SM and back, each way, at least 1");
    v("placement", placement, "breadth_first | depth_first | most_free");
    v("max_resident_grids", max_resident_grids, "grids that may have blocks resident at one time");
  }
};

struct sm_parameters {
  unsigned sub_partitions = 4;
  unsigned max_threads = 2048;
  unsigned max_warps = 64;
  unsigned max_blocks = 32;
  unsigned max_threads_per_block = 1024;
  unsigned registers = 65536;
  unsigned registers_per_block = 65536;
  unsigned registers_per_thread = 255;
  unsigned register_allocation_unit = 256;
  std::string register_allocation = "warp";
  unsigned warp_allocation_granularity = 4;
  unsigned barriers_per_block = 16;
  unsigned barriers = 0;
  unsigned barrier_latency_cycles = 5;
  std::string warp_dealing = "round_robin";

  template <class V> void visit(V& v) {
    v("sub_partitions", sub_partitions, "sub-partitions (warp schedulers)");
    v("max_threads", max_threads, "resident threads");
    v("max_warps", max_warps, "resident warps (warp slots)");
    v("max_blocks", max_blocks, "resident blocks (CTA slots)");
    v("max_threads_per_block", max_threads_per_block, "threads of one block");
    v("registers", registers, "32-bit registers");
    v("registers_per_block", registers_per_block, "32-bit registers that one block may have");
    v("registers_per_thread", registers_per_thread, "architectural limit per thread");
    v("register_allocation_unit", register_allocation_unit, "registers are allocated in multiples of this");
    v("register_allocation", register_allocation, "warp | block: what the allocation unit rounds");
    v("warp_allocation_granularity", warp_allocation_granularity, "block allocation: warps of a block are counted in multiples of this");
    v("barriers_per_block", barriers_per_block, "named barriers of one block");
    v("barriers", barriers, "named barriers of the SM, 0: enough for every block");
    v("barrier_latency_cycles", barrier_latency_cycles, "last arrival at a barrier to the waiting warps' next issue");
    v("warp_dealing", warp_dealing, "round_robin | by_id: how a block's warps go to sub-partitions");
  }
};

struct sub_partition_parameters {
  static constexpr unsigned most_register_banks = 64;   // conflicts are counted in as many
  static constexpr unsigned most_write_ports = 16;      // of all register banks together

  std::string scheduler = "gto";
  unsigned issue_width = 2;
  std::string dual_issue = "maxwell";
  unsigned instruction_buffer_entries = 4;
  unsigned fetch_latency_cycles = 2;
  unsigned register_banks = 4;
  unsigned register_bank_bytes = 4;
  unsigned register_write_ports = 0;
  std::string operand_read = "window";
  bool reuse_cache = true;
  std::string dependence = "software";
  unsigned guard_latency_cycles = 0;
  unsigned fetch_group_warps = 8;
  unsigned ccws_victim_tags = 16;
  unsigned ccws_base_score = 100;
  unsigned ccws_throttle = 8;
  std::string divergence = "stack";
  unsigned convergence_patience_turns = 32;
  bool states_by_warp = false;

  template <class V> void visit(V& v) {
    v("scheduler", scheduler, "the scheduling policy, see [scheduling](scheduling.md)");
    v("issue_width", issue_width, "consecutive instructions of the selected warp issued per cycle, 1 or 2");
    v("dual_issue", dual_issue, "pairing rule: none | any (two free units) | maxwell (one of the pair memory or quarter rate)");
    v("instruction_buffer_entries", instruction_buffer_entries, "decoded instructions buffered per warp");
    v("fetch_latency_cycles", fetch_latency_cycles, "instruction cache hit to instruction buffer");
    v("register_banks", register_banks, "register file banks, bank = register % banks");
    v("register_bank_bytes", register_bank_bytes, "4: one 32-bit operand per bank and cycle; 8: two");
    v("register_write_ports", register_write_ports,
      "results that a bank takes in a cycle; those of loads wait for those of fixed latency; 0: any number");
    v("operand_read", operand_read,
      "conflicts in banks: collector (operands are gathered while others issue) | window (nothing issues meanwhile)");
    v("reuse_cache", reuse_cache, "a source register that the warp's instruction right before read for the same operand needs no bank");
    v("dependence", dependence,
      "scoreboard: of registers | software: stall counts and six counters a warp, set when a kernel is lowered; recorded kernels have the scoreboard");
    v("guard_latency_cycles", guard_latency_cycles,
      "cycles that an instruction waits longer for its guard, and a vote for its predicate, than others for a predicate that they compute with");
    v("fetch_group_warps", fetch_group_warps, "two_level, prefetch_aware: warps of one fetch group");
    v("ccws_victim_tags", ccws_victim_tags, "ccws: lost lines that are remembered per warp");
    v("ccws_base_score", ccws_base_score, "ccws: score of a warp that has lost no locality, per warp of the stack's height");
    v("ccws_throttle", ccws_throttle, "ccws: weight of lost locality in the score");
    v("divergence", divergence, "stack: a reconvergence stack per warp | independent: a program counter per lane");
    v("convergence_patience_turns", convergence_patience_turns,
      "independent: turns of a loop with atomics or volatile loads before lanes that wait behind it go on alone");
    v("states_by_warp", states_by_warp, "count warp_cycles and warp_states for each warp id as well (metrics: sms[].warp_slots)");
  }
};

struct fp32_parameters {
  double lanes = 32;
  unsigned latency_cycles = 6;
  double minmax_lanes = 16;
  unsigned minmax_latency_cycles = 6;
  double compare_lanes = 16;
  unsigned compare_latency_cycles = 12;
  unsigned shared_lanes = 0;

  template <class V> void visit(V& v) {
    v("lanes", lanes, "results per cycle and sub-partition: add, multiply, fma");
    v("latency_cycles", latency_cycles, "dependent-issue latency: add, multiply, fma");
    v("minmax_lanes", minmax_lanes, "min, max");
    v("minmax_latency_cycles", minmax_latency_cycles, "min, max");
    v("compare_lanes", compare_lanes, "compare to predicate or register");
    v("compare_latency_cycles", compare_latency_cycles, "compare");
    v("shared_lanes", shared_lanes, "lanes of the SM that sub-partitions share, for the second fp32 instruction of a pair: a multiple of 32");
  }
};

struct int_parameters {
  double lanes = 32;
  unsigned latency_cycles = 6;
  double shift_lanes = 16;
  unsigned shift_latency_cycles = 6;
  std::string multiplier = "xmad";
  double multiply_lanes = 32;
  unsigned multiply_latency_cycles = 6;
  double minmax_lanes = 16;
  unsigned minmax_latency_cycles = 6;
  double compare_lanes = 16;
  unsigned compare_latency_cycles = 12;
  double special_register_lanes = 16;
  unsigned special_register_latency_cycles = 25;
  bool on_fp32_lanes = false;
  unsigned shared_lanes = 0;

  template <class V> void visit(V& v) {
    v("lanes", lanes, "results per cycle and sub-partition: add, logic, move, select");
    v("latency_cycles", latency_cycles, "dependent-issue latency of these");
    v("shift_lanes", shift_lanes, "shifts and bit fields");
    v("shift_latency_cycles", shift_latency_cycles, "shifts and bit fields");
    v("multiplier", multiplier, "imad: 32-bit multiply-add | xmad: 16-bit multiply-add, lowering expands");
    v("multiply_lanes", multiply_lanes, "multiply-add");
    v("multiply_latency_cycles", multiply_latency_cycles, "multiply-add");
    v("minmax_lanes", minmax_lanes, "min, max, absolute difference");
    v("minmax_latency_cycles", minmax_latency_cycles, "min, max, absolute difference");
    v("compare_lanes", compare_lanes, "compare to predicate");
    v("compare_latency_cycles", compare_latency_cycles, "compare to predicate");
    v("special_register_lanes", special_register_lanes, "S2R");
    v("special_register_latency_cycles", special_register_latency_cycles, "S2R");
    v("on_fp32_lanes", on_fp32_lanes, "integer instructions take the lanes of fp32, those with fewer results a cycle for longer");
    v("shared_lanes", shared_lanes, "those of fp32.shared_lanes that do integers at full rate, and fp32 min, max and compare, too: a multiple of 32");
  }
};

struct fp64_parameters {
  double lanes = 1;
  unsigned latency_cycles = 45;
  unsigned fma_latency_cycles = 45;
  double compare_lanes = 1;
  unsigned compare_latency_cycles = 51;
  bool shared = true;
  bool issues_alone = false;

  template <class V> void visit(V& v) {
    v("lanes", lanes, "results per cycle and sub-partition, 0: the chip has no fp64");
    v("latency_cycles", latency_cycles, "add, multiply");
    v("fma_latency_cycles", fma_latency_cycles, "fma");
    v("compare_lanes", compare_lanes, "compare to predicate");
    v("compare_latency_cycles", compare_latency_cycles, "compare to predicate");
    v("shared", shared, "the SM's sub-partitions have one unit with the lanes of all");
    v("issues_alone", issues_alone, "an fp64 instruction takes an issue cycle of the SM's other sub-partitions, too");
  }
};

struct half_parameters {
  double lanes = 0.25;
  unsigned latency_cycles = 6;
  double compare_lanes = 0.25;
  unsigned compare_latency_cycles = 12;
  bool shared = true;

  template <class V> void visit(V& v) {
    v("lanes", lanes, "f16x2 operations per cycle and sub-partition, 0: the chip has none");
    v("latency_cycles", latency_cycles, "add, multiply, fma");
    v("compare_lanes", compare_lanes, "compare");
    v("compare_latency_cycles", compare_latency_cycles, "compare");
    v("shared", shared, "the SM's sub-partitions have one unit with the lanes of all");
  }
};

struct sfu_parameters {
  double lanes = 8;
  unsigned latency_cycles = 14;
  double bit_count_lanes = 8;
  unsigned bit_count_latency_cycles = 14;
  double bit_scan_lanes = 8;
  unsigned bit_scan_latency_cycles = 14;
  double conversion_lanes = 8;
  unsigned conversion_latency_cycles = 14;

  template <class V> void visit(V& v) {
    v("lanes", lanes, "results per cycle and sub-partition: MUFU");
    v("latency_cycles", latency_cycles, "MUFU");
    v("bit_count_lanes", bit_count_lanes, "population count");
    v("bit_count_latency_cycles", bit_count_latency_cycles, "population count");
    v("bit_scan_lanes", bit_scan_lanes, "find leading one, reverse");
    v("bit_scan_latency_cycles", bit_scan_latency_cycles, "find leading one, reverse");
    v("conversion_lanes", conversion_lanes, "type conversions");
    v("conversion_latency_cycles", conversion_latency_cycles, "type conversions");
  }
};

struct tensor_parameters {
  double f16_fma_per_cycle = 0;
  double f16_f32_fma_per_cycle = 0;
  double bf16_fma_per_cycle = 0;
  double tf32_fma_per_cycle = 0;
  double int8_fma_per_cycle = 0;
  double f64_fma_per_cycle = 0;
  unsigned latency_cycles = 18;
  unsigned deep_latency_cycles = 25;
  unsigned f32_latency_cycles = 18;
  unsigned deep_f32_latency_cycles = 25;
  unsigned m8n8k16_latency_cycles = 16;
  unsigned f64_latency_cycles = 26;

  template <class V> void visit(V& v) {
    v("f16_fma_per_cycle", f16_fma_per_cycle, "multiply-adds per cycle and sub-partition, f16 added up in f16; 0 here and below: cannot");
    v("f16_f32_fma_per_cycle", f16_f32_fma_per_cycle, "f16 added up in f32");
    v("bf16_fma_per_cycle", bf16_fma_per_cycle, "bf16");
    v("tf32_fma_per_cycle", tf32_fma_per_cycle, "tf32");
    v("int8_fma_per_cycle", int8_fma_per_cycle, "8-bit integers");
    v("f64_fma_per_cycle", f64_fma_per_cycle, "f64");
    v("latency_cycles", latency_cycles,
      "dependent-issue latency of sums in f16 and s32, of shapes up to half the largest depth k of a type (f16: 8)");
    v("deep_latency_cycles", deep_latency_cycles, "the same at the largest depth (f16: 16, 8-bit integers: 32)");
    v("f32_latency_cycles", f32_latency_cycles, "sums in f32, up to half the largest depth (f16, bf16: 8, tf32: 4)");
    v("deep_f32_latency_cycles", deep_f32_latency_cycles, "the same at the largest depth (f16, bf16: 16, tf32: 8)");
    v("m8n8k16_latency_cycles", m8n8k16_latency_cycles, "8-bit integers of the shape m8n8k16");
    v("f64_latency_cycles", f64_latency_cycles, "f64");
  }
};

struct branch_parameters {
  unsigned latency_cycles = 6;
  double barrier_lanes = 16;

  template <class V> void visit(V& v) {
    v("latency_cycles", latency_cycles, "branch issue to the next instruction's fetch");
    v("barrier_lanes", barrier_lanes, "threads that arrive at a barrier per cycle and sub-partition");
  }
};

struct ldst_parameters {
  double lanes = 8;
  double shuffle_lanes = 8;
  unsigned shuffle_latency_cycles = 24;
  unsigned queue_entries = 4;
  unsigned issue_interval_cycles = 4;
  unsigned accept_interval_cycles = 1;
  unsigned pending_instructions = 128;
  unsigned address_latency_cycles = 4;
  unsigned load_read_latency_cycles = 20;
  unsigned store_read_latency_cycles = 20;
  unsigned shared_load_read_latency_cycles = 20;
  unsigned shared_store_read_latency_cycles = 20;
  unsigned constant_read_latency_cycles = 20;
  unsigned operand_latency_cycles = 0;
  unsigned store_read_cycles_per_word = 0;
  unsigned return_interval_cycles = 0;
  unsigned return_words = 1;
  unsigned shared_return_words = 1;
  unsigned reexecution_entries = 0;
  std::string coalescing = "warp";
  std::string replay = "unit";

  template <class V> void visit(V& v) {
    v("lanes", lanes, "addresses per cycle and sub-partition");
    v("shuffle_lanes", shuffle_lanes, "results of SHFL per cycle and sub-partition");
    v("shuffle_latency_cycles", shuffle_latency_cycles, "SHFL");
    v("queue_entries", queue_entries, "memory instructions queued in front of the load/store unit, per sub-partition");
    v("issue_interval_cycles", issue_interval_cycles,
      "cycles between two memory instructions that a sub-partition issues while its queue has room");
    v("accept_interval_cycles", accept_interval_cycles,
      "cycles between two memory instructions that the SM's load/store unit takes from the queues");
    v("pending_instructions", pending_instructions, "memory instructions in flight in the load/store unit");
    v("address_latency_cycles", address_latency_cycles, "issue to the first tag look-up or shared-memory pass");
    v("load_read_latency_cycles", load_read_latency_cycles,
      "software dependence: issue of a load or atomic until its source registers may be overwritten");
    v("store_read_latency_cycles", store_read_latency_cycles, "the same of a store or reduction of 32 bits a lane");
    v("shared_load_read_latency_cycles", shared_load_read_latency_cycles, "the same of a load or atomic in shared memory");
    v("shared_store_read_latency_cycles", shared_store_read_latency_cycles, "the same of a store in shared memory of 32 bits a lane");
    v("constant_read_latency_cycles", constant_read_latency_cycles, "the same of LDC with an index register");
    v("operand_latency_cycles", operand_latency_cycles,
      "software dependence: cycles that a memory instruction waits longer for a result of fixed latency than others");
    v("store_read_cycles_per_word", store_read_cycles_per_word,
      "issue of a store until its source registers may be overwritten: more for each further 32 bits");
    v("return_interval_cycles", return_interval_cycles,
      "cycles between the parts of a load of more than 32 bits a lane; 0: all of it comes at once");
    v("return_words", return_words, "words of 32 bits a lane that are such a part");
    v("shared_return_words", shared_return_words, "the same of shared memory");
    v("reexecution_entries", reexecution_entries, "loads without room in the L1 that wait aside while later ones go by; 0: none do");
    v("coalescing", coalescing, "lanes whose accesses become one: of the warp by sectors, or of half a warp if in order and aligned");
    v("replay", replay, "what a memory instruction's further passes take: another issue each, or time in the load/store unit alone");
  }
};

struct texture_parameters {
  double lanes = 2;
  unsigned queue_entries = 8;
  unsigned filter_latency_cycles = 4;

  template <class V> void visit(V& v) {
    v("lanes", lanes, "coordinates per cycle and sub-partition");
    v("queue_entries", queue_entries, "texture and surface instructions under way per sub-partition");
    v("filter_latency_cycles", filter_latency_cycles, "texels there to dependent issue");
  }
};

struct l1_parameters {
  unsigned size_bytes = 24576;
  unsigned ways = 48;
  unsigned line_bytes = 128;
  unsigned sector_bytes = 32;
  unsigned latency_cycles = 82;
  unsigned banks = 2;
  double read_cycles = 1;
  bool cache_global_loads = false;
  bool cache_local = true;
  unsigned mshr_entries = 256;
  unsigned mshr_merges = 8;
  unsigned miss_queue_entries = 16;
  unsigned prefetch_lines = 0;
  bool fence_invalidates = false;
  std::string store_hit = "invalidate";
  std::string replacement = "lru";

  template <class V> void visit(V& v) {
    v("size_bytes", size_bytes, "data; with a unified cache this is what the largest carve-out leaves, and a smaller one adds to it");
    v("ways", ways, "associativity");
    v("line_bytes", line_bytes, "tag granularity");
    v("sector_bytes", sector_bytes, "fill granularity");
    v("latency_cycles", latency_cycles, "load issue to dependent issue on a hit");
    v("banks", banks, "banks of the data, a sector wide: a hit reads a sector of each in a cycle; 1, 2 or 4");
    v("read_cycles", read_cycles, "cycles in which the banks read a sector each, on average");
    v("cache_global_loads", cache_global_loads, "plain global loads are cached (read-only loads always are)");
    v("cache_local", cache_local, "local memory is cached");
    v("mshr_entries", mshr_entries, "outstanding missed lines");
    v("mshr_merges", mshr_merges, "requests merged into one outstanding line");
    v("miss_queue_entries", miss_queue_entries, "requests waiting for the interconnect");
    v("prefetch_lines", prefetch_lines, "next lines fetched after a miss, within 512 bytes; 0: no prefetcher");
    v("fence_invalidates", fence_invalidates, "a fence of the GPU's scope or wider empties the SM's L1, which is not coherent");
    v("store_hit", store_hit, "what a store to global memory does with sectors that are here; local memory's are updated");
    v("replacement", replacement, "which line of a set gives way");
  }
};

struct shared_memory_parameters {
  static constexpr unsigned most_banks = 64;   // conflicts are counted in as many

  unsigned size_bytes = 98304;
  unsigned max_per_block_bytes = 49152;
  unsigned opt_in_per_block_bytes = 49152;
  unsigned reserved_per_block_bytes = 0;
  unsigned allocation_unit_bytes = 256;
  std::string carveouts_kb = "96";
  unsigned unified_bytes = 0;
  unsigned banks = 32;
  unsigned bank_bytes = 4;
  unsigned latency_cycles = 23;
  double pass_cycles = 1.1;
  unsigned conflict_cycles = 2;
  unsigned atomic_interval_cycles = 2;

  template <class V> void visit(V& v) {
    v("size_bytes", size_bytes, "shared memory of the SM, largest carve-out");
    v("max_per_block_bytes", max_per_block_bytes, "static + dynamic of one block without opt-in");
    v("opt_in_per_block_bytes", opt_in_per_block_bytes, "static + dynamic of one block with opt-in");
    v("reserved_per_block_bytes", reserved_per_block_bytes, "taken by the system from each block's allocation");
    v("allocation_unit_bytes", allocation_unit_bytes, "allocations are rounded up to this");
    v("carveouts_kb", carveouts_kb, "sizes that the carve-out can take, KiB, comma separated");
    v("unified_bytes", unified_bytes, "L1 and shared memory together; 0: separate");
    v("banks", banks, "banks");
    v("bank_bytes", bank_bytes, "bank width");
    v("latency_cycles", latency_cycles, "load issue to dependent issue without conflict");
    v("pass_cycles", pass_cycles, "cycles that a pass holds the banks, on average");
    v("conflict_cycles", conflict_cycles, "added latency per further pass");
    v("atomic_interval_cycles", atomic_interval_cycles, "the same for atomics, whose lanes on one word take a pass each");
  }
};

struct constant_cache_parameters {
  unsigned size_bytes = 2048;
  unsigned line_bytes = 64;
  unsigned ways = 4;
  unsigned latency_cycles = 25;
  unsigned index_cycles = 0;
  unsigned miss_latency_cycles = 87;

  template <class V> void visit(V& v) {
    v("size_bytes", size_bytes, "first-level constant cache");
    v("line_bytes", line_bytes, "line");
    v("ways", ways, "associativity");
    v("latency_cycles", latency_cycles, "LDC issue to dependent issue on a hit");
    v("index_cycles", index_cycles, "added with an index register");
    v("miss_latency_cycles", miss_latency_cycles, "same, from the second level (L1.5)");
  }
};

struct instruction_cache_parameters {
  unsigned size_bytes = 8192;
  unsigned line_bytes = 128;
  unsigned ways = 4;
  unsigned instruction_bytes = 8;
  unsigned miss_latency_cycles = 32;
  unsigned prefetch_lines = 1;
  bool per_sub_partition = false;
  unsigned second_level_bytes = 32768;
  unsigned second_level_line_bytes = 256;
  unsigned second_level_ways = 8;
  unsigned second_level_miss_latency_cycles = 138;

  template <class V> void visit(V& v) {
    v("size_bytes", size_bytes, "the level nearest to the schedulers");
    v("line_bytes", line_bytes, "line");
    v("ways", ways, "associativity");
    v("instruction_bytes", instruction_bytes, "bytes of one machine instruction");
    v("miss_latency_cycles", miss_latency_cycles, "cycles to bring a line from the second level");
    v("prefetch_lines", prefetch_lines, "lines streamed ahead of the one asked for");
    v("per_sub_partition", per_sub_partition, "each sub-partition has a first level (L0) of its own");
    v("second_level_bytes", second_level_bytes, "second level, of the SM; 0: none, all that misses the first level comes after miss_latency_cycles");
    v("second_level_line_bytes", second_level_line_bytes, "line");
    v("second_level_ways", second_level_ways, "associativity");
    v("second_level_miss_latency_cycles", second_level_miss_latency_cycles, "cycles more from beyond the second level");
  }
};

struct interconnect_parameters {
  double clock_mhz = 1607;
  unsigned latency_cycles = 20;
  unsigned request_bytes_per_cycle = 32;
  unsigned response_bytes_per_cycle = 64;
  unsigned header_bytes = 8;
  unsigned input_queue_entries = 8;
  unsigned output_queue_entries = 8;

  template <class V> void visit(V& v) {
    v("clock_mhz", clock_mhz, "clock of interconnect and L2; their cycles are of this clock");
    v("latency_cycles", latency_cycles, "one way, without load");
    v("request_bytes_per_cycle", request_bytes_per_cycle, "per port, SM to L2");
    v("response_bytes_per_cycle", response_bytes_per_cycle, "per port, L2 to SM");
    v("header_bytes", header_bytes, "each packet's header");
    v("input_queue_entries", input_queue_entries, "packets queued at an input port");
    v("output_queue_entries", output_queue_entries, "packets queued at an output port");
  }
};

struct l2_parameters {
  unsigned size_bytes = 2097152;
  unsigned ways = 16;
  unsigned line_bytes = 128;
  unsigned sector_bytes = 32;
  unsigned latency_cycles = 216;
  unsigned lookup_interval_cycles = 1;
  unsigned mshr_entries = 64;
  unsigned mshr_merges = 16;
  unsigned queue_entries = 16;
  double atomic_interval_cycles = 20;
  unsigned atomic_contention_cycles = 0;
  unsigned atomic_limit_cycles = 21;
  std::string hash = "xor";
  unsigned interleave_bytes = 256;
  bool flush_at_completion = false;
  std::string replacement = "lru";

  template <class V> void visit(V& v) {
    v("size_bytes", size_bytes, "all slices together; there is one slice per memory channel");
    v("ways", ways, "associativity");
    v("line_bytes", line_bytes, "tag granularity");
    v("sector_bytes", sector_bytes, "fill granularity");
    v("latency_cycles", latency_cycles, "load issue to dependent issue on an L2 hit, without load; core cycles");
    v("lookup_interval_cycles", lookup_interval_cycles, "cycles between two look-ups in a slice");
    v("mshr_entries", mshr_entries, "outstanding missed lines per slice");
    v("mshr_merges", mshr_merges, "requests merged into one outstanding line");
    v("queue_entries", queue_entries, "requests queued in front of a slice");
    v("atomic_interval_cycles", atomic_interval_cycles, "cycles per further lane of an atomic on the same address");
    v("atomic_contention_cycles", atomic_contention_cycles, "added once when several lanes of an atomic want the same address");
    v("atomic_limit_cycles", atomic_limit_cycles, "the most that all further lanes add, 0: no limit");
    v("hash", hash, "address to slice: none | xor");
    v("interleave_bytes", interleave_bytes, "consecutive bytes in one slice");
    v("flush_at_completion", flush_at_completion, "write dirty lines back before a launch completes");
    v("replacement", replacement, "which line of a set gives way");
  }
};

struct tlb_parameters {
  unsigned entries = 0;
  unsigned page_bytes = 2097152;
  unsigned miss_latency_cycles = 11;

  template <class V> void visit(V& v) {
    v("entries", entries, "translations that an SM holds, 0: addresses cost nothing to translate");
    v("page_bytes", page_bytes, "memory of one translation, a power of two");
    v("miss_latency_cycles", miss_latency_cycles, "added to an access whose translation is not here");
  }
};

struct memory_parameters {
  std::string model = "dram";
  unsigned channels = 8;
  unsigned latency_cycles = 246;
  double bytes_per_cycle = 24.9;
  unsigned max_transfer_bytes = 128;
  bool byte_enables = true;
  std::string addresses = "device";
  unsigned base_mib = 256;

  template <class V> void visit(V& v) {
    v("model", model, "dram | fixed | external");
    v("channels", channels, "memory channels and L2 slices");
    v("latency_cycles", latency_cycles, "fixed: slice to memory and back; core cycles");
    v("bytes_per_cycle", bytes_per_cycle, "fixed: bandwidth per channel; core cycles");
    v("max_transfer_bytes", max_transfer_bytes, "external: longest transfer that the memory takes, a power of two; a line is split");
    v("byte_enables", byte_enables, "external: the memory knows byte enables; else runs of bytes are written one by one");
    v("addresses", addresses, "external: device (the memory is addressed as programs do) | channel (each channel's bytes lie side by side)");
    v("base_mib", base_mib, "external: where device memory begins in the memory, MiB; for programs it begins at 256");
  }
};

struct dram_parameters {
  std::string preset = "gddr5x";
  double clock_mhz = 1251;
  unsigned bytes_per_cycle = 32;
  unsigned burst_bytes = 32;
  unsigned banks = 16;
  unsigned row_bytes = 2048;
  unsigned queue_entries = 64;
  unsigned controller_latency_cycles = 143;
  unsigned t_rcd_cycles = 16;
  unsigned t_rp_cycles = 16;
  unsigned t_cl_cycles = 16;
  unsigned t_wl_cycles = 6;
  unsigned t_ras_cycles = 37;
  unsigned t_ccd_cycles = 1;
  unsigned t_rrd_cycles = 8;
  unsigned t_wr_cycles = 16;
  unsigned t_rtp_cycles = 3;
  unsigned t_wtr_cycles = 7;
  unsigned t_refi_cycles = 0;
  unsigned t_rfc_cycles = 0;

  template <class V> void visit(V& v) {
    v("preset", preset, "kind of memory: where it is set, sets clock, width, banks, rows and times below, which may follow");
    v("clock_mhz", clock_mhz, "command clock; all cycles of this section are of it");
    v("bytes_per_cycle", bytes_per_cycle, "data bytes per command clock and channel");
    v("burst_bytes", burst_bytes, "bytes of one burst");
    v("banks", banks, "banks per channel");
    v("row_bytes", row_bytes, "row buffer per bank");
    v("queue_entries", queue_entries, "requests the scheduler sees");
    v("controller_latency_cycles", controller_latency_cycles, "controller and pads, both ways together");
    v("t_rcd_cycles", t_rcd_cycles, "activate to column command");
    v("t_rp_cycles", t_rp_cycles, "precharge to activate");
    v("t_cl_cycles", t_cl_cycles, "read command to data");
    v("t_wl_cycles", t_wl_cycles, "write command to data");
    v("t_ras_cycles", t_ras_cycles, "activate to precharge");
    v("t_ccd_cycles", t_ccd_cycles, "column to column command");
    v("t_rrd_cycles", t_rrd_cycles, "activate to activate, different banks");
    v("t_wr_cycles", t_wr_cycles, "end of write data to precharge");
    v("t_rtp_cycles", t_rtp_cycles, "read to precharge");
    v("t_wtr_cycles", t_wtr_cycles, "end of write data to read command");
    v("t_refi_cycles", t_refi_cycles, "refresh interval, 0: no refresh");
    v("t_rfc_cycles", t_rfc_cycles, "refresh duration");
  }
};

struct context_parameters {
  std::string preemption = "instruction";
  std::string priority_preemption = "none";
  unsigned time_slice_cycles = 0;
  unsigned lines_in_flight = 128;
  std::string saved_registers = "used";
  unsigned area_mib = 1048576;

  template <class V> void visit(V& v) {
    v("preemption", preemption, "where running blocks can be stopped: block (they end first) | instruction");
    v("priority_preemption", priority_preemption,
      "none | drain | switch | flush | auto: how less urgent blocks make room for a launch of higher priority that fits nowhere");
    v("time_slice_cycles", time_slice_cycles,
      "after so long on an SM, blocks are switched out for those of another stream that wait; 0: never");
    v("lines_in_flight", lines_in_flight, "128-byte lines of a context on their way to or from memory, per SM");
    v("saved_registers", saved_registers,
      "registers of a context: used (all that the kernel uses) | live (those that the warp's threads may still read)");
    v("area_mib", area_mib, "device address of the area that contexts are saved in, MiB; beyond all allocations");
  }
};

struct tlm_parameters {
  bool check = false;
  unsigned random_delay_cycles = 0;
  unsigned random_delay_seed = 1;

  template <class V> void visit(V& v) {
    v("check", check, "a protocol monitor on every memory socket");
    v("random_delay_cycles", random_delay_cycles, "every phase on a memory socket comes up to so much later, 0: none; core cycles");
    v("random_delay_seed", random_delay_seed, "of these delays");
  }
};

/// The whole effective configuration of one GPU.
struct gpu_config {
  gpu_parameters gpu;
  cwd_parameters cwd;
  sm_parameters sm;
  sub_partition_parameters sub_partition;
  fp32_parameters fp32;
  int_parameters integer;
  fp64_parameters fp64;
  half_parameters half;
  sfu_parameters sfu;
  tensor_parameters tensor;
  branch_parameters branch;
  ldst_parameters ldst;
  texture_parameters texture;
  l1_parameters l1;
  shared_memory_parameters shared_memory;
  constant_cache_parameters constant_cache;
  instruction_cache_parameters instruction_cache;
  tlb_parameters tlb;
  interconnect_parameters interconnect;
  l2_parameters l2;
  memory_parameters memory;
  dram_parameters dram;
  context_parameters context;
  tlm_parameters tlm;

  /// Calls s(section, parameters) for each section, in the order of the INI file.
  template <class S> void visit_sections(S&& s) {
    s("gpu", gpu); s("cwd", cwd); s("sm", sm); s("sub_partition", sub_partition);
    s("fp32", fp32); s("int", integer); s("fp64", fp64); s("half", half); s("sfu", sfu);
    s("tensor", tensor);
    s("branch", branch); s("ldst", ldst); s("texture", texture); s("l1", l1); s("shared_memory", shared_memory);
    s("constant_cache", constant_cache); s("instruction_cache", instruction_cache);
    s("tlb", tlb); s("interconnect", interconnect); s("l2", l2); s("memory", memory); s("dram", dram);
    s("context", context); s("tlm", tlm);
  }
};

}  // namespace heddle
