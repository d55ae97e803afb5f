// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <cmath>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "heddle/config/config.h"
#include "heddle/config/error.h"
#include "heddle/gpu/conservation.h"
#include "heddle/gpu/cwd/compute_work_distributor.h"
#include "heddle/gpu/cwd/sampled_l2.h"
#include "heddle/gpu/gpu_blocks.h"
#include "heddle/gpu/host/bulk_access.h"
#include "heddle/gpu/host/host_interface.h"
#include "heddle/gpu/path_latency.h"
#include "heddle/gpu/progress_watch.h"
#include "heddle/memory/common/address_translator.h"
#include "heddle/memory/dram/dram_channel.h"
#include "heddle/memory/dram/fixed_memory.h"
#include "heddle/memory/l2/l2_slice.h"
#include "heddle/memory/noc/interconnect.h"
#include "heddle/memory/noc/sm_network.h"
#include "heddle/memory/protocol/protocol_monitor.h"
#include "heddle/memory/protocol/random_delay.h"
#include "heddle/memory/protocol/transfer_splitter.h"
#include "heddle/sm/sm.h"
#include "heddle/tlm/protocol/cta_protocol.h"
#include "heddle/tlm/protocol/object_pool.h"

namespace heddle {

// The interconnect's last port is the host's, for loading and reading images.
inline gpu_config with_host_port(gpu_config config) {
  ++config.gpu.sm_count;
  return config;
}

// Units are numbered as in the documents: gpu.sm0, gpu.l2_slice3.
inline std::string numbered(const char* name, std::size_t i) { return name + std::to_string(i); }

/// What a gpu consists of.
struct gpu_parts final : lookahead, host_supervisor, lost_write_observer, quiet_observer, clocked {
  gpu_config config;
  const gpu_blocks own;
  const bool shared;  // other agents share the external memory
  clock_domain core;
  clock_domain l2_clock;
  clock_domain dram_clock;
  host_interface host;
  std::unique_ptr<grid_distributor> cwd;
  sc_core::sc_vector<sm> sms;
  class interconnect interconnect;
  std::unique_ptr<class sm_network> sm_network;  // null: the chip has no thread block clusters
  launch_index<l2_counters> of_slices;
  launch_index<memory_counters> of_channels;
  sc_core::sc_vector<l2_cache> slices;
  sc_core::sc_vector<memory_model> channels;
  sc_core::sc_vector<protocol_monitor> monitors;
  sc_core::sc_vector<random_delay> delays;
  sc_core::sc_vector<transfer_splitter> splitters;
  sc_core::sc_vector<address_translator> translators;
  class sampled_l2 sampled_l2;
  bulk_access bulk;                       // of a memory of our own
  std::unique_ptr<progress_watch> watch;  // null if memory changes cannot be counted

  gpu_parts(const gpu_config& c, const gpu_blocks& blocks)
      : config(c),
        own(blocks),
        shared(c.memory.model == choice::memory_model::external),
        core("core_clock", c.gpu.core_clock_mhz),
        l2_clock("l2_clock", c.interconnect.clock_mhz),
        dram_clock("dram_clock", c.dram.clock_mhz),
        host("host_interface", core, c),
        cwd(make_cwd()),
        sms("sm"),
        interconnect("interconnect", l2_clock, with_host_port(c)),
        sm_network(c.cluster.max_blocks == 0 ? nullptr : std::make_unique<class sm_network>("sm_network", core, c)),
        slices("l2_slice"),
        channels("dram_channel"),
        monitors("monitor"),
        delays("delay"),
        splitters("splitter"),
        translators("translator"),
        sampled_l2(interconnect.map(), slices),
        bulk(c) {
    sms.init(c.gpu.sm_count, [&](const char*, std::size_t i) {
      return new sm(numbered("sm", i).c_str(), core, config, static_cast<unsigned>(i), host.ranges());
    });
    if (!c.partitions.empty()) context_area_set(std::uint64_t{c.context.area_mib} << 20);
    const unsigned hit = l2_hit_cycles(c), code_hit = l2_code_hit_cycles(c), far = l2_far_cycles(c);
    slices.init(slices_of(c), [&](const char*, std::size_t i) {
      const std::string name = numbered("l2_slice", i);
      if (own.l2_slice) return own.l2_slice(name.c_str(), l2_clock, config, static_cast<unsigned>(i)).release();
      auto* const slice = new l2_slice(name.c_str(), l2_clock, config, static_cast<unsigned>(i), hit, code_hit);
      if (far != 0) slice->add_far(sms_of_other_partition(c, static_cast<unsigned>(i)), far);
      if (own.replacement) slice->use(own.replacement(config, {cache_place::l2, static_cast<unsigned>(i)}));
      return static_cast<l2_cache*>(slice);
    });
    for (l2_cache& s : slices) s.count_in(of_slices);
    use_own_policies();
  }

