// SPDX-License-Identifier: MIT
// The state of an SM and of its blocks in a state image.
#include <algorithm>

#include "heddle/config/error.h"
#include "heddle/sm/sm.h"
#include "heddle/tlm/kernel/state_image.h"

namespace heddle {

bool has_image(const sm& s) {
  if (!s.deadlock().empty() || s.resource_manager.failed()) return false;
  return std::none_of(s.partitions.begin(), s.partitions.end(), [](const sub_partition& p) { return p.halted(); });
}

void name_objects(sm& s, state_image& image, const launch_finder& launches) {
  if (!image.reading()) {
    s.load_store_unit.clear_undefined();
    for (sub_partition& p : s.partitions) p.memory.clear_undefined();
    if (s.tma != nullptr) s.tma->clear_undefined();
  }
  s.profiles.exchange(
      image, [&](std::uint32_t launch, launch_profile& profile) { profile.exchange(image, launches(launch)); });
  s.l1.name_objects(image);
  s.load_store_unit.name_objects(image);
  for (sub_partition& p : s.partitions) p.name_objects(image);
  s.context_engine.name_objects(image);
  s.instruction_port.name_objects(image);
  if (s.cluster_port != nullptr) s.cluster_port->name_objects(image);
  if (s.tma != nullptr) s.tma->name_objects(image);
}

void sm::exchange(state_image& image, const launch_finder& launches) {
  invariant((has_image(*this) && !clock.effects().holds_effects()) || image.reading(), "a checkpoint after a fault");
  image.part(name());
  image(shared_fp32_, l1_bytes_, resource_manager);
  for (sub_partition& p : partitions) p.exchange(image, launches);
  image(second_instruction_cache);
  for (class instruction_cache& cache : instruction_caches) image(cache);
  image(load_store_unit, shared_memory);
  l1.exchange(image);
  constant_cache.exchange(image);
  image(context_engine, instruction_port, barrier_unit);
  if (cluster_port != nullptr) image(*cluster_port);
  if (tma != nullptr) image(*tma);
}

void resident_block::exchange(state_image& image) {
  image(transaction, context.counts);  // the next block in a free slot ends the counts of the last one
  if (transaction == nullptr) return;
  image(launch, shared, allocation, warps, warps_left, live, most_blocks, sequence, unsettled, executed, released,
        waits_for_launch, context.sm_id);
  if (image.reading()) set_context(context.sm_id);
}

void resource_manager::exchange(state_image& image) {
  image.part(name());
  image.each(blocks_);
  for (resident_block& b : blocks_) image.name(&b.context);
  image.each(owner_);
  image.each(free_warps_);
  image(resources_, arrivals_, returned_, unsettled_, blocks_begun_, resident_blocks_, resident_warps_, launch_seen_,
        early_, launch_residency, sm_residency, occupancy);
}

void context_engine::name_objects(state_image& image) {
  lines_.exchange(image);
  lines_.each_in_use([&image](line_access& l) {
    image.name(&l.access);
    image.name(&l.transaction);
  });
}

void context_engine::exchange(state_image& image) {
  image.part(name());
  lines_.each_in_use([&image](line_access& l) {
    if (!image.reading() && l.transaction.kind == lsu_kind::load) l.transaction.clear_words(l.transaction.global_mask);
    image(l);
  });
  image(port_, base_, step_, current_, cta_slots_, context_, saved_, image_, next_word_, in_flight_);
}

}  // namespace heddle
