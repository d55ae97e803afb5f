// SPDX-License-Identifier: MIT
// The states of an active warp in a cycle: one row each, from which the enumerations, names and metrics are made.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "heddle/tlm/kernel/state_image.h"

namespace heddle {

// clang-format off
/// X(name in `warp_cycles`, which is nvprof's; sentence: what the warp does)
#define HEDDLE_WARP_CYCLES(X) \
  X(selected, \
    "issues: an instruction, or its replay") \
  X(not_selected, \
    "is eligible; another was selected") \
  X(inst_fetch, \
    "waits for its next instruction") \
  X(exec_dependency, \
    "waits for an operand, or to overwrite a source that a memory instruction has not read yet") \
  X(memory_dependency, \
    "has a memory instruction; the LDST unit or its queue is busy") \
  X(memory_throttle, \
    "has a memory instruction; the memory system stalls the load/store unit") \
  X(pipe_busy, \
    "has an arithmetic instruction; its unit is busy") \
  X(sync, \
    "waits at a barrier") \
  X(constant_memory_dependency, \
    "waits for a constant operand that missed") \
  X(texture, \
    "has a texture or surface instruction; the texture unit's queue is full") \
  X(sleeping, \
    "sleeps (nanosleep), or all its lanes are blocked") \
  X(other, \
    "has exited and drains, is switched, waits at a fence, or its dispatcher is taken")

/// X(name in `warp_states`, which is the newer profilers'; its warp_cycle; colour in GTKWave; common, or rare: written
/// only where it occurs, as few chips have it; what the warp waits for: itself, or others that go before; sentence).
/// The rarer states come last. Colours are X11 names: green for issue, blue for results, red for other warps, yellow
/// for memory, violet for units, grey for the front end.
#define HEDDLE_WARP_STALLS(X) \
  X(selected, selected, "forest green", common, itself, \
    "issues: an instruction, or its replay") \
  X(not_selected, not_selected, "dark olive green", common, others, \
    "is eligible; another was selected") \
  X(wait, exec_dependency, "steel blue", common, itself, \
    "waits for an operand of fixed latency") \
  X(short_scoreboard, exec_dependency, "slate blue", common, itself, \
    "waits for an operand of shared or constant memory, a special function, conversion, shuffle, special " \
    "register or a unit that the SM has once") \
  X(long_scoreboard, exec_dependency, "midnight blue", common, itself, \
    "waits for an operand of global, local or texture memory") \
  X(math_pipe_throttle, pipe_busy, "purple", common, others, \
    "has an arithmetic instruction; its unit is busy") \
  X(mio_throttle, memory_dependency, "goldenrod", common, others, \
    "has an instruction for the load/store unit, whose queue is full") \
  X(lg_throttle, memory_throttle, "goldenrod", common, others, \
    "has a local or global access; the L1's queue for them is full (memory_dependency while only the " \
    "LDST unit is busy)") \
  X(tex_throttle, texture, "goldenrod", common, others, \
    "has a texture or surface instruction; the texture unit's queue is full") \
  X(barrier, sync, "firebrick", common, itself, \
    "waits at a barrier") \
  X(cluster_barrier, sync, "firebrick", rare, itself, \
    "waits at the barrier of its thread block cluster") \
  X(membar, other, "firebrick", common, itself, \
    "waits at a fence for its own memory accesses") \
  X(branch_resolving, inst_fetch, "gray40", common, itself, \
    "waits for the target of its branch") \
  X(no_instruction, inst_fetch, "gray40", common, itself, \
    "waits for its next instruction, which is not in the buffer") \
  X(imc_miss, constant_memory_dependency, "gray40", common, itself, \
    "waits for a constant operand that missed") \
  X(dispatch_stall, other, "purple", common, others, \
    "is kept from accessing memory by the policy, or the operands of an earlier instruction are being " \
    "read (operand_read = window)") \
  X(drain, other, "gray40", common, itself, \
    "has exited, and waits for outstanding loads and for its stores to leave the queue") \
  X(sleeping, sleeping, "gray40", common, itself, \
    "sleeps (nanosleep), or all its lanes are blocked") \
  X(misc, other, "gray40", common, itself, \
    "stops for a context switch, or is being saved or restored") \
  X(mbarrier, sync, "firebrick", rare, itself, \
    "waits at an mbarrier (try_wait) for arrivals or for the bytes of bulk copies") \
  X(grid_dependency, sync, "firebrick", rare, itself, \
    "waits for the end of the launch before its own (griddepcontrol.wait)")
// clang-format on

enum class warp_cycle : std::uint8_t {
#define HEDDLE_X(name, ...) name,
  HEDDLE_WARP_CYCLES(HEDDLE_X)
#undef HEDDLE_X
      count
};

enum class warp_stall : std::uint8_t {
#define HEDDLE_X(name, ...) name,
  HEDDLE_WARP_STALLS(HEDDLE_X)
#undef HEDDLE_X
      count
};

const char* name_of(warp_cycle s);
const char* name_of(warp_stall s);
/// The state of this name into `s`; false: there is none.
bool find_stall(std::string_view name, warp_stall& s);
/// The state's colour in GTKWave.
const char* colour_of(warp_stall s);
/// Whether few chips have the state: it is written only where it occurs.
bool is_rare(warp_stall s);
/// Whether a warp in this state waits behind other warps, for a unit or room in a queue.
bool is_queue(warp_stall s);

/// Numbers by the enumerators of E.
template <class E>
using counts_by = std::array<std::uint64_t, static_cast<std::size_t>(E::count)>;

/// Warp-cycles by state, in both classifications.
struct state_counts {
  counts_by<warp_cycle> cycles{};
  counts_by<warp_stall> stalls{};

  void exchange(state_image& image) { image(cycles, stalls); }
};

/// The state of a warp in a cycle, in both classifications.
struct warp_condition {
  warp_cycle cycle;
  warp_stall stall;
};

/// What the input of a ready warp's unit is in a cycle: open, held or without room, behind an issue stage that waits
/// for operands, or behind a load/store unit that the memory system blocks.
enum class unit_input : std::uint8_t { open, busy, stalled, throttled };

/// A warp_stall determines the warp_cycle, except for lg_throttle: it is memory_throttle while the memory system blocks
/// the LDST unit, otherwise memory_dependency. The latter case has a state number of its own, after the others.
constexpr unsigned lg_dependency = static_cast<unsigned>(warp_stall::count);
constexpr unsigned state_count = lg_dependency + 1;
constexpr unsigned state_of(warp_cycle c, warp_stall s) {
  return c == warp_cycle::memory_dependency && s == warp_stall::lg_throttle ? lg_dependency : static_cast<unsigned>(s);
}
/// Adds `n` warp-cycles in state number `state`.
void add_state(state_counts& to, unsigned state, std::uint64_t n);

}  // namespace heddle
