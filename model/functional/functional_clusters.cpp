// SPDX-License-Identifier: MIT
// Clusters without timing: their barrier, and shared memory of other blocks.
#include <algorithm>

#include "heddle/config/error.h"
#include "heddle/functional/functional_block.h"
#include "heddle/functional/functional_executor.h"
#include "heddle/functional/lanes_by_space.h"
#include "heddle/isa/set_bits.h"
#include "heddle/simt/execute.h"
#include "heddle/simt/warp/divergence.h"

namespace heddle {

functional_executor::pause functional_executor::at_cluster_barrier(block& b, warp& x, const isa::instruction& i,
                                                                   simt::lane_mask mask) {
  simt::warp_state& w = x.state;
  b.cluster.exited(w.warp_in_block, ~w.live);
  release_cluster(b);
  if (i.op == isa::opcode::ucgabar_arv) {
    b.cluster.arrive(w.warp_in_block, mask);
    release_cluster(b);
    simt::advance(w);
    return pause::none;
  }
  const simt::lane_mask stop = b.cluster.wait(w.warp_in_block, mask);
  if (stop == 0) {
    simt::advance(w);
    return pause::none;
  }
  if (w.independent) simt::wait_at_barrier(w, stop, simt::cluster_barrier);
  x.waits = !w.independent || w.active == 0;
  return x.waits ? pause::waits : pause::none;
}

// A phase ends when the threads of all blocks that have not exited have arrived.
void functional_executor::release_cluster(block& b) {
  b.at_cluster_barrier = b.at_cluster_barrier || b.cluster.complete();
  functional_cluster alone;
  if (b.siblings == nullptr) alone.blocks = {&b};
  const std::vector<block*>& blocks = b.siblings != nullptr ? b.siblings->blocks : alone.blocks;
  const auto live = [](const block* x) { return !x->ended && x->cluster.live(); };
  const auto waits = [&](const block* x) { return !live(x) || x->at_cluster_barrier; };
  if (!std::all_of(blocks.begin(), blocks.end(), waits) || std::none_of(blocks.begin(), blocks.end(), live)) return;
  for (block* const x : blocks) {
    if (!live(x)) continue;
    x->at_cluster_barrier = false;
    barrier_outcome o;
    o.release = x->cluster.release();
    o.barrier = simt::cluster_barrier;
    o.completed = true;
    completes(*x, o);
    release(*x, o);
  }
}

functional_executor::block& functional_executor::block_of_rank(block& b, std::uint32_t rank, unsigned lane) {
  if (rank == b.context.cluster_rank) return b;
  const std::uint32_t blocks = launch_->cluster_blocks();
  bad_lane_ = lane;
  if (b.siblings == nullptr || rank >= blocks)
    throw program_error("shared memory of block rank " + std::to_string(rank) + " of a cluster of " +
                        std::to_string(blocks) + " blocks was accessed (lane " + std::to_string(lane) + ")");
  block& other = *b.siblings->blocks[rank];
  if (other.ended)
    throw program_error("shared memory of block " + std::to_string(other.number) +
                        ", which has ended, was accessed (lane " + std::to_string(lane) + ")");
  return other;
}

// The block that an address in shared memory names.
functional_executor::block& functional_executor::block_at(block& b, std::uint32_t address, unsigned lane) {
  const std::uint32_t place = address >> isa::cluster_offset_bits;
  return place == 0 ? b : block_of_rank(b, place - 1, lane);
}

// Performs the accesses to shared memory of other blocks, and returns their lanes. Addresses that name the block itself
// become offsets.
simt::lane_mask functional_executor::access_others(block& b, warp& x, simt::lane_mask mask, std::uint64_t* addresses,
                                                   const isa::instruction& i) {
  const lanes_by_block lanes(mask, addresses, b.context.cluster_rank);
  if (lanes.others == 0) return 0;
  alignas(64) std::uint32_t words[simt::operand_words][isa::warp_size];
  if (i.op != isa::opcode::ld) simt::lane_store_data(i, x.state, words);
  for (simt::lane_mask left = lanes.others; left != 0;) {
    std::uint32_t rank = 0;
    const simt::lane_mask some = lanes.next(left, addresses, rank);
    std::uint64_t offsets[isa::warp_size];
    for (const unsigned l : set_bits(some)) offsets[l] = addresses[l] & isa::cluster_offset_mask;
    const block& other = block_of_rank(b, rank, static_cast<unsigned>(__builtin_ctz(some)));
    simt::remote_shared_access(i, other.context, some, offsets, words, bad_lane_);
  }
  if (i.op == isa::opcode::ld || i.op == isa::opcode::atom) simt::lane_write_back(i, x.state, lanes.others, words);
  return lanes.others;
}

}  // namespace heddle
