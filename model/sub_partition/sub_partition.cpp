// SPDX-License-Identifier: MIT
#include "heddle/sub_partition/sub_partition.h"

#include <algorithm>

#include "heddle/config/error.h"
#include "heddle/isa/set_bits.h"
#include "heddle/simt/warp/divergence.h"
#include "heddle/tlm/kernel/prefetch.h"

namespace heddle {

namespace {
constexpr const char* unit_names[] = {"fp32", "int", "fp64", "half", "sfu", "tensor", "ldst", "branch", "texture"};
static_assert(std::size(unit_names) == static_cast<std::size_t>(isa::unit::count));
}  // namespace

sub_partition::hot_state::hot_state(unit_clock& clock, clocked& unit, const gpu_config& config, unsigned index,
                                    warp_supervisor& supervisor)
    : warps(config.sm.max_warps / config.sm.sub_partitions),
      clock(clock, unit),
      supervisor(supervisor),
      index(index),
      pairing_rule(config.sub_partition.issue_width < 2                             ? pairing::none
                   : config.sub_partition.dual_issue == choice::dual_issue::none    ? pairing::none
                   : config.sub_partition.dual_issue == choice::dual_issue::maxwell ? pairing::maxwell
                                                                                    : pairing::any),
      independent(config.sub_partition.divergence == choice::divergence::independent),
      read_window(config.sub_partition.operand_read == choice::operand_read::window),
      fp64_alone(config.fp64.issues_alone && config.sm.sub_partitions > 1) {}

sub_partition::sub_partition(sc_core::sc_module_name name, unit_clock& clock, const gpu_config& config, unsigned sm_id,
                             unsigned index, instruction_cache& cache, warp_supervisor& supervisor)
    : sc_module(name),
      hot_(clock, *this, config, index, supervisor),
      lsu_socket("lsu_socket"),
      shared_dispatch_socket("shared_dispatch_socket"),
      scheduler("warp_scheduler", config.sub_partition, {config.sm.max_warps / config.sm.sub_partitions, index}),
      fetch("fetch", config, cache, config.sm.max_warps / config.sm.sub_partitions),
      dependence(config.sm.max_warps / config.sm.sub_partitions, config.tlm.check),
      register_file("register_file", config.sm.max_warps / config.sm.sub_partitions,
                    config.sm.registers / isa::warp_size / config.sm.sub_partitions),
      immediate_constants("immediate_constants", config.constant_cache),
      account(hot_.warps, config.sub_partition.states_by_warp ? config.sm.max_warps / config.sm.sub_partitions : 0,
              config.sm.sub_partitions),
      memory({{config, hot_.warps, fetch, scheduler, supervisor, *this},
              dependence,
              account,
              write_ports_,
              hot_.clock,
              sm_id,
              index}),
      shared_unit("fp32_shared"),
      config_(config),
      executed_({config, hot_.warps, fetch, scheduler, supervisor, *this}),
      recorded_({config, hot_.warps, fetch, scheduler, supervisor, *this}),
      write_ports_(config.sub_partition.register_banks, config.sub_partition.register_write_ports) {
  for (const char* unit : unit_names) {
    units.emplace_back(unit);
    dispatch_socket.emplace_back(("dispatch_socket_" + std::to_string(dispatch_socket.size())).c_str());
    dispatch_socket.back().bind(unit_answers_);
  }
  if (config.fp32.shared_lanes != 0) {
    shared_unit.init(1);
    shared_dispatch_socket.init(1);
    shared_dispatch_socket[0].bind(unit_answers_);
    shared_dispatch_socket[0].bind(shared_unit[0].dispatch_socket);
  }
  lsu_socket.bind(memory);
  for (unsigned u = 0; u < units.size() && config.sm.sub_partitions > 1; ++u)
    if (is_shared(static_cast<isa::unit>(u), config)) hot_.shared_units |= static_cast<std::uint16_t>(1u << u);
  scheduler.observe(this);
  fetch.observe(this);
  dependence.scoreboard.observe(this);
  dependence.counters.observe(this);
  register_file.observe(this);
  for (execution_unit& u : units) u.observe(this);
  for (execution_unit& u : shared_unit) u.observe(this);
}

sub_partition::~sub_partition() = default;

void sub_partition::before_end_of_elaboration() {
  for (std::size_t u = 0; u < units.size(); ++u) {
    if (dispatch_socket[u].bind_count() == 0) dispatch_socket[u].bind(units[u].dispatch_socket);
    else units[u].dispatch_socket.get_base_port().bind(unit_answers_);  // replaced
  }
}

void sub_partition::start_of_simulation() {
  for (std::size_t u = 0; u < units.size(); ++u) hot_.dispatch_to[u] = dispatch_socket[u].operator->();
  memory.connect(*lsu_socket.operator->());
}

void sub_partition::place_warp(unsigned slot, const resident_launch& launch, const simt::block_context& block,
                               unsigned warp_in_block, unsigned allocated_registers, cycle_t cycle) {
  occupy(slot, launch, block, warp_in_block, allocated_registers, cycle);
  warp_slot& w = hot_.warps[slot];
  ++w.counters->warps;
  w.state.predicates.fill(0);
  w.state.predicates[isa::pt] = simt::all_lanes;
  const unsigned threads = std::min(launch.threads_per_block() - warp_in_block * isa::warp_size, isa::warp_size);
  w.state.start(threads == isa::warp_size ? simt::all_lanes : (1u << threads) - 1, hot_.independent);
  w.stream->begin(w);
  settle(slot, cycle, fetch.redirect(slot, w.program->code_address, w.state.pc, cycle), false);
  schedule(cycle);
}

// Assigns the slot and its registers to a warp.
void sub_partition::occupy(unsigned slot, const resident_launch& launch, const simt::block_context& block,
                           unsigned warp_in_block, unsigned allocated_registers, cycle_t cycle) {
  warp_slot& w = hot_.warps[slot];
  invariant(w.phase == warp_phase::empty, "a warp was placed in a slot that is taken");
  w.launch = &launch;
  w.program = launch.decoded.get();
  w.stream = block.recording != nullptr ? static_cast<const instruction_stream*>(&recorded_) : &executed_;
  account.placed(w, cycle);
  w.state.regs = register_file.allocate(slot, w.stream->registers_kept(launch), allocated_registers);
  w.state.block = &block;
  w.state.warp_in_block = warp_in_block;
  w.state.slot = slot * config_.sm.sub_partitions + hot_.index;
  w.loads = w.stores = w.queued = 0;
  do ++w.residency;
  while (memory.departed(slot, w.residency));
  hot_.codes = w.program->control_codes;
  dependence.clear(slot, *w.program);
  if (hot_.last_slot == slot) hot_.reuses = nullptr;
  fetch.clear(slot);
  scheduler.placed(slot, cycle);
  hot_.warps.set_active(slot);
}

// Frees the slot and its registers. The warp was active until `cycle`.
void sub_partition::vacate(unsigned slot, cycle_t cycle) {
  warp_slot& w = hot_.warps[slot];
  account.settle(w, cycle);
  stall_account::settle_active(w, cycle);
  w.phase = warp_phase::empty;
  w.segment.reset();
  hot_.warps.clear_active(slot);
  scheduler.removed(slot);
  register_file.release(slot);
}

// The warp waits for its next instruction from `from` on. Computes when the wait ends, if that is known.
void sub_partition::settle(unsigned slot, cycle_t from, cycle_t fetch_at, bool redirected) {
  warp_slot& w = hot_.warps[slot];
  stall_account::set_next(w, w.state.pc);
  w.mark = from;
  w.fetch_at = std::max(from, fetch_at);
  w.redirected = redirected;
  if (__builtin_expect(w.barrier_lanes != 0, 0) && !w.stream->lanes_go_on(w)) {
    w.phase = warp_phase::at_barrier;
    w.timer = never;
    w.sequence = w.state.pc;
    scheduler.set_waiting(slot);
    return;
  }
  if (redirected && w.program->control_codes) dependence.counters.jump(slot);
  w.constant_at = w.fetch_at;
  if (w.next->has_constant)
    w.constant_at =
        immediate_constants.access(w.launch->launch_id, w.next->constant_bank, w.next->constant_offset, w.fetch_at);
  w.phase = warp_phase::waiting;
  w.timer = never;
  reconsider(slot, from);
}

// Re-evaluates the warp's operands: available now, at a known time, or not yet known.
void sub_partition::reconsider(unsigned slot, cycle_t cycle) {
  warp_slot& w = hot_.warps[slot];
  const auto answer = operands(slot, *w.next);
  w.waits_for = answer.kind;
  if (answer.cycle == never) {
    if (answer.kind == producer::long_latency) scheduler.set_waiting(slot);
    return;
  }
  const cycle_t at = std::max(answer.cycle, w.constant_at);
  if (at <= cycle) make_ready(slot, cycle);
  else set_timer(slot, at);
}

void sub_partition::make_ready(unsigned slot, cycle_t cycle) {
  warp_slot& w = hot_.warps[slot];
  // The warp may issue at once, and registers are the largest state of a chip.
  w.stream->prefetch_sources(w);
  account.settle(w, cycle);
  w.phase = warp_phase::ready;
  w.timer = never;
  scheduler.add_ready(slot, w.next->unit, cycle);
}

void sub_partition::set_timer(unsigned slot, cycle_t cycle) {
  hot_.warps[slot].timer = cycle;
  timers_.set(slot, cycle, hot_.clock.cycle());
}

void sub_partition::run_timers(cycle_t cycle) {
  for (const unsigned slot : set_bits(timers_.take(cycle, timer_of()))) {
    if (hot_.warps[slot].timer == cycle) on_timer(slot, cycle);
  }
}

void sub_partition::on_timer(unsigned slot, cycle_t cycle) {
  warp_slot& w = hot_.warps[slot];
  switch (w.phase) {
    case warp_phase::waiting: make_ready(slot, cycle); break;
    case warp_phase::exited: finish(slot, cycle); break;
    case warp_phase::at_barrier:
    case warp_phase::at_fence:
    case warp_phase::replaying:
    case warp_phase::sleeping: {
      if (w.phase == warp_phase::at_fence && w.fence_scope >= system_scope && !w.fence_begun &&
          hot_.supervisor.begin_system_fence(w.state.slot, w.launch->launch_id, cycle)) {
        w.fence_begun = true;
        w.timer = never;
        ++w.loads;  // the fence itself counts as an outstanding access
        break;
      }
      account.settle(w, cycle);
      if (w.phase == warp_phase::at_fence) hot_.supervisor.fence_passed(w.fence_scope);
      const std::uint32_t sequence = w.phase == warp_phase::at_barrier ? w.stream->resume(w) : w.sequence;
      settle(slot, cycle, instruction_stream::fetched(fetch, slot, w, sequence, cycle), w.leaves(sequence));
      break;
    }
    default: throw internal_error(std::string(this->name()) + ": a timer of a warp that waits for nothing");
  }
}

void sub_partition::system_fence_performed(unsigned slot, cycle_t cycle) {
  warp_slot& w = hot_.warps[slot];
  --w.loads;
  if (w.phase == warp_phase::stopped) return hot_.supervisor.warp_quiet(w.state.slot);
  if (w.phase != warp_phase::at_fence) return;  // the simulated program has failed
  set_timer(slot, cycle + 1);
  hot_.clock.wake_at(w.timer);
}

void sub_partition::schedule(cycle_t cycle) {
  const cycle_t at =
      std::min(timers_.next(cycle, timer_of()), scheduler.next_eligible(std::max(cycle + 1, hot_.replays_until)));
  if (at != never) hot_.clock.wake_at(at);
  // No event reports what releases a held warp (falling scores, room in the memory system), so the policy is called
  // each cycle.
  if (hot_.held != 0) hot_.clock.wake_at(cycle + 1);
}

// Asks the policy which ready warps must not access global memory in this cycle.
void sub_partition::hold_memory(cycle_t cycle) {
  std::uint64_t wanting = hot_.held, loads = 0;
  for (const unsigned slot : set_bits(scheduler.ready(isa::unit::ldst))) {
    if (hot_.warps[slot].next->global_access) wanting |= std::uint64_t{1} << slot;
  }
  for (const unsigned slot : set_bits(wanting)) {
    if (hot_.warps[slot].next->cached_load) loads |= std::uint64_t{1} << slot;
  }
  const warp_view view{scheduler.eligible(cycle), scheduler.waiting(), cycle};
  const std::uint64_t held =
      wanting & scheduler.policy().held(view, wanting, loads, hot_.supervisor.memory_saturated());
  for (const unsigned slot : set_bits(held & ~hot_.held)) {
    account_ready(slot, cycle);
    hot_.warps[slot].phase = warp_phase::held;
  }
  for (const unsigned slot : set_bits(hot_.held & ~held)) {
    warp_slot& w = hot_.warps[slot];
    account.settle(w, cycle);
    w.phase = warp_phase::ready;
    scheduler.add_ready(slot, w.next->unit, cycle);
  }
  hot_.held = held;
}

void sub_partition::on_cycle(cycle_t cycle) {
  if (hot_.halted) return;
  run_timers(cycle);
  hot_.issued = 0;
  if (scheduler.holds_memory()) hold_memory(cycle);
  const std::uint64_t eligible = cycle < hot_.replays_until ? 0 : scheduler.eligible(cycle);
  if (eligible != 0) issue_from(scheduler.select(eligible, cycle), cycle);
  if (hot_.halted) return;
  schedule(cycle);
}

void sub_partition::prefetch_hint(cycle_t cycle, bool distant) const {
  if (distant) {
    host_prefetch(&hot_, sizeof hot_);
    host_prefetch(&timers_.bucket(cycle), 1);
    scheduler.prefetch();
    dependence.scoreboard.prefetch();
    fetch.prefetch();
    return;
  }
  // Warps whose wait ends in this cycle, and one ready warp.
  std::uint64_t soon = timers_.bucket(cycle);
  for (unsigned k = 0; k < 2 && soon != 0; ++k, soon &= soon - 1)
    prefetch_warp(static_cast<unsigned>(__builtin_ctzll(soon)));
  if (scheduler.ready() != 0) prefetch_warp(static_cast<unsigned>(__builtin_ctzll(scheduler.ready())));
}

void sub_partition::prefetch_warp(unsigned slot) const {
  host_prefetch(&hot_.warps[slot], warp_slot_hot_bytes);
  hot_.codes ? dependence.counters.prefetch(slot) : dependence.scoreboard.prefetch(slot);
}

void sub_partition::finish(unsigned slot, cycle_t cycle) {
  vacate(slot, cycle);
  const warp_slot& w = hot_.warps[slot];
  // The supervisor may reuse the slot at once.
  departed_warp gone{slot, w.residency, w.stores, 0, w.launch, w.state.block->index, w.state.warp_in_block};
  gone.block = hot_.supervisor.warp_finished(w.state.slot, gone.stores != 0, cycle);
  if (gone.stores != 0) memory.departed(gone);
}

void sub_partition::stop_at_barrier(unsigned slot, simt::lane_mask mask, unsigned number) {
  hot_.warps[slot].stream->wait_at_barrier(slot, mask, number);
}

void sub_partition::resume_from_barrier(unsigned slot, unsigned number, cycle_t cycle) {
  warp_slot& w = hot_.warps[slot];
  w.stream->leave_barrier(w, number);
  // If other lanes of the warp run already, or another barrier has just released some, the released lanes only wait
  // until they are selected.
  if (w.phase != warp_phase::at_barrier || w.timer != never) return;
  set_timer(slot, cycle);
  hot_.clock.wake_at(cycle);
}

void sub_partition::deliver_reduction(unsigned slot, unsigned number, std::uint32_t count, std::uint32_t threads) {
  hot_.warps[slot].stream->write_reduction(hot_.warps[slot], number, count, threads);
}

void sub_partition::settle_accounts(cycle_t cycle) {
  for (const unsigned slot : set_bits(hot_.warps.active())) {
    warp_slot& w = hot_.warps[slot];
    if (w.phase == warp_phase::ready) {
      account_ready(slot, std::max(cycle, w.mark));
      scheduler.add_ready(slot, w.next->unit, std::max(cycle, w.mark));
    } else {
      account.settle(w, cycle);
    }
    stall_account::settle_active(w, std::max(cycle, w.mark));
  }
}

}  // namespace heddle
