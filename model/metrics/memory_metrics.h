// SPDX-License-Identifier: MIT
// Part of run_metrics.h, which says what visit is. A row is a count's key, its sum from a unit's
// counters, its unit and a sentence, which the tables of docs/use/metrics.md have.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace heddle {

struct cluster_counters;
struct instruction_traffic;
struct l1_counters;
struct l2_counters;
struct memory_counters;
struct shared_memory_counters;
struct tlb_counters;
struct tma_counters;

// clang-format off
/// X(key, from the l1_counters, from the l2_counters, unit, sentence); accesses = hits + misses + merges
#define HEDDLE_CACHE_COUNTS(X) \
  X(accesses,       l1.accesses,               l2.read_sectors + l2.write_sectors, "sectors", \
    "look-ups of a sector: hits + misses + merges") \
  X(hits,           l1.hits,                   l2.read_hits + l2.write_hits, "sectors", \
    "sectors that were valid in the cache") \
  X(misses,         l1.misses,                 l2.read_misses + l2.write_misses, "sectors", \
    "sectors that were not present") \
  X(write_misses,   l1.writes - l1.write_hits, l2.write_misses, "sectors", \
    "part of misses: sectors that were written and not present, which need no fetch") \
  X(merges,         l1.pending_hits,           l2.read_pending_hits, "sectors", \
    "look-ups of a sector whose fill was pending") \
  X(read_bytes,     l1.reads * sector_bytes,   l2.read_sectors * sector_bytes, "bytes", \
    "returned to requesters") \
  X(write_bytes,    l1.writes * sector_bytes,  l2.write_sectors * sector_bytes, "bytes", \
    "of the sectors written") \
  X(evictions,      l1.evictions,              l2.evictions, "lines", \
    "lines evicted") \
  X(writebacks,     0,                         l2.write_back_bytes / sector_bytes, "sectors", \
    "written to the next level; L1: none, its lines are never dirty") \
  X(atomics,        l1.atomics,                l2.atomics, "requests", \
    "atomic requests") \
  X(requests,       l1.read_requests + l1.write_requests + l1.atomics,  l2.reads + l2.writes + l2.atomics, "requests", \
    "L1: sent to the L2; L2: received from the SMs; at most a line each") \
  X(bank_conflicts, l1.bank_conflicts,         0, "cycles", \
    "cycles beyond the first in which hits occupied the banks; L2: not modelled")

/// X(key, from a channel's memory_counters, unit, sentence)
#define HEDDLE_DRAM_COUNTS(X) \
  X(reads,             channel.reads, "requests", \
    "read requests") \
  X(writes,            channel.writes, "requests", \
    "write requests") \
  X(read_bytes,        channel.read_bytes, "bytes", \
    "read from memory") \
  X(write_bytes,       channel.write_bytes, "bytes", \
    "written to memory") \
  X(row_hits,          channel.row_hits, "requests", \
    "requests whose row was open when their first command issued") \
  X(row_misses,        channel.row_misses, "requests", \
    "requests for which a row was opened") \
  X(busy_cycles,       channel.busy_cycles, "memory cycles", \
    "data-bus cycles with data, from each channel's first data of the kernel to its last; all channels summed") \
  X(idle_cycles,       channel.idle_cycles, "memory cycles", \
    "other cycles, without a waiting request or with responses that were not accepted") \
  X(refresh_cycles,    channel.refresh_cycles, "memory cycles", \
    "refreshes") \
  X(turnaround_cycles, channel.turnaround_cycles, "memory cycles", \
    "lost between reads and writes, and where column commands must be further apart than their data") \
  X(row_cycles,        channel.row_cycles, "memory cycles", \
    "lost to closing and opening rows")

/// X(key, from the shared_memory_counters, unit, sentence)
#define HEDDLE_SHARED_COUNTS(X) \
  X(accesses,       shared.accesses, "inst", \
    "warp instructions") \
  X(bank_conflicts, shared.bank_conflicts, "passes", \
    "passes beyond the first of each instruction")

