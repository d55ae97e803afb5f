// SPDX-License-Identifier: MIT
#include "heddle/memory/dram/policies/dram_scheduler.h"

#include "heddle/config/error.h"
#include "heddle/memory/dram/policies/first_come.h"
#include "heddle/memory/dram/policies/first_ready.h"

namespace heddle {

// The factory. A new scheduler needs a file in policies/, an enumerator of choice::dram_scheduler, its name in
// parameter_rows.cpp, and a line here.
std::unique_ptr<dram_scheduler> make_dram_scheduler(const dram_parameters& parameters) {
  using kind = choice::dram_scheduler;
  switch (parameters.scheduler) {
    case kind::fr_fcfs: return std::make_unique<first_ready>(parameters);
    case kind::fcfs: return std::make_unique<first_come>();
  }
  throw internal_error("a DRAM scheduler that there is not");
}

}  // namespace heddle
