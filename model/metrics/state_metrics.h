// SPDX-License-Identifier: MIT
// Part of run_metrics.h, which says what visit is.
#pragma once

#include <cstdint>

namespace heddle {

/// Warp-cycles by the profiler's stall reasons: each active warp is in exactly one state in each cycle.
struct warp_cycle_counts {
  std::uint64_t active = 0;                      // sum of all the others
  std::uint64_t selected = 0;                    // the warp issued, or its replay took the slot
  std::uint64_t not_selected = 0;                // eligible, but another warp was selected
  std::uint64_t inst_fetch = 0;                  // next instruction not in the buffer
  std::uint64_t exec_dependency = 0;             // an operand is not available yet
  std::uint64_t memory_dependency = 0;           // the load/store unit or its queue is not available
  std::uint64_t memory_throttle = 0;             // too many memory operations are outstanding
  std::uint64_t pipe_busy = 0;                   // the arithmetic unit is not available
  std::uint64_t sync = 0;                        // waits at a barrier
  std::uint64_t constant_memory_dependency = 0;  // a constant operand missed its cache
  std::uint64_t texture = 0;                     // the texture path is full
  std::uint64_t sleeping = 0;                    // nanosleep, or all lanes blocked
  std::uint64_t other = 0;                       // draining after exit, switching, fence, dispatcher conflict

  template <class Self, class V>
  static void visit_members(Self& self, V&& v) {
    v("active", self.active);
    v("selected", self.selected);
    v("not_selected", self.not_selected);
    v("inst_fetch", self.inst_fetch);
    v("exec_dependency", self.exec_dependency);
    v("memory_dependency", self.memory_dependency);
    v("memory_throttle", self.memory_throttle);
    v("pipe_busy", self.pipe_busy);
    v("sync", self.sync);
    v("constant_memory_dependency", self.constant_memory_dependency);
    v("texture", self.texture);
    v("sleeping", self.sleeping);
    v("other", self.other);
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

/// The same warp-cycles by the names of the newer profiler; again a partition of `active`.
struct warp_state_counts {
  std::uint64_t selected = 0;
  std::uint64_t not_selected = 0;
  std::uint64_t wait = 0;                // fixed-latency dependency
  std::uint64_t short_scoreboard = 0;    // shared memory, special function, conversion, shuffle
  std::uint64_t long_scoreboard = 0;     // global, local, texture memory
  std::uint64_t math_pipe_throttle = 0;  // arithmetic unit busy
  std::uint64_t mio_throttle = 0;        // queue of the memory input/output unit full
  std::uint64_t lg_throttle = 0;         // L1's queue for local and global accesses full
  std::uint64_t tex_throttle = 0;        // texture queue full
  std::uint64_t barrier = 0;
  std::uint64_t membar = 0;
  std::uint64_t branch_resolving = 0;
  std::uint64_t no_instruction = 0;
  std::uint64_t imc_miss = 0;  // a constant operand missed its cache
  std::uint64_t dispatch_stall = 0;
  std::uint64_t drain = 0;  // exited, waiting for outstanding instructions
  std::uint64_t sleeping = 0;
  std::uint64_t misc = 0;

  template <class Self, class V>
  static void visit_members(Self& self, V&& v) {
    v("selected", self.selected);
    v("not_selected", self.not_selected);
    v("wait", self.wait);
    v("short_scoreboard", self.short_scoreboard);
    v("long_scoreboard", self.long_scoreboard);
    v("math_pipe_throttle", self.math_pipe_throttle);
    v("mio_throttle", self.mio_throttle);
    v("lg_throttle", self.lg_throttle);
    v("tex_throttle", self.tex_throttle);
    v("barrier", self.barrier);
    v("membar", self.membar);
    v("branch_resolving", self.branch_resolving);
    v("no_instruction", self.no_instruction);
    v("imc_miss", self.imc_miss);
    v("dispatch_stall", self.dispatch_stall);
    v("drain", self.drain);
    v("sleeping", self.sleeping);
    v("misc", self.misc);
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

}  // namespace heddle
