// SPDX-License-Identifier: MIT
#include "heddle/gpu/cwd/policies/placement_policy.h"

#include "heddle/config/error.h"

namespace heddle {

std::unique_ptr<placement_policy> make_placement_policy(choice::placement which) {
  switch (which) {
#define HEDDLE_X(name) \
  case choice::placement::name: return create_placement_policy<choice::placement::name>();
    HEDDLE_PLACEMENTS(HEDDLE_X)
#undef HEDDLE_X
  }
  throw internal_error("unknown placement policy");
}

}  // namespace heddle
