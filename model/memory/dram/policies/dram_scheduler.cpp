// SPDX-License-Identifier: MIT
#include "heddle/memory/dram/policies/dram_scheduler.h"

#include "heddle/config/error.h"

namespace heddle {

std::unique_ptr<dram_scheduler> make_dram_scheduler(const dram_parameters& parameters) {
  switch (parameters.scheduler) {
#define HEDDLE_X(name) \
  case choice::dram_scheduler::name: return create_dram_scheduler<choice::dram_scheduler::name>(parameters);
    HEDDLE_DRAM_SCHEDULERS(HEDDLE_X)
#undef HEDDLE_X
  }
  throw internal_error("unknown DRAM scheduler");
}

}  // namespace heddle
