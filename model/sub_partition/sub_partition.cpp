// SPDX-License-Identifier: MIT
#include "heddle/sub_partition/sub_partition.h"

#include <algorithm>
#include <utility>

#include "heddle/config/error.h"
#include "heddle/isa/set_bits.h"
#include "heddle/tlm/kernel/prefetch.h"
#include "heddle/tlm/kernel/trace_window.h"

namespace heddle {

namespace {
constexpr const char* unit_names[] = {"fp32", "int", "fp64", "half", "sfu", "tensor", "ldst", "branch", "texture"};
static_assert(std::size(unit_names) == static_cast<std::size_t>(isa::unit::count));

unsigned slots_in(const gpu_config& config) { return config.sm.max_warps / config.sm.sub_partitions; }

template <std::size_t... U>
std::array<execution_unit, sizeof...(U)> units_of(sc_core::sc_module& owner, std::index_sequence<U...>) {
  return {execution_unit(part_name{unit_names[U], &owner})...};
}

template <std::size_t... U>
std::array<direct_initiator_socket<issue_protocol_types>, sizeof...(U)> sockets_of(
    sc_core::sc_module& owner, blocking_initiator<issue_protocol_types>& answers, std::index_sequence<U...>) {
  return {direct_initiator_socket<issue_protocol_types>(part_name{"dispatch_socket_", &owner, U}, answers)...};
}
}  // namespace

sub_partition::sub_partition(sc_core::sc_module_name name, unit_clock& clock, const gpu_config& config, unsigned sm_id,
                             unsigned index, instruction_cache& cache, warp_supervisor& supervisor)
    : sc_module(name),
      hot_{warp_table(slots_in(config)), clock_port(clock, *this), fault_reporter(supervisor)},
      lsu_socket({"lsu_socket", this}),
      dispatch_socket(sockets_of(*this, unit_answers_, std::make_index_sequence<unit_count>())),
      scheduler({"warp_scheduler", this}, config.sub_partition, {slots_in(config), index}),
      fetch({"fetch", this}, config, cache, slots_in(config)),
      dependence(*this, slots_in(config), config.tlm.check),
      register_file({"register_file", this}, slots_in(config),
                    config.sm.registers / isa::warp_size / config.sm.sub_partitions),
      immediate_constants({"immediate_constants", this}, config.constant_cache),
      account(hot_.warps, config.sub_partition.states_by_warp ? slots_in(config) : 0, config.sm.sub_partitions),
      waits(
          {hot_.warps, scheduler, dependence, account, fetch, immediate_constants, residence_, supervisor, hot_.clock}),
      memory({{config, hot_.warps, fetch, scheduler, supervisor, waits, hot_.faults},
              dependence,
              account,
              write_ports_,
              hot_.clock,
              departed_,
              sm_id,
              index}),
      issue({hot_.warps, scheduler, dependence, account, fetch, waits, memory, write_ports_, hot_.faults,
             immediate_constants, calls_, hot_.clock},
            config, index, supervisor),
      contexts({hot_.warps, scheduler, dependence, account, residence_, waits, issue}),
      units(units_of(*this, std::make_index_sequence<unit_count>())),
      config_(config),
      supervisor_(&supervisor),
      index_(index),
      executed_({config, hot_.warps, fetch, scheduler, supervisor, waits, hot_.faults}),
      recorded_({config, hot_.warps, fetch, scheduler, supervisor, waits, hot_.faults}),
      followed_({config, hot_.warps, fetch, scheduler, supervisor, waits, hot_.faults}),
      residence_({config, hot_.warps, fetch, dependence, register_file, scheduler, account, supervisor, departed_,
                  executed_, recorded_, followed_, index}),
      calls_(memory, hot_.faults),
      write_ports_(config.sub_partition.register_banks, config.sub_partition.register_write_ports) {
  if (config.fp32.shared_lanes != 0) {
    shared_unit.emplace_back(part_name{"fp32_shared_", this, 0});
    shared_dispatch_socket.emplace_back(part_name{"shared_dispatch_socket_", this, 0}, unit_answers_);
    shared_dispatch_socket[0].bind(shared_unit[0].dispatch_socket);
  }
  lsu_socket.bind(memory);
  scheduler.observe(this);
  fetch.observe(this);
  dependence.observe(this);
  register_file.observe(this);
  for (execution_unit& u : units) u.observe(this);
  for (execution_unit& u : shared_unit) u.observe(this);
}

sub_partition::~sub_partition() = default;

void sub_partition::before_end_of_elaboration() {
  for (std::size_t u = 0; u < units.size(); ++u) {
    if (!dispatch_socket[u].bound()) dispatch_socket[u].bind(units[u].dispatch_socket);  // not replaced
  }
}

void sub_partition::start_of_simulation() {
  for (std::size_t u = 0; u < units.size(); ++u)
    issue.dispatch().connect(static_cast<isa::unit>(u), *dispatch_socket[u].operator->());
  if (!shared_dispatch_socket.empty()) issue.dispatch().connect_shared(*shared_dispatch_socket[0].operator->());
  memory.connect(*lsu_socket.operator->());
}

void sub_partition::record(step_recorder& recorder) {
  const instruction_stream::surroundings s{config_, hot_.warps, fetch, scheduler, *supervisor_, waits, hot_.faults};
  recording_ = std::make_unique<recording_stream>(s, recorder);
  residence_.execute_by(*recording_);
}

void sub_partition::place_warp(unsigned slot, const resident_launch& launch, const simt::block_context& block,
                               unsigned warp_in_block, unsigned allocated_registers, cycle_t cycle) {
  residence_.occupy_new(slot, launch, block, warp_in_block, allocated_registers, cycle);
  issue.placed(slot);
  waits.start(slot, cycle);
  issue.wake_after(cycle);
}

void sub_partition::instructions_arrived(std::uint64_t address, unsigned bytes, cycle_t cycle) {
  const std::uint64_t slots = fetch.arrived(address, bytes, cycle);
  if (hot_.faults.halted()) return;
  for (const unsigned slot : set_bits(slots)) waits.instructions_arrived(slot, cycle);
}

void sub_partition::on_cycle(cycle_t cycle) {
  if (__builtin_expect(memory.products_due(cycle), 0)) memory.run_products(cycle);
  if (hot_.faults.halted()) return;
  waits.run_timers(cycle);
  issue.run(cycle);
  if (hot_.faults.halted()) return;
  issue.wake_after(cycle);
}

void sub_partition::abandon(cycle_t cycle) {
  hot_.faults.resume();
  for (const unsigned slot : set_bits(hot_.warps.active())) {
    const warp_slot& w = hot_.warps[slot];
    if (w.phase != warp_phase::exited) contexts.stop(slot, cycle);
    else if (w.loads + w.queued == 0) waits.set_timer(slot, cycle + 1);
  }
  memory.end_failed(cycle);
  hot_.clock.wake_at(cycle + 1);
}

void sub_partition::prefetch_hint(cycle_t cycle, bool distant) const {
  if (!distant) return waits.prefetch_warps(cycle);
  host_prefetch(&hot_, sizeof hot_);
  waits.prefetch(cycle);
  issue.prefetch();
  scheduler.prefetch();
  dependence.prefetch();
  fetch.prefetch();
}

void sub_partition::settle_accounts(cycle_t cycle) {
  for (const unsigned slot : set_bits(hot_.warps.active())) {
    warp_slot& w = hot_.warps[slot];
    if (w.phase == warp_phase::ready) {
      scheduler.settle_ready(slot, w, std::max(cycle, w.mark), account);
    } else {
      account.settle(w, cycle);
    }
    stall_account::settle_active(w, std::max(cycle, w.mark));
  }
}

void sub_partition::exchange(state_image& image, const launch_finder& launches) {
  invariant(!halted(), "a checkpoint after a fault");
  image.part(name());
  image(hot_.warps, scheduler, fetch, dependence, immediate_constants);
  account.exchange(image, launches);
  // Of an empty slot, too: a warp that is swapped in has those of the one before until its context is there.
  for (unsigned slot = 0; slot < slots(); ++slot) image(hot_.warps[slot].next, hot_.warps[slot].line);
  for (const unsigned slot : set_bits(hot_.warps.active())) exchange_warp(image, slot);
  image(departed_, waits, memory, issue, write_ports_);
  for (execution_unit& u : units) image(u.input);
  for (execution_unit& u : shared_unit) image(u.input);
}

void sub_partition::exchange_warp(state_image& image, unsigned slot) {
  warp_slot& w = hot_.warps[slot];
  w.exchange_warp(image);
  if (image.reading()) {
    w.program = w.launch->decoded.get();
    w.stream = w.state.block->recording != nullptr ? static_cast<const instruction_stream*>(&recorded_) : &executed_;
    account.attach(w);
  }
  w.state.regs = register_file.exchange(slot, w.stream->registers_kept(*w.launch), image);
  dependence.exchange(slot, *w.program, image);
  w.stream->exchange_place(w, image);
}

void sub_partition::check_invariants() const {
  memory.check_invariants();
  account.check_invariants(issue.dual_issue(), hot_.clock.cycle());
}

const partition_signals& sub_partition::watch(cycle_t first, cycle_t last) const {
  if (!signals_)
    signals_ = std::make_unique<partition_signals>(
        sampled_partition{config_.sm.sub_partitions, hot_.warps, issue.last(), scheduler, fetch, dependence,
                          register_file, account, units, shared_unit},
        hot_.clock.domain());
  signals_->only_in(first, last);
  return *signals_;
}

void sub_partition::traced(const sc_core::sc_trace_file* file) const {
  const auto* const window = dynamic_cast<const trace_window*>(file);
  static_cast<void>(watch(window != nullptr ? window->first : 0, window != nullptr ? window->last : never));
}

void sub_partition::trace(sc_core::sc_trace_file* file) const {
  traced(file);
  const std::string base(name());
  sc_core::sc_trace(file, signals_->issued, base + ".issued");
  sc_core::sc_trace(file, signals_->replaying, base + ".replaying");
  for (std::size_t k = 0; k < std::min<std::size_t>(config_.sub_partition.issue_width, signals_->slots.size()); ++k) {
    const std::string slot = base + ".issue" + std::to_string(k);
    sc_core::sc_trace(file, signals_->slots[k].warp, slot + "_warp");
    sc_core::sc_trace(file, signals_->slots[k].pc, slot + "_pc");
    sc_core::sc_trace(file, signals_->slots[k].operation, slot + "_operation");
    sc_core::sc_trace(file, signals_->slots[k].lanes, slot + "_lanes");
  }
  sc_core::sc_trace(file, hot_.warps.active(), base + ".active", static_cast<int>(hot_.warps.size()));
  sc_core::sc_trace(file, memory.credits(), base + ".lsu_credits");
  for (unsigned s = 0; s < hot_.warps.size(); ++s) {
    const std::string warp = base + ".warp" + std::to_string(s);
    sc_core::sc_trace(file, signals_->states[s], warp + "_state");
    sc_core::sc_trace(file, hot_.warps[s].state.pc, warp + "_pc");
    sc_core::sc_trace(file, hot_.warps[s].state.active, warp + "_active_lanes");
  }
  trace_parts_and_children(*this, *this, file);
}

std::vector<const module_part*> sub_partition::parts() const {
  std::vector<const module_part*> all{
      &scheduler, &fetch, &dependence.board(), &dependence.counters(), &register_file, &immediate_constants};
  for (const execution_unit& u : units) all.push_back(&u);
  for (const execution_unit& u : shared_unit) all.push_back(&u);
  return all;
}

}  // namespace heddle
