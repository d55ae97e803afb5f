// SPDX-License-Identifier: MIT
#include "heddle/observe/line_watch.h"

#include <algorithm>
#include <numeric>
#include <utility>

#include "heddle/gpu/cwd/grid_distributor.h"
#include "heddle/gpu/gpu.h"
#include "heddle/sm/sm.h"
#include "heddle/sub_partition/dependence/decoded_program.h"

namespace heddle {

std::uint64_t line_moment::warp_cycles() const {
  return std::accumulate(states.begin(), states.end(), std::uint64_t{0});
}

std::uint64_t line_moment::waits() const {
  return warp_cycles() - states[static_cast<std::size_t>(warp_stall::selected)];
}

line_watch::line_watch(gpu& g, code_line line, cycle_t cycles)
    : gpu_(g),
      line_(std::move(line)),
      step_(std::max<cycle_t>(cycles / samples, 1)),
      next_(step_),
      running_(g.cwd()),
      ended_(g.sm_count()),
      sms_(g.sm_count()) {
  g.core_clock().observe(*this);
}

line_watch::~line_watch() { gpu_.core_clock().ignore(*this); }

void line_watch::after_cycle() {
  if (gpu_.cycle() >= next_) {
    sample();
    next_ = (gpu_.cycle() / step_ + 1) * step_;
  }
  // Warps wait also in cycles in which no unit works.
  if (gpu_.cwd().blocks_completed() != gpu_.cwd().blocks_submitted()) gpu_.core_clock().sample_at(next_);
}

// Skips an SM that is restoring blocks, as interval_sampler does.
void line_watch::settle() {
  std::vector<bool> restoring(gpu_.sm_count());
  for (const auto& c : gpu_.cwd().context_switches())
    if (c->restore_cycle != 0 && c->resumed_cycle == 0) restoring[c->sm] = true;
  for (unsigned i = 0; i < gpu_.sm_count(); ++i)
    if (!restoring[i]) gpu_.sm_at(i).settle_accounts(gpu_.cycle());
}

void line_watch::sample() {
  settle();
  running_.update([this](std::uint32_t launch) { take(ended_, launch); });
  std::vector<counts> sums = ended_;
  for (const std::uint32_t launch : running_.all()) take(sums, launch);
  for (unsigned i = 0; i < sms_.size(); ++i) {
    sm_track& track = sms_[i];
    counts& grown = track.ring[number_ % samples];
    for (std::size_t s = 0; s < grown.size(); ++s) grown[s] = sums[i][s] - track.before[s];
    track.begins[number_ % samples] = last_;
    track.before = sums[i];
    judge(i, gpu_.cycle());
  }
  last_ = gpu_.cycle();
  ++number_;
}

// Adds what the launch's warps have spent with the line.
void line_watch::take(std::vector<counts>& sums, std::uint32_t launch) {
  for (unsigned i = 0; i < sms_.size(); ++i) {
    const launch_profile* profile = gpu_.sm_at(i).profiles.find(launch);
    if (profile == nullptr || profile->program() == nullptr) continue;
    for (const std::uint32_t pc : instructions_of(*profile->program())) {
      launch_ = launch;
      for (unsigned s = 0; s < sums[i].size(); ++s) sums[i][s] += profile->count(pc, launch_profile::what(s));
    }
  }
}

const std::vector<std::uint32_t>& line_watch::instructions_of(const decoded_program& program) {
  const auto [at, fresh] = instructions_.try_emplace(&program);
  if (!fresh) return at->second;
  for (std::uint32_t pc = 0; pc < program.code.size(); ++pc)
    if (line_.holds(*program.program, program.code[pc].instruction->line)) at->second.push_back(pc);
  return at->second;
}

void line_watch::judge(unsigned sm, cycle_t now) {
  const sm_track& track = sms_[sm];
  line_moment m;
  m.begin = number_ < samples ? 0 : track.begins[(number_ + 1) % samples];
  m.end = now;
  m.sm = sm;
  for (const counts& c : track.ring)
    for (std::size_t s = 0; s < c.size(); ++s) m.states[s] += c[s];
  const auto weight = [](const line_moment& l) { return std::make_pair(l.waits(), l.warp_cycles()); };
  if (weight(m) <= weight(worst_)) return;
  m.launch = launch_;
  worst_ = std::move(m);
}

line_moment line_watch::worst() {
  sample();
  if (worst_.warp_cycles() != 0) worst_.kernel = gpu_.cwd().grids()[worst_.launch].launch->program->kernel;
  return worst_;
}

}  // namespace heddle
