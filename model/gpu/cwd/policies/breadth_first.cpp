// SPDX-License-Identifier: MIT
#include "heddle/gpu/cwd/policies/placement_policy.h"

namespace heddle {

/// Places blocks on the SMs in round-robin order.
class breadth_first : public placement_policy {
 public:
  int choose(const std::vector<std::uint64_t>& resident, const std::function<bool(unsigned)>& fits) override {
    const unsigned n = static_cast<unsigned>(resident.size());
    for (unsigned k = 0; k < n; ++k) {
      const unsigned sm = (next_ + k) % n;
      if (!fits(sm)) continue;
      next_ = (sm + 1) % n;
      return static_cast<int>(sm);
    }
    return -1;
  }
  unsigned served_before(unsigned sm, unsigned sms, unsigned most,
                         const std::function<bool(unsigned)>& fits) const override {
    unsigned n = 0;
    for (unsigned i = next_; i != sm && n < most; i = i + 1 == sms ? 0 : i + 1) n += fits(i);
    return n;
  }

  void exchange(state_image& image) override { image(next_); }

 private:
  unsigned next_ = 0;
};

template <>
std::unique_ptr<placement_policy> create_placement_policy<choice::placement::breadth_first>() {
  return std::make_unique<breadth_first>();
}

}  // namespace heddle
