// SPDX-License-Identifier: MIT
#include "heddle/sub_partition/dependence/shared_lanes.h"

namespace heddle {

shared_lanes::shared_lanes(unsigned groups, unsigned general, unsigned users)
    : free_at_(groups, 0), asked_(users, 0), general_(general) {}

bool shared_lanes::may_have(std::size_t group, unsigned user, cycle_t cycle) const {
  if (free_at_[group] > cycle) return false;
  const std::size_t users = asked_.size();
  const std::size_t first = (cycle + group * users / free_at_.size()) % users;
  return first <= user || asked_[first] == 0 || asked_[first] + users <= cycle || asked_[first] == cycle + 1;
}

bool shared_lanes::grant(unsigned user, lane_use use, cycle_t cycle) {
  if (use == lane_use::none || (use == lane_use::general && general_ == 0)) return false;
  asked_[user] = cycle + 1;
  for (std::size_t k = use == lane_use::general ? free_at_.size() - general_ : 0; k < free_at_.size(); ++k) {
    if (!may_have(k, user, cycle)) continue;
    granted_ = k;
    return true;
  }
  return false;
}

}  // namespace heddle
