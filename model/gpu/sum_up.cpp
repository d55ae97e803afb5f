// SPDX-License-Identifier: MIT
// Launches that have ended are kept as sums.
#include <algorithm>

#include "heddle/gpu/gpu.h"
#include "heddle/gpu/gpu_parts.h"
#include "heddle/sub_partition/account/ended_profile.h"

namespace heddle {

namespace {

// The energy that flushed blocks have spent is computed from the counts of each SM.
bool was_preempted(const grid_distributor& cwd, std::uint32_t launch) {
  const auto& switches = cwd.context_switches();
  return std::any_of(switches.begin(), switches.end(), [launch](const auto& c) {
    return std::any_of(c->blocks.begin(), c->blocks.end(),
                       [launch](const switched_block& b) { return b.launch == launch; });
  });
}

}  // namespace

summing sum_up(gpu& chip, std::uint32_t launch, const std::function<sm_energies(std::uint32_t)>& pj_of) {
  gpu_parts& p = chip.parts();
  const grid_record& grid = p.cwd->grids().at(launch);
  if (!grid.finished || grid.terminated || grid.abandoned || grid.ended != nullptr) return summing::never;
  if (grid.launch->cluster_blocks() > 1 || was_preempted(*p.cwd, launch)) return summing::never;
  if (!std::all_of(p.sms.begin(), p.sms.end(), [launch](const sm& s) { return settled(s, launch); }))
    return summing::later;
  launch_code code;
  for (const sm& s : p.sms)
    if (const launch_profile* profile = s.profiles.find(launch)) code.add(*profile);
  p.cwd->keep(launch, std::make_shared<const ended_profile>(code, pj_of ? pj_of(launch) : sm_energies()));
  for (sm& s : p.sms) drop_profile(s, launch);
  return summing::done;
}

}  // namespace heddle
