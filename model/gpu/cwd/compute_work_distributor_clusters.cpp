// SPDX-License-Identifier: MIT
// Thread block clusters: all blocks of a cluster are placed in one cycle, on SMs of one GPC.
#include <algorithm>

#include "heddle/config/error.h"
#include "heddle/gpu/cwd/compute_work_distributor.h"

namespace heddle {

// The `rank`-th block, x fastest, of the `cluster`-th cluster of the grid, as its linear index in the grid.
std::uint64_t compute_work_distributor::block_of_cluster(const grid_record& g, std::uint64_t cluster,
                                                         std::uint64_t rank) {
  const simt::dim3& size = g.launch->cluster;
  const simt::dim3& grid = g.launch->grid;
  const std::uint64_t across = grid.x / size.x, down = grid.y / size.y;
  const std::uint64_t x = cluster % across * size.x + rank % size.x;
  const std::uint64_t y = cluster / across % down * size.y + rank / size.x % size.y;
  const std::uint64_t z = cluster / across / down * size.z + rank / size.x / size.y;
  return (z * grid.y + y) * grid.x + x;
}

// Blocks of the grid, up to a cluster's, that the SMs of each GPC accept now.
std::vector<std::uint64_t> compute_work_distributor::room_of_gpcs(const grid_record& g) const {
  const std::uint64_t wanted = g.launch->cluster_blocks();
  std::vector<std::uint64_t> room(config_.gpu.gpc_count);
  for (unsigned sm = 0; sm < accounts_.size(); ++sm) {
    if (room[places_[sm].gpc] >= wanted || !accepts(sm, g)) continue;
    sm_resources rest = accounts_[sm].room.free();
    for (; room[places_[sm].gpc] < wanted && rest.fits(g.footprint); ++room[places_[sm].gpc]) rest.take(g.footprint);
  }
  return room;
}

// The placement policy chooses the SM of the first block among those whose GPC takes the whole cluster, and the SMs of
// the others in that GPC. An SM's resources are independent of the other SMs', so any order of them fits.
bool compute_work_distributor::dispatch_cluster(grid_record& g, std::vector<std::uint64_t>& resident, cycle_t cycle) {
  const std::uint64_t size = g.launch->cluster_blocks(), number = g.dispatched / size;
  const std::vector<std::uint64_t> room = room_of_gpcs(g);
  const auto sms = std::make_shared<std::vector<std::uint16_t>>(size);  // complete before the SMs read it
  int first = -1;
  for (std::uint64_t rank = 0; rank < size; ++rank) {
    const int sm = front_of(g).placement->choose(resident, [&](unsigned i) {
      return first < 0 ? room[places_[i].gpc] >= size && accepts(i, g)
                       : places_[i].gpc == places_[static_cast<unsigned>(first)].gpc && accepts(i, g);
    });
    if (sm < 0 && first < 0) return false;
    invariant(sm >= 0, "a cluster did not fit the GPC that had room for it");
    if (first < 0) first = sm;
    ++resident[static_cast<unsigned>(sm)];
    (*sms)[rank] = narrow<std::uint16_t>(sm);
    dispatch(g, block_of_cluster(g, number, rank), static_cast<unsigned>(sm), cycle, sms);
  }
  return true;
}

bool compute_work_distributor::holds_cluster(unsigned sm) const {
  return std::any_of(blocks_.all().begin(), blocks_.all().end(),
                     [&](const auto& b) { return b->resident && b->sm == sm && b->launch->cluster_blocks() > 1; });
}

}  // namespace heddle
