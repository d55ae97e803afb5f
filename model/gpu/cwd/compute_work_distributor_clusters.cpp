// SPDX-License-Identifier: MIT
// Thread block clusters: all blocks of a cluster are placed in one cycle, on SMs of one GPC.
#include <algorithm>
#include <numeric>

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

// Blocks of the grid, up to `most`, for which the SM has resources now.
std::uint64_t compute_work_distributor::room_on(unsigned sm, const grid_record& g, std::uint64_t most) const {
  sm_resources rest = accounts_[sm].room.free();
  std::uint64_t blocks = 0;
  for (; blocks < most && rest.fits(g.footprint); ++blocks) rest.take(g.footprint);
  return blocks;
}

// The grid's client has blocks on the SM.
bool compute_work_distributor::has_blocks(unsigned sm, const grid_record& g) const {
  const auto known = clients_.find(g.launch->client);
  return known != clients_.end() && known->second.blocks[sm] != 0;
}

// How many further SMs the grid's client may have blocks on.
std::uint64_t compute_work_distributor::new_sms_left(const grid_record& g) const {
  const auto known = clients_.find(g.launch->client);
  const std::uint32_t has = known == clients_.end() ? 0 : known->second.sms;
  return g.launch->client_sms - std::min(has, g.launch->client_sms);
}

// Blocks of the grid, up to a cluster's, that the SMs of each GPC accept now. A client with a share of the SMs may use
// those on which it has blocks, and so many others as the share leaves: the ones with most room.
std::vector<std::uint64_t> compute_work_distributor::room_of_gpcs(const grid_record& g) const {
  const std::uint64_t wanted = g.launch->cluster_blocks();
  std::vector<std::uint64_t> room(config_.gpu.gpc_count);
  std::vector<std::vector<std::uint64_t>> others(g.launch->client_sms != 0 ? room.size() : 0);
  for (unsigned sm = 0; sm < accounts_.size(); ++sm) {
    const unsigned gpc = places_[sm].gpc;
    if (room[gpc] >= wanted || !accepts(sm, g)) continue;
    const std::uint64_t own = room_on(sm, g, wanted);
    if (others.empty() || has_blocks(sm, g)) room[gpc] += own;
    else others[gpc].push_back(own);
  }
  for (std::size_t gpc = 0; gpc < others.size(); ++gpc) {
    std::sort(others[gpc].rbegin(), others[gpc].rend());
    others[gpc].resize(std::min<std::uint64_t>(others[gpc].size(), new_sms_left(g)));
    room[gpc] = std::accumulate(others[gpc].begin(), others[gpc].end(), room[gpc]);
  }
  return room;
}

// True if `blocks` blocks fit the GPC of `sm` within the share of the grid's client if the first of them is placed on
// `sm`.
bool compute_work_distributor::leaves_room(unsigned sm, const grid_record& g, std::uint64_t blocks) const {
  if (g.launch->client_sms == 0 || has_blocks(sm, g)) return true;  // of the GPC that has the room for them
  const std::uint64_t own = room_on(sm, g, blocks);
  std::uint64_t held = 0;
  std::vector<std::uint64_t> others;
  for (unsigned other = 0; other < accounts_.size() && own + held < blocks; ++other) {
    if (other == sm || places_[other].gpc != places_[sm].gpc || !accepts(other, g)) continue;
    const std::uint64_t room = room_on(other, g, blocks);
    if (has_blocks(other, g)) held += room;
    else others.push_back(room);
  }
  std::sort(others.rbegin(), others.rend());
  others.resize(std::min<std::uint64_t>(others.size(), new_sms_left(g) - 1));
  return std::accumulate(others.begin(), others.end(), own + held) >= blocks;
}

// The placement policy chooses the SM of the first block among those whose GPC takes the whole cluster, and the SMs of
// the others in that GPC. An SM's resources are independent of the other SMs', so any order of them fits, but for a
// client's share: each SM leaves room for the blocks that follow.
bool compute_work_distributor::dispatch_cluster(grid_record& g, std::vector<std::uint64_t>& resident, cycle_t cycle) {
  const std::uint64_t size = g.launch->cluster_blocks(), number = g.dispatched / size;
  const std::vector<std::uint64_t> room = room_of_gpcs(g);
  const auto sms = std::make_shared<std::vector<std::uint16_t>>(size);  // complete before the SMs read it
  int first = -1;
  for (std::uint64_t rank = 0; rank < size; ++rank) {
    const int sm = front_of(g).placement->choose(resident, [&](unsigned i) {
      const unsigned gpc = places_[i].gpc;
      const bool in_gpc = first < 0 ? room[gpc] >= size : gpc == places_[static_cast<unsigned>(first)].gpc;
      return in_gpc && accepts(i, g) && leaves_room(i, g, size - rank);
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

}  // namespace heddle
