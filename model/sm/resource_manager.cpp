// SPDX-License-Identifier: MIT
#include "heddle/sm/resource_manager.h"

#include <algorithm>
#include <utility>

#include "heddle/config/error.h"
#include "heddle/isa/set_bits.h"
#include "heddle/sub_partition/account/launch_profile.h"

namespace heddle {

block_demand demand_of(const simt::launch_context& launch) {
  block_demand d;
  d.threads = launch.threads_per_block();
  d.registers_per_thread = launch.program->registers;
  d.shared_bytes = launch.shared_bytes;
  d.carveout_percent = launch.carveout_percent;
  d.barriers = launch.program->barriers;
  return d;
}

void resident_block::set_context(unsigned sm) {
  const cta_transaction& t = *transaction;
  context.launch = launch;
  context.index.x = static_cast<std::uint32_t>(t.block % launch->grid.x);
  context.index.y = static_cast<std::uint32_t>(t.block / launch->grid.x % launch->grid.y);
  context.index.z = static_cast<std::uint32_t>(t.block / launch->grid.x / launch->grid.y);
  invariant(launch->recorded() == (t.recording != nullptr), "a block of a recorded launch came without its recording");
  context.recording = t.recording.get();
  if (t.recording) {
    const std::uint32_t* place = t.recording->index();
    context.index = {place[0], place[1], place[2]};
  }
  context.shared = shared.data();
  context.shared_bytes = launch->shared_bytes;
  context.sm_id = sm;
  context.cluster_rank = rank_in_cluster(*launch, context.index);
  context.cluster_sms = t.cluster_sms ? t.cluster_sms->data() : nullptr;
}

resource_manager::resource_manager(sc_core::sc_module_name name, unit_clock& clock, const gpu_config& config,
                                   unsigned sm_id, block_supervisor& supervisor)
    : sc_module(name),
      cta_socket({"cta_socket", this}),
      config_(config),
      sm_id_(sm_id),
      supervisor_(supervisor),
      clock_(clock, *this),
      blocks_(config.sm.max_blocks),
      owner_(config.sm.max_warps),
      free_warps_(config.sm.sub_partitions),
      resources_(config) {
  const unsigned slots = config.sm.max_warps / config.sm.sub_partitions;
  for (auto& m : free_warps_) m = slots == 64 ? ~std::uint64_t{0} : (std::uint64_t{1} << slots) - 1;
  cta_socket.bind(*this);
  messages_.connect(clock.effects());
  using policy = choice::priority_preemption;
  const policy how = config.context.priority_preemption;
  if (config.energy.account && (how == policy::flush || how == policy::auto_))
    counted_below_ = std::numeric_limits<std::int64_t>::max();
}

tlm::tlm_sync_enum resource_manager::nb_transport_fw(cta_transaction& t, cta_phase& phase, sc_core::sc_time& delay) {
  invariant(phase == cta_phase::dispatch || phase == cta_phase::preempt || phase == cta_phase::restore ||
                phase == cta_phase::met || phase == cta_phase::proceed,
            "the CWD sends nothing but dispatches, switches and the ends of launches to an SM");
  const cycle_t at = clock_.domain().arrival(delay);
  arrivals_.push_back({at, &t, phase});
  clock_.wake_at(at);
  return tlm::TLM_ACCEPTED;
}

void resource_manager::on_cycle(cycle_t cycle) {
  while (!arrivals_.empty() && arrivals_.front().cycle <= cycle) {
    const arrival a = arrivals_.front();
    arrivals_.pop_front();
    if (a.phase == cta_phase::dispatch) place(*a.transaction, cycle);
    else if (a.phase == cta_phase::met) meet(*a.transaction, cycle);
    else supervisor_.switch_blocks(static_cast<context_transaction&>(*a.transaction), a.phase, cycle);
  }
  if (!arrivals_.empty()) clock_.wake_at(arrivals_.front().cycle);
}

// Blocks that have left the SM learn of it when they return.
void resource_manager::meet(cta_transaction& t, cycle_t cycle) {
  t.early = false;
  for (unsigned slot = 0; slot < cta_slots(); ++slot)
    if (blocks_[slot].transaction == &t) check_prerequisite(slot, cycle);
}

void resource_manager::check_prerequisite(unsigned cta_slot, cycle_t cycle) {
  const resident_block& b = blocks_[cta_slot];
  if (b.transaction->early) return;
  see(*b.transaction, *b.launch);
  supervisor_.prerequisite_met(cta_slot, cycle);
}

// What the L1 holds may be older than the launch, or than the end of the launch before.
void resource_manager::see(const cta_transaction& t, const resident_launch& launch) {
  const std::uint32_t id = launch.launch_id;
  if (launch_seen_.size() <= id) launch_seen_.resize(id + 1);
  const bool first = !launch_seen_[id];
  launch_seen_[id] = true;
  if (t.early) early_.insert(id);
  if (first || (!t.early && early_.erase(id) != 0)) supervisor_.start_launch(launch);
}

void resource_manager::release_dependents(unsigned cta_slot, cycle_t cycle) {
  resident_block& b = blocks_[cta_slot];
  if (b.released) return;
  b.released = true;
  if (b.transaction->wants_released) notify_cwd(*b.transaction, cta_phase::released, cycle);
}

// For what arrives in `cycle`, the CWD knew only the completions reported to it when it was sent. Returning exactly
// these resources makes this account assign the warps as the CWD's fit test did.
void resource_manager::take_returned(cycle_t cycle) {
  const cycle_t sent = cycle - config_.cwd.dispatch_latency_cycles;
  while (!returned_.empty() && returned_.front().known <= sent) {
    resources_.give_back(returned_.front().allocation);
    returned_.pop_front();
  }
}

void resource_manager::place(cta_transaction& t, cycle_t cycle) {
  take_returned(cycle);
  const block_footprint footprint = resources_.footprint(demand_of(*t.launch));
  begin(t, footprint, resources_.take(footprint), cycle);
}

unsigned resource_manager::run_anew(resident_block dropped, cycle_t cycle) {
  cta_transaction& t = *dropped.transaction;
  begin(t, resources_.footprint(demand_of(*t.launch)), std::move(dropped.allocation), cycle);
  return t.cta_slot;
}

void resource_manager::begin(cta_transaction& t, const block_footprint& footprint, block_allocation allocation,
                             cycle_t cycle) {
  const auto& launch = static_cast<const resident_launch&>(*t.launch);
  const auto free =
      std::find_if(blocks_.begin(), blocks_.end(), [](const resident_block& b) { return b.transaction == nullptr; });
  invariant(free != blocks_.end(), "the CWD sent a block to an SM without a free CTA slot");
  resident_block& b = *free;
  const unsigned slot = static_cast<unsigned>(free - blocks_.begin());
  b.allocation = std::move(allocation);
  b.most_blocks = footprint.limits.least();
  b.sequence = ++blocks_begun_;
  b.unsettled = 0;
  b.executed = 0;
  b.transaction = &t;
  b.launch = &launch;
  b.warps.assign(launch.warps_per_block(), 0);
  b.warps_left = launch.warps_per_block();
  b.live = 0;
  b.released = false;
  b.waits_for_launch = 0;
  b.shared.assign(std::max(launch.shared_bytes, 1u), 0);
  b.set_context(sm_id_);
  t.cta_slot = slot;
  t.warp_ids.clear();
  ++resident_blocks_;
  occupancy.block_entered(launch.launch_id, b.most_blocks, launch.warps_per_block(), cycle);
  if (observer_ != nullptr) observer_->block_entered(sm_id_, slot, launch, t.block, cycle);
  see(t, launch);
  supervisor_.start_block(slot, cycle);
  changed();
}

unsigned resource_manager::take_warp(unsigned cta_slot, unsigned warp_in_block, unsigned partition, cycle_t cycle) {
  invariant(free_warps_[partition] != 0, "a warp was assigned to a sub-partition without a free warp slot");
  const unsigned slot = static_cast<unsigned>(__builtin_ctzll(free_warps_[partition]));
  free_warps_[partition] &= free_warps_[partition] - 1;
  const unsigned warp = slot * config_.sm.sub_partitions + partition;
  owner_[warp] = {cta_slot, warp_in_block};
  resident_block& b = blocks_[cta_slot];
  b.warps[warp_in_block] = narrow<std::uint8_t>(warp);
  b.transaction->warp_ids.push_back(b.warps[warp_in_block]);
  b.live |= std::uint64_t{1} << warp_in_block;
  ++resident_warps_;
  invariant(resident_warps_ <= config_.sm.max_warps, "an SM holds more warps than it has slots");
  launch_residency[b.launch->launch_id].enter(cycle);
  sm_residency.enter(cycle);
  occupancy.warp_entered(b.launch->launch_id, cycle);
  if (observer_ != nullptr) observer_->warp_entered(sm_id_, warp, cta_slot, warp_in_block, cycle);
  return warp;
}

std::uint64_t resource_manager::release_warp(unsigned warp, bool stores_left, std::uint64_t executed, cycle_t cycle) {
  const unsigned cta_slot = owner_[warp].cta_slot;
  resident_block& b = blocks_[cta_slot];
  b.live &= ~(std::uint64_t{1} << owner_[warp].warp);
  b.executed += executed;
  free_warps_[warp % config_.sm.sub_partitions] |= std::uint64_t{1} << (warp / config_.sm.sub_partitions);
  --resident_warps_;
  launch_residency[b.launch->launch_id].leave(cycle);
  sm_residency.leave(cycle);
  occupancy.warp_left(b.launch->launch_id, cycle);
  if (observer_ != nullptr) observer_->warp_left(sm_id_, warp, cycle);
  const std::uint64_t sequence = b.sequence;
  if (stores_left) ++b.unsettled;
  if (--b.warps_left != 0) {
    changed();
    return sequence;
  }
  occupancy.block_left(b.launch->launch_id, cycle);
  if (observer_ != nullptr) observer_->block_left(sm_id_, cta_slot, cycle);
  // The block is complete: informs the CWD, which counts the resources as free when the message has arrived.
  ++launch_residency[b.launch->launch_id].blocks;
  returned_.push_back({cycle + config_.cwd.dispatch_latency_cycles, std::move(b.allocation)});
  cta_transaction& t = *b.transaction;
  t.stores_left = b.unsettled != 0;
  t.executed = b.executed;
  block_counts* const counts = std::exchange(b.context.counts, nullptr);
  if (t.stores_left) unsettled_.push_back({sequence, &t, b.unsettled, counts});
  else if (counts != nullptr) counts->owner()->end_block(*counts);
  b.transaction = nullptr;
  --resident_blocks_;
  changed();
  notify_cwd(t, cta_phase::complete, cycle);
  return sequence;
}

void resource_manager::stores_settled(std::uint64_t sequence, cycle_t cycle) {
  for (resident_block& b : blocks_)
    if (b.transaction != nullptr && b.sequence == sequence) {
      --b.unsettled;
      return;
    }
  const auto left = std::find_if(unsettled_.begin(), unsettled_.end(),
                                 [&](const unsettled_block& u) { return u.sequence == sequence; });
  invariant(left != unsettled_.end(), "stores of no block were acknowledged");
  if (--left->warps != 0) return;
  cta_transaction& t = *left->transaction;
  if (left->counts != nullptr) left->counts->owner()->end_block(*left->counts);
  unsettled_.erase(left);
  notify_cwd(t, cta_phase::settled, cycle);
}

// Sends a message that reaches the CWD after the latency. The CWD may answer with another block, so the time window
// must end before that answer can arrive.
void resource_manager::notify_cwd(cta_transaction& t, cta_phase phase, cycle_t cycle) {
  const unsigned latency = config_.cwd.dispatch_latency_cycles;
  messages_.send({&t, phase, clock_.domain().delay_until(cycle + latency - 1)});
  clock_.domain().limit_window(cycle + 2 * cycle_t{latency});
}

void resource_manager::deliver(const message& m) {
  cta_phase phase = m.phase;
  sc_core::sc_time delay = m.delay;
  cta_socket->nb_transport_bw(*m.transaction, phase, delay);
}

resident_block resource_manager::swap_out(unsigned cta_slot, cycle_t cycle) {
  resident_block& b = blocks_[cta_slot];
  for (const unsigned in_block : set_bits(b.live)) {
    const unsigned warp = b.warps[in_block];
    free_warps_[warp % config_.sm.sub_partitions] |= std::uint64_t{1} << (warp / config_.sm.sub_partitions);
    --resident_warps_;
    launch_residency[b.launch->launch_id].leave(cycle);
    sm_residency.leave(cycle);
    occupancy.warp_left(b.launch->launch_id, cycle);
    if (observer_ != nullptr) observer_->warp_left(sm_id_, warp, cycle);
  }
  occupancy.block_left(b.launch->launch_id, cycle);
  if (observer_ != nullptr) observer_->block_left(sm_id_, cta_slot, cycle);
  returned_.push_back({cycle + config_.cwd.dispatch_latency_cycles, b.allocation});
  --resident_blocks_;
  resident_block saved = std::move(b);
  b = resident_block{};
  changed();
  constexpr std::uint8_t poison = 0xcd;
  std::fill(saved.shared.begin(), saved.shared.end(), poison);
  return saved;
}

void resource_manager::reserve(resident_block& b, cycle_t cycle) {
  take_returned(cycle);
  resources_.take_again(b.allocation);
}

bool resource_manager::warp_ids_free(const resident_block& b) const {
  for (const unsigned in_block : set_bits(b.live)) {
    const unsigned warp = b.warps[in_block];
    if ((free_warps_[warp % config_.sm.sub_partitions] >> (warp / config_.sm.sub_partitions) & 1) == 0) return false;
  }
  return true;
}

unsigned resource_manager::swap_in(resident_block back, cycle_t cycle) {
  const auto free =
      std::find_if(blocks_.begin(), blocks_.end(), [](const resident_block& b) { return b.transaction == nullptr; });
  invariant(free != blocks_.end(), "a block came back to an SM without a free CTA slot");
  invariant(warp_ids_free(back), "a block came back while others had its warp ids");
  const unsigned slot = static_cast<unsigned>(free - blocks_.begin());
  resident_block& b = *free;
  b = std::move(back);
  b.context.shared = b.shared.data();
  b.transaction->cta_slot = slot;
  ++resident_blocks_;
  occupancy.block_entered(b.launch->launch_id, b.most_blocks, b.launch->warps_per_block(), cycle);
  if (observer_ != nullptr) observer_->block_entered(sm_id_, slot, *b.launch, b.transaction->block, cycle);
  for (const unsigned in_block : set_bits(b.live)) {
    const unsigned warp = b.warps[in_block];
    free_warps_[warp % config_.sm.sub_partitions] &= ~(std::uint64_t{1} << (warp / config_.sm.sub_partitions));
    owner_[warp] = {slot, in_block};
    ++resident_warps_;
    invariant(resident_warps_ <= config_.sm.max_warps, "an SM holds more warps than it has slots");
    launch_residency[b.launch->launch_id].enter(cycle);
    sm_residency.enter(cycle);
    occupancy.warp_entered(b.launch->launch_id, cycle);
    if (observer_ != nullptr) observer_->warp_entered(sm_id_, warp, slot, in_block, cycle);
  }
  changed();
  return slot;
}

void resource_manager::report(context_transaction& t, cta_phase phase, cycle_t cycle) { notify_cwd(t, phase, cycle); }

void resource_manager::report_fault(const std::string& text, cycle_t latency, const fault_details& details) {
  if (failed_) return;  // only the first fault counts
  failed_ = true;
  fault_.fault = text;
  fault_.details = details;
  fault_.sm = sm_id_;
  messages_.send({&fault_, cta_phase::fault, clock_.domain().delay_until(clock_.cycle() + latency - 1)});
}

void resource_manager::restart() {
  invariant(idle() && unsettled_.empty(), "an SM with blocks was reset");
  resources_ = sm_resources(config_);
  returned_.clear();
  early_.clear();
  failed_ = false;
}

void resource_manager::check_invariants() const {
  resources_.check_invariants();
  occupancy.check_invariants();
  std::uint64_t shared = 0;
  unsigned blocks = 0, threads = 0;
  for (const resident_block& b : blocks_)
    if (b.transaction != nullptr) {
      shared += b.launch->shared_bytes;
      threads += b.launch->threads_per_block();
      ++blocks;
    }
  invariant(blocks == resident_blocks_ && blocks <= config_.sm.max_blocks, "an SM holds more blocks than CTA slots");
  invariant(shared <= config_.shared_memory.size_bytes, "an SM holds more shared memory than it has");
  invariant(threads <= config_.sm.max_threads, "an SM holds more threads than it can");
}

void resource_manager::update_signals() const {
  signals& l = *signals_;
  unsigned registers = 0, shared_bytes = 0, barriers = 0;
  for (std::size_t s = 0; s < blocks_.size(); ++s) {
    const resident_block& b = blocks_[s];
    l.slots[s].warps = b.transaction != nullptr ? static_cast<unsigned>(__builtin_popcountll(b.live)) : 0;
    if (b.transaction == nullptr) continue;
    l.slots[s].launch = b.launch->launch_id;
    l.slots[s].block = b.transaction->block;
    registers += b.allocation.registers_per_block;
    shared_bytes += b.allocation.shared_bytes;
    barriers += b.allocation.barriers;
  }
  l.free_cta_slots = static_cast<unsigned>(blocks_.size()) - resident_blocks_;
  l.free_registers = config_.sm.registers - registers;
  l.free_shared_bytes = config_.shared_memory.size_bytes - shared_bytes;
  l.free_barriers = config_.sm.barriers - barriers;
}

void resource_manager::trace(sc_core::sc_trace_file* file) const {
  if (!signals_) {
    signals_ = std::make_unique<signals>();
    signals_->slots.resize(blocks_.size());
    update_signals();
  }
  const std::string base(name());
  sc_core::sc_trace(file, resident_blocks_, base + ".resident_blocks");
  sc_core::sc_trace(file, resident_warps_, base + ".resident_warps");
  sc_core::sc_trace(file, signals_->free_cta_slots, base + ".free_cta_slots");
  sc_core::sc_trace(file, signals_->free_registers, base + ".free_registers");
  sc_core::sc_trace(file, signals_->free_shared_bytes, base + ".free_shared_bytes");
  if (config_.sm.barriers != 0) sc_core::sc_trace(file, signals_->free_barriers, base + ".free_barriers");
  for (std::size_t p = 0; p < free_warps_.size(); ++p)
    sc_core::sc_trace(file, free_warps_[p], base + ".free_warps" + std::to_string(p),
                      static_cast<int>(config_.sm.max_warps / config_.sm.sub_partitions));
  for (std::size_t s = 0; s < blocks_.size(); ++s) {
    const std::string slot = base + ".slot" + std::to_string(s);
    sc_core::sc_trace(file, signals_->slots[s].launch, slot + "_launch");
    sc_core::sc_trace(file, signals_->slots[s].block, slot + "_block");
    sc_core::sc_trace(file, signals_->slots[s].warps, slot + "_warps");
  }
}

}  // namespace heddle