/// X(key, from the tlb_counters, unit, sentence); all zero if the TLBs are off
#define HEDDLE_TLB_COUNTS(X) \
  X(accesses, tlb.accesses, "look-ups", \
    "look-ups of a page") \
  X(hits,     tlb.hits, "look-ups", \
    "the translation was there") \
  X(misses,   tlb.misses, "look-ups", \
    "the translation was fetched") \
  X(merges,   tlb.pending_hits, "look-ups", \
    "the translation was already pending")

/// X(key, from the tma_counters, unit, sentence)
#define HEDDLE_BULK_COUNTS(X) \
  X(copies,         tma.copies, "copies", \
    "bulk copies, reductions and prefetches, as lanes issued them") \
  X(read_requests,  tma.read_requests, "requests", \
    "reads of global memory, of at most 128 bytes") \
  X(write_requests, tma.write_requests, "requests", \
    "writes to it") \
  X(reductions,     tma.reductions, "requests", \
    "reductions in it") \
  X(read_bytes,     tma.read_bytes, "bytes", \
    "read from global memory") \
  X(written_bytes,  tma.written_bytes, "bytes", \
    "written to or reduced in it") \
  X(filled_bytes,   tma.filled_bytes, "bytes", \
    "of boxes outside their tensors, written to shared memory")

/// X(key, from the cluster_counters, unit, sentence)
#define HEDDLE_CLUSTER_COUNTS(X) \
  X(requests,         cluster.requests, "requests", \
    "accesses to the shared memory of other blocks: of a warp instruction or a segment of a bulk copy, one a block") \
  X(bytes,            cluster.bytes, "bytes", \
    "of data sent with them and returned") \
  X(flits,            cluster.flits, "flits", \
    "headers, and units of 32 bytes of data, of all messages between SMs") \
  X(barrier_arrivals, cluster.barrier_arrivals, "arrivals", \
    "of blocks at the barriers of their clusters")

/// X(key, from an instruction_traffic, unit, sentence)
#define HEDDLE_LINE_COUNTS(X) \
  X(requested_bytes, requested, "bytes", \
    "of the active lanes: their number times the bytes of an access") \
  X(l1_requests,     t.l1_lines, "look-ups", \
    "128-byte lines looked up in the L1") \
  X(l1_sectors,      t.l1_sectors, "sectors", \
    "accessed there") \
  X(l1_hits,         t.l1_hits, "sectors", \
    "of these, present") \
  X(l2_sectors,      t.l2_read_hits + t.l2_read_misses + t.l2_write_hits + t.l2_write_misses, "sectors", \
    "read, written and changed in the L2") \
  X(l2_hits,         t.l2_read_hits + t.l2_write_hits, "sectors", \
    "of these, present") \
  X(dram_sectors,    t.fetched_sectors, "sectors", \
    "that the L2 read from device memory for it") \
  X(shared_passes,   t.shared_passes, "passes", \
    "over the banks of shared memory; one for each instruction without bank conflicts") \
  X(constant_reads,  t.constant_reads, "look-ups", \
    "different addresses of constant loads") \
  X(atomic_addresses, t.atomic_cells, "addresses", \
    "of global memory: different ones of an atomic access; not written where 0") \
  X(atomic_turns,    t.atomic_turns, "turns", \
    "of lanes that change one address: for each request the most lanes with one address; not written where 0")
// clang-format on

enum class line_count : std::uint8_t {
#define HEDDLE_X(key, ...) key,
  HEDDLE_LINE_COUNTS(HEDDLE_X)
#undef HEDDLE_X
};

/// The key in the metrics.
constexpr const char* name_of(line_count c) {
  constexpr const char* names[] = {
#define HEDDLE_X(key, ...) #key,
      HEDDLE_LINE_COUNTS(HEDDLE_X)
#undef HEDDLE_X
  };
  return names[static_cast<unsigned>(c)];
}

