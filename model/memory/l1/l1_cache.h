// SPDX-License-Identifier: MIT
// Models: an SM's first-level data cache with its bytes: lines of 128 bytes in sectors of 32, write-through, no
//   write-allocate, not coherent with other SMs' caches. Atomics and loads that bypass it use the same path to memory.
// Sockets: access_socket (target, l1_protocol) from the load/store unit; context_socket, instruction_socket and
//   bulk_socket (the same, optional) from the context engine, the instruction port and the TMA; memory_socket
//   (initiator, base protocol, AT): the SM's memory port.
// One cycle: due responses fill lines and complete waiting accesses; one request leaves the miss queue; one line is
//   looked up; each bank reads one sector.
// Parameters: [l1], [ldst] address_latency_cycles. Source: Jia et al. 2018, table 3.1; MSHRs: Kroft, ISCA 1981.
#pragma once

#include <algorithm>
#include <deque>
#include <functional>
#include <memory>
#include <systemc>
#include <tlm>
#include <vector>

#include "heddle/config/parameters.h"
#include "heddle/memory/common/address_map.h"
#include "heddle/memory/common/address_ranges.h"
#include "heddle/memory/common/lost_locality.h"
#include "heddle/memory/common/mean_interval.h"
#include "heddle/memory/common/per_launch.h"
#include "heddle/memory/common/request_observer.h"
#include "heddle/memory/common/slot_counter.h"
#include "heddle/memory/l1/fence_observer.h"
#include "heddle/memory/l1/l1_tags.h"
#include "heddle/memory/protocol/request_port.h"
#include "heddle/tlm/kernel/state_image.h"
#include "heddle/tlm/kernel/unit_clock.h"
#include "heddle/tlm/port/bound_interface.h"
#include "heddle/tlm/port/direct_sockets.h"
#include "heddle/tlm/port/phase_target.h"
#include "heddle/tlm/protocol/gpu_request.h"
#include "heddle/tlm/protocol/instruction_traffic.h"
#include "heddle/tlm/protocol/l1_protocol.h"
#include "heddle/tlm/protocol/lsu_protocol.h"

namespace heddle {

/// All counts are in 32-byte sectors unless stated otherwise.
struct l1_counters {
  std::uint64_t accesses = 0;  // = hits + misses + pending_hits = reads + writes
  std::uint64_t hits = 0;
  std::uint64_t write_hits = 0;    // part of hits: stores to sectors that are present
  std::uint64_t misses = 0;        // loads: fetched from the L2; stores: the sector was not present
  std::uint64_t pending_hits = 0;  // loads: missed, but the sector was being fetched already
  std::uint64_t reads = 0;
  std::uint64_t writes = 0;
  std::uint64_t delivered_words =
      0;                            // 4-byte words that loads read of sectors that hit or were pending, at least 8 each
  std::uint64_t bypassed = 0;       // part of misses: loads that are not cached, or that find no free line
  std::uint64_t prefetches = 0;     // lines fetched by the prefetcher
  std::uint64_t prefetched = 0;     // sectors of prefetched lines
  std::uint64_t fills = 0;          // sectors returned to loads and prefetches, stale ones included
  std::uint64_t evictions = 0;      // lines replaced
  std::uint64_t read_requests = 0;  // requests to the L2
  std::uint64_t write_requests = 0;
  std::uint64_t atomics = 0;               // atomic and reduction requests to the L2
  std::uint64_t bank_conflicts = 0;        // extra cycles for which hits occupied the banks, beyond one each
  std::uint64_t instruction_requests = 0;  // code read from the L2, through the L1's port and not the L1
  std::uint64_t instruction_sectors = 0;   // of code that these requests read
  std::uint64_t bulk_reads = 0;            // requests of bulk copies to the L2, past the L1
  std::uint64_t bulk_writes = 0;
  std::uint64_t bulk_sectors = 0;  // of these requests
  std::uint64_t nacks = 0;         // accesses nacked: no MSHR, or no room in the miss queue
  void exchange(state_image& image) { image.numbers(*this); }
};

class l1_cache : public sc_core::sc_module, public clocked, private phase_target<l1_protocol_types> {
 public:
  /// Throws input_error if line_bytes is not 128 or sector_bytes not 32, 64 or 128.
  l1_cache(sc_core::sc_module_name name, unit_clock& clock, const gpu_config& config, unsigned sm_id);

  direct_target_socket<l1_protocol_types> access_socket;
  direct_target_socket<l1_protocol_types> context_socket;
  direct_target_socket<l1_protocol_types> instruction_socket;
  direct_target_socket<l1_protocol_types> bulk_socket;
  tlm::tlm_initiator_socket<32> memory_socket;
  per_launch<l1_counters> counters;
  /// Of accesses that no instruction makes: reads of code, contexts.
  per_launch<instruction_traffic> other_traffic;
  /// Of these, what the memory side has done for contexts.
  per_launch<instruction_traffic> context_traffic;

