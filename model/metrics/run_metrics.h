// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "heddle/config/parameters.h"
#include "heddle/energy/energy_metrics.h"
#include "heddle/metrics/client_metrics.h"
#include "heddle/metrics/memory_metrics.h"
#include "heddle/metrics/profiler_metrics.h"
#include "heddle/metrics/state_metrics.h"

namespace heddle {

/// Results of a run: the content of a metrics file ("heddle.metrics/1"). Cycles are core cycles, ratios are 0..1, bytes
/// are bytes. visit(v) calls v(key, member) in the order of the file; keys never change their meaning.

/// Executed machine instructions by execution unit.
struct instruction_counts {
  std::uint64_t fp32 = 0;
  std::uint64_t integer = 0;  // key "int"
  std::uint64_t fp64 = 0;
  std::uint64_t half = 0;
  std::uint64_t sfu = 0;
  std::uint64_t ldst = 0;
  std::uint64_t branch = 0;
  std::uint64_t tensor = 0;
  std::uint64_t texture = 0;  // TEX TLD4 SULD SUST

  template <class Self, class V>
  static void visit_members(Self& self, V&& v) {
    v("fp32", self.fp32);
    v("int", self.integer);
    v("fp64", self.fp64);
    v("half", self.half);
    v("sfu", self.sfu);
    v("ldst", self.ldst);
    v("branch", self.branch);
    v("tensor", self.tensor);
    v("texture", self.texture);
  }
  template <class V>
  void visit(V&& v) {
    visit_members(*this, v);
  }
  template <class V>
  void visit(V&& v) const {
    visit_members(*this, v);
  }
};

/// Why a kernel's achieved occupancy is below the theoretical one: the parts of the difference, in the same unit (1:
/// all warp slots of the SMs that held a warp of it).
struct lost_occupancy {
  double imbalance_within_blocks = 0;  // warps had ended, their blocks had not
  double imbalance_between_blocks =
      0;                         // tail: blocks had ended earlier than others, and no blocks were left to dispatch
  double too_few_blocks = 0;     // the grid has fewer blocks than the GPU can hold
  double partial_last_wave = 0;  // the same for its last wave, assuming blocks of equal length
  double launch_latency = 0;     // a block was yet to be placed
  double other_kernels = 0;      // blocks of other launches were on the SM

  template <class Self, class V>
  static void visit_members(Self& self, V&& v) {
    v("imbalance_within_blocks", self.imbalance_within_blocks);
    v("imbalance_between_blocks", self.imbalance_between_blocks);
    v("too_few_blocks", self.too_few_blocks);
    v("partial_last_wave", self.partial_last_wave);
    v("launch_latency", self.launch_latency);
    v("other_kernels", self.other_kernels);
  }
  template <class V>
  void visit(V&& v) {
    visit_members(*this, v);
  }
  template <class V>
  void visit(V&& v) const {
    visit_members(*this, v);
  }
};

/// A kernel's achieved occupancy in steps of equal length. The first step begins at from_cycle, at or before
/// start_cycle.
struct occupancy_series {
  std::uint64_t from_cycle = 0;
  std::uint64_t step_cycles = 0;
  std::vector<double> achieved_occupancy;  // of the SMs that held a warp of the kernel, while they did
  std::vector<double> active_sms;          // average number of those SMs
};

/// Profile of the instructions generated from one source line.
struct line_metrics {
  std::uint32_t line = 0;
  std::string text;                    // source text, if the caller has it; for a trace, the instruction
  std::string source;                  // "/home/me/kernel.cu:12": what the line was compiled from; empty: unknown
  std::string source_text;             // that line, if the caller has it
  std::string function;                // inlined there; empty: none
  std::vector<std::string> called_at;  // of that function, innermost call first
  std::vector<std::string> callers;    // the functions in which these calls are; the last one is the kernel
  std::uint64_t executed = 0;          // warp instructions
  std::uint64_t thread_executed = 0;   // instructions of active threads
  warp_cycle_counts warp_cycles;       // cycles in which one of them was a warp's next instruction
  warp_state_counts warp_states;
  std::uint64_t accesses = 0;  // executed warp instructions that access memory
  line_counts memory;          // of these
  double joules = 0;           // dynamic energy
};

/// Floating-point operations of the active threads: an addition or a multiplication is one, a multiply-add two.
struct flop_counts {
  std::uint64_t fp32 = 0;
  std::uint64_t fp64 = 0;
  std::uint64_t half = 0;
  std::uint64_t tensor = 0;  // products of floating-point matrices

