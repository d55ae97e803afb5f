// SPDX-License-Identifier: MIT
#include "heddle/memory/l1/l1_cache.h"

#include <algorithm>

#include "heddle/config/error.h"
#include "heddle/config/sm_places.h"
#include "heddle/isa/instruction.h"
#include "heddle/memory/common/lane_data.h"
#include "heddle/memory/common/lookup_latency.h"
#include "heddle/simt/warp/warp_state.h"

namespace heddle {

namespace {
unsigned count(std::uint8_t sectors) { return static_cast<unsigned>(__builtin_popcount(sectors)); }

/// Words of some sectors.
std::uint32_t words_of(std::uint8_t sectors) { return ((sectors * 0x00204081u) & 0x01010101u) * 0xff; }

/// What a load reads of sectors that it does not fetch, in words.
unsigned delivered(const l1_access& access, std::uint8_t sectors) {
  const auto words = static_cast<unsigned>(__builtin_popcount(access.words & words_of(sectors)));
  return sectors == access.sectors ? words + access.missing_words : words;
}

const gpu_config& checked(const gpu_config& config) {
  if (config.l1.line_bytes != line_bytes) throw input_error("l1.line_bytes: 128 was expected");
  const unsigned s = config.l1.sector_bytes;
  if (s != 32 && s != 64 && s != 128) throw input_error("l1.sector_bytes: 32, 64 or 128 was expected");
  const unsigned b = config.l1.banks;
  if (b != 1 && b != 2 && b != 4) throw input_error("l1.banks: 1, 2 or 4 was expected");
  return config;
}
}  // namespace

l1_cache::l1_cache(sc_core::sc_module_name name, unit_clock& clock, const gpu_config& config, unsigned sm_id)
    : sc_module(name),
      access_socket({"access_socket", this}),
      context_socket({"context_socket", this}),
      instruction_socket({"instruction_socket", this}),
      bulk_socket({"bulk_socket", this}),
      memory_socket("memory_socket"),
      clock_(clock, *this),
      sm_id_(sm_id),
      mshr_entries_(std::max(1u, checked(config).l1.mshr_entries)),
      mshr_merges_(config.l1.mshr_merges),
      miss_queue_entries_(config.l1.miss_queue_entries),
      prefetch_lines_(config.l1.prefetch_lines),
      sector_group_(config.l1.sector_bytes / sector_bytes),
      ways_(config.l1.ways),
      latency_(cycles_after_lookup(config.l1.latency_cycles, config)),
      banks_(config.l1.banks),
      read_(config.l1.read_cycles),
      cache_global_(config.l1.cache_global_loads),
      cache_local_(config.l1.cache_local),
      store_invalidates_(config.l1.store_hit == choice::store_hit::invalidate),
      store_allocates_(config.l1.store_allocates),
      atomic_return_(config.l1.atomic_return_cycles),
      port_(memory_socket, clock_, config.l1.miss_queue_entries),
      make_policy_([which = config.l1.replacement] { return make_replacement_policy(which); }),
      tags_(config.l1.size_bytes, config.l1.ways, replacement(make_policy_())),
      map_(config),
      fenced_(map_.slices_of_partition(config.partitions.empty() ? 0 : partitions_of_sms(config)[sm_id])),
      fence_answers_(config.sm.max_warps) {
  access_socket.bind(*this);
  context_socket.bind(*this);
  instruction_socket.bind(*this);
  bulk_socket.bind(*this);
}

tlm::tlm_sync_enum l1_cache::nb_transport_fw(l1_access& access, l1_phase& phase, sc_core::sc_time&) {
  invariant(phase == l1_phase::request && access.sectors != 0, "L1: not a request, or one for nothing");
  if (access.origin == l1_origin::instructions) return read_instructions(access, phase);
  if (access.origin == l1_origin::bulk) return bulk_access(access, phase);
  switch (access.transaction->kind) {
    case lsu_kind::load: return load(access, phase);
    case lsu_kind::store: return store(access, phase);
    case lsu_kind::atomic:
    case lsu_kind::reduction: return atomic(access, phase);
    case lsu_kind::constant_load: break;
  }
  throw internal_error("L1: a constant load is not for this cache");
}

traffic_counts l1_cache::traffic_of(const l1_access& access) {
  if (access.origin == l1_origin::instructions) return {&other_traffic[access.launch], nullptr};
  const lsu_transaction& t = *access.transaction;
  return t.traffic ? t.traffic : traffic_counts{&other_traffic[t.launch->launch_id], nullptr};
}

// Counts the look-up of a load. `read`: sectors that hit or are in flight.
void l1_cache::count_load(const l1_access& access, l1_counters& c, std::uint8_t hit, std::uint8_t read) {
  const unsigned all = count(access.sectors), hits = count(hit), words = delivered(access, read);
  c.accesses += all;
  c.reads += all;
  c.hits += hits;
  c.delivered_words += words;
  const unsigned fetched = all - count(read);
  traffic_of(access).each([=](instruction_traffic& t) {
    ++t.l1_lines;
    t.l1_sectors += all;
    t.l1_hits += hits;
    t.l1_words += words;
    t.l1_fetched += fetched;
  });
}

tlm::tlm_sync_enum l1_cache::load(l1_access& access, l1_phase& phase) {
  const lsu_transaction& t = *access.transaction;
  const bool cached = !t.bypass_l1 && (t.read_only || (t.local ? cache_local_ : cache_global_));
  return cached ? cached_load(access, phase) : bypass(access, phase, 0);
}

tlm::tlm_sync_enum l1_cache::cached_load(l1_access& access, l1_phase& phase) {
  unsigned index = tags_.find(access.line);
  std::uint8_t hit = 0, merged = 0;
  unsigned waiting_in = l1_tags::none;
  if (index != l1_tags::none) {
    hit = access.sectors & tags_[index].valid;
    if (hit == access.sectors) {
      tags_.touch(index);
      l1_counters& c = counters[access.transaction->launch->launch_id];
      count_load(access, c, hit, hit);
      read_hit(access, index, hit, c);
      return tlm::TLM_COMPLETED;
    }
    waiting_in = tags_[index].mshr;
  }
  const std::uint8_t rest = access.sectors & ~hit;
  std::uint8_t missed = rest;
  if (waiting_in != l1_tags::none) {
    const mshr& m = mshrs_[waiting_in];
    // The sector was written after it had been requested: the pending fill is too old for this load.
    if ((rest & m.stale) != 0) return bypass(access, phase, hit);
    if (m.waiting > mshr_merges_) return nack(access, phase);
    merged = rest & m.pending;
    missed = rest & ~m.pending;
    if (missed != 0 && !room_for_data()) return nack(access, phase);
  } else if (!room_for_read()) {
    return nack(access, phase);
  }

  bool evicted = false;
  if (index == l1_tags::none) {
    index = tags_.allocate(access.line, evicted);
    if (index == l1_tags::none) return bypass(access, phase, hit);
    if (locality_) locality_->missed(index, access.line, access.transaction->warp, access.cycle);
  } else {
    tags_.touch(index);
  }
  l1_counters& c = counters[access.transaction->launch->launch_id];
  c.evictions += evicted;
  count_load(access, c, hit, hit | merged);
  c.misses += count(missed);
  c.pending_hits += count(merged);
  if (waiting_in == l1_tags::none) waiting_in = open_mshr(index);
  access.missing = rest;
  access.ready_cycle = access.cycle;
  if (hit != 0) read_hit(access, index, hit, c);
  wait_for(access, waiting_in);
  if (missed != 0) {
    const mshr& m = mshrs_[waiting_in];
    fetch(access, waiting_in, missed | (widened(missed) & ~(tags_[index].valid | m.pending)));
    if (prefetch_lines_ != 0) prefetch_after(access);
  }
  return tlm::TLM_ACCEPTED;
}

// Delivers the sectors that hit to their lanes. Sectors in the same bank are read one after another; no other look-up
// starts until they are done.
void l1_cache::read_hit(l1_access& access, unsigned index, std::uint8_t hit, l1_counters& c) {
  bytes_to_lanes(*access.transaction, access.lanes, hit, tags_.data(index));
  unsigned held = 1;
  if (banks_ == 1) {
    held = count(hit);
  } else if (banks_ == 2) {
    held = std::max(count(hit & 5), count(hit & 10));
  }
  c.bank_conflicts += held - 1;
  access.ready_cycle = access.cycle + latency_ + held - 1;
  access.free_cycle = access.cycle + read_.take(held);
}

// Allocates an MSHR for the line at `index`, which waits for a fill from now on.
unsigned l1_cache::open_mshr(unsigned index) {
  if (free_mshrs_.empty()) {
    free_mshrs_.push_back(static_cast<unsigned>(mshrs_.size()));
    mshrs_.emplace_back();
  }
  const unsigned opened = free_mshrs_.back();
  free_mshrs_.pop_back();
  ++mshrs_used_;
  ++reads_;
  mshrs_[opened] = {};
  mshrs_[opened].line = index;
  tags_[index].mshr = opened;
  return opened;
}

// A load that is not cached, or for which the cache has no free line: sends its own request for the sectors not in
// `hit`.
tlm::tlm_sync_enum l1_cache::bypass(l1_access& access, l1_phase& phase, std::uint8_t hit) {
  if (!room_for_read()) return nack(access, phase);
  const std::uint8_t missed = access.sectors & ~hit;
  l1_counters& c = counters[access.transaction->launch->launch_id];
  count_load(access, c, hit, hit);
  c.misses += count(missed);
  c.bypassed += count(missed);
  access.ready_cycle = access.cycle;
  if (hit != 0) read_hit(access, tags_.find(access.line), hit, c);
  access.missing = missed;
  ++reads_;
  ++c.read_requests;
  const gpu_request::kind what = access.transaction->read_only ? gpu_request::kind::texture : gpu_request::kind::load;
  line_payload& p = make_request(access, what, &access, l1_tags::none);
  p.make_read(access.line, missed);
  port_.push(p, access.cycle);
  return tlm::TLM_ACCEPTED;
}

tlm::tlm_sync_enum l1_cache::read_instructions(l1_access& access, l1_phase& phase) {
  code_waits_ = port_.full();
  if (code_waits_) return nack(access, phase);
  line_payload& p = take_payload({nullptr, &access, l1_tags::none, access.launch, false, no_warp, traffic_of(access)});
  p.request.what = gpu_request::kind::instruction;
  p.make_read(access.line, access.sectors);
  l1_counters& c = counters[access.launch];
  ++c.instruction_requests;
  c.instruction_sectors += count(access.sectors);
  access.ready_cycle = access.cycle;
  port_.push(p, access.cycle);
  return tlm::TLM_ACCEPTED;
}

// Bulk copies pass the L1: they take no MSHR, and what it holds of lines that they write is no longer valid.
tlm::tlm_sync_enum l1_cache::bulk_access(l1_access& access, l1_phase& phase) {
  const lsu_transaction& t = *access.transaction;
  if (t.kind == lsu_kind::reduction) return atomic(access, phase);
  if (!room_for_data()) return nack(access, phase);
  const bool reads = t.kind == lsu_kind::load;
  l1_counters& c = counters[t.launch->launch_id];
  ++(reads ? c.bulk_reads : c.bulk_writes);
  c.bulk_sectors += count(access.sectors);
  line_payload& p =
      make_request(access, reads ? gpu_request::kind::load : gpu_request::kind::store, &access, l1_tags::none);
  if (reads) {
    access.missing = access.sectors;
    p.make_read(access.line, access.sectors);
  } else {
    drop_sectors(access.line, access.sectors);
    lanes_to_bytes(t, access.lanes, p.line_data(), p.line_enables());
    p.make_write(access.line);
    traffic_of(access).add(&instruction_traffic::flits, 1 + count(access.sectors));
  }
  access.ready_cycle = access.cycle;
  port_.push(p, access.cycle);
  return tlm::TLM_ACCEPTED;
}

tlm::tlm_sync_enum l1_cache::nack(l1_access& access, l1_phase& phase) {
  const bool instructions = access.origin == l1_origin::instructions;
  ++counters[instructions ? access.launch : access.transaction->launch->launch_id].nacks;
  nacked_ |= 1u << static_cast<unsigned>(access.origin);
  phase = l1_phase::nack;
  return tlm::TLM_UPDATED;
}

// Widens a set of missed sectors to the sectors that are fetched with them.
std::uint8_t l1_cache::widened(std::uint8_t sectors) const {
  if (sector_group_ == 1) return sectors;
  if (sector_group_ == sectors_per_line) return 0xf;
  return static_cast<std::uint8_t>(((sectors & 3) != 0 ? 3 : 0) | ((sectors & 12) != 0 ? 12 : 0));
}

line_payload& l1_cache::make_request(const l1_access& access, gpu_request::kind what, l1_access* owner, unsigned mshr) {
  const lsu_transaction& t = *access.transaction;
  if (observer_ != nullptr && access.origin == l1_origin::warp) observer_->left_l1(t);
  line_payload& p = take_payload(
      {nullptr, owner, mshr, t.launch->launch_id, what == gpu_request::kind::store, no_warp, traffic_of(access)});
  p.request.what = access.origin == l1_origin::context ? gpu_request::kind::context : what;
  p.request.warp = t.warp;
  p.request.cache = static_cast<std::uint8_t>(t.instruction != nullptr ? t.instruction->cache : isa::cache_op::ca);
  p.request.system = t.instruction != nullptr && t.instruction->system && !t.local;
  const bool has_policy =
      access.origin == l1_origin::bulk || (t.instruction != nullptr && t.instruction->has_policy() && !t.local);
  p.request.policy = has_policy ? t.policy : 0;
  return p;
}

line_payload& l1_cache::take_payload(request_slot slot) {
  if (free_slots_.empty()) {
    free_slots_.push_back(static_cast<unsigned>(slots_.size()));
    slots_.emplace_back();
  }
  const unsigned index = free_slots_.back();
  free_slots_.pop_back();
  ++slots_used_;
  line_payload& p = pool_.acquire();
  slot.payload = &p;
  slots_[index] = slot;
  p.request.sm = sm_id_;
  p.request.launch = slot.launch;
  p.request.token = index;
  p.request.l2 = {};
  return p;
}

void l1_cache::fetch(const l1_access& access, unsigned index, std::uint8_t sectors) {
  mshr& m = mshrs_[index];
  m.pending |= sectors;
  ++counters[access.transaction->launch->launch_id].read_requests;
  const gpu_request::kind what = access.transaction->read_only ? gpu_request::kind::texture : gpu_request::kind::load;
  line_payload& p = make_request(access, what, nullptr, index);
  p.make_read(access.line, sectors);
  port_.push(p, access.cycle);
}

void l1_cache::wait_for(l1_access& access, unsigned index) {
  mshr& m = mshrs_[index];
  if (observer_ != nullptr && access.origin == l1_origin::warp) observer_->left_l1(*access.transaction);
  access.next = nullptr;
  (m.first == nullptr ? m.first : m.last->next) = &access;
  m.last = &access;
  ++m.waiting;
}

void l1_cache::drop_sectors(std::uint64_t line, std::uint8_t sectors) {
  const unsigned index = tags_.find(line);
  if (index == l1_tags::none) return;
  tags_[index].valid &= ~sectors;
  if (tags_[index].mshr == l1_tags::none) return;
  mshr& m = mshrs_[tags_[index].mshr];
  m.stale |= m.pending & sectors;
}

}  // namespace heddle
