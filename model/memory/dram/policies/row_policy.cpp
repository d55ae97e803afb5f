// SPDX-License-Identifier: MIT
#include "heddle/memory/dram/policies/row_policy.h"

#include "heddle/config/error.h"

namespace heddle {

std::unique_ptr<row_policy> make_row_policy(const dram_parameters& parameters) {
  switch (parameters.row_policy) {
#define HEDDLE_X(name) \
  case choice::row_policy::name: return create_row_policy<choice::row_policy::name>(parameters);
    HEDDLE_ROW_POLICIES(HEDDLE_X)
#undef HEDDLE_X
  }
  throw internal_error("unknown row policy");
}

}  // namespace heddle