  /// Invalidates all lines, as at the start of a kernel. Pending fills still complete the accesses that wait for them,
  /// but are not kept.
  void invalidate();
  /// Starts a system-scope fence: every L2 slice writes its dirty bytes back and drops its clean ones, since agents
  /// outside the GPU access the same memory. The fence observer learns when all slices have done so.
  void system_fence(unsigned warp, std::uint32_t launch, cycle_t cycle);
  void observe_fences(fence_observer& observer) { fence_observer_ = &observer; }
  /// Changes the size (the L1's share of a unified cache) and invalidates all lines. Throws internal_error unless idle.
  void resize(unsigned size_bytes);
  /// Replaces the replacement policy by one that has no name in the configuration: `make` is called now, and at every
  /// resize(). Call before the simulation starts.
  void use(std::function<std::unique_ptr<replacement_policy>()> make);
  /// For a reset, when idle: no lines, and the policy as constructed.
  void restart();

  /// Limits prefetches to these address ranges. Nothing is prefetched before the first call.
  void prefetch_within(const address_ranges& ranges) { ranges_ = &ranges; }
  /// Records evicted lines per warp to detect lost locality. `observer` must outlive the L1. Call before the first
  /// access.
  void watch_locality(unsigned warps, unsigned tags_per_warp, lost_locality_observer& observer);
  /// Reports all later accesses that do not hit to `observer`; null switches this off.
  void observe(request_observer* observer) { observer_ = observer; }
  /// Calls f(transaction) for each access of a warp that waits for the request with this token.
  template <class F>
  void each_waiting(std::uint64_t token, F&& f) const {
    if (token >= slots_.size() || slots_[token].payload == nullptr) return;
    const request_slot& s = slots_[token];
    const l1_access* a = s.access != nullptr ? s.access : s.mshr < mshrs_.size() ? mshrs_[s.mshr].first : nullptr;
    for (; a != nullptr; a = s.access != nullptr ? nullptr : a->next)
      if (a->origin == l1_origin::warp) f(*a->transaction);
  }
  /// Lines that are being fetched.
  [[nodiscard]] queue_level misses_now() const { return {reads_, mshr_entries_}; }
  /// Requests that have not left for the L2.
  [[nodiscard]] queue_level requests_now() const { return {port_.queued(), miss_queue_entries_}; }
  /// At most an eighth of the MSHRs or of the miss queue is free.
  [[nodiscard]] bool saturated() const {
    return reads_ * 8 >= mshr_entries_ * 7 || port_.queued() * 8 >= miss_queue_entries_ * 7;
  }

  /// True if the departure time of queued requests cannot affect this SM in the next cycle: no requester is blocked and
  /// the queue has slack.
  [[nodiscard]] bool departures_unobserved() const {
    return prefetch_lines_ == 0 && nacked_ == 0 && unsent_fences_.empty() && port_.room() > 2;
  }
  /// Payloads that any module holds; zero when nothing is in flight.
  [[nodiscard]] std::size_t payloads_in_use() const { return pool_.in_use(); }
  [[nodiscard]] bool idle() const { return slots_used_ == 0 && port_.idle() && unsent_fences_.empty(); }
  /// A request of the launch has no response yet.
  [[nodiscard]] bool works_for(std::uint32_t launch) const {
    return slots_used_ != 0 && std::any_of(slots_.begin(), slots_.end(), [launch](const request_slot& s) {
             return s.payload != nullptr && s.launch == launch;
           });
  }
  /// Throws internal_error if counters or the bookkeeping of requests contradict themselves.
  void check_invariants() const;
  void on_cycle(cycle_t cycle) override;
  /// Names the payloads in flight and the traffic that no instruction makes.
  void name_objects(state_image& image);
  void exchange(state_image& image);
  void trace(sc_core::sc_trace_file* file) const override;

 private:
  // A missed line with a pending fill.
  struct mshr {
    unsigned line = l1_tags::none;
    std::uint8_t pending = 0;  // sectors being fetched
    std::uint8_t stale = 0;    // pending sectors written or invalidated since they were requested
    unsigned waiting = 0;
    l1_access* first = nullptr;
    l1_access* last = nullptr;
    void exchange(state_image& image) { image(line, pending, stale, waiting, first, last); }
  };
  static constexpr unsigned no_warp = ~0u;
  // A request to memory that has no response yet.
  struct request_slot {
    line_payload* payload = nullptr;
    l1_access* access = nullptr;  // null: a fill or a fence
    unsigned mshr = 0;
    std::uint32_t launch = 0;
    bool write = false;
    unsigned fencing_warp = no_warp;
    traffic_counts traffic;  // a fence: nowhere
    void exchange(state_image& image) { image(payload, access, mshr, launch, write, fencing_warp, traffic); }
  };
  // A warp's fence that has not been sent to all slices yet.
  struct unsent_fence {
    unsigned warp;
    std::uint32_t launch;
    unsigned next_slice;
    void exchange(state_image& image) { image(warp, launch, next_slice); }
  };

