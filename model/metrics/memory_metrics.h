// SPDX-License-Identifier: MIT
// Part of run_metrics.h, which says what visit is.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace heddle {

/// One cache level; accesses = hits + misses + merges.
struct cache_counts {
  std::uint64_t accesses = 0;
  std::uint64_t hits = 0;
  std::uint64_t misses = 0;
  std::uint64_t merges = 0;      // misses on a sector whose fill was already pending
  std::uint64_t read_bytes = 0;  // returned to requesters
  std::uint64_t write_bytes = 0;
  std::uint64_t evictions = 0;
  std::uint64_t writebacks = 0;  // dirty sectors written to the next level
  std::uint64_t atomics = 0;
  std::uint64_t requests = 0;        // L1: sent to the L2; L2: received from the SMs; at most a line each
  std::uint64_t bank_conflicts = 0;  // L1: cycles beyond the first in which hits occupied its banks; L2: 0

  template <class Self, class V>
  static void visit_members(Self& self, V&& v) {
    v("accesses", self.accesses);
    v("hits", self.hits);
    v("misses", self.misses);
    v("merges", self.merges);
    v("read_bytes", self.read_bytes);
    v("write_bytes", self.write_bytes);
    v("evictions", self.evictions);
    v("writebacks", self.writebacks);
    v("atomics", self.atomics);
    v("requests", self.requests);
    v("bank_conflicts", self.bank_conflicts);
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

struct dram_counts {
  std::uint64_t reads = 0;  // bursts
  std::uint64_t writes = 0;
  std::uint64_t read_bytes = 0;
  std::uint64_t write_bytes = 0;
  std::uint64_t row_hits = 0;
  std::uint64_t row_misses = 0;
  // Data-bus cycles from each channel's first data of the kernel to its last; all channels summed, memory clock.
  std::uint64_t busy_cycles = 0;
  std::uint64_t idle_cycles = 0;  // no request, or responses were not accepted
  std::uint64_t refresh_cycles = 0;
  std::uint64_t turnaround_cycles =
      0;                         // between reads and writes; column commands spaced further apart than their data
  std::uint64_t row_cycles = 0;  // rows were closed and opened

  template <class Self, class V>
  static void visit_members(Self& self, V&& v) {
    v("reads", self.reads);
    v("writes", self.writes);
    v("read_bytes", self.read_bytes);
    v("write_bytes", self.write_bytes);
    v("row_hits", self.row_hits);
    v("row_misses", self.row_misses);
    v("busy_cycles", self.busy_cycles);
    v("idle_cycles", self.idle_cycles);
    v("refresh_cycles", self.refresh_cycles);
    v("turnaround_cycles", self.turnaround_cycles);
    v("row_cycles", self.row_cycles);
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

struct shared_counts {
  std::uint64_t accesses = 0;        // warp instructions
  std::uint64_t bank_conflicts = 0;  // sum of (passes - 1)

  template <class Self, class V>
  static void visit_members(Self& self, V&& v) {
    v("accesses", self.accesses);
    v("bank_conflicts", self.bank_conflicts);
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

/// All zero if the TLBs are off.
struct tlb_counts {
  std::uint64_t accesses = 0;  // look-ups
  std::uint64_t hits = 0;
  std::uint64_t misses = 0;
  std::uint64_t merges = 0;  // the translation was already pending

  template <class Self, class V>
  static void visit_members(Self& self, V&& v) {
    v("accesses", self.accesses);
    v("hits", self.hits);
    v("misses", self.misses);
    v("merges", self.merges);
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

struct memory_counts {
  cache_counts l1;
  cache_counts l2;
  dram_counts dram;
  shared_counts shared;
  tlb_counts tlb;

  template <class Self, class V>
  static void visit_members(Self& self, V&& v) {
    v("l1", self.l1);
    v("l2", self.l2);
    v("dram", self.dram);
    v("shared", self.shared);
    v("tlb", self.tlb);
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