  void use_own_policies() {
    for (sm& s : sms) {
      if (own.scheduler)
        for (auto& p : s.partitions) p.scheduler.use(own.scheduler(config, {s.id(), p.index(), p.slots()}));
      if (own.replacement)
        s.l1.use([this, make = own.replacement, id = s.id()] { return make(config, {cache_place::l1, id}); });
    }
  }

  // lookahead
  // Determines once what all windows read.
  void begin_windows() override {
    l2_now = l2_clock.cycle();
    const cycle_t next = interconnect.soonest_response(l2_now);
    if (next != soonest.l2_cycle) soonest = {next, core_cycle_of_l2(next)};
  }
  cycle_t safe_time(unsigned process, cycle_t now) override {
    const cycle_t from_cwd = cwd->nothing_arrives_until(process, now, windows_preemptible);
    const cycle_t from_sms = sm_network == nullptr ? never : sm_network->nothing_arrives_until(now);
    return std::min({from_cwd, from_sms, now + fault_latency_cycles - 1, windows_until - 1});
  }
  cycle_t answer_free_until(unsigned process, cycle_t cycle) override {
    const cycle_t until = nothing_responded_until(process);
    if (interconnect.has_room(process, l2_now)) return until;
    return sms[process].departures_unobserved() ? std::min(until, cycle) : 0;  // called again before each cycle
  }

  // A response is accepted at the first core edge after its arrival.
  cycle_t nothing_responded_until(unsigned process) {
    const cycle_t next = interconnect.next_response(process, l2_now);
    if (next == never) return never;
    if (next == soonest.l2_cycle) return soonest.core_cycle;
    if (next != responded[process].l2_cycle) responded[process] = {next, core_cycle_of_l2(next)};
    return responded[process].core_cycle;
  }
  // Without the clocks' caches of conversions, which windows on several threads would share.
  [[nodiscard]] cycle_t core_cycle_of_l2(cycle_t cycle) const {
    return core.timing().cycle_at(l2_clock.timing().ticks_at(cycle));
  }

  // host_supervisor. Agents that share the memory see results at completion, and the GPU sees their writes at a launch.
  void launch_accepted(const resident_launch& launch) override {
    if (launch.cluster_blocks() > 1) sm_network->expect(launch.program->cluster_barrier, launch.reaches_cluster);
    for (auto& s : slices)
      if (shared) s.drop_clean();
  }
  void grid_ended(std::uint32_t launch) override {
    if (config.l2.flush_at_completion || shared) flush(flush_reason::completion, launch);
    else host.report_end(launch);
  }
  void flush_caches() override { flush(flush_reason::host); }
  void context_area_set(std::uint64_t address) override {
    for (sm& s : sms) s.context_engine.save_at(contexts_of(s.id(), address));
  }
  /// An SM of a partition saves its contexts in the partition's memory.
  [[nodiscard]] std::uint64_t contexts_of(unsigned sm, std::uint64_t whole) const;
  void program_failed(std::string& message) override {
    // One SM has reported one block. Here all SMs are in the same cycle, so the warps of all blocks can be named.
    if (std::any_of(sms.begin(), sms.end(), [&](const sm& s) { return s.deadlock() == message; }))
      message = barrier_deadlock();
    core.halt();
    cwd->halt();
    stop_listening();
    // At this instant the memory clocks' edges may come before or after the core's; all of them are still processed.
    memory_halts.notify(sc_core::SC_ZERO_TIME);
  }
  bool stuck(std::string& why) override { return explain_stuck(why); }
  void reset() override;
  [[nodiscard]] bool held_in_reset() const override {
    return reset_line || (reset_signal != nullptr && reset_signal->read());
  }
  void terminate(std::uint32_t launch) override;
  // clocked: a reset, step by step
  void on_cycle(cycle_t cycle) override;
  void restart(cycle_t cycle);
  /// Nothing is in flight in the units but, maybe, in the CWD.
  [[nodiscard]] bool units_idle() const;
  void write_lost(const std::string& text) override { host.program_fault(text); }
  void clock_quiet() override {
    if (resetting != reset_step::none) return go_on_with_reset();
    if (!host.busy()) return;
    if (stuck()) host.report_stuck();
    else listen();
  }
  /// Called at silence_due.
  void end_listening();

