// SPDX-License-Identifier: MIT
#include "heddle/memory/dram/policies/refresh_policy.h"

#include "heddle/config/error.h"

namespace heddle {

std::unique_ptr<refresh_policy> make_refresh_policy(const dram_parameters& parameters) {
  switch (parameters.refresh) {
#define HEDDLE_X(name) \
  case choice::refresh::name: return create_refresh_policy<choice::refresh::name>(parameters);
    HEDDLE_REFRESH_POLICIES(HEDDLE_X)
#undef HEDDLE_X
  }
  throw internal_error("unknown refresh policy");
}

}  // namespace heddle
