// SPDX-License-Identifier: MIT
#include "heddle/hash/splitmix64.h"
#include "heddle/memory/common/policies/replacement_policy.h"

namespace heddle {

/// Replaces any line, by the cache's own generator (splitmix64), so that runs are repeatable.
class random_replacement : public replacement_policy {
 public:
  [[nodiscard]] bool renews() const override { return false; }
  [[nodiscard]] bool in_order() const override { return false; }
  unsigned choose(unsigned candidates) override { return static_cast<unsigned>(generator_.below(candidates)); }
  void exchange(state_image& image) override { image(generator_); }

 private:
  splitmix64 generator_;
};

template <>
std::unique_ptr<replacement_policy> create_replacement_policy<choice::replacement::random>() {
  return std::make_unique<random_replacement>();
}

}  // namespace heddle