  void end_of_elaboration() override { access_socket.check_bound(); }
  tlm::tlm_sync_enum nb_transport_fw(l1_access& access, l1_phase& phase, sc_core::sc_time& delay) override;

  tlm::tlm_sync_enum load(l1_access& access, l1_phase& phase);
  tlm::tlm_sync_enum cached_load(l1_access& access, l1_phase& phase);
  tlm::tlm_sync_enum bypass(l1_access& access, l1_phase& phase, std::uint8_t hit);
  tlm::tlm_sync_enum store(l1_access& access, l1_phase& phase);
  std::uint8_t store_into_line(const l1_access& access, line_payload& p, l1_counters& c);
  tlm::tlm_sync_enum atomic(l1_access& access, l1_phase& phase);
  tlm::tlm_sync_enum read_instructions(l1_access& access, l1_phase& phase);
  tlm::tlm_sync_enum bulk_access(l1_access& access, l1_phase& phase);
  tlm::tlm_sync_enum nack(l1_access& access, l1_phase& phase);
  /// Whether data may be sent: the last place in the miss queue is for code that waits for one.
  [[nodiscard]] bool room_for_data() const { return port_.room() > (code_waits_ ? 1u : 0u); }
  [[nodiscard]] bool room_for_read() const { return room_for_data() && reads_ < mshr_entries_; }
  [[nodiscard]] traffic_counts traffic_of(const l1_access& access);
  void count_load(const l1_access& access, l1_counters& c, std::uint8_t hit, std::uint8_t read);
  void read_hit(l1_access& access, unsigned index, std::uint8_t hit, l1_counters& c);
  [[nodiscard]] std::uint8_t widened(std::uint8_t sectors) const;
  line_payload& make_request(const l1_access& access, gpu_request::kind what, l1_access* owner, unsigned mshr);
  void fetch(const l1_access& access, unsigned mshr, std::uint8_t sectors);
  void wait_for(l1_access& access, unsigned mshr);
  unsigned open_mshr(unsigned index);
  void prefetch_after(const l1_access& access);
  line_payload& take_payload(request_slot slot);
  void send_fences(cycle_t cycle);
  void drop_sectors(std::uint64_t line, std::uint8_t sectors);

  void respond(line_payload& payload, cycle_t cycle);
  void fill(const request_slot& slot, cycle_t cycle);
  void finish(l1_access& access, cycle_t cycle);
  bool failed(line_payload& payload, std::string& message);
  void note_failure(l1_access& access, const std::string& message);
  void hold_port(const line_payload& p, cycle_t cycle);
  void notify_retry();
  void answer(l1_origin to, l1_access& access, l1_phase phase);

  clock_port clock_;
  bound_interface<tlm::tlm_bw_transport_if<l1_protocol_types>> initiator_;
  unsigned sm_id_;
  unsigned mshr_entries_;
  unsigned mshr_merges_;
  unsigned miss_queue_entries_;
  unsigned prefetch_lines_;
  unsigned sector_group_;  // sectors fetched together: 1, 2 or 4
  unsigned ways_;
  unsigned latency_;    // from the look-up
  unsigned banks_;      // sector s lies in bank s modulo this
  mean_interval read_;  // cycles for one sector of each bank
  bool cache_global_;
  bool cache_local_;
  bool store_invalidates_;  // global stores invalidate the sectors that they hit; otherwise they update them
  bool store_allocates_;    // global stores take a line where there is none
  double atomic_return_;    // cycles for which each lane's result of an atomic holds the port
  cycle_t port_free_ = 0;   // from which the next answer is taken
  payload_pool pool_;       // must outlive port_
  request_port port_;
  /// Makes the policy whenever the cache gets a size.
  std::function<std::unique_ptr<replacement_policy>()> make_policy_;
  l1_tags tags_;
  std::vector<mshr> mshrs_;
  std::vector<unsigned> free_mshrs_;
  std::vector<request_slot> slots_;
  std::vector<unsigned> free_slots_;
  unsigned slots_used_ = 0;
  address_map map_;
  const address_map::slice_range fenced_;  // slices that the SM reaches
  std::deque<unsent_fence> unsent_fences_;
  std::vector<unsigned> fence_answers_;  // by warp: slices that have not answered its fence
  unsigned mshrs_used_ = 0;
  unsigned reads_ = 0;  // lines outstanding: MSHRs in use and loads that bypass the cache
  const address_ranges* ranges_ = nullptr;
  address_ranges::hint hint_;
  std::unique_ptr<lost_locality> locality_;
  fence_observer* fence_observer_ = nullptr;
  std::uint8_t nacked_ = 0;  // bit o: a requester of l1_origin o waits for a retry
  bool code_waits_ = false;  // for a place in the miss queue
  bool warned_ = false;
  request_observer* observer_ = nullptr;
};

}  // namespace heddle
