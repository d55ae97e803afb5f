// SPDX-License-Identifier: MIT
// The states of an active warp in a cycle: one row each, from which the enumerations, names and metrics are made.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

namespace heddle {

// clang-format off
/// X(name in `warp_cycles`, which is nvprof's)
#define HEDDLE_WARP_CYCLES(X) \
  X(selected)                     /* the warp issued, or its replay took the slot */               \
  X(not_selected)                 /* eligible, but another warp was selected */                    \
  X(inst_fetch)                   /* next instruction not in the buffer */                         \
  X(exec_dependency)              /* an operand is not available yet */                            \
  X(memory_dependency)            /* the load/store unit or its queue is not available */          \
  X(memory_throttle)              /* too many memory operations are outstanding */                 \
  X(pipe_busy)                    /* the arithmetic unit is not available */                       \
  X(sync)                         /* waits at a barrier */                                         \
  X(constant_memory_dependency)   /* a constant operand missed its cache */                        \
  X(texture)                      /* the texture path is full */                                   \
  X(sleeping)                     /* nanosleep, or all lanes blocked */                            \
  X(other)                        /* draining after exit, switching, fence, dispatcher conflict */

/// X(name in `warp_states`, which is the newer profilers', its warp_cycle). The rarer states come last.
#define HEDDLE_WARP_STALLS(X) \
  X(selected,           selected)                    /* the warp issued, or its replay took the slot */           \
  X(not_selected,       not_selected)                /* eligible, but another warp was selected */                \
  X(wait,               exec_dependency)             /* fixed-latency dependency */                               \
  X(short_scoreboard,   exec_dependency)             /* shared memory, special function, conversion, shuffle */   \
  X(long_scoreboard,    exec_dependency)             /* global, local, texture memory */                          \
  X(math_pipe_throttle, pipe_busy)                   /* arithmetic unit busy */                                   \
  X(mio_throttle,       memory_dependency)           /* queue of the memory input/output unit full */             \
  X(lg_throttle,        memory_throttle)             /* L1's queue for local and global accesses full */          \
  X(tex_throttle,       texture)                     /* texture queue full */                                     \
  X(barrier,            sync)                        /* waits at a barrier */                                     \
  X(membar,             other)                       /* waits for its own memory accesses at a fence */           \
  X(branch_resolving,   inst_fetch)                  /* the target of its branch is not known yet */              \
  X(no_instruction,     inst_fetch)                  /* next instruction not in the buffer */                     \
  X(imc_miss,           constant_memory_dependency)  /* a constant operand missed its cache */                    \
  X(dispatch_stall,     other)                       /* the dispatcher is taken by another instruction */         \
  X(drain,              other)                       /* exited, waiting for outstanding instructions */           \
  X(sleeping,           sleeping)                    /* nanosleep, or all lanes blocked */                        \
  X(misc,               other)                       /* none of the others */
// clang-format on

enum class warp_cycle : std::uint8_t {
#define HEDDLE_X(name) name,
  HEDDLE_WARP_CYCLES(HEDDLE_X)
#undef HEDDLE_X
      count
};

enum class warp_stall : std::uint8_t {
#define HEDDLE_X(name, cycle) name,
  HEDDLE_WARP_STALLS(HEDDLE_X)
#undef HEDDLE_X
      count
};

const char* name_of(warp_cycle s);
const char* name_of(warp_stall s);

/// Numbers by the enumerators of E.
template <class E>
using counts_by = std::array<std::uint64_t, static_cast<std::size_t>(E::count)>;

/// Warp-cycles by state, in both classifications.
struct state_counts {
  counts_by<warp_cycle> cycles{};
  counts_by<warp_stall> stalls{};
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
