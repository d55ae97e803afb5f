// SPDX-License-Identifier: MIT
// The state of a whole GPU in a state image.
#include "heddle/config/error.h"
#include "heddle/gpu/gpu.h"
#include "heddle/gpu/gpu_parts.h"
#include "heddle/tlm/kernel/state_image.h"

namespace heddle {

bool between_launches(const gpu& chip) {
  const gpu_parts& p = *chip.parts_;
  return p.core.in_step() && rests(p.host) && p.cwd->between_launches() && p.units_idle() && p.terminated.empty() &&
         p.resetting == gpu_parts::reset_step::none && !p.reset_line;
}

void exchange(gpu& chip, state_image& image) {
  gpu_parts& p = *chip.parts_;
  invariant(between_launches(chip) || image.reading(), "a checkpoint while launches run");
  image.part(chip.name());
  p.cwd->exchange(image);
  exchange(p.host, image);
  const auto launches = [&p](std::uint32_t launch) -> const resident_launch& {
    return *p.cwd->grids().at(launch).launch;
  };
  image.same(p.sms.size(), "SMs");
  for (sm& s : p.sms) s.exchange(image, launches);
  p.interconnect.exchange(image);
  if (p.sm_network != nullptr) p.sm_network->exchange(image);
  image.same(p.slices.size(), "L2 slices");
  for (l2_cache& s : p.slices) s.exchange(image);
  image.same(p.channels.size(), "channels");
  for (memory_model& c : p.channels) c.exchange(image);
  for (protocol_monitor& m : p.monitors) m.exchange(image);
  for (random_delay& d : p.delays) d.exchange(image);
  if (p.watch != nullptr) p.watch->exchange(image);
  // Last, since reading the others may wake units.
  p.core.exchange(image);
  p.l2_clock.exchange(image);
  p.dram_clock.exchange(image);
}

}  // namespace heddle
