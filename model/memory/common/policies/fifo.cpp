// SPDX-License-Identifier: MIT
#include "heddle/memory/common/policies/replacement_policy.h"

namespace heddle {

/// Replaces the line that was allocated first.
class fifo : public replacement_policy {
 public:
  [[nodiscard]] bool renews() const override { return false; }
};

template <>
std::unique_ptr<replacement_policy> create_replacement_policy<choice::replacement::fifo>() {
  return std::make_unique<fifo>();
}

}  // namespace heddle
