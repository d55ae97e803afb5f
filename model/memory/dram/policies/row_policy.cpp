// SPDX-License-Identifier: MIT
#include "heddle/memory/dram/policies/row_policy.h"

#include "heddle/config/error.h"
#include "heddle/memory/dram/policies/closed_rows.h"
#include "heddle/memory/dram/policies/open_rows.h"
#include "heddle/memory/dram/policies/row_timeout.h"

namespace heddle {

// The factory. A new policy needs a file in policies/, an enumerator of choice::row_policy, its name in
// parameter_rows.cpp, and a line here.
std::unique_ptr<row_policy> make_row_policy(const dram_parameters& parameters) {
  using kind = choice::row_policy;
  switch (parameters.row_policy) {
    case kind::open: return std::make_unique<open_rows>();
    case kind::closed: return std::make_unique<closed_rows>();
    case kind::timeout: return std::make_unique<row_timeout>(parameters.row_timeout_cycles);
  }
  throw internal_error("a row policy that there is not");
}

}  // namespace heddle
