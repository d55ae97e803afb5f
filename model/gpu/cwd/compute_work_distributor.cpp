// SPDX-License-Identifier: MIT
#include "heddle/gpu/cwd/compute_work_distributor.h"

#include <algorithm>
#include <cmath>

#include "heddle/config/error.h"
#include "heddle/sm/resource_manager.h"

namespace heddle {

compute_work_distributor::compute_work_distributor(sc_core::sc_module_name name, clock_domain& clock,
                                                   const gpu_config& config, grid_observer& observer)
    : grid_distributor(name, config),
      config_(config),
      observer_(observer),
      clock_(clock, *this),
      places_(places_of_sms(config)),
      partition_of_sm_(partitions_of_sms(config)),
      fronts_(config.partitions.size() + 1),
      switcher_(config_, clock_, records(), observer, *this),
      room_maker_(config_, records(), switcher_, *this),
      may_be_early_(compute_capability(config) >= 90) {
  for (front_end& f : fronts_) f.placement = make_placement_policy(config.cwd.placement);
  accounts_.reserve(config.gpu.sm_count);
  for (unsigned i = 0; i < config.gpu.sm_count; ++i) {
    accounts_.emplace_back(config);
    cta_socket[i].bind(*this);
  }
}

compute_work_distributor::~compute_work_distributor() = default;

void compute_work_distributor::submit(std::shared_ptr<const resident_launch> launch) {
  const cycle_t now = clock_.cycle();
  grid_record g;
  g.launch = std::move(launch);
  g.footprint = accounts_.front().room.free().footprint(demand_of(*g.launch));
  g.doorbell_cycle = now;
  g.ready_cycle = now + config_.cwd.launch_latency_cycles;
  const std::uint32_t id = g.launch->launch_id;
  invariant(id == grids_.size(), "launch numbers are not consecutive");
  blocks_submitted_ += g.blocks();
  const unsigned partition = g.launch->partition;
  if (sample_error_ > 0) g.sampler = sampler_of(*g.launch);
  stream_of(g).push_back(id);
  ++unfinished_;
  with_runtime_ += calls_runtime(*g.launch);
  clock_.wake_at(std::max(g.ready_cycle, now + 1));
  grids_.push_back(std::move(g));
  refresh_candidates(partition);
}

void compute_work_distributor::refresh_candidates(unsigned partition) {
  front_end& f = fronts_[partition];
  ++f.candidate_lists;
  f.candidates.clear();
  for (auto& [stream, launches] : f.streams) {
    if (launches.empty()) continue;
    f.candidates.push_back(launches.front());
    if (launches.size() > 1) admit_early(f, launches);
  }
  std::sort(f.candidates.begin(), f.candidates.end(), [this](std::uint32_t a, std::uint32_t b) {
    const auto pa = grids_[a].launch->priority, pb = grids_[b].launch->priority;
    return pa != pb ? pa > pb : a < b;
  });
  // One of which blocks are left out has begun alone, and ends alone.
  for (const std::uint32_t id : f.candidates)
    if (grids_[id].left_out != 0) f.candidates = {id};
  if (f.candidates.size() > config_.cwd.max_resident_grids) f.candidates.resize(config_.cwd.max_resident_grids);
  f.blocked = false;
  for (const std::uint32_t id : f.candidates) {
    if (grids_[id].resident) continue;
    grids_[id].resident = true;
    observer_.grid_resident(grids_[id]);
  }
}

tlm::tlm_sync_enum compute_work_distributor::nb_transport_bw(cta_transaction& t, cta_phase& phase,
                                                             sc_core::sc_time& delay) {
  const cycle_t at = clock_.domain().arrival(delay);
  arrivals_.push_back({at, &t, phase});
  clock_.wake_at(at);
  return tlm::TLM_ACCEPTED;
}

void compute_work_distributor::on_cycle(cycle_t cycle) {
  if (halted_) return;
  take_arrivals(cycle);
  if (halted_) return;
  switcher_.drive_groups(cycle);
  if (abandoning_) return drive_abandonment(cycle);
  if (switcher_.is_busy()) switcher_.drive(cycle);
  if (!terminated_.empty()) {
    switcher_.drop_terminated(cycle);
    end_terminated(cycle);
  }
  for (front_end& f : fronts_) run(f, cycle);
  schedule(cycle);
}

void compute_work_distributor::run(front_end& f, cycle_t cycle) {
  take_late_ends(f, cycle);
  // Blocks of a grid that becomes ready may fit where blocks of other grids do not.
  for (const std::uint32_t id : f.candidates)
    if (grids_[id].ready_cycle == cycle) f.blocked = false;
  while (cycle >= f.next_dispatch && !f.blocked) {
    if (const std::uint64_t blocks = dispatch_next(f, cycle); blocks != 0) take_time(f, blocks, cycle);
    else f.blocked = true;
  }
  if (f.blocked) room_maker_.make_room(f.candidates, cycle);
}

// The CWD processes the end of a block before it sends the one that follows it. While it sends none, it processes
// ends.
void compute_work_distributor::take_time(front_end& f, std::uint64_t blocks, cycle_t cycle) const {
  const double now = static_cast<double>(cycle), sent = static_cast<double>(blocks);
  const double interval = config_.cwd.dispatch_interval_cycles, end_interval = config_.cwd.end_interval_cycles;
  // Fractions of a cycle are kept while dispatches are back to back.
  if (f.dispatch_free + 1 <= now) {
    if (end_interval > 0) f.ends = std::max(0.0, f.ends - (now - f.dispatch_free) / end_interval);
    f.dispatch_free = now;
  }
  const double ends = std::min(f.ends, sent);
  f.ends -= ends;
  f.dispatch_free += (sent - ends) * interval + ends * std::max(interval, end_interval);
  f.next_dispatch = static_cast<cycle_t>(std::ceil(f.dispatch_free - std::max(0.0, 1 - interval)));
}

// Arrivals of one cycle are processed by SM number, independent of the order in which the SMs sent them.
void compute_work_distributor::take_arrivals(cycle_t cycle) {
  std::stable_sort(arrivals_.begin(), arrivals_.end(), [](const arrival& a, const arrival& b) {
    return a.cycle != b.cycle ? a.cycle < b.cycle : a.transaction->sm < b.transaction->sm;
  });
  std::size_t n = 0;
  for (; n < arrivals_.size() && arrivals_[n].cycle <= cycle; ++n) {
    cta_transaction& t = *arrivals_[n].transaction;
    switch (arrivals_[n].phase) {
      case cta_phase::complete: complete(static_cast<block_in_flight&>(t), cycle); break;
      case cta_phase::settled: settled(static_cast<block_in_flight&>(t), cycle); break;
      case cta_phase::released: released(static_cast<block_in_flight&>(t)); break;
      case cta_phase::saved: switcher_.saved(static_cast<context_in_flight&>(t), cycle); break;
      case cta_phase::resumed: switcher_.resumed(static_cast<context_in_flight&>(t), cycle); break;
      case cta_phase::ready: switcher_.ready(static_cast<context_in_flight&>(t), cycle); break;
      case cta_phase::fault:
        if (abandoning_) break;
        halted_ = true;
        return observer_.program_fault_with(t.fault, t.details);
      default: throw internal_error(std::string(name()) + ": an SM sent what only the CWD may send");
    }
  }
  arrivals_.erase(arrivals_.begin(), arrivals_.begin() + static_cast<std::ptrdiff_t>(n));
}

void compute_work_distributor::complete(block_in_flight& b, cycle_t cycle) {
  sm_account& a = accounts_[b.sm];
  front_end& f = front_of(b.sm);
  a.room.give_back(b.allocation);
  --a.blocks;
  count_client(*b.launch, b.sm, false);
  b.resident = b.sent_early = false;
  switcher_.block_completed(b, cycle);
  f.blocked = false;
  ++blocks_completed_;
  grid_record& g = grids_[b.launch->launch_id];
  ++f.ends;
  f.ends_free = std::max(f.ends_free, static_cast<double>(cycle));
  g.ends_cycle = static_cast<cycle_t>(f.ends_free);
  f.ends_free += config_.cwd.end_interval_cycles;
  g.block_cycles += cycle - b.since;
  g.longest_block = std::max(g.longest_block, cycle - b.since);
  ++g.completed;
  if (g.sampler != nullptr) sample(g, b, cycle);
  b.recording.reset();
  released(b);
  if (b.stores_left) ++g.unsettled;
  else blocks_.give_back(b);
  finish_if_done(g, cycle);
}

void compute_work_distributor::settled(block_in_flight& b, cycle_t cycle) {
  grid_record& g = grids_[b.launch->launch_id];
  --g.unsettled;
  blocks_.give_back(b);
  finish_if_done(g, cycle);
}

// A grid is finished when all its blocks are complete, all its stores are acknowledged and the launch before it in its
// stream, which may still run, is finished.
void compute_work_distributor::finish_if_done(grid_record& g, cycle_t cycle) {
  if (!g.done() || g.finished || abandoning_) return;
  auto& stream = stream_of(g);
  if (stream.front() != g.launch->launch_id) return;
  if (g.ends_cycle > cycle) return front_of(g).late_ends.push_back(g.launch->launch_id);
  if (g.sampler != nullptr && !end_left_out(g, cycle)) return;
  end(g, cycle);
  g.abandoned = g.terminated;
  with_runtime_ -= calls_runtime(*g.launch);
  stream.pop_front();
  grid_record* const next = stream.empty() ? nullptr : &grids_[stream.front()];
  // The stream's next launch waited for this one, if it has not begun: its launch latency begins now.
  if (next == nullptr) front_of(g).streams.erase(g.launch->stream_key());
  else if (next->early) meet_prerequisite(*next, cycle);
  else next->ready_cycle = std::max(next->ready_cycle, cycle + config_.cwd.launch_latency_cycles);
  refresh_candidates(g.launch->partition);
  observer_.grid_finished(g, cycle);
  if (next != nullptr) finish_if_done(*next, cycle);
}

// Ends grids whose last blocks' ends have waited for others.
void compute_work_distributor::take_late_ends(front_end& f, cycle_t cycle) {
  std::vector<std::uint32_t> due;
  for (const std::uint32_t id : f.late_ends)
    if (grids_[id].ends_cycle <= cycle) due.push_back(id);
  if (due.empty()) return;
  f.late_ends.erase(std::remove_if(f.late_ends.begin(), f.late_ends.end(),
                                   [&](std::uint32_t id) { return grids_[id].ends_cycle <= cycle; }),
                    f.late_ends.end());
  for (const std::uint32_t id : due) finish_if_done(grids_[id], cycle);
}

bool compute_work_distributor::may_use(unsigned sm, const grid_record& g) const {
  const resident_launch& l = *g.launch;
  if (partition_of_sm_[sm] != l.partition) return false;
  if (l.client_sms == 0) return true;
  const auto known = clients_.find(l.client);
  return known == clients_.end() || known->second.sms < l.client_sms || known->second.blocks[sm] != 0;
}

// An SM accepts no new block during a context switch or while blocks that have left it are due to return, and no block
// of a grid that has blocks switched out of it.
bool compute_work_distributor::accepts(unsigned sm, const grid_record& g) const {
  const sm_account& a = accounts_[sm];
  if (a.switching || a.draining != nullptr || !a.requests.empty()) return false;
  // Blocks that wait for the launch before keep no place from blocks that it may need.
  if (g.early && !a.swapped_out.empty()) return false;
  for (const context_in_flight* c : a.swapped_out) {
    if (switcher_.wanted_back(a, *c, clock_.cycle())) return false;
    for (const switched_block& b : c->blocks)
      if (b.launch == g.launch->launch_id) return false;
  }
  return a.room.free().fits(g.footprint) && may_use(sm, g);
}

std::uint64_t compute_work_distributor::dispatch_next(const front_end& f, cycle_t cycle) {
  std::vector<std::uint64_t> resident(accounts_.size());
  for (std::size_t i = 0; i < accounts_.size(); ++i) resident[i] = accounts_[i].blocks;
  for (const std::uint32_t id : f.candidates) {
    grid_record& g = grids_[id];
    if (g.waiting() == 0 || g.ready_cycle > cycle) continue;
    if (g.launch->cluster_blocks() > 1) {
      if (dispatch_cluster(g, resident, cycle)) return g.launch->cluster_blocks();
      continue;
    }
    const int sm = f.placement->choose(resident, [&](unsigned i) { return accepts(i, g); });
    if (sm < 0) continue;
    dispatch(g, g.dispatched, static_cast<unsigned>(sm), cycle);
    return 1;
  }
  return 0;
}

void compute_work_distributor::dispatch(grid_record& g, std::uint64_t block, unsigned sm, cycle_t cycle,
                                        std::shared_ptr<const std::vector<std::uint16_t>> cluster_sms) {
  block_in_flight& b = blocks_.take();
  b.launch = g.launch.get();
  b.block = block;
  ++blocks_placed_;
  b.sm = sm;
  b.cluster_sms = std::move(cluster_sms);
  b.recording = std::move(g.next_block);
  b.fault.clear();
  b.allocation = accounts_[sm].room.take(g.footprint);
  b.since = cycle;
  b.resident = true;
  b.early = b.sent_early = g.early;
  b.wants_released = true;
  b.released = false;
  if (accounts_[sm].blocks++ == 0) accounts_[sm].slice_start = cycle;
  count_client(*g.launch, sm, true);
  const unsigned latency = config_.cwd.dispatch_latency_cycles;
  if (g.dispatched == 0 && g.sampler != nullptr) sampled_l2_->launch_begins();
  if (g.dispatched++ == 0) g.start_cycle = cycle + latency;
  if (g.waiting() == 0) all_dispatched(g, cycle);
  cta_phase phase = cta_phase::dispatch;
  sc_core::sc_time delay = clock_.domain().delay_until(cycle + latency - 1);
  cta_socket[sm]->nb_transport_fw(b, phase, delay);
  observer_.block_dispatched(g);
}

void compute_work_distributor::all_dispatched(const grid_record& g, cycle_t cycle) {
  if (g.dispatched != 0) dispatch_order_.push_back(g.launch->launch_id);
  switcher_.all_dispatched(g.launch->launch_id, cycle);
}

void compute_work_distributor::preempt(const preempt_request& request) {
  for (const unsigned sm : request.sms) switcher_.ask(sm, request.mode, clock_.cycle(), request.resume_after);
}

void compute_work_distributor::send(context_in_flight& c, cta_phase phase, cycle_t cycle) {
  sc_core::sc_time delay = clock_.domain().delay_until(cycle + config_.cwd.dispatch_latency_cycles - 1);
  cta_socket[c.sm]->nb_transport_fw(c, phase, delay);
}

bool compute_work_distributor::waits_for_time(cycle_t now) const {
  return switcher_.waits_for_time(now) || std::any_of(fronts_.begin(), fronts_.end(), [&](const front_end& f) {
           return std::any_of(f.candidates.begin(), f.candidates.end(), [&](std::uint32_t id) {
             return grids_[id].ready_cycle > now && grids_[id].ready_cycle != never;
           });
         });
}

void compute_work_distributor::schedule(cycle_t cycle) {
  cycle_t at = never;
  for (const arrival& a : arrivals_) at = std::min(at, a.cycle);
  bool blocked = false;
  for (const front_end& f : fronts_) {
    blocked = blocked || f.blocked;
    for (const std::uint32_t id : f.late_ends) at = std::min(at, grids_[id].ends_cycle);
    for (const std::uint32_t id : f.candidates) {
      const grid_record& g = grids_[id];
      if (g.waiting() == 0) continue;
      if (g.ready_cycle > cycle) {
        at = std::min(at, g.ready_cycle);
      } else if (!f.blocked) {
        at = std::min(at, std::max(f.next_dispatch, cycle + 1));
      }
    }
  }
  if (switcher_.is_busy()) at = std::min(at, switcher_.next(cycle));
  if (blocked && config_.context.time_slice_cycles != 0)
    for (const sm_account& a : accounts_)
      if (context_switcher::may_be_asked(a) && switcher_.slice_end(a) > cycle)
        at = std::min(at, switcher_.slice_end(a));
  if (at != never) clock_.wake_at(at);
}

void compute_work_distributor::check_invariants() const {
  std::uint64_t completed = 0;
  for (const grid_record& g : grids_) {
    invariant(g.completed + g.dropped <= g.dispatched && g.dispatched <= g.blocks(), "a grid ran a block twice");
    invariant(!g.finished || g.abandoned || g.completed == g.blocks() - g.left_out,
              "a grid finished before its blocks");
    invariant(g.completed <= g.released && g.released <= g.dispatched, "a grid released its dependents twice");
    completed += g.completed;
  }
  invariant(completed == blocks_completed_, "blocks were lost between the CWD and the SMs");
  for (const sm_account& a : accounts_) a.room.free().check_invariants();
}

void compute_work_distributor::trace(sc_core::sc_trace_file* file) const {
  const std::string base(name());
  sc_core::sc_trace(file, unfinished_, base + ".grids");
  sc_core::sc_trace(file, blocks_submitted_, base + ".blocks_submitted");
  sc_core::sc_trace(file, blocks_placed_, base + ".blocks_placed");
  sc_core::sc_trace(file, blocks_completed_, base + ".blocks_completed");
  if (may_be_early_) sc_core::sc_trace(file, early_grids_, base + ".early_grids");
  for (std::size_t i = 0; i < accounts_.size(); ++i)
    sc_core::sc_trace(file, accounts_[i].blocks, base + ".sm" + std::to_string(i) + "_blocks");
}

}  // namespace heddle
