// SPDX-License-Identifier: MIT
// Models: the named barriers of the blocks resident on an SM, and the blocks' parts of the barriers of their clusters.
// Sockets: none; the SM forwards arrivals and resumes the warps that a completed barrier releases.
// One cycle: an arrival completes its barrier when all live warps of the block (or the given count) have arrived; with
//   independent lanes, when all live threads (or the given count) have.
// Parameters: sm.barriers_per_block, sm.max_blocks, sub_partition.divergence. Source: PTX ISA, bar and barrier.
#pragma once

#include <cstdint>
#include <string>
#include <systemc>
#include <vector>

#include "heddle/sm/block_barriers.h"
#include "heddle/sm/cluster_arrivals.h"
#include "heddle/tlm/kernel/state_image.h"

namespace heddle {

class barrier_unit : public sc_core::sc_module {
 public:
  using outcome = barrier_outcome;

  barrier_unit(sc_core::sc_module_name name, const gpu_config& config);

  /// Assigns the CTA slot to a block of `warps` warps with `threads` threads.
  void open(unsigned cta_slot, unsigned warps, unsigned threads) {
    blocks_[cta_slot].open(warps, threads);
    clusters_[cta_slot].open(threads);
  }
  /// Saves the barrier state of the block in the CTA slot to a context, or restores it; `of_cluster`: its program uses
  /// the barrier of its cluster, too.
  void exchange(unsigned cta_slot, simt::context_image& image, bool of_cluster) {
    blocks_[cta_slot].exchange(image);
    if (of_cluster) clusters_[cta_slot].exchange(image);
  }
  void exchange(state_image& image) {
    image(completed);
    image.each(blocks_);
    if (has_clusters_) image.each(clusters_);
  }
  /// The part of the block in the CTA slot of the barrier of its cluster.
  [[nodiscard]] cluster_arrivals& cluster(unsigned cta_slot) { return clusters_[cta_slot]; }
  /// The functions of block_barriers, for the block in the CTA slot.
  outcome arrive(unsigned cta_slot, unsigned warp, const isa::instruction& bar, const simt::warp_state& state,
                 simt::lane_mask mask, std::string& error) {
    return counted(blocks_[cta_slot].arrive(rules_, warp, bar, state, mask, error));
  }
  void exited(unsigned cta_slot, unsigned warp, simt::lane_mask lanes, bool last) {
    blocks_[cta_slot].exited(warp, lanes, last);
  }
  outcome after_exit(unsigned cta_slot) { return counted(blocks_[cta_slot].after_exit(rules_)); }
  [[nodiscard]] std::uint64_t waiting(unsigned cta_slot) const { return blocks_[cta_slot].waiting(); }
  [[nodiscard]] bool deadlocked(unsigned cta_slot) const { return blocks_[cta_slot].stuck(rules_); }
  [[nodiscard]] unsigned waits_at(unsigned cta_slot, unsigned warp) const {
    return (clusters_[cta_slot].waiting() >> warp & 1) != 0 ? simt::cluster_barrier : blocks_[cta_slot].waits_at(warp);
  }

  void trace(sc_core::sc_trace_file* file) const override;
  std::uint64_t completed = 0;  // barriers completed

 private:
  outcome counted(outcome o) {
    completed += o.completed;
    return o;
  }
  barrier_rules rules_;
  const bool has_clusters_;
  std::vector<block_barriers> blocks_;
  std::vector<cluster_arrivals> clusters_;
};

}  // namespace heddle