  enum class flush_reason : std::uint8_t { completion, host, reset };
  /// A flush of all slices.
  struct whole_flush final : flush_observer {
    void flushed() override {
      if (--slices == 0) parts->flush_ended(*this);
    }
    gpu_parts* parts = nullptr;
    std::size_t slices = 0;  // that have not ended it
    flush_reason why = flush_reason::completion;
    std::uint32_t launch = 0;  // whose completion it is
  };
  void flush(flush_reason why, std::uint32_t launch = 0);
  void flush_ended(whole_flush& f);
  /// True if no clock has work and no external answer is outstanding, or the oldest one for `patience`; or if SystemC
  /// itself has no pending activity. In a reset: if the oldest answer is outstanding for so long.
  [[nodiscard]] bool stuck() const;
  bool explain_stuck(std::string& why) const;
  struct outside_request {
    l2_cache::open_request request;
    unsigned slice = 0;
  };
  /// The oldest request that a memory outside has not answered.
  [[nodiscard]] std::optional<outside_request> oldest_request() const;
  /// Its description; empty: none.
  [[nodiscard]] std::string silent_memory() const;
  /// As barrier_deadlock(gpu).
  [[nodiscard]] std::string barrier_deadlock() const;

  enum class reset_step : std::uint8_t { none, alignment, draining, flushing };
  reset_step resetting = reset_step::none;
  object_pool<whole_flush> flushes;
  std::vector<std::uint32_t> terminated;  // launches, until no SM is simulated ahead
  bool flushed = false;                   // of a reset
  bool reset_sleeps = false;              // until a silent memory answers
  bool reset_line = false;                // gpu.reset is high
  /// What gpu.reset is bound to; null: nothing.
  const sc_core::sc_signal_in_if<bool>* reset_signal = nullptr;
  clock_port reset_port{core, *this};
  sc_core::sc_event memory_halts;
  sc_core::sc_time patience;      // with memory outside; zero: without end
  sc_core::sc_event silence_due;  // the oldest request may have waited so long
  bool listens = false;           // silence_due is notified
  cycle_t windows_until = 0;
  cycle_t windows_limit = 0;  // value of windows_until unless bring_into_step() limits it
  bool windows_preemptible = true;
  struct response_time {
    cycle_t l2_cycle = never;
    cycle_t core_cycle = 0;
  };
  cycle_t l2_now = 0;                    // of the L2 clock while windows run
  response_time soonest;                 // of responses that are not announced yet, for any SM
  std::vector<response_time> responded;  // by SM: result of the last call
  std::vector<std::unique_ptr<part_object>> part_objects;

  [[nodiscard]] std::unique_ptr<grid_distributor> make_cwd() {
    if (own.cwd) return own.cwd("cwd", core, config, host);
    return std::make_unique<compute_work_distributor>("cwd", core, config, host);
  }

 private:
  /// The oldest answer of a memory outside is outstanding for `patience`.
  [[nodiscard]] bool memory_is_silent() const;
  void go_on_with_reset();
  /// Sees to it that a memory outside that never answers is reported, though other parts of the simulation go on.
  void listen();
  void stop_listening() {
    listens = false;
    silence_due.cancel();
  }
};

}  // namespace heddle
