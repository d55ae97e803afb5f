// SPDX-License-Identifier: MIT
#include "heddle/memory/common/policies/replacement_policy.h"

namespace heddle {

/// Replaces the line that was used least recently.
class lru : public replacement_policy {
 public:
  [[nodiscard]] bool renews() const override { return true; }
};

template <>
std::unique_ptr<replacement_policy> create_replacement_policy<choice::replacement::lru>() {
  return std::make_unique<lru>();
}

}  // namespace heddle
