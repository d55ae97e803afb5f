// SPDX-License-Identifier: MIT
#include "heddle/sm/sm.h"

#include "heddle/config/error.h"
#include "heddle/isa/set_bits.h"

namespace heddle {

sm::sm(sc_core::sc_module_name name, clock_domain& core_clock, const gpu_config& config, unsigned id,
       const address_ranges& ranges)
    : sc_module(name),
      config_(config),
      clock("clock", core_clock),
      l1("l1", clock, config, id),
      shared_memory("shared_memory", config),
      constant_cache("constant_cache", config),
      load_store_unit("load_store_unit", clock, config, id, ranges),
      resource_manager("resource_manager", clock, config, id, *this),
      barrier_unit("barrier_unit", config),
      instruction_port("instruction_port", clock, config.instruction_cache.second_level_line_bytes, *this),
      second_instruction_cache({"second_instruction_cache", this},
                               instruction_cache::second_level(config.instruction_cache, reads_code_from_l2(config)),
                               reads_code_from_l2(config) ? &instruction_port : nullptr),
      context_engine("context_engine", clock, config, id, resource_manager, barrier_unit, partitions, *this),
      cluster_port(config.cluster.max_blocks == 0
                       ? nullptr
                       : std::make_unique<class cluster_port>("cluster_port", clock, config,
                                                              static_cast<cluster_supervisor&>(*this))),
      tma(config.tma.requests_in_flight == 0
              ? nullptr
              : std::make_unique<class tma>("tma", clock, config, ranges, static_cast<bulk_supervisor&>(*this))),
      partitions("partition"),
      shared_fp32_(config.fp32.shared_lanes / isa::warp_size, config.integer.shared_lanes / isa::warp_size,
                   config.sm.sub_partitions),
      independent_(config.sub_partition.divergence == choice::divergence::independent),
      id_(id) {
  const bool own_caches = config.instruction_cache.per_sub_partition;
  class instruction_cache* const second =
      config.instruction_cache.second_level_bytes != 0 ? &second_instruction_cache : nullptr;
  for (unsigned k = 0; k < (own_caches ? config.sm.sub_partitions : 1); ++k)
    instruction_caches.emplace_back(part_name{"instruction_cache", this, k},
                                    instruction_cache::first_level(config.instruction_cache), second);
  partitions.init(config.sm.sub_partitions, [&](const char*, std::size_t k) {
    return new sub_partition(("partition" + std::to_string(k)).c_str(), clock, config_, id, static_cast<unsigned>(k),
                             instruction_caches[own_caches ? k : 0], *this);
  });
  for (auto& p : partitions) p.account.share_profiles(profiles);
  load_store_unit.use(static_cast<cluster_reach&>(*this));
  if (config.fp32.shared_lanes != 0)
    for (auto& p : partitions) p.share_fp32(shared_fp32_);
  l1.observe_fences(*this);
  if (config.l1.prefetch_lines != 0) l1.prefetch_within(ranges);
  if (partitions[0].scheduler.policy().wants_lost_locality())
    l1.watch_locality(config.sm.max_warps, config.sub_partition.ccws_victim_tags, *this);
  load_store_unit.shared_socket.bind(shared_memory.access_socket);
  load_store_unit.constant_socket.bind(constant_cache.access_socket);
  load_store_unit.l1_socket.bind(l1.access_socket);
  context_engine.memory_socket.bind(l1.context_socket);
  instruction_port.memory_socket.bind(l1.instruction_socket);
  if (tma != nullptr) tma->memory_socket.bind(l1.bulk_socket);
  for (unsigned k = 0; k < config.sm.sub_partitions; ++k)
    partitions[k].lsu_socket.bind(load_store_unit.partition_socket[k]);
}

void sm::use(program_services& services) {
  for (auto& p : partitions) p.use(&services);
}

void sm::start_launch(const resident_launch& launch) {
  l1.invalidate();
  if (tma != nullptr) tma->forget_maps();
  const instruction_cache_parameters& p = config_.instruction_cache;
  // The first level reads ahead, behind a short kernel's end, too.
  const std::uint64_t bytes =
      std::uint64_t{launch.decoded->code.size()} * p.instruction_bytes + std::uint64_t{p.prefetch_lines} * p.line_bytes;
  second_instruction_cache.preload(launch.decoded->code_address,
                                   std::min<std::uint64_t>(bytes, p.launch_prefetch_bytes));
}

void sm::empty_caches() {
  l1.invalidate();
  constant_cache.invalidate();
  second_instruction_cache.invalidate();
  for (auto& cache : instruction_caches) cache.invalidate();
}

void sm::abandon(cycle_t cycle) {
  for (auto& p : partitions) p.abandon(cycle);
  context_engine.recheck();
  deadlock_.clear();
}

// Without external memory no agent outside the GPU can see its memory, and nothing is to be done.
bool sm::begin_system_fence(unsigned warp, std::uint32_t launch, cycle_t cycle) {
  if (config_.memory.model != choice::memory_model::external) return false;
  l1.system_fence(warp, launch, cycle);
  return true;
}

// Within a block's scope no invalidation is needed: all its warps access this L1, in order.
void sm::fence_passed(unsigned scope) {
  const bool others = scope >= system_scope && config_.memory.model == choice::memory_model::external;
  if (others || (scope != 0 && config_.l1.fence_invalidates)) l1.invalidate();
  if (scope != 0 && tma != nullptr) tma->forget_maps();
}

void sm::start_block(unsigned cta_slot, cycle_t cycle) {
  resident_block& b = resource_manager.block(cta_slot);
  const unsigned warps = b.launch->warps_per_block();
  divide_cache();
  if (resource_manager.counts_executions(*b.launch)) {
    launch_profile& profile = profiles[b.launch->launch_id];
    profile.begin(b.launch->decoded);
    b.context.counts = &profile.begin_block();
  }
  barrier_unit.open(cta_slot, warps, b.launch->threads_per_block());
  for (unsigned w = 0; w < warps; ++w) {
    const unsigned partition = b.allocation.partition_of_warp[w];
    const unsigned warp = resource_manager.take_warp(cta_slot, w, partition, cycle);
    partitions[partition].place_warp(slot_of(warp), *b.launch, b.context, w,
                                     b.allocation.registers_per_warp / isa::warp_size, cycle);
  }
}

// A unified cache is repartitioned only while the block that has just arrived is the only one.
void sm::divide_cache() {
  const unsigned l1_bytes = resource_manager.l1_bytes();
  if (config_.shared_memory.unified_bytes == 0 || resource_manager.resident_blocks() != 1 || l1_bytes == l1_bytes_ ||
      !l1.idle())
    return;
  l1.resize(l1_bytes);
  l1_bytes_ = l1_bytes;
}

void sm::instructions_arrived(std::uint64_t address, unsigned bytes, cycle_t cycle) {
  second_instruction_cache.fill_arrived(address, bytes, cycle);
  for (auto& cache : instruction_caches) cache.fill_arrived(address, bytes, cycle);
  for (auto& p : partitions) p.instructions_arrived(address, bytes, cycle);
}

void sm::switch_blocks(context_transaction& t, cta_phase phase, cycle_t cycle) {
  if (phase == cta_phase::preempt) context_engine.preempt(t, cycle);
  else if (phase == cta_phase::restore) context_engine.restore(t, cycle);
  else context_engine.proceed(t, cycle);
}

std::uint64_t sm::warp_finished(unsigned warp, bool stores_left, std::uint64_t executed, cycle_t cycle) {
  const std::uint64_t block = resource_manager.release_warp(warp, stores_left, executed, cycle);
  context_engine.recheck();
  return block;
}

unsigned sm::block_warps_beside(unsigned warp) const {
  const auto n = static_cast<unsigned>(partitions.size());
  unsigned count = 0;
  for (const std::uint8_t other : resource_manager.block(resource_manager.cta_slot_of(warp)).warps)
    count += other % n == warp % n;
  return count;
}

void sm::stores_settled(std::uint64_t block, cycle_t cycle) {
  resource_manager.stores_settled(block, cycle);
  context_engine.recheck();
}

void sm::issued_alone(unsigned partition, cycle_t cycle) {
  for (unsigned k = 0; k < partitions.size(); ++k)
    if (k != partition) partitions[k].scheduler.stall(cycle + 1, cycle + 2);
}

// Waiting sub-partitions get the shared unit in round-robin order: the gate of each stays closed for those before it.
void sm::shared_unit_taken(isa::unit unit, unsigned partition, cycle_t cycle, cycle_t until) {
  const unsigned n = static_cast<unsigned>(partitions.size());
  for (unsigned k = 1; k <= n; ++k) {
    warp_scheduler& s = partitions[(partition + k) % n].scheduler;
    s.gate(unit).hold(cycle, until);
    if (s.ready(unit) != 0) ++until;
  }
}

void sm::warp_quiet(unsigned) { context_engine.recheck(); }

void sm::lanes_exited(unsigned warp, simt::lane_mask lanes, cycle_t cycle) {
  const unsigned cta_slot = resource_manager.cta_slot_of(warp);
  const bool last = partition_of(warp).warp(slot_of(warp)).live == 0;
  barrier_unit.exited(cta_slot, resource_manager.warp_in_block(warp), lanes, last);
  cluster_exited(cta_slot, resource_manager.warp_in_block(warp), last ? simt::all_lanes : lanes, cycle);
  // One exit may complete several barriers.
  for (;;) {
    const auto o = barrier_unit.after_exit(cta_slot);
    if (o.deadlock) return report_deadlock(cta_slot);
    if (o.release == 0) return;
    release(cta_slot, o, cycle);
  }
}

bool sm::barrier_arrive(unsigned warp, const isa::instruction& bar, simt::lane_mask mask, cycle_t cycle) {
  if (bar.op == isa::opcode::ucgabar_arv) return cluster_arrive(warp, mask, cycle), false;
  if (bar.op == isa::opcode::ucgabar_wait) return cluster_wait(warp, mask, cycle);
  if (bar.op == isa::opcode::syncs) return mbarrier_wait(warp, bar, mask, cycle);
  if (bar.op == isa::opcode::acqbulk) return wait_for_launch(warp, mask);
  if (bar.op == isa::opcode::preexit)
    return resource_manager.release_dependents(resource_manager.cta_slot_of(warp), cycle), false;
  const unsigned cta_slot = resource_manager.cta_slot_of(warp);
  std::string error;
  const auto o = barrier_unit.arrive(cta_slot, resource_manager.warp_in_block(warp), bar,
                                     partition_of(warp).warp(slot_of(warp)), mask, error);
  if (!error.empty()) {
    partition_of(warp).fault(slot_of(warp), static_cast<unsigned>(__builtin_ctz(mask)), error);
    return true;
  }
  if (o.waits && independent_) partition_of(warp).waits.stop_at_barrier(slot_of(warp), mask, o.barrier);
  if (o.deadlock) {
    report_deadlock(cta_slot);
    return true;
  }
  if (o.release != 0) release(cta_slot, o, cycle);
  return o.waits;
}

bool sm::wait_for_launch(unsigned warp, simt::lane_mask mask) {
  resident_block& b = resource_manager.block(resource_manager.cta_slot_of(warp));
  if (!b.transaction->early) return false;
  b.waits_for_launch |= std::uint64_t{1} << resource_manager.warp_in_block(warp);
  if (independent_) partition_of(warp).waits.stop_at_barrier(slot_of(warp), mask, simt::grid_dependency);
  return true;
}

// Warps whose context is being saved or restored continue when they are back.
void sm::prerequisite_met(unsigned cta_slot, cycle_t cycle) {
  resident_block& b = resource_manager.block(cta_slot);
  for (const unsigned in_block : set_bits(b.waits_for_launch)) {
    const unsigned warp = b.warps[in_block];
    sub_partition& p = partition_of(warp);
    if (p.at(slot_of(warp)).phase == warp_phase::stopped) continue;
    b.waits_for_launch &= ~(std::uint64_t{1} << in_block);
    p.waits.resume_from_barrier(slot_of(warp), simt::grid_dependency, cycle + 1);
  }
}

// Resumes the warps that a completed barrier releases; a reducing barrier gives each its result.
void sm::release(unsigned cta_slot, const barrier_unit::outcome& o, cycle_t cycle) {
  const resident_block& b = resource_manager.block(cta_slot);
  for (const unsigned in_block : set_bits(o.release)) {
    const unsigned warp = b.warps[in_block];
    sub_partition& p = partition_of(warp);
    p.waits.deliver_reduction(slot_of(warp), o.barrier, o.count, o.threads);
    p.waits.resume_from_barrier(slot_of(warp), o.barrier, cycle + config_.sm.barrier_latency_cycles);
  }
}

void sm::report_deadlock(unsigned cta_slot) {
  if (!deadlock_.empty()) return;  // a deadlock of another block was reported
  deadlock_ = describe_deadlock({waiting_in(cta_slot)});
  resource_manager.report_fault(deadlock_, deadlock_latency_cycles);
}

waiting_block sm::waiting_in(unsigned cta_slot) const {
  const resident_block& b = resource_manager.block(cta_slot);
  waiting_block w{b.launch->launch_id,
                  b.transaction->block,
                  b.context.index,
                  b.launch->program.get(),
                  barrier_unit.deadlocked(cta_slot),
                  {}};
  for (const unsigned k : set_bits(barrier_unit.waiting(cta_slot))) w.warps.emplace_back(k, lane_places(b.warps[k]));
  return w;
}

void sm::waiting_blocks(std::vector<waiting_block>& to) const {
  for (unsigned slot = 0; slot < resource_manager.cta_slots(); ++slot)
    if (resource_manager.block(slot).transaction != nullptr && barrier_unit.waiting(slot) != 0)
      to.push_back(waiting_in(slot));
}

void sm::program_fault_with(const std::string& text, const fault_details& details) {
  for (auto& p : partitions) p.halt();
  resource_manager.report_fault(text, fault_latency_cycles, details);
}

std::vector<std::string> sm::lane_places(unsigned warp) const {
  const unsigned cta_slot = resource_manager.cta_slot_of(warp);
  const warp_slot& w = partitions[warp % config_.sm.sub_partitions].at(slot_of(warp));
  const unsigned in_block = resource_manager.warp_in_block(warp);
  const bool for_launch = (resource_manager.block(cta_slot).waits_for_launch >> in_block & 1) != 0;
  return w.stream->lane_places(w, for_launch ? simt::grid_dependency : barrier_unit.waits_at(cta_slot, in_block));
}

std::string sm::waiting_warps() const {
  std::string text;
  for (unsigned s = 0; s < partitions[0].slots(); ++s)
    for (const auto& p : partitions) {
      if (p.at(s).phase == warp_phase::empty) continue;
      const unsigned warp = s * config_.sm.sub_partitions + p.index();
      for (const std::string& place : lane_places(warp))
        text +=
            "\n  sm " + std::to_string(id_) + " warp " + std::to_string(warp) + ", " + owner_of(p.at(s)) + ", " + place;
    }
  return text;
}

bool sm::idle() const {
  for (const auto& p : partitions)
    if (!p.idle()) return false;
  return resource_manager.idle() && load_store_unit.idle() && l1.idle() && instruction_port.idle() &&
         context_engine.idle() && (cluster_port == nullptr || cluster_port->idle()) && (tma == nullptr || tma->idle());
}

namespace {

// The counts by instruction must equal the counts of the sub-partitions.
void check_profile(const sm& unit, std::uint32_t launch, const launch_profile& profile) {
  state_counts by_instruction;
  std::uint64_t executed = 0;
  for (std::size_t i = 0; i < profile.size(); ++i) {
    const instruction_profile p = profile.at(i);
    executed += p.executed;
    for (std::size_t s = 0; s < p.stalls.size(); ++s) by_instruction.stalls[s] += p.stalls[s];
    for (std::size_t c = 0; c < p.cycles.size(); ++c) by_instruction.cycles[c] += p.cycles[c];
  }
  issue_totals sum;
  for (const auto& p : unit.partitions)
    if (const issue_counters* c = p.account.counters.find(launch)) sum.add(c->totals());
  invariant(sum.inst_executed == executed, "instructions in the profile differ from those executed");
  invariant(sum.warp_cycles == by_instruction.cycles && sum.warp_stalls == by_instruction.stalls,
            "warp-cycle states by instruction differ from those of the sub-partitions");
}

// The traffic by instruction must equal the counts of the L1 and the TLB. `all_answered`: no request of it is open.
void check_traffic(const sm& unit, std::uint32_t launch, const launch_profile& profile, bool all_answered) {
  const l1_counters* c = unit.l1.counters.find(launch);
  if (c == nullptr) return;
  instruction_traffic sum = unit.l1.other_traffic.at(launch);
  for (std::size_t i = 0; i < profile.size(); ++i) sum.add(profile.traffic(i));
  const std::uint64_t read_hits = c->hits - c->write_hits;
  invariant(sum.l1_words == c->delivered_words && sum.l1_fetched == c->reads - read_hits - c->pending_hits &&
                sum.l1_hits == c->hits && sum.l1_write_hits == c->write_hits &&
                sum.l1_write_misses == c->writes - c->write_hits && sum.atomics == c->atomics,
            "the L1's traffic by instruction differs from its counters");
  const std::uint64_t flits = c->read_requests + c->fills + c->write_requests + c->writes + 3 * c->atomics +
                              c->instruction_requests + c->instruction_sectors + c->bulk_reads + c->bulk_writes +
                              c->bulk_sectors;
  invariant(!all_answered || sum.flits == flits,
            "the interconnect's traffic by instruction differs from the L1's requests");
  const cluster_counters* cluster = unit.cluster_port == nullptr ? nullptr : unit.cluster_port->counters.find(launch);
  invariant(sum.cluster_flits == (cluster == nullptr ? 0 : cluster->flits),
            "the traffic between SMs by instruction differs from the cluster port's");
  invariant(sum.translations == unit.load_store_unit.tlb.counters.at(launch).accesses,
            "the look-ups in the TLB by instruction differ from its counters");
}

}  // namespace

void sm::check_invariants() const {
  for (const auto& p : partitions) p.check_invariants();
  for (std::uint32_t launch = 0; launch < profiles.end(); ++launch)
    if (const launch_profile* profile = profiles.find(launch); profile != nullptr && !profile->dropped())
      check_profile(*this, launch, *profile);
  for (std::uint32_t launch = 0; launch < l1.counters.end(); ++launch)
    if (const launch_profile& profile = profiles.at(launch); !profile.dropped())
      check_traffic(*this, launch, profile, l1.idle());
  resource_manager.check_invariants();
  load_store_unit.check_invariants();
  l1.check_invariants();
  shared_memory.check_invariants();
  constant_cache.check_invariants();
}

bool settled(const sm& s, std::uint32_t launch) {
  const launch_profile* profile = s.profiles.find(launch);
  return profile == nullptr ||
         (profile->counts_no_block() && !s.l1.works_for(launch) && (s.tma == nullptr || s.tma->idle()));
}

void drop_profile(sm& s, std::uint32_t launch) {
  if (s.profiles.find(launch) == nullptr) return;
  launch_profile& profile = s.profiles[launch];
  check_profile(s, launch, profile);
  check_traffic(s, launch, profile, true);
  for (auto& p : s.partitions) p.account.forget(profile);
  profile.drop();
  s.resource_manager.occupancy.shrink(launch);
}

void sm::settle_accounts(cycle_t cycle) {
  for (auto& p : partitions) p.settle_accounts(cycle);
  resource_manager.occupancy.settle(cycle);
}

void sm::trace(sc_core::sc_trace_file* file) const { trace_parts_and_children(*this, *this, file); }

std::vector<const module_part*> sm::parts() const {
  std::vector<const module_part*> all{&second_instruction_cache};
  for (const class instruction_cache& cache : instruction_caches) all.push_back(&cache);
  return all;
}

}  // namespace heddle
