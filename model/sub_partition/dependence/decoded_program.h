// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "heddle/config/parameters.h"
#include "heddle/isa/liveness.h"
#include "heddle/isa/program.h"
#include "heddle/simt/execute.h"
#include "heddle/sub_partition/dependence/shared_lanes.h"
#include "heddle/tlm/protocol/lsu_protocol.h"

namespace heddle {

/// Number of dependence counters of a warp. Source: six on Maxwell and later (maxas; Jia et al. 2018, section 2.1).
constexpr unsigned counter_count = 6;
constexpr std::uint8_t no_counter = 7;

/// Class of a result for stall reasons, in Nsight's terms: of fixed latency (`wait`), from a unit behind the queue that
/// sub-partitions share (`short_scoreboard`), from the L1 or beyond (`long_scoreboard`).
enum class producer : std::uint8_t { fixed = 0, short_latency = 1, long_latency = 2 };

/// How the issue stage treats an instruction. The last ones may have to wait for the warp's own memory accesses.
enum class issue_kind : std::uint8_t {
  arithmetic,
  memory,
  branch,
  exit,
  fence,
  sleep,
  trap,
  system_call,
  copy_commit,
  bulk_copy,
  product,
  product_fence,
  product_commit,
  barrier,
  copy_wait,
  product_wait,
  register_change
};
constexpr bool waits_for_accesses(issue_kind k) { return k >= issue_kind::barrier; }

/// A branch that can go backwards, for warps with independent lanes. `waits`: the loop contains an atomic, a volatile
/// load or a sleep, so it may wait for another thread.
enum class back_edge : std::uint8_t { none, plain, waits };

/// One instruction as the issue stage sees it. Its fields are computed once, when the kernel is launched.
struct decoded_instruction {
  const isa::instruction* instruction = nullptr;
  simt::execute_function execute = nullptr;
  issue_kind kind = issue_kind::arithmetic;
  isa::unit unit = isa::unit::integer;
  isa::op_class timing = isa::op_class::int_add;
  bool partner = false;                  // memory class or quarter rate: may complete a Maxwell pair
  bool global_access = false;            // a memory instruction that can reach global or local memory
  bool cached_load = false;              // a global access that is a load and may hit the L1
  lane_use shared_use = lane_use::none;  // lanes shared by sub-partitions that can execute it
  producer result = producer::fixed;     // class of its result; for memory instructions, the address may change it
  bool has_constant = false;             // reads a constant-bank operand at (constant_bank, constant_offset)
  bool synchronises = false;             // with lanes that it names and that may be elsewhere (independent lanes only)
  back_edge edge = back_edge::none;
  std::uint8_t constant_bank = 0;
  std::uint32_t constant_offset = 0;
  std::uint32_t initiation_cycles = 1;    // cycles for which the unit's input is held, 32 / lanes
  std::uint32_t latency_cycles = 1;       // issue to dependent issue, without bank conflicts; 0: variable
  std::uint8_t bank_conflicts = 0;        // extra operand-read cycles, from the register numbers
  std::uint8_t bank_conflicts_after = 0;  // the same with the predecessor's operands in the reuse cache
  std::uint8_t stall = 1;  // software dependence: cycles until the next instruction; 0: both may issue in one cycle
  std::uint8_t counter = no_counter;  // software dependence: raised until the result is available
  std::uint8_t read_counter =
      no_counter;          // software dependence: of a memory instruction, raised until its sources are read
  std::uint8_t waits = 0;  // software dependence: counters that must be zero, bit per counter
  std::uint32_t source_read_cycles =
      0;  // software dependence: from issue of a memory instruction until its sources may be overwritten
  std::uint8_t return_words = 1;      // of a load: registers that are written together,
  std::uint16_t return_interval = 0;  // and cycles between two such writes
  std::uint16_t index_cycles = 0;     // of a constant load: added by an index register
  std::uint8_t predicates = 0;        // predicates read or written, bit per register
  std::uint8_t written_predicates = 0;
  std::uint8_t guards =
      0;  // predicates needed earlier than other operands: its guard, the predicate that a vote counts
  std::uint8_t guard_cycles = 0;  // of written predicates: cycles from use as an operand to use as a guard
  isa::predicate guard;
  // Memory instructions only:
  lsu_kind access = lsu_kind::load;
  std::uint8_t access_bytes = 4;  // per lane
  bool read_only = false;         // as in lsu_transaction
  bool bypass_l1 = false;
  std::uint8_t depends_count = 0;  // registers read or written, without duplicates
  std::uint8_t depends[31] = {};
  // Products of a warpgroup only:
  std::uint8_t accumulators = 0;     // registers from its destination on, which it reads and writes
  std::uint16_t operand_bytes = 0;   // read from shared memory, a warp's part
  std::uint32_t product_cycles = 0;  // for which the tensor unit computes it
};

inline bool accesses_memory(const decoded_instruction& d) {
  switch (d.kind) {
    case issue_kind::memory:
    case issue_kind::bulk_copy:
    case issue_kind::product: return true;
    default: return d.unit == isa::unit::texture;
  }
}

/// A machine program with its timing on one GPU. Immutable, shared by all SMs.
struct decoded_program {
  std::shared_ptr<const isa::program> program;
  std::vector<decoded_instruction> code;
  bool control_codes = false;           // dependence is software-controlled
  unsigned scoreboard_registers = 0;    // registers with higher numbers are neither read nor written
  std::uint64_t code_address = 0;       // address of the code for the instruction cache, bytes
  std::vector<std::uint32_t> accesses;  // by instruction: its number among those that access memory
  std::uint32_t access_count = 0;       // of those
  std::vector<isa::register_set> live;  // by instruction, if contexts hold live registers only; otherwise empty
};

/// True if the SM's sub-partitions share one such unit.
inline bool is_shared(isa::unit u, const gpu_config& config) {
  return (u == isa::unit::fp64 && config.fp64.shared) || (u == isa::unit::half && config.half.shared);
}

/// A launch as the SMs see it: its context plus the decoded program.
struct resident_launch : simt::launch_context {
  std::shared_ptr<const decoded_program> decoded;
};

}  // namespace heddle
