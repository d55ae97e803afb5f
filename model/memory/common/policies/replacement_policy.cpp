// SPDX-License-Identifier: MIT
#include "heddle/memory/common/policies/replacement_policy.h"

#include "heddle/config/error.h"

namespace heddle {

std::unique_ptr<replacement_policy> make_replacement_policy(choice::replacement which) {
  switch (which) {
#define HEDDLE_X(name) \
  case choice::replacement::name: return create_replacement_policy<choice::replacement::name>();
    HEDDLE_REPLACEMENTS(HEDDLE_X)
#undef HEDDLE_X
  }
  throw internal_error("unknown replacement policy");
}

}  // namespace heddle
