// SPDX-License-Identifier: MIT
#include "heddle/gpu/cwd/policies/placement_policy.h"

namespace heddle {

/// Fills one SM before the next.
class depth_first : public placement_policy {
 public:
  int choose(const std::vector<std::uint64_t>& resident, const std::function<bool(unsigned)>& fits) override {
    for (unsigned sm = 0; sm < resident.size(); ++sm)
      if (fits(sm)) return static_cast<int>(sm);
    return -1;
  }
};

template <>
std::unique_ptr<placement_policy> create_placement_policy<choice::placement::depth_first>() {
  return std::make_unique<depth_first>();
}

}  // namespace heddle
