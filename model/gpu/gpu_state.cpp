// SPDX-License-Identifier: MIT
// The state of a whole GPU in a state image.
#include <algorithm>

#include "heddle/config/error.h"
#include "heddle/gpu/gpu.h"
#include "heddle/gpu/gpu_parts.h"
#include "heddle/tlm/kernel/state_image.h"

namespace heddle {

bool has_image(const gpu& chip) {
  const gpu_parts& p = chip.parts();
  const auto all_idle = [](const auto& units) {
    return std::all_of(units.begin(), units.end(), [](const auto& u) { return u.idle(); });
  };
  const auto of_sm = [](const sm& s) { return has_image(s); };
  const auto of_slice = [](const l2_cache& s) { return s.has_image(); };
  return p.core.in_step() && rests(p.host) && p.cwd->has_image() && p.interconnect.has_image() &&
         std::all_of(p.sms.begin(), p.sms.end(), of_sm) && std::all_of(p.slices.begin(), p.slices.end(), of_slice) &&
         all_idle(p.delays) && all_idle(p.monitors) && all_idle(p.splitters) && p.flushes.in_use() == 0 &&
         p.terminated.empty() && p.resetting == gpu_parts::reset_step::none && !p.reset_line;
}

void exchange(gpu& chip, state_image& image) {
  gpu_parts& p = chip.parts();
  invariant(has_image(chip) || image.reading(), "a checkpoint while the GPU cannot be described");
  image.part(chip.name());
  p.cwd->exchange(image);
  exchange(p.host, image);
  const auto launches = [&p](std::uint32_t launch) -> const resident_launch& {
    return *p.cwd->grids().at(launch).launch;
  };
  // All objects in flight have names before any pointer to them is described.
  image.same(p.sms.size(), "SMs");
  image.same(p.slices.size(), "L2 slices");
  name_bulk_instructions(image);
  image.name(&p.interconnect);
  for (sm& s : p.sms) name_objects(s, image, launches);
  for (l2_cache& s : p.slices) s.name_objects(image);
  for (sm& s : p.sms) s.exchange(image, launches);
  p.interconnect.exchange(image);
  if (p.sm_network != nullptr) p.sm_network->exchange(image);
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