/// What the accesses of one source line have moved.
struct line_counts {
#define HEDDLE_X(key, ...) std::uint64_t key = 0;
  HEDDLE_LINE_COUNTS(HEDDLE_X)
#undef HEDDLE_X

  /// `requested`: bytes.
  void add(const instruction_traffic& t, std::uint64_t requested);

  template <class V>
  void visit(V&& v) const {
#define HEDDLE_X(key, ...) v(#key, key);
    HEDDLE_LINE_COUNTS(HEDDLE_X)
#undef HEDDLE_X
  }
};

/// One cache level.
struct cache_counts {
#define HEDDLE_X(key, ...) std::uint64_t key = 0;
  HEDDLE_CACHE_COUNTS(HEDDLE_X)
#undef HEDDLE_X

  void add(const l1_counters& l1);
  void add(const l2_counters& l2);

  template <class Self, class V>
  static void visit_members(Self& self, V&& v) {
#define HEDDLE_X(key, ...) v(#key, self.key);
    HEDDLE_CACHE_COUNTS(HEDDLE_X)
#undef HEDDLE_X
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
#define HEDDLE_X(key, ...) std::uint64_t key = 0;
  HEDDLE_DRAM_COUNTS(HEDDLE_X)
#undef HEDDLE_X

  void add(const memory_counters& channel);

  template <class Self, class V>
  static void visit_members(Self& self, V&& v) {
#define HEDDLE_X(key, ...) v(#key, self.key);
    HEDDLE_DRAM_COUNTS(HEDDLE_X)
#undef HEDDLE_X
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
#define HEDDLE_X(key, ...) std::uint64_t key = 0;
  HEDDLE_SHARED_COUNTS(HEDDLE_X)
#undef HEDDLE_X

  void add(const shared_memory_counters& shared);

  template <class Self, class V>
  static void visit_members(Self& self, V&& v) {
#define HEDDLE_X(key, ...) v(#key, self.key);
    HEDDLE_SHARED_COUNTS(HEDDLE_X)
#undef HEDDLE_X
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

struct tlb_counts {
#define HEDDLE_X(key, ...) std::uint64_t key = 0;
  HEDDLE_TLB_COUNTS(HEDDLE_X)
#undef HEDDLE_X

  void add(const tlb_counters& tlb);

  template <class Self, class V>
  static void visit_members(Self& self, V&& v) {
#define HEDDLE_X(key, ...) v(#key, self.key);
    HEDDLE_TLB_COUNTS(HEDDLE_X)
#undef HEDDLE_X
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

/// Of the units for bulk copies.
struct bulk_counts {
#define HEDDLE_X(key, ...) std::uint64_t key = 0;
  HEDDLE_BULK_COUNTS(HEDDLE_X)
#undef HEDDLE_X

  void add(const tma_counters& tma);

  [[nodiscard]] bool none() const {
    bool all = true;
    visit([&all](const char*, std::uint64_t n) { all = all && n == 0; });
    return all;
  }

  template <class Self, class V>
  static void visit_members(Self& self, V&& v) {
#define HEDDLE_X(key, ...) v(#key, self.key);
    HEDDLE_BULK_COUNTS(HEDDLE_X)
#undef HEDDLE_X
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

/// Of the network between the SMs of a cluster.
struct cluster_counts {
#define HEDDLE_X(key, ...) std::uint64_t key = 0;
  HEDDLE_CLUSTER_COUNTS(HEDDLE_X)
#undef HEDDLE_X

  void add(const cluster_counters& cluster);

  [[nodiscard]] bool none() const {
    bool all = true;
    visit([&all](const char*, std::uint64_t n) { all = all && n == 0; });
    return all;
  }

  template <class Self, class V>
  static void visit_members(Self& self, V&& v) {
#define HEDDLE_X(key, ...) v(#key, self.key);
    HEDDLE_CLUSTER_COUNTS(HEDDLE_X)
#undef HEDDLE_X
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
  bulk_counts bulk;  // these two are in the file where they are not all zero
  cluster_counts cluster;

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
