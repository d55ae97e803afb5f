// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <string>

#include "heddle/sub_partition/warp/warp_slot.h"
#include "heddle/sub_partition/warp/warp_supervisor.h"

namespace heddle {

/// Reports to the SM that the simulated program failed, with kernel, PTX line, block and thread. Nothing issues in the
/// sub-partition from then on.
class fault_reporter {
 public:
  explicit fault_reporter(warp_supervisor& supervisor) : supervisor_(supervisor) {}

  /// Instruction `d` of the warp failed on `lane`. `details` complete the text.
  void report(const warp_slot& w, const decoded_instruction& d, unsigned lane, const std::string& what,
              fault_details details = {});
  /// As report, for a thread of a block whose warp may have left its slot.
  void report_of(const resident_launch& launch, const simt::dim3& block, std::uint32_t thread,
                 const decoded_instruction& d, const std::string& what, fault_details details = {});
  /// The program failed elsewhere in the SM.
  void halt() { halted_ = true; }
  /// Instructions may issue again.
  void resume() { halted_ = false; }
  [[nodiscard]] bool halted() const { return halted_; }

 private:
  warp_supervisor& supervisor_;
  bool halted_ = false;
};

}  // namespace heddle
