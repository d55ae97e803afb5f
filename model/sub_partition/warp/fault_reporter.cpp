// SPDX-License-Identifier: MIT
#include "heddle/sub_partition/warp/fault_reporter.h"

#include <utility>

#include "heddle/simt/warp/fault_text.h"

namespace heddle {

void fault_reporter::report(const warp_slot& w, const decoded_instruction& d, unsigned lane, const std::string& what,
                            fault_details details) {
  report_of(*w.launch, w.state.block->index, w.state.thread(lane), d, what, std::move(details));
}

void fault_reporter::report_of(const resident_launch& launch, const simt::dim3& block, std::uint32_t thread,
                               const decoded_instruction& d, const std::string& what, fault_details details) {
  halted_ = true;
  const simt::fault_text f = simt::describe_fault(launch, block, thread, *d.instruction, what);
  if (details.parts.empty()) return supervisor_.program_fault(f.text);
  details.at = f.front;
  supervisor_.program_fault_with(f.text, details);
}

}  // namespace heddle
