// SPDX-License-Identifier: MIT
#include "heddle/metrics/interval_sampler.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <numeric>

#include "heddle/config/error.h"
#include "heddle/gpu/cwd/grid_distributor.h"
#include "heddle/gpu/gpu.h"
#include "heddle/memory/dram/memory_model.h"
#include "heddle/metrics/collect.h"
#include "heddle/sm/sm.h"
#include "heddle/tlm/kernel/has_process.h"

namespace heddle {

interval_sampler::interval_sampler(gpu& g, const power_ledger* ledger)
    : sc_module(sc_core::sc_module_name("interval_sampler")), gpu_(g), running_(g.cwd()), energy_(g, ledger) {
  HEDDLE_HAS_PROCESS(interval_sampler);
  SC_METHOD(sample_memory);
  sensitive << memory_due_;
  dont_initialize();
  closed_.sms.resize(g.sm_count());
  g.core_clock().observe(*this);
}

interval_sampler::~interval_sampler() { gpu_.core_clock().ignore(*this); }

void interval_sampler::after_cycle() {
  // Cycles in which only an observer is active do not count, so that intervals do not depend on observers.
  if (gpu_.core_clock().busy_cycles() == busy_cycles_) return;
  busy_cycles_ = gpu_.core_clock().busy_cycles();
  close_ended();
  const cycle_t now = gpu_.cycle();
  const bool ran = blocks_run_;
  blocks_run_ = gpu_.cwd().blocks_completed() != gpu_.cwd().blocks_submitted();
  if (now < next_) {
    // Ends the interval when the last block has ended, so that activity before a long idle time is not averaged over
    // it.
    const cycle_t last = samples_.empty() ? 0 : samples_.back().cycle;
    if (now - last < step_ / 2 || !ran || blocks_run_) return;
  }
  const std::uint64_t restoring = settle();
  take();
  samples_.back().states[static_cast<std::size_t>(warp_stall::misc)] += restoring;
  if (samples_.size() >= most_samples) thin_out();
  // A sample costs as much as there are launches, so that it is taken less often where many run.
  next_ = (now / step_ + std::max<std::size_t>(1, running_.all().size() / launches_each_step)) * step_;
  // The memory clock's edge at this instant may precede or follow the core clock's. A delta cycle later both are over,
  // so the order has no effect.
  memory_due_.notify(sc_core::SC_ZERO_TIME);
}

void interval_sampler::sample_memory() {
  price_ended();
  if (!samples_.empty() && samples_.back().cycle == gpu_.cycle())
    take_memory(samples_.back(), closed_l2_joules_, of_running());
}

// Skips an SM that is restoring blocks: the instructions at which their warps wait are known only afterwards. Returns
// the warp-cycles that these blocks have spent so far.
std::uint64_t interval_sampler::settle() {
  std::vector<bool> restoring(gpu_.sm_count());
  std::uint64_t warp_cycles = 0;
  for (const auto& c : gpu_.cwd().context_switches()) {
    if (c->restore_cycle == 0 || c->resumed_cycle != 0) continue;
    restoring[c->sm] = true;
    for (const switched_block& b : c->blocks) warp_cycles += b.warp_ids.size() * (gpu_.cycle() - c->restore_cycle);
  }
  for (unsigned i = 0; i < gpu_.sm_count(); ++i)
    if (!restoring[i]) gpu_.sm_at(i).settle_accounts(gpu_.cycle());
  return warp_cycles;
}

// What the launch has done in SMs.
void interval_sampler::take_counts(sample& s, std::uint32_t launch) const {
  for (unsigned i = 0; i < gpu_.sm_count(); ++i)
    for (const auto& p : gpu_.sm_at(i).partitions)
      if (const issue_counters* c = p.account.counters.find(launch)) {
        s.instructions += c->inst_executed;
        s.sms[i].instructions += c->inst_executed;
        for (std::size_t n = 0; n < c->states.size(); ++n) s.states[n] += c->states[n];
      }
}

void interval_sampler::close_ended() {
  const std::vector<std::uint32_t>& ended = gpu_.cwd().end_order();
  if (closed_launches_ == ended.size()) return;
  sum_up();
  for (; closed_launches_ < ended.size(); ++closed_launches_) close(ended[closed_launches_]);
  memory_due_.notify(sc_core::SC_ZERO_TIME);
}

// Adds a launch that has ended to the sums that later samples begin with.
void interval_sampler::close(std::uint32_t launch) {
  if (sums_up_) {
    whole_.push_back(launch);
    whole_bytes_ += bytes_of_counts(launch);
  }
  take_counts(closed_, launch);
  if (!gpu_.config().energy.account) return;
  if (launch >= at_end_.size()) at_end_.resize(std::size_t{launch} + 1);
  at_end_[launch] = launch_in_sms(launch, closed_);
  at_end_[launch].known = true;
  just_ended_.push_back(launch);
}

// Of launches that have ended before.
void interval_sampler::sum_up() {
  std::function<sm_energies(std::uint32_t)> energies;
  if (gpu_.config().energy.account) energies = [this](std::uint32_t launch) { return energy_.instruction_pj(launch); };
  while (whole_bytes_ > most_whole_bytes && !whole_.empty()) {
    const std::uint32_t launch = whole_.front();
    const summing result = heddle::sum_up(gpu_, launch, energies);
    if (result == summing::later) return;
    if (result == summing::done) energy_.forget(launch);
    whole_.pop_front();
    whole_bytes_ -= bytes_of_counts(launch);
  }
}

// About: in each SM that may have had a block.
std::uint64_t interval_sampler::bytes_of_counts(std::uint32_t launch) const {
  constexpr std::uint64_t of_instruction = 200;
  const grid_record& grid = gpu_.cwd().grids()[launch];
  return of_instruction * grid.launch->program->code.size() * std::min<std::uint64_t>(grid.blocks(), gpu_.sm_count());
}

void interval_sampler::price_ended() {
  for (const std::uint32_t launch : just_ended_) {
    const shared_joules shared = energy_.shared(launch);
    at_end_[launch].shared_joules = shared.sum();
    closed_l2_joules_ += shared.l2;
  }
  just_ended_.clear();
}

// What the launch has spent in SMs, which is added to `s`, too.
interval_sampler::launch_energy interval_sampler::launch_in_sms(std::uint32_t launch, sample& s) {
  const grid_record& grid = gpu_.cwd().grids()[launch];
  const cycle_t until = grid.finished ? grid.end_cycle : std::max(gpu_.cycle(), grid.start_cycle);
  // An SM that is simulated ahead knows of blocks that end later.
  const double whole = energy_.static_time(until) - energy_.static_time(grid.start_cycle);
  launch_energy e;
  energy_.visit_sms(launch, [&](unsigned i, double joules, double requests, double active) {
    s.sms[i].joules += joules;
    s.request_joules += requests;
    e.sm_joules += joules + requests;
    e.active += std::min(whole, active);
  });
  return e;
}

// The same of a launch whose energy is known.
interval_sampler::launch_energy interval_sampler::known_in_sms(const energy_metrics& m, sample& s) {
  launch_energy e;
  e.active = m.active_cycles;
  for (const sm_joules& of : m.active_sms) {
    s.sms[of.sm].joules += of.dynamic;
    s.request_joules += of.requests;
    e.sm_joules += of.dynamic + of.requests;
  }
  return e;
}

void interval_sampler::take() {
  close_ended();
  running_.update([](std::uint32_t) {});
  sample s = closed_;
  s.cycle = gpu_.cycle();
  for (const std::uint32_t launch : running_.all()) take_counts(s, launch);
  take_energy(s, running_.all());
  samples_.push_back(std::move(s));
}

// Adds the energy that `launches` have spent in SMs.
void interval_sampler::take_energy(sample& s, const std::vector<std::uint32_t>& launches) {
  if (!gpu_.config().energy.account) return;
  s.launches.reserve(launches.size());
  for (const std::uint32_t launch : launches) {
    s.launches.push_back(launch_in_sms(launch, s));
    s.launches.back().launch = launch;
  }
  take_times(s);
}

void interval_sampler::take_times(sample& s) {
  s.time = energy_.time(s.cycle);
  s.static_time = energy_.static_time(s.cycle);
  energy_.active_times(s.cycle, s.active);
  for (double& active : s.active) active = std::min(s.static_time, active);
}

// Dynamic energies of the launches that run now.
std::vector<interval_sampler::shared_joules> interval_sampler::of_running() const {
  std::vector<shared_joules> all;
  if (!gpu_.config().energy.account) return all;
  for (const std::uint32_t launch : running_.all()) all.push_back(energy_.shared(launch));
  return all;
}

// What the memory system has done so far. `closed_l2_joules`: in the L2, for the launches that are not among those of
// the sample; `of_launches`: of these.
void interval_sampler::take_memory(sample& s, double closed_l2_joules,
                                   const std::vector<shared_joules>& of_launches) const {
  s.read_bytes = s.write_bytes = 0;
  for (unsigned i = 0; i < gpu_.channel_count(); ++i) {
    const per_launch<memory_counters>& counters = gpu_.channel_at(i).counters();
    for (std::uint32_t launch = 0; launch < counters.end(); ++launch)
      if (const memory_counters* c = counters.find(launch)) {
        s.read_bytes += c->read_bytes;
        s.write_bytes += c->write_bytes;
      }
  }
  if (!gpu_.config().energy.account) return;
  s.shared_joules = energy_.all_contexts() + energy_.of_dram_bytes(s.read_bytes, s.write_bytes) + closed_l2_joules;
  for (std::size_t n = 0; n < s.launches.size(); ++n) {
    s.shared_joules += of_launches[n].l2;
    s.launches[n].shared_joules = of_launches[n].sum();
  }
}

// Doubles the interval length and keeps the first sample of each interval.
void interval_sampler::thin_out() {
  while (samples_.size() > most_samples / 2) {
    step_ *= 2;
    cycle_t kept = 0;
    const auto superfluous = [&](const sample& s) {
      if (s.cycle / step_ <= kept) return true;
      kept = s.cycle / step_;
      return false;
    };
    samples_.erase(std::remove_if(samples_.begin(), samples_.end(), superfluous), samples_.end());
  }
}

void interval_sampler::sample::exchange(state_image& image) {
  image(cycle, instructions, read_bytes, write_bytes, states, sms, active, request_joules, shared_joules, time,
        static_time, launches);
}

void interval_sampler::exchange(state_image& image) {
  invariant(just_ended_.empty(), "a checkpoint while launches that have ended are priced");
  image.part(name());
  const std::uint64_t busy = gpu_.core_clock().busy_cycles();
  bool is_behind = busy_cycles_ != busy;
  image(step_, next_, is_behind, blocks_run_, samples_, running_, closed_, at_end_, closed_launches_, closed_l2_joules_,
        whole_, whole_bytes_);
  if (image.reading()) busy_cycles_ = is_behind ? busy - 1 : busy;
}

void interval_sampler::fill_so_far(run_metrics& m) {
  const std::vector<sample> kept = samples_;
  fill(m);
  samples_ = kept;
}

void interval_sampler::fill(run_metrics& m) {
  // Drops a sample of the current cycle, because accounts were settled after it.
  if (!samples_.empty() && samples_.back().cycle >= gpu_.cycle()) samples_.pop_back();
  take();
  price_ended();
  take_memory(samples_.back(), closed_l2_joules_, of_running());
  interval_series& to = m.intervals;
  sample zero;
  zero.sms.resize(gpu_.sm_count());
  const sample* before = &zero;
  cycle_t last_end = 0;  // the run lasts at least as long as its launches
  for (const kernel_metrics& k : m.kernels) last_end = std::max(last_end, k.end_cycle);
  for (const sample& s : samples_) {
    const bool active =
        s.states != before->states || s.read_bytes + s.write_bytes != before->read_bytes + before->write_bytes;
    const bool first = to.end_cycles.empty();
    if (&s == &samples_.back() && !active && (s.cycle == 0 || (!first && last_end <= to.end_cycles.back()))) break;
    to.end_cycles.push_back(s.cycle);
    to.inst_executed.push_back(s.instructions - before->instructions);
    to.dram_read_bytes.push_back(s.read_bytes - before->read_bytes);
    to.dram_write_bytes.push_back(s.write_bytes - before->write_bytes);
    state_counts grown;
    for (unsigned n = 0; n < s.states.size(); ++n) add_state(grown, n, s.states[n] - before->states[n]);
    to.warp_states.push_back({grown.stalls});
    for (std::size_t i = 0; i < m.sms.size(); ++i)
      m.sms[i].inst_executed_over_time.push_back(s.sms[i].instructions - before->sms[i].instructions);
    before = &s;
  }
  if (gpu_.config().energy.account && !to.end_cycles.empty()) fill_power(m, to.end_cycles.size());
}

// The run's energy up to the last interval's end, and that of each interval. What launches cost after they had ended,
// such as fills that came late, is in the last one.
void interval_sampler::fill_power(run_metrics& m, std::size_t intervals) {
  energy_.end_run(m.energy, m.intervals.end_cycles.back());
  sample& last = samples_[intervals - 1];
  for (sm_sums& of : last.sms) of.joules = 0;
  last.request_joules = 0;
  last.launches.assign(gpu_.cwd().grids().size(), {});  // a launch that has not started has spent nothing
  std::vector<shared_joules> shared(last.launches.size());
  for (const kernel_metrics& k : m.kernels) {
    last.launches[k.launch] = known_in_sms(k.energy, last);
    const joules_by<energy_unit>& units = k.energy.by_unit;
    shared[k.launch] = {units[energy_unit::l2], units[energy_unit::dram], units[energy_unit::context]};
  }
  take_times(last);
  take_memory(last, 0, shared);
  const energy_parameters& p = energy_.prices();
  m.power.sm_watts.resize(gpu_.sm_count());
  sample zero;
  zero.sms.resize(gpu_.sm_count());
  zero.active.resize(gpu_.sm_count());
  const sample* before = &zero;
  double sum = 0;
  for (std::vector<double>& sm : m.power.sm_watts) sm.resize(intervals);
  std::vector<double> of_sm(gpu_.sm_count());
  for (std::size_t n = 0; n < intervals; ++n) {
    const sample& s = samples_[n];
    const double seconds = energy_.seconds(s.time - before->time);
    const double powered = energy_.seconds(s.static_time - before->static_time);
    double joules = s.shared_joules - before->shared_joules + s.request_joules - before->request_joules +
                    p.constant_watts * seconds;
    for (std::size_t i = 0; i < of_sm.size(); ++i) {
      const double active = energy_.seconds(s.active[i] - before->active[i]);
      // A sample may miss the cycle in which the SM's first warp came, so that the next interval has one active cycle
      // more than cycles: the idle ones are then -1, and the sum is right.
      const double sm =
          s.sms[i].joules - before->sms[i].joules + p.active_sm_watts * active + p.idle_sm_watts * (powered - active);
      m.power.sm_watts[i][n] = sm / seconds;
      of_sm[i] += sm;
      joules += sm;
    }
    m.power.joules.push_back(joules);
    m.power.watts.push_back(joules / seconds);
    if (m.energy.capped()) m.power.clock_mhz.push_back(energy_.mean_clock_mhz(before->cycle, s.cycle));
    sum += joules;
    before = &s;
  }
  invariant(std::abs(sum - m.energy.total_joules) <= 1e-9 * m.energy.total_joules,
            "the energies of the intervals differ from the run's");
  for (const sm_joules& s : m.energy.active_sms)
    invariant(std::abs(of_sm[s.sm] - s.total) <= 1e-9 * m.energy.total_joules,
              "an SM's energies of the intervals differ from those of the run");
  for (kernel_metrics& k : m.kernels) fill_launch_power(k, last.launches[k.launch], intervals);
}

// Energy of a launch up to `cycle`, at which it had `e`, its static energy included.
double interval_sampler::joules_until(cycle_t cycle, const launch_energy& e, cycle_t start) const {
  const energy_parameters& p = energy_.prices();
  const double seconds = energy_.seconds(energy_.time(cycle) - energy_.time(start));
  const double powered = energy_.seconds(gpu_.sm_count() * (energy_.static_time(cycle) - energy_.static_time(start)));
  const double active = std::min(energy_.seconds(e.active), powered);
  return e.sm_joules + e.shared_joules + p.constant_watts * seconds + p.active_sm_watts * active +
         p.idle_sm_watts * (powered - active);
}

// The launch's energy in each interval from that of its first block to that of its end, and what it spent after its
// end. `now`: what it has spent by now.
void interval_sampler::fill_launch_power(kernel_metrics& k, const launch_energy& now, std::size_t intervals) const {
  if (!k.energy.known) return;
  const energy_parameters& p = energy_.prices();
  // A sample may be a cycle before or after what the SMs have counted.
  const double one_cycle = energy_.seconds(gpu_.sm_count() * (p.active_sm_watts + p.idle_sm_watts));
  const launch_energy& at_end = k.launch < at_end_.size() && at_end_[k.launch].known ? at_end_[k.launch] : now;
  const double whole = joules_until(k.end_cycle, at_end, k.start_cycle);
  double before = 0;
  const auto first = std::upper_bound(samples_.begin(), samples_.begin() + static_cast<std::ptrdiff_t>(intervals - 1),
                                      k.start_cycle, [](cycle_t c, const sample& s) { return c < s.cycle; });
  for (auto n = static_cast<std::size_t>(first - samples_.begin()); n < intervals; ++n) {
    const sample& s = samples_[n];
    const auto running = std::find_if(s.launches.begin(), s.launches.end(),
                                      [&k](const launch_energy& e) { return e.launch == k.launch; });
    const bool last = n + 1 == intervals || running == s.launches.end();
    const double until = last ? whole : joules_until(s.cycle, *running, k.start_cycle);
    invariant(until - before >= -1e-9 * k.energy.total_joules - one_cycle, "the energy of a kernel falls");
    if (k.joules_over_time.empty()) k.first_interval = n;
    k.joules_over_time.push_back(until - before);
    before = until;
    if (last) break;
  }
  // The total is the sum of all counters, priced one by one; the intervals are differences of shorter sums.
  k.energy.after_end_joules = (now.sm_joules - at_end.sm_joules) + (now.shared_joules - at_end.shared_joules);
  const double sum = std::accumulate(k.joules_over_time.begin(), k.joules_over_time.end(), k.energy.after_end_joules);
  invariant(std::abs(sum - k.energy.total_joules) <= 1e-9 * k.energy.total_joules,
            "the energies of a kernel's intervals differ from the kernel's");
  invariant(k.energy.after_end_joules >= -1e-9 * k.energy.total_joules, "the energy of a kernel falls after its end");
}

}  // namespace heddle
