// SPDX-License-Identifier: MIT
#include "heddle/sub_partition/policies/two_level.h"

#include <algorithm>

namespace heddle {

namespace {
std::vector<std::uint64_t> neighbours(unsigned group_warps, unsigned slots) {
  std::vector<std::uint64_t> groups;
  const unsigned size = std::clamp(group_warps, 1u, slots);
  for (unsigned slot = 0; slot < slots; ++slot) {
    if (slot % size == 0) groups.push_back(0);
    groups.back() |= std::uint64_t{1} << slot;
  }
  return groups;
}
}  // namespace

two_level::two_level(const sub_partition_parameters& parameters, const policy_place& place)
    : two_level(neighbours(parameters.fetch_group_warps, place.slots)) {}

two_level::two_level(std::vector<std::uint64_t> groups) : groups_(std::move(groups)) {}

unsigned two_level::select(const warp_view& view) {
  for (std::size_t n = 0; n < groups_.size() && (groups_[active_] & resident_ & ~view.waiting) == 0; ++n)
    active_ = active_ + 1 < groups_.size() ? active_ + 1 : 0;
  std::uint64_t candidates = 0;
  for (std::size_t n = 0; candidates == 0; ++n) candidates = view.eligible & groups_[(active_ + n) % groups_.size()];
  const std::uint64_t after = last_ == 63 ? 0 : candidates & (~std::uint64_t{0} << (last_ + 1));
  last_ = static_cast<unsigned>(__builtin_ctzll(after ? after : candidates));
  return last_;
}

void two_level::placed(unsigned slot, std::uint64_t) { resident_ |= std::uint64_t{1} << slot; }

void two_level::removed(unsigned slot) { resident_ &= ~(std::uint64_t{1} << slot); }

template <>
std::unique_ptr<scheduling_policy> create_policy<choice::scheduler::two_level>(
    const sub_partition_parameters& parameters, const policy_place& place) {
  return std::make_unique<two_level>(parameters, place);
}

}  // namespace heddle
