// SPDX-License-Identifier: MIT
// The SM's part of the barriers of thread block clusters.
#include "heddle/config/error.h"
#include "heddle/isa/set_bits.h"
#include "heddle/sm/sm.h"

namespace heddle {

// With a reconvergence stack, lanes that exit before the rest of their warp are noticed here.
void sm::cluster_arrive(unsigned warp, simt::lane_mask mask, cycle_t cycle) {
  const unsigned cta_slot = resource_manager.cta_slot_of(warp), in_block = resource_manager.warp_in_block(warp);
  cluster_arrivals& arrivals = barrier_unit.cluster(cta_slot);
  arrivals.exited(in_block, ~partition_of(warp).warp(slot_of(warp)).live);
  arrivals.arrive(in_block, mask);
  cluster_progress(cta_slot, cycle);
}

bool sm::cluster_wait(unsigned warp, simt::lane_mask mask, cycle_t cycle) {
  const unsigned cta_slot = resource_manager.cta_slot_of(warp), in_block = resource_manager.warp_in_block(warp);
  cluster_arrivals& arrivals = barrier_unit.cluster(cta_slot);
  arrivals.exited(in_block, ~partition_of(warp).warp(slot_of(warp)).live);
  cluster_progress(cta_slot, cycle);
  const simt::lane_mask stop = arrivals.wait(in_block, mask);
  if (stop != 0 && independent_) partition_of(warp).waits.stop_at_barrier(slot_of(warp), stop, simt::cluster_barrier);
  return stop != 0;
}

void sm::cluster_exited(unsigned cta_slot, unsigned warp_in_block, simt::lane_mask lanes, cycle_t cycle) {
  const resident_block& b = resource_manager.block(cta_slot);
  if (!b.launch->program->cluster_barrier) return;
  cluster_arrivals& arrivals = barrier_unit.cluster(cta_slot);
  arrivals.exited(warp_in_block, lanes);
  if (arrivals.live()) cluster_progress(cta_slot, cycle);
  else if (b.launch->cluster_blocks() > 1) send_to_cluster(b, cluster_phase::leave, cycle);
}

// The others are dropped, too: its cluster's barrier is forgotten.
void sm::dropped(const resident_block& b, cycle_t cycle) {
  if (b.launch->program->cluster_barrier && b.launch->cluster_blocks() > 1)
    send_to_cluster(b, cluster_phase::leave, cycle);
}

// A cluster of one block needs no other.
void sm::cluster_progress(unsigned cta_slot, cycle_t cycle) {
  if (!barrier_unit.cluster(cta_slot).complete()) return;
  const resident_block& b = resource_manager.block(cta_slot);
  if (b.launch->cluster_blocks() > 1) send_to_cluster(b, cluster_phase::arrive, cycle);
  else cluster_release(cta_slot, cycle + config_.sm.barrier_latency_cycles);
}

void sm::send_to_cluster(const resident_block& b, cluster_phase phase, cycle_t cycle) {
  invariant(cluster_port != nullptr, "a block of a cluster came to an SM without a port to other SMs");
  const resident_launch& l = *b.launch;
  const simt::dim3& i = b.context.index;
  cluster_transaction t;
  t.launch = l.launch_id;
  t.cluster =
      (std::uint64_t{i.z / l.cluster.z} * (l.grid.y / l.cluster.y) + i.y / l.cluster.y) * (l.grid.x / l.cluster.x) +
      i.x / l.cluster.x;
  t.blocks = l.cluster_blocks();
  t.rank = rank_in_cluster(l, i);
  t.sm = id_;
  t.sequence = b.sequence;
  l1.other_traffic[l.launch_id].cluster_flits += cluster_port->send(t, phase, cycle);
}

// A block whose threads have all exited since it arrived is no longer there.
void sm::cluster_released(std::uint64_t sequence, cycle_t cycle) {
  for (unsigned slot = 0; slot < resource_manager.cta_slots(); ++slot) {
    const resident_block& b = resource_manager.block(slot);
    if (b.transaction != nullptr && b.sequence == sequence) return cluster_release(slot, cycle + 1);
  }
}

void sm::cluster_release(unsigned cta_slot, cycle_t cycle) {
  const resident_block& b = resource_manager.block(cta_slot);
  for (const unsigned in_block : set_bits(barrier_unit.cluster(cta_slot).release())) {
    const unsigned warp = b.warps[in_block];
    partition_of(warp).waits.resume_from_barrier(slot_of(warp), simt::cluster_barrier, cycle);
  }
  ++barrier_unit.completed;
}

}  // namespace heddle
