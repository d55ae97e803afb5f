// SPDX-License-Identifier: MIT
#include "heddle/simt/scalar/topics.h"
#include "heddle/simt/warp/lane_loop.h"

namespace heddle::simt {

namespace {

using isa::instruction;
using isa::special;

/// Coordinates of the warp's threads in the block, counted up from the first lane's.
void thread_coordinates(const warp_state& w, unsigned axis, std::uint32_t* out) {
  const dim3& size = w.block->launch->block;
  const std::uint32_t first = w.thread(0);
  const std::uint32_t width = size.x == 0 ? 1 : size.x;
  const std::uint32_t height = size.y == 0 ? 1 : size.y;
  std::uint32_t x = first % width;
  std::uint32_t y = first / width % height;
  std::uint32_t z = first / width / height;
  for (unsigned l = 0; l < warp_size; ++l) {
    out[l] = axis == 0 ? x : axis == 1 ? y : z;
    if (++x == width) {
      x = 0;
      if (++y == height) {
        y = 0;
        ++z;
      }
    }
  }
}

/// Special registers with the same value in all lanes.
std::uint64_t uniform_value(special s, const warp_state& w) {
  const block_context& block = *w.block;
  const launch_context& launch = *block.launch;
  switch (s) {
    case special::ntid_x: return launch.block.x;
    case special::ntid_y: return launch.block.y;
    case special::ntid_z: return launch.block.z;
    case special::ctaid_x: return block.index.x;
    case special::ctaid_y: return block.index.y;
    case special::ctaid_z: return block.index.z;
    case special::nctaid_x: return launch.grid.x;
    case special::nctaid_y: return launch.grid.y;
    case special::nctaid_z: return launch.grid.z;
    case special::cluster_ctaid_x: return block.index.x % launch.cluster.x;
    case special::cluster_ctaid_y: return block.index.y % launch.cluster.y;
    case special::cluster_ctaid_z: return block.index.z % launch.cluster.z;
    case special::cluster_ctarank: return rank_in_cluster(launch, block.index);
    case special::clusterid_x: return block.index.x / launch.cluster.x;
    case special::clusterid_y: return block.index.y / launch.cluster.y;
    case special::clusterid_z: return block.index.z / launch.cluster.z;
    case special::warpid: return w.slot;
    case special::nwarpid: return launch.warps_per_sm;
    case special::smid: return block.sm_id;
    case special::nsmid: return launch.sm_count;
    case special::gridid: return launch.launch_id;
    case special::clock: return w.clock_low;
    case special::clock_hi: return w.cycle >> 32;
    case special::clock64: return w.cycle;
    case special::globaltimer: return w.time_ns;
    case special::total_smem_size: return launch.shared_bytes;
    case special::dynamic_smem_size: return launch.dynamic_shared_bytes;
    default: return 0;
  }
}

std::uint32_t lane_value(special s, unsigned l) {
  const std::uint32_t bit = lane_bit[l];
  switch (s) {
    case special::laneid: return l;
    case special::lanemask_eq: return bit;
    case special::lanemask_lt: return bit - 1;
    case special::lanemask_le: return bit | (bit - 1);
    case special::lanemask_gt: return ~(bit | (bit - 1));
    default: return ~(bit - 1);
  }
}

void s2r(const instruction& i, warp_state& w, lane_mask mask) {
  alignas(64) std::uint32_t v[warp_size];
  const auto s = static_cast<special>(i.sub);
  if (s <= special::tid_z) {
    thread_coordinates(w, i.sub, v);
  } else if (s == special::laneid || (s >= special::lanemask_eq && s <= special::lanemask_ge)) {
    for (unsigned l = 0; l < warp_size; ++l) v[l] = lane_value(s, l);
  } else {
    const std::uint64_t value = uniform_value(s, w);
    if (i.dst_count > 1) {
      HEDDLE_EACH_LANE(l) v[l] = static_cast<std::uint32_t>(value >> 32);
      write_lanes(i, w, mask, v, 1);
    }
    HEDDLE_EACH_LANE(l) v[l] = static_cast<std::uint32_t>(value);
  }
  write_lanes(i, w, mask, v);
}

}  // namespace

execute_function select_special_register(const instruction& i) { return i.op == isa::opcode::s2r ? s2r : nullptr; }

}  // namespace heddle::simt
