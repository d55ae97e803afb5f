// SPDX-License-Identifier: MIT
#include "heddle/tlm/kernel/logical_process.h"

namespace heddle {

logical_process::logical_process(const sc_core::sc_module_name& name, clock_domain& domain)
    : unit_clock(name, domain.timing(), &domain), domain_(domain), number_(domain.add(*this)) {}

void logical_process::wake_from_outside(unsigned index, cycle_t cycle) {
  const cycle_t next = domain_.next_cycle();
  if (cycle < next) cycle = next;
  if (began_ && cycle <= cycle_)
    SC_REPORT_ERROR("/heddle/internal",
                    "a message arrives at a logical process too late: that cycle has been simulated");
  wheel_.set(cycle, index, cycle_);
  domain_.wake_process(number_, cycle);
}

}  // namespace heddle
