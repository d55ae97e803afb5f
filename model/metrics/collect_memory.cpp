// SPDX-License-Identifier: MIT
#include "heddle/metrics/collect_memory.h"

#include "heddle/gpu/gpu.h"
#include "heddle/memory/dram/memory_model.h"
#include "heddle/memory/l2/l2_slice.h"
#include "heddle/sm/sm.h"

namespace heddle {

void fill_sm_memory(kernel_metrics& k, const gpu& g, std::uint32_t launch) {
  lsu_counters lsu;
  shared_memory_counters shared;
  cache_counts& l1 = k.memory.l1;
  const auto sum = [](lsu_counters::direction& to, const lsu_counters::direction& d) {
    to.requests += d.requests;
    to.transactions += d.transactions;
    to.requested_bytes += d.requested_bytes;
  };
  for (unsigned i = 0; i < g.sm_count(); ++i) {
    const sm& s = g.sm_at(i);
    const lsu_counters& c = s.load_store_unit.counters.at(launch);
    sum(lsu.global_load, c.global_load);
    sum(lsu.global_store, c.global_store);
    const tlb_counters& t = s.load_store_unit.tlb.counters.at(launch);
    k.memory.tlb.accesses += t.accesses;
    k.memory.tlb.hits += t.hits;
    k.memory.tlb.misses += t.misses;
    k.memory.tlb.merges += t.pending_hits;
    const shared_memory_counters& h = s.shared_memory.counters.at(launch);
    shared.accesses += h.accesses;
    shared.load_transactions += h.load_transactions;
    shared.store_transactions += h.store_transactions;
    shared.bank_conflicts += h.bank_conflicts;
    shared.requested_bytes += h.requested_bytes;
    shared.moved_bytes += h.moved_bytes;
    const l1_counters& l = s.l1.counters.at(launch);
    l1.accesses += l.accesses;
    l1.hits += l.hits;
    l1.misses += l.misses;
    l1.merges += l.pending_hits;
    l1.read_bytes += l.reads * sector_bytes;
    l1.write_bytes += l.writes * sector_bytes;
    l1.evictions += l.evictions;
    l1.bank_conflicts += l.bank_conflicts;
    l1.atomics += l.atomics;
    l1.requests += l.read_requests + l.write_requests + l.atomics;
  }
  k.memory.shared = {shared.accesses, shared.bank_conflicts};
  profiler_metrics& m = k.metrics;
  m.gld_transactions = lsu.global_load.transactions;
  m.gst_transactions = lsu.global_store.transactions;
  m.gld_efficiency = ratio(static_cast<double>(lsu.global_load.requested_bytes),
                           static_cast<double>(m.gld_transactions) * sector_bytes);
  m.gst_efficiency = ratio(static_cast<double>(lsu.global_store.requested_bytes),
                           static_cast<double>(m.gst_transactions) * sector_bytes);
  m.shared_load_transactions = shared.load_transactions;
  m.shared_store_transactions = shared.store_transactions;
  m.shared_efficiency = ratio(static_cast<double>(shared.requested_bytes), static_cast<double>(shared.moved_bytes));
}

void fill_chip_memory(kernel_metrics& k, const gpu& g, std::uint32_t launch) {
  cache_counts& l2 = k.memory.l2;
  dram_counts& dram = k.memory.dram;
  for (unsigned i = 0; i < g.channel_count(); ++i) {
    const l2_counters& c = g.slice_at(i).counters().at(launch);
    l2.accesses += c.read_sectors + c.write_sectors;
    l2.hits += c.read_hits + c.write_hits;
    l2.misses += c.read_misses + c.write_misses;
    l2.merges += c.read_pending_hits;
    l2.read_bytes += c.read_sectors * sector_bytes;
    l2.write_bytes += c.write_sectors * sector_bytes;
    l2.evictions += c.evictions;
    l2.writebacks += c.write_back_bytes / sector_bytes;
    l2.atomics += c.atomics;
    l2.requests += c.reads + c.writes + c.atomics;
    k.metrics.l2_read_transactions += c.read_sectors;
    k.metrics.l2_write_transactions += c.write_sectors;
    const memory_model* channel = g.channel_at(i);
    if (channel == nullptr) continue;
    const memory_counters& d = channel->counters().at(launch);
    dram.reads += d.reads;
    dram.writes += d.writes;
    dram.read_bytes += d.read_bytes;
    dram.write_bytes += d.write_bytes;
    dram.row_hits += d.row_hits;
    dram.row_misses += d.row_misses;
    dram.busy_cycles += d.busy_cycles;
    dram.idle_cycles += d.idle_cycles;
    dram.refresh_cycles += d.refresh_cycles;
    dram.turnaround_cycles += d.turnaround_cycles;
    dram.row_cycles += d.row_cycles;
  }
  k.metrics.dram_read_transactions = dram.read_bytes / sector_bytes;
  k.metrics.dram_write_transactions = dram.write_bytes / sector_bytes;
}

}  // namespace heddle