  template <class V>
  void visit(V&& v) const {
    v("fp32", fp32);
    v("fp64", fp64);
    v("half", half);
    v("tensor", tensor);
  }
};

/// What a machine instruction did.
struct instruction_work {
  std::uint64_t executed = 0;         // warp instructions
  std::uint64_t thread_executed = 0;  // instructions of active threads
  std::uint64_t flops = 0;
  std::uint64_t replays = 0;         // further issues of it
  std::uint64_t bank_conflicts = 0;  // passes over shared memory beyond the first
  warp_state_counts warp_states;     // cycles in which it was a warp's next instruction
  std::uint64_t accesses = 0;        // executed warp instructions that access memory
  line_counts memory;                // of these
  double joules = 0;                 // dynamic energy
};

/// Profile of one machine instruction.
struct instruction_metrics : instruction_work {
  std::uint32_t line = 0;  // of the PTX
  std::string text;        // "FFMA R3, R4, c[0x0][0x144], R3"
};

/// Lines of a source file.
struct source_lines {
  std::string file;              // as `source` of line_metrics, or `file` of kernel_metrics
  std::uint32_t first_line = 1;  // number of lines[0]
  std::vector<std::string> lines;
};

/// Registers that a limit of registers keeps in local memory.
struct register_spills {
  std::uint32_t bytes = 0;  // of local memory a thread; 0: none
  std::uint32_t limit = 0;  // registers a thread
  std::string limit_of;     // ".maxnreg", ".minnctapersm", ".maxntid", ".reqntid", "registers_per_thread" or "chip"
};

/// What the simulated blocks of a launch tell of all its blocks, if blocks may be left out (gpu::sample_blocks).
struct sampled_metrics {
  bool known = false;
  std::uint64_t simulated_blocks = 0;
  double cycles = 0;  // of the whole launch, estimated
  double error = 0;   // half of the interval, relative to `cycles`
  double confidence = 0;
  std::uint64_t steady_from = 0;  // blocks that had ended by then
};

/// One kernel launch. start_cycle: its first block is placed on an SM; end_cycle: the CWD receives the completion of
/// its last block.
struct kernel_metrics {
  std::string name;
  std::uint64_t launch = 0;  // position in the job; collect() gives the driver's number
  std::uint32_t number = 0;  // the driver's number, whatever `launch` is
  std::uint32_t stream = 0;
  std::uint32_t client = 0;  // the process that shares the GPU with others, from 1 on; 0: none
  std::string client_name;
  std::uint32_t client_sms = 0;  // on which its blocks may be at once: the GPU's without a client
  std::uint32_t grid[3] = {1, 1, 1};
  std::uint32_t block[3] = {1, 1, 1};
  std::uint32_t cluster[3] = {0, 0, 0};   // blocks of a thread block cluster; 0: neither launch nor kernel gave it
  std::uint64_t max_active_clusters = 0;  // that the GPU can hold
  bool programmatic = false;              // it might begin before the launch before it in its stream had ended
  std::uint64_t early_cycles = 0;         // from its start to the end of that launch, if it did
  std::uint32_t registers_per_thread = 0;
  std::uint32_t shared_bytes_per_block = 0;
  std::uint64_t blocks = 0;
  std::uint64_t warps = 0;
  std::uint64_t start_cycle = 0;
  std::uint64_t end_cycle = 0;
  std::uint64_t cycles = 0;
  bool ended = true;        // false: the run was over before it had completed
  std::string failed;       // then: the program's failure that ended the run; empty: none
  sampled_metrics sampled;  // then all else is of the simulated blocks, but `blocks` and `waves`
  double theoretical_occupancy = 0;
  std::uint32_t blocks_per_sm = 0;
  std::vector<std::string> occupancy_limiters;
  double waves = 0;  // blocks of the grid / blocks that these SMs can hold
  std::uint64_t launch_cycles =
      0;  // from the doorbell, or from the end of the stream's previous launch, to start_cycle
  lost_occupancy lost;
  occupancy_series over_time;
  profiler_metrics metrics;
  warp_cycle_counts warp_cycles;
  warp_state_counts warp_states;
  instruction_counts instructions;
  memory_counts memory;
  std::uint64_t busiest_atomic_unit = 0;  // L2 cycles in which the atomic unit of a slice was busy
  std::uint64_t busiest_sm = 0;           // instructions of the SM with most, if over 1.25 times the mean; otherwise 0
  std::uint64_t longest_even_sm = 0;      // then: cycles with warps, at most, of an SM with the mean or less
  register_spills spills;
  energy_metrics energy;
  std::size_t first_interval = 0;  // of the run's intervals, in which the launch starts
  std::vector<double>
      joules_over_time;  // in each interval from that one to the launch's end; sums to its energy until then
  std::string source;    // the program's source file; not in the metrics file
  std::string file;      // the same without directories
  flop_counts flops;
  std::vector<line_metrics> lines;        // ascending; warp_cycles of all lines sum to those of the kernel
  std::vector<instruction_metrics> code;  // the machine program, in its order; empty if it was not asked for
};

/// One context switch of one kernel on one SM. Phases that were not reached are 0.
struct context_switch_metrics {
  std::uint32_t sm = 0;
  std::uint64_t kernel = 0;  // index into `kernels`
  std::string mode;          // preemption mode of the blocks; "auto" if it differs between them
  std::uint64_t request_cycle = 0;
  std::uint64_t quiesced_cycle = 0;
  std::uint64_t saved_cycle = 0;
  std::uint64_t restore_cycle = 0;
  std::uint64_t resumed_cycle = 0;
  std::uint64_t bytes_saved = 0;
  std::uint64_t bytes_restored = 0;
  std::vector<std::uint64_t> blocks;
  std::vector<std::string> block_modes;  // of each block
  std::vector<std::uint32_t> warp_ids;
  std::uint32_t restored_sm = 0;
  std::vector<std::uint32_t> restored_warp_ids;
  std::uint64_t lost_block_cycles = 0;  // sum over its flushed blocks of how long they had run
  switch_energy energy;
};

/// Preemption requests for single SMs. Those that found blocks are in `context_switches`.
struct preempt_request_metrics {
  std::uint64_t asked = 0;
  std::uint64_t found_no_blocks = 0;
  std::uint64_t after_the_end = 0;  // entries of the job's list whose cycle is after its end; not counted for any SM
};

/// The states of a sub-partition's warps.
struct sub_partition_metrics {
  warp_cycle_counts warp_cycles;
  warp_state_counts warp_states;
};

/// The states of all warps that had one warp id of an SM.
struct warp_slot_metrics : sub_partition_metrics {
  std::uint32_t warp_id = 0;
};

struct sm_metrics {
  std::uint32_t sm = 0;
  std::uint64_t active_cycles = 0;  // cycles with at least one active warp
  std::uint64_t active_warps = 0;   // sum over cycles of active warps
  std::uint64_t inst_executed = 0;
  std::uint64_t inst_issued = 0;
  double achieved_occupancy = 0;
  double ipc = 0;
  std::uint64_t blocks = 0;
  std::uint64_t warps = 0;
  std::vector<sub_partition_metrics> sub_partitions;
  std::vector<warp_slot_metrics> warp_slots;  // for ids that held a warp; empty without sub_partition.states_by_warp
  std::uint64_t occupancy_step_cycles = 0;    // step length of the next member
  std::vector<double> occupancy_over_time;    // achieved occupancy in each step from cycle 0 on, idle cycles included
  std::vector<std::uint64_t> inst_executed_over_time;  // warp instructions in each interval of the run
};

/// The run by intervals, over all kernels and SMs. Each interval starts where the previous one ends, the first in cycle
/// 0.
struct interval_series {
  std::vector<std::uint64_t> end_cycles;
  std::vector<std::uint64_t> inst_executed;  // warp instructions
  std::vector<std::uint64_t> dram_read_bytes;
  std::vector<std::uint64_t> dram_write_bytes;
  std::vector<warp_state_counts> warp_states;  // warp-cycles
};

/// Host cost of the run; everything else is identical on every machine. Rates are per CPU second of simulation.
struct host_metrics {
  double wall_seconds = 0;
  double cpu_seconds = 0;
  std::uint64_t peak_rss_bytes = 0;
  double warp_instructions_per_second = 0;
  double cycles_per_second = 0;
  std::string view;  // `heddle view` of this run, to which a line is to be added; empty: it has none
};

/// Gives the lines and instructions of a run's kernels one by one: together, those of many launches take more memory
/// than all else.
class kernel_details {
 public:
  virtual ~kernel_details() = default;
  /// Fills in `lines`, and `code` and `flops` if they are asked for.
  virtual void fill(kernel_metrics& k) = 0;
  /// What the lines of those kernels are lines of, if the caller has it.
  [[nodiscard]] virtual std::vector<source_lines> sources() const = 0;
};

struct run_metrics {
  std::string stopped;          // the signal that ended the run before the job's end; empty: none
  bool snapshot = false;        // the run continues after these metrics
  std::uint64_t cut_cycle = 0;  // with either: the cycle in which the counts end
  gpu_config config;
  std::uint64_t cycles = 0;             // from the first doorbell to the last completion
  std::vector<kernel_metrics> kernels;  // in the order of completion of dispatch
  std::vector<context_switch_metrics> context_switches;
  preempt_request_metrics preempt_requests;
  std::vector<client_metrics> clients;  // empty: no processes share the GPU
  std::vector<sm_metrics> sms;
  interval_series intervals;                // empty if the run had no interval_sampler
  energy_metrics energy;                    // of the whole run, from cycle 0 on
  energy_series power;                      // by the same intervals
  std::vector<source_lines> sources;        // what the kernels' lines are lines of, if the caller has it
  std::shared_ptr<kernel_details> details;  // null: `kernels` have theirs; otherwise it lasts as long as the GPU
  host_metrics host;
};

/// Of the whole run, as far as its launches are known. Launches that leave blocks out run alone, and their errors are
/// independent of each other.
sampled_metrics sampled_of(const run_metrics& m);

}  // namespace heddle
