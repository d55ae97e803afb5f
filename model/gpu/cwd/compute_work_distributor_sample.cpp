// SPDX-License-Identifier: MIT
// Launches of which blocks are left out (block_sampler.h). When the simulated ones have ended, the host executes the
// others without timing, and the launch ends.
#include "heddle/gpu/cwd/block_sampler.h"
#include "heddle/gpu/cwd/compute_work_distributor.h"
#include "heddle/occupancy/clusters.h"
#include "heddle/occupancy/occupancy.h"
#include "heddle/sm/resource_manager.h"

namespace heddle {

std::shared_ptr<block_sampler> compute_work_distributor::sampler_of(const resident_launch& launch) const {
  const unsigned blocks_per_sm = compute(config_, demand_of(launch)).blocks_per_sm;
  const std::uint64_t together = launch.cluster_blocks();
  const std::uint64_t wave = together > 1 ? max_active_clusters(config_, blocks_per_sm, together) * together
                                          : std::uint64_t{blocks_per_sm} * config_.gpu.sm_count;
  auto s = std::make_shared<block_sampler>(sample_error_, launch.blocks(), wave, *sampled_l2_);
  if (launch.programmatic || launch.partition != 0 || launch.client_sms != 0) s->close();
  return s;
}

bool compute_work_distributor::has_several_streams() const {
  std::size_t streams = 0;
  for (const front_end& f : fronts_) streams += f.streams.size();
  return streams > 1;
}

// Other launches beside it, and blocks that leave their SMs, would count as the launch's own time.
void compute_work_distributor::sample(grid_record& g, const block_in_flight& b, cycle_t cycle) {
  if (g.left_out == 0 && (has_several_streams() || early_grids_ != 0 || switcher_.is_busy())) g.sampler->close();
  g.sampler->block_ended(cycle, cycle - b.since, b.recording != nullptr ? b.recording->records() : b.executed);
  if (g.waiting() == 0) return g.sampler->close();
  if (g.left_out != 0) return;
  g.left_out = g.sampler->needless(g.dispatched);
  if (g.left_out == 0) return;
  blocks_submitted_ -= g.left_out;
  if (g.waiting() == 0) all_dispatched(g, cycle);
  refresh_candidates(g.launch->partition);
}

// False: the program has failed in the blocks that were left out.
bool compute_work_distributor::end_left_out(grid_record& g, cycle_t cycle) {
  std::optional<executed_blocks> rest = executed_blocks();
  if (g.left_out != 0 && !g.terminated) rest = observer_.execute_left_out(g);
  if (!rest) return false;
  g.next_block.reset();
  g.sample = g.sampler->estimate(g.left_out, *rest, cycle - g.start_cycle, has_left_out_);
  has_left_out_ |= g.left_out != 0;
  if (g.left_out == 0) return true;
  // Launches of other streams have waited: their launch latency begins now.
  for (const auto& [stream, launches] : front_of(g).streams)
    if (stream != g.launch->stream_key() && !launches.empty()) {
      grid_record& other = grids_[launches.front()];
      other.ready_cycle = std::max(other.ready_cycle, cycle + config_.cwd.launch_latency_cycles);
    }
  return true;
}

}  // namespace heddle
