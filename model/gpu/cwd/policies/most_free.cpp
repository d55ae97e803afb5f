// SPDX-License-Identifier: MIT
#include "heddle/gpu/cwd/policies/placement_policy.h"

namespace heddle {

/// Chooses the SM with the fewest resident blocks; ties: the lowest number.
class most_free : public placement_policy {
 public:
  int choose(const std::vector<std::uint64_t>& resident, const std::function<bool(unsigned)>& fits) override {
    int best = -1;
    for (unsigned sm = 0; sm < resident.size(); ++sm)
      if ((best < 0 || resident[sm] < resident[static_cast<unsigned>(best)]) && fits(sm)) best = static_cast<int>(sm);
    return best;
  }
};

template <>
std::unique_ptr<placement_policy> create_placement_policy<choice::placement::most_free>() {
  return std::make_unique<most_free>();
}

}  // namespace heddle
