// SPDX-License-Identifier: MIT
#include "heddle/sub_partition/sub_partition.h"

#include <algorithm>

#include "heddle/config/error.h"
#include "heddle/simt/warp/divergence.h"
#include "heddle/tlm/kernel/prefetch.h"

namespace heddle {

namespace {
constexpr const char* unit_names[] = {"fp32", "int", "fp64", "half", "sfu", "tensor", "ldst", "branch", "texture"};
static_assert(std::size(unit_names) == static_cast<std::size_t>(isa::unit::count));
}  // namespace

sub_partition::sub_partition(sc_core::sc_module_name name, unit_clock& clock, const gpu_config& config, unsigned sm_id,
                             unsigned index, instruction_cache& cache, warp_supervisor& supervisor)
    : sc_module(name),
      lsu_socket("lsu_socket"),
      shared_dispatch_socket("shared_dispatch_socket"),
      scheduler("warp_scheduler", config.sub_partition, {config.sm.max_warps / config.sm.sub_partitions, index}),
      fetch("fetch", config, cache, config.sm.max_warps / config.sm.sub_partitions),
      dependence(config.sm.max_warps / config.sm.sub_partitions, config.tlm.check),
      register_file("register_file", config.sm.max_warps / config.sm.sub_partitions,
                    config.sm.registers / isa::warp_size / config.sm.sub_partitions),
      immediate_constants("immediate_constants", config.constant_cache),
      shared_unit("fp32_shared"),
      config_(config),
      slots_(config.sm.max_warps / config.sm.sub_partitions),
      clock_(clock, *this),
      supervisor_(supervisor),
      sm_id_(sm_id),
      index_(index),
      credits_(config.ldst.queue_entries),
      pairing_(config.sub_partition.issue_width < 2                             ? pairing::none
               : config.sub_partition.dual_issue == choice::dual_issue::none    ? pairing::none
               : config.sub_partition.dual_issue == choice::dual_issue::maxwell ? pairing::maxwell
                                                                                : pairing::any),
      replays_(config.ldst.replay == choice::replay::issue),
      independent_(config.sub_partition.divergence == choice::divergence::independent),
      read_window_(config.sub_partition.operand_read == choice::operand_read::window),
      by_warp_(config.sub_partition.states_by_warp),
      software_(config.sub_partition.dependence == choice::dependence::software),
      fp64_alone_(config.fp64.issues_alone && config.sm.sub_partitions > 1),
      banks_(config.shared_memory.banks, config.shared_memory.bank_bytes),
      write_ports_(config.sub_partition.register_banks, config.sub_partition.register_write_ports) {
  for (const char* unit : unit_names) {
    units.emplace_back(unit);
    dispatch_socket.emplace_back(("dispatch_socket_" + std::to_string(dispatch_socket.size())).c_str());
    dispatch_socket.back().bind(unit_answers_);
    dispatch_socket.back().bind(units.back().dispatch_socket);
  }
  if (config.fp32.shared_lanes != 0) {
    shared_unit.init(1);
    shared_dispatch_socket.init(1);
    shared_dispatch_socket[0].bind(unit_answers_);
    shared_dispatch_socket[0].bind(shared_unit[0].dispatch_socket);
  }
  lsu_socket.bind(*this);
  if (by_warp_) states_by_slot.resize(slots_.size());
  for (unsigned u = 0; u < units.size() && config.sm.sub_partitions > 1; ++u)
    if (is_shared(static_cast<isa::unit>(u), config)) shared_units_ |= static_cast<std::uint16_t>(1u << u);
  const auto watched = [this](const sc_core::sc_trace_file* file) { watch_for(file); };
  scheduler.on_trace.call = fetch.on_trace.call = dependence.scoreboard.on_trace.call = watched;
  dependence.counters.on_trace.call = register_file.on_trace.call = watched;
  for (execution_unit& u : units) u.on_trace.call = watched;
  for (execution_unit& u : shared_unit) u.on_trace.call = watched;
}

sub_partition::~sub_partition() = default;

void sub_partition::start_of_simulation() {
  for (std::size_t u = 0; u < units.size(); ++u) dispatch_to_[u] = dispatch_socket[u].operator->();
  lsu_ = lsu_socket.operator->();
}

void sub_partition::place_warp(unsigned slot, const resident_launch& launch, const simt::block_context& block,
                               unsigned warp_in_block, unsigned allocated_registers, cycle_t cycle) {
  occupy(slot, launch, block, warp_in_block, allocated_registers, cycle);
  warp_slot& w = slots_[slot];
  ++w.counters->warps;
  w.state.predicates.fill(0);
  w.state.predicates[isa::pt] = simt::all_lanes;
  const unsigned threads = std::min(launch.threads_per_block() - warp_in_block * isa::warp_size, isa::warp_size);
  w.state.start(threads == isa::warp_size ? simt::all_lanes : (1u << threads) - 1, independent_);
  follow(w, block.recording);
  settle(slot, cycle, fetch.redirect(slot, w.program->code_address, w.state.pc, cycle), false);
  schedule(cycle);
}

// Assigns the slot and its registers to a warp.
void sub_partition::occupy(unsigned slot, const resident_launch& launch, const simt::block_context& block,
                           unsigned warp_in_block, unsigned allocated_registers, cycle_t cycle) {
  warp_slot& w = slots_[slot];
  invariant(w.phase == warp_phase::empty, "a warp was placed in a slot that is taken");
  w.launch = &launch;
  w.program = launch.decoded.get();
  w.counters = &counters[launch.launch_id];
  w.profile = &(*profiles_)[launch.launch_id];
  w.profile->begin(launch.decoded);
  w.state.regs = register_file.allocate(slot, registers_kept(launch), allocated_registers);
  w.state.block = &block;
  w.state.warp_in_block = warp_in_block;
  w.state.slot = slot * config_.sm.sub_partitions + index_;
  w.loads = w.stores = w.queued = 0;
  do ++w.residency;
  while (departed(slot, w.residency) != departed_.end());
  w.placed_at = cycle;
  codes_ = w.program->control_codes;
  dependence.clear(slot, *w.program);
  if (last_slot_ == slot) reuses_ = nullptr;
  fetch.clear(slot);
  scheduler.placed(slot, cycle);
  active_ |= std::uint64_t{1} << slot;
}

// Frees the slot and its registers. The warp was active until `cycle`.
void sub_partition::vacate(unsigned slot, cycle_t cycle) {
  warp_slot& w = slots_[slot];
  account(slot, cycle);
  w.counters->active_warp_cycles += cycle - w.placed_at;
  w.phase = warp_phase::empty;
  w.held_segment.reset();
  active_ &= ~(std::uint64_t{1} << slot);
  scheduler.removed(slot);
  register_file.release(slot);
}

// The warp waits for its next instruction from `from` on. Computes when the wait ends, if that is known.
void sub_partition::settle(unsigned slot, cycle_t from, cycle_t fetch_at, bool redirected) {
  warp_slot& w = slots_[slot];
  look_at(w, w.state.pc);
  w.mark = from;
  w.fetch_at = std::max(from, fetch_at);
  w.redirected = redirected;
  if (__builtin_expect(w.barrier_lanes != 0, 0) && !lanes_go_on(w)) {
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
  warp_slot& w = slots_[slot];
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
  warp_slot& w = slots_[slot];
  // Prefetches the source registers, because the warp may issue at once and registers are the largest state of a chip.
  const isa::instruction& i = *w.next->instruction;
  if (w.step == nullptr)
    for (const isa::operand& o : i.src)
      if (o.is_reg())
        host_prefetch(w.state.regs + o.reg * isa::warp_size, o.count * isa::warp_size * sizeof(std::uint32_t));
  account(slot, cycle);
  w.phase = warp_phase::ready;
  w.timer = never;
  scheduler.add_ready(slot, w.next->unit, cycle);
}

void sub_partition::set_timer(unsigned slot, cycle_t cycle) {
  slots_[slot].timer = cycle;
  timers_.set(slot, cycle, clock_.cycle());
}

void sub_partition::run_timers(cycle_t cycle) {
  for (std::uint64_t due = timers_.take(cycle, timer_of()); due; due &= due - 1) {
    const unsigned slot = static_cast<unsigned>(__builtin_ctzll(due));
    if (slots_[slot].timer == cycle) on_timer(slot, cycle);
  }
}

void sub_partition::on_timer(unsigned slot, cycle_t cycle) {
  warp_slot& w = slots_[slot];
  switch (w.phase) {
    case warp_phase::waiting: make_ready(slot, cycle); break;
    case warp_phase::exited: finish(slot, cycle); break;
    case warp_phase::at_barrier:
    case warp_phase::at_fence:
    case warp_phase::replaying:
    case warp_phase::sleeping: {
      if (w.phase == warp_phase::at_fence && w.fence_scope >= system_scope && !w.fence_begun &&
          supervisor_.begin_system_fence(w.state.slot, w.launch->launch_id, cycle)) {
        w.fence_begun = true;
        w.timer = never;
        ++w.loads;  // the fence itself counts as an outstanding access
        break;
      }
      account(slot, cycle);
      if (w.phase == warp_phase::at_fence) supervisor_.fence_passed(w.fence_scope);
      std::uint32_t sequence = w.sequence;
      if (w.phase == warp_phase::at_barrier && w.step == nullptr) {
        sequence = w.state.pc + 1;
        independent_ ? simt::run_next(w.state) : simt::advance(w.state);
        invariant(w.state.active != 0, "a warp whose lanes all wait was resumed");
      }
      settle(slot, cycle, fetched(slot, sequence, cycle), leaves(w, sequence));
      break;
    }
    default: throw internal_error(std::string(this->name()) + ": a timer of a warp that waits for nothing");
  }
}

void sub_partition::system_fence_performed(unsigned slot, cycle_t cycle) {
  warp_slot& w = slots_[slot];
  --w.loads;
  if (w.phase == warp_phase::stopped) return supervisor_.warp_quiet(w.state.slot);
  if (w.phase != warp_phase::at_fence) return;  // the simulated program has failed
  set_timer(slot, cycle + 1);
  clock_.wake_at(w.timer);
}

void sub_partition::schedule(cycle_t cycle) {
  const cycle_t at =
      std::min(timers_.next(cycle, timer_of()), scheduler.next_eligible(std::max(cycle + 1, replays_until_)));
  if (at != never) clock_.wake_at(at);
  // No event reports what releases a held warp (falling scores, room in the memory system), so the policy is called
  // each cycle.
  if (held_ != 0) clock_.wake_at(cycle + 1);
}

// Asks the policy which ready warps must not access global memory in this cycle.
void sub_partition::hold_memory(cycle_t cycle) {
  std::uint64_t wanting = held_, loads = 0;
  for (std::uint64_t m = scheduler.ready(isa::unit::ldst); m; m &= m - 1) {
    const unsigned slot = static_cast<unsigned>(__builtin_ctzll(m));
    if (slots_[slot].next->global_access) wanting |= m & -m;
  }
  for (std::uint64_t m = wanting; m; m &= m - 1) {
    const unsigned slot = static_cast<unsigned>(__builtin_ctzll(m));
    if (slots_[slot].next->cached_load) loads |= m & -m;
  }
  const warp_view view{scheduler.eligible(cycle), scheduler.waiting(), cycle};
  const std::uint64_t held = wanting & scheduler.policy().held(view, wanting, loads, supervisor_.memory_saturated());
  for (std::uint64_t m = held & ~held_; m; m &= m - 1) {
    const unsigned slot = static_cast<unsigned>(__builtin_ctzll(m));
    account_ready(slot, cycle);
    slots_[slot].phase = warp_phase::held;
  }
  for (std::uint64_t m = held_ & ~held; m; m &= m - 1) {
    const unsigned slot = static_cast<unsigned>(__builtin_ctzll(m));
    account(slot, cycle);
    slots_[slot].phase = warp_phase::ready;
    scheduler.add_ready(slot, slots_[slot].next->unit, cycle);
  }
  held_ = held;
}

void sub_partition::on_cycle(cycle_t cycle) {
  if (halted_) return;
  run_timers(cycle);
  issued_ = 0;
  if (scheduler.holds_memory()) hold_memory(cycle);
  const std::uint64_t eligible = cycle < replays_until_ ? 0 : scheduler.eligible(cycle);
  if (eligible != 0) issue_from(scheduler.select(eligible, cycle), cycle);
  if (halted_) return;
  schedule(cycle);
}

void sub_partition::prefetch_hint(cycle_t cycle, bool distant) const {
  if (distant) {
    host_prefetch(&slots_, sizeof slots_ +
                               (reinterpret_cast<const char*>(&dispatch_to_) - reinterpret_cast<const char*>(&clock_)));
    host_prefetch(&timers_.bucket(cycle), 1);
    scheduler.prepare();
    dependence.scoreboard.prepare();
    fetch.prepare();
    return;
  }
  // Warps whose wait ends in this cycle, and one ready warp.
  std::uint64_t soon = timers_.bucket(cycle);
  for (unsigned k = 0; k < 2 && soon != 0; ++k, soon &= soon - 1)
    prefetch_warp(static_cast<unsigned>(__builtin_ctzll(soon)));
  if (scheduler.ready() != 0) prefetch_warp(static_cast<unsigned>(__builtin_ctzll(scheduler.ready())));
}

void sub_partition::prefetch_warp(unsigned slot) const {
  host_prefetch(&slots_[slot], 192);
  codes_ ? dependence.counters.prepare(slot) : host_prefetch(dependence.scoreboard.times(slot), 128);
}

void sub_partition::finish(unsigned slot, cycle_t cycle) {
  vacate(slot, cycle);
  const warp_slot& w = slots_[slot];
  // The supervisor may reuse the slot at once.
  departed_warp gone{slot, w.residency, w.stores, 0, w.launch, w.state.block->index, w.state.warp_in_block};
  gone.block = supervisor_.warp_finished(w.state.slot, gone.stores != 0, cycle);
  if (gone.stores != 0) departed_.push_back(gone);
}

std::vector<departed_warp>::iterator sub_partition::departed(unsigned slot, std::uint16_t residency) {
  return std::find_if(departed_.begin(), departed_.end(),
                      [=](const departed_warp& d) { return d.slot == slot && d.residency == residency; });
}

// Adds the cycles [w.mark, until) to the states that the warp was in.
void sub_partition::account(unsigned slot, cycle_t until) {
  warp_slot& w = slots_[slot];
  if (until <= w.mark) return;
  cycle_t c = w.mark;
  w.mark = until;
  switch (w.phase) {
    case warp_phase::waiting: {
      const cycle_t fetched = std::clamp(w.fetch_at, c, until);
      add(w, warp_cycle::inst_fetch, w.redirected ? warp_stall::branch_resolving : warp_stall::no_instruction,
          fetched - c);
      const cycle_t constant = std::clamp(w.constant_at, fetched, until);
      add(w, warp_cycle::constant_memory_dependency, warp_stall::imc_miss, constant - fetched);
      constexpr warp_stall stall[] = {warp_stall::wait, warp_stall::short_scoreboard, warp_stall::long_scoreboard};
      // While the texture path is full, a warp that needs it is counted as waiting for it first.
      const cycle_t changed = std::clamp(texture_changed_, constant, until);
      const cycle_t full = w.next->unit != isa::unit::texture ? 0
                           : texture_full_                    ? until - changed
                                                              : changed - constant;
      add(w, warp_cycle::texture, warp_stall::tex_throttle, full);
      add(w, warp_cycle::exec_dependency, stall[static_cast<unsigned>(w.waits_for)], until - constant - full);
      break;
    }
    case warp_phase::at_barrier: add(w, warp_cycle::sync, warp_stall::barrier, until - c); break;
    case warp_phase::at_fence: add(w, warp_cycle::other, warp_stall::membar, until - c); break;
    case warp_phase::replaying:
      add(w, warp_cycle::selected, warp_stall::selected, until - c);
      w.counters->inst_issued1 += until - c;
      break;
    case warp_phase::sleeping: add(w, warp_cycle::sleeping, warp_stall::sleeping, until - c); break;
    case warp_phase::exited: add(w, warp_cycle::other, warp_stall::drain, until - c); break;
    case warp_phase::held: add(w, warp_cycle::other, warp_stall::dispatch_stall, until - c); break;
    case warp_phase::stopped: add(w, warp_cycle::other, warp_stall::misc, until - c); break;
    case warp_phase::ready:
    case warp_phase::empty: break;
  }
}

// Sets whether the texture path is full from cycle `from` on. Warps that wait for it are accounted up to now first, so
// that the state changes at most once in the part of a warp's cycles that is not accounted yet.
void sub_partition::set_texture_full(bool full, cycle_t from) {
  for (std::uint64_t a = active_; a != 0; a &= a - 1) {
    const unsigned slot = static_cast<unsigned>(__builtin_ctzll(a));
    if (slots_[slot].phase == warp_phase::waiting && slots_[slot].next->unit == isa::unit::texture)
      account(slot, std::min(from, clock_.cycle()));
  }
  texture_full_ = full;
  texture_changed_ = from;
}

// A ready warp issues (or is sampled) in cycle `until`: accounts why it did not issue since it became ready.
void sub_partition::account_ready(unsigned slot, cycle_t until) {
  warp_slot& w = slots_[slot];
  const isa::unit u = w.next->unit;
  const auto wait = scheduler.remove_ready(slot, u, until);
  if (wait.throttled != 0) add(w, warp_cycle::memory_throttle, warp_stall::lg_throttle, wait.throttled);
  if (wait.busy != 0) {
    const warp_cycle cause = u == isa::unit::texture ? warp_cycle::texture
                             : u == isa::unit::ldst  ? warp_cycle::memory_dependency
                                                     : warp_cycle::pipe_busy;
    add(w, cause, busy_stall(*w.next), wait.busy);
  }
  if (wait.stalled != 0) add(w, warp_cycle::other, warp_stall::dispatch_stall, wait.stalled);
  const cycle_t total = until > wait.ready_since ? until - wait.ready_since : 0;
  add(w, warp_cycle::not_selected, warp_stall::not_selected, total - wait.busy - wait.stalled - wait.throttled);
  w.mark = until;
}

void sub_partition::settle_accounts(cycle_t cycle) {
  for (std::uint64_t a = active_; a; a &= a - 1) {
    const unsigned slot = static_cast<unsigned>(__builtin_ctzll(a));
    warp_slot& w = slots_[slot];
    if (w.phase == warp_phase::ready) {
      account_ready(slot, std::max(cycle, w.mark));
      scheduler.add_ready(slot, w.next->unit, std::max(cycle, w.mark));
    } else {
      account(slot, cycle);
    }
    w.counters->active_warp_cycles += std::max(cycle, w.mark) - w.placed_at;
    w.placed_at = std::max(cycle, w.mark);
  }
}

}  // namespace heddle
