// SPDX-License-Identifier: MIT
#include "heddle/gpu/cwd/placement_policy.h"

#include "heddle/config/error.h"

namespace heddle {

namespace {

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

 private:
  unsigned next_ = 0;
};

/// Fills one SM before the next.
class depth_first : public placement_policy {
 public:
  int choose(const std::vector<std::uint64_t>& resident, const std::function<bool(unsigned)>& fits) override {
    for (unsigned sm = 0; sm < resident.size(); ++sm)
      if (fits(sm)) return static_cast<int>(sm);
    return -1;
  }
};

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

}  // namespace

std::unique_ptr<placement_policy> make_placement_policy(choice::placement which) {
  switch (which) {
    case choice::placement::breadth_first: return std::make_unique<breadth_first>();
    case choice::placement::depth_first: return std::make_unique<depth_first>();
    case choice::placement::most_free: return std::make_unique<most_free>();
  }
  throw internal_error("a placement policy that there is not");
}

}  // namespace heddle
