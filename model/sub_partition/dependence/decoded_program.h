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

/// Dependence counters of a warp. Source: six on Maxwell and later (maxas; Jia et al. 2018, section 2.1).
constexpr unsigned counter_count = 6;
constexpr std::uint8_t no_counter = 7;

/// What a result that is not there yet is waited for as, by Nsight's states: of fixed latency (`wait`), of the units
/// behind the queue that sub-partitions share (`short_scoreboard`), of the L1 and what lies behind it
/// (`long_scoreboard`).
enum class producer : std::uint8_t { fixed = 0, short_latency = 1, long_latency = 2 };

/// What the issue stage does with an instruction.
enum class issue_kind : std::uint8_t { arithmetic, memory, branch, exit, barrier, fence, sleep, trap, system_call };

/// A branch that can go back, in a warp with independent lanes; `waits`: the loop may wait for another thread, for it
/// holds an atomic, a volatile load or a sleep.
enum class back_edge : std::uint8_t { none, plain, waits };

/// One instruction as the issue stage sees it: all that is the same each time is worked out once, when the kernel is
/// launched.
struct decoded_instruction {
  const isa::instruction* instruction = nullptr;
  simt::execute_function execute = nullptr;
  issue_kind kind = issue_kind::arithmetic;
  isa::unit unit = isa::unit::integer;
  isa::op_class timing = isa::op_class::int_add;
  bool partner = false;                  // memory class or quarter rate: may be the second kind of a Maxwell pair
  bool global_access = false;            // a memory instruction that can reach global or local memory
  bool cached_load = false;              // of these, a load that the L1 may hold
  lane_use shared_use = lane_use::none;  // of the fp32 lanes that sub-partitions share, those that can execute it
  producer result = producer::fixed;     // what its result is waited for as; an address may tell another
  bool has_constant = false;             // reads a constant-bank operand at (constant_bank, constant_offset)
  bool synchronises = false;             // with lanes that it names and that may be elsewhere (independent lanes only)
  back_edge turn = back_edge::none;
  std::uint8_t constant_bank = 0;
  std::uint32_t constant_offset = 0;
  std::uint32_t initiation_cycles = 1;    // cycles the unit's input is held, 32 / lanes
  std::uint32_t latency_cycles = 1;       // issue to dependent issue, without bank conflicts; 0: variable
  std::uint8_t bank_conflicts = 0;        // added operand-read cycles, from the register numbers
  std::uint8_t bank_conflicts_after = 0;  // the same right behind its predecessor, whose operands the reuse cache holds
  std::uint8_t stall = 1;             // software dependence: cycles until the next instruction; 0: may issue beside it
  std::uint8_t counter = no_counter;  // software dependence: raised until the result is there
  std::uint8_t read_counter =
      no_counter;          // software dependence: of a memory instruction, raised until its sources are read
  std::uint8_t waits = 0;  // software dependence: counters that must be zero, bit per counter
  std::uint32_t source_read_cycles =
      0;  // software dependence: issue of a memory instruction until its sources may be overwritten
  std::uint8_t return_words = 1;      // of a load, registers that are written together,
  std::uint16_t return_interval = 0;  // and cycles until the next ones are
  std::uint16_t index_cycles = 0;     // of a constant load, added by an index register
  std::uint8_t predicates = 0;        // predicates read or written, bit per register
  std::uint8_t written_predicates = 0;
  std::uint8_t guards =
      0;  // predicates that must be there earlier than the other operands: its guard, what a vote counts
  std::uint8_t guard_cycles =
      0;  // of what writes predicates: from when they may be computed with until they may be guards
  isa::predicate guard;
  // Of a memory instruction:
  lsu_kind access = lsu_kind::load;
  std::uint8_t access_bytes = 4;  // by lane
  bool read_only = false;         // as in lsu_transaction
  bool bypass_l1 = false;
  std::uint8_t depends_count = 0;  // registers read or written, each once
  std::uint8_t depends[31] = {};
};

/// A machine program with its timing on one GPU. Immutable, shared by all SMs.
struct decoded_program {
  std::shared_ptr<const isa::program> program;
  std::vector<decoded_instruction> code;
  bool control_codes = false;           // dependence is software-controlled
  unsigned scoreboard_registers = 0;    // those above are neither read nor written
  std::uint64_t code_address = 0;       // where the code lies for the instruction cache, bytes
  std::vector<isa::register_set> live;  // by instruction, where contexts keep live registers only; else empty
};

/// Of each instruction, how it turns back.
std::vector<back_edge> back_edges(const isa::program& p);

/// Decodes for the GPU. Throws input_error for an instruction whose unit the chip lacks (lanes = 0).
std::shared_ptr<const decoded_program> decode(std::shared_ptr<const isa::program> program, const gpu_config& config,
                                              std::uint64_t code_address);

/// The SM's sub-partitions have one such unit together.
inline bool is_shared(isa::unit u, const gpu_config& config) {
  return (u == isa::unit::fp64 && config.fp64.shared) || (u == isa::unit::half && config.half.shared);
}

/// A launch as the SMs see it: its context plus the decoded program.
struct resident_launch : simt::launch_context {
  std::shared_ptr<const decoded_program> decoded;
};

}  // namespace heddle
