// SPDX-License-Identifier: MIT
#include "heddle/memory/dram/policies/refresh_policy.h"

#include "heddle/config/error.h"
#include "heddle/memory/dram/policies/all_bank_refresh.h"
#include "heddle/memory/dram/policies/no_refresh.h"
#include "heddle/memory/dram/policies/per_bank_refresh.h"

namespace heddle {

// The factory. A new policy needs a file in policies/, an enumerator of choice::refresh, its name in
// parameter_rows.cpp, and a line here.
std::unique_ptr<refresh_policy> make_refresh_policy(const dram_parameters& parameters) {
  using kind = choice::refresh;
  switch (parameters.refresh) {
    case kind::none: return std::make_unique<no_refresh>();
    case kind::all_bank: return std::make_unique<all_bank_refresh>(parameters);
    case kind::per_bank: return std::make_unique<per_bank_refresh>(parameters);
  }
  throw internal_error("a refresh policy that there is not");
}

}  // namespace heddle
