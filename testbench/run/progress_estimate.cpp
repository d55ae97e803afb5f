// SPDX-License-Identifier: MIT
#include "testbench/run/progress_estimate.h"

#include <algorithm>

#include "heddle/frontend/sass_trace/replay/trace_file.h"
#include "heddle/isa/opcode.h"
#include "testbench/job/job.h"

namespace heddle::testbench {

namespace {

constexpr double speed_seconds = 20;  // window over which the speed is measured

std::uint64_t product(const std::uint32_t (&d)[3]) { return std::uint64_t{d[0]} * d[1] * d[2]; }

void add(job_plan& plan, const std::vector<operation>& operations, std::uint64_t times) {
  for (const operation& op : operations) {
    if (op.what == operation::kind::repeat) {
      // The number of iterations depends on data: one is certain.
      plan.open |= !op.while_nonzero.empty();
      add(plan, op.body, op.while_nonzero.empty() ? times * op.max : times);
      continue;
    }
    if (op.position >= plan.launches.size()) plan.launches.resize(op.position + 1);
    if (op.what != operation::kind::kernel) continue;
    launch_plan& l = plan.launches[op.position];
    l.times = times;
    if (op.recording) {
      l.blocks = std::max<std::uint64_t>(op.recording->blocks(), 1);
      l.instructions = op.recording->warp_instructions();
      if (l.instructions == 0) l.kernel = op.recording->kernel();
      continue;
    }
    l.kernel = op.kernel;
    l.blocks = product(op.grid);
    l.warps_per_block = (product(op.block) + isa::warp_size - 1) / isa::warp_size;
  }
}

}  // namespace

job_plan plan_of(const job& j) {
  job_plan plan;
  add(plan, j.operations, 1);
  return plan;
}

// Block cycles of the running blocks are the block cycles spent on SMs minus those of completed blocks.
double progress_estimate::whole_blocks(std::uint64_t cycle, const grid_progress& g) {
  const std::uint64_t running = g.dispatched - g.completed;
  const auto found = ages_.emplace(g.launch, age{g.start_cycle, running, 0}).first;
  age& a = found->second;
  const std::uint64_t since = std::max(a.cycle, g.start_cycle);
  if (cycle > since)
    a.block_cycles += 0.5 * static_cast<double>(a.running + running) * static_cast<double>(cycle - since);
  a.cycle = cycle;
  a.running = running;
  if (g.completed == 0) return 0;
  const double mean = std::max(1.0, static_cast<double>(g.block_cycles) / static_cast<double>(g.completed));
  const double young = std::max(0.0, a.block_cycles - static_cast<double>(g.block_cycles)) / mean;
  return static_cast<double>(g.completed) + std::min(young, static_cast<double>(running));
}

void progress_estimate::add_rest(const std::string& kernel, double warps) {
  if (warps <= 0) return;
  const auto found = kernels_.find(kernel);
  if (found == kernels_.end() || found->second.warps == 0) {
    more_ = true;
    return;
  }
  left_ = std::max(left_, 0.0) + warps * found->second.instructions / found->second.warps;
}

void progress_estimate::update(std::uint64_t cycle, const run_progress& p, const std::vector<unsigned>& positions,
                               double wall_seconds) {
  speed_.push_back({wall_seconds, static_cast<double>(p.warp_instructions)});
  while (speed_.size() > 2 && speed_[1].seconds < wall_seconds - speed_seconds) speed_.pop_front();
  kernels_.clear();
  left_ = -1;
  more_ = plan_.open;
  blocks_ = 0;
  std::vector<std::uint64_t> made(plan_.launches.size());
  std::vector<std::pair<const launch_plan*, double>> rests;  // warps
  for (const grid_progress& g : p.grids) {
    if (g.launch >= positions.size() || positions[g.launch] >= made.size()) continue;
    const launch_plan& l = plan_.launches[positions[g.launch]];
    ++made[positions[g.launch]];
    blocks_ += g.blocks;
    if (l.instructions != 0) {
      left_ =
          std::max(left_, 0.0) + static_cast<double>(l.instructions - std::min(l.instructions, g.warp_instructions));
      continue;
    }
    const double whole = g.finished ? static_cast<double>(g.blocks) : whole_blocks(cycle, g);
    if (g.finished) ages_.erase(g.launch);
    const double warps = static_cast<double>(l.warps_per_block);
    if (whole > 0) {
      measured& m = kernels_[l.kernel];
      m.instructions += static_cast<double>(g.warp_instructions);
      m.warps += whole * warps;
    }
    if (!g.finished) rests.emplace_back(&l, (static_cast<double>(g.blocks) - whole) * warps);
  }
  for (const auto& [l, warps] : rests) add_rest(l->kernel, warps);
  for (std::size_t i = 0; i < made.size(); ++i) {
    const launch_plan& l = plan_.launches[i];
    const std::uint64_t to_come = l.times - std::min(l.times, made[i]);
    blocks_ += to_come * l.blocks;
    if (l.instructions != 0) left_ = std::max(left_, 0.0) + static_cast<double>(to_come * l.instructions);
    else add_rest(l.kernel, static_cast<double>(to_come * l.blocks * l.warps_per_block));
  }
}

double progress_estimate::seconds_left() const {
  if (left_ < 0) return -1;
  const double done = speed_.back().instructions - speed_.front().instructions,
               seconds = speed_.back().seconds - speed_.front().seconds;
  return done > 0 && seconds > 0 ? left_ * seconds / done : -1;
}

}  // namespace heddle::testbench
