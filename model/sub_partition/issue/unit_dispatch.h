// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <tlm>

#include "heddle/config/parameters.h"
#include "heddle/sub_partition/dependence/decoded_program.h"
#include "heddle/sub_partition/issue/warp_scheduler.h"
#include "heddle/sub_partition/warp/warp_supervisor.h"
#include "heddle/tlm/kernel/state_image.h"
#include "heddle/tlm/kernel/unit_clock.h"
#include "heddle/tlm/protocol/issue_protocol.h"

namespace heddle {

/// Sends the instructions of a sub-partition to its execution units. A unit answers how long its input is held; its
/// gate stays closed as long, and the gates of other sub-partitions if the unit is theirs, too.
class unit_dispatch {
 public:
  using unit_interface = tlm::tlm_fw_transport_if<issue_protocol_types>;
  /// `index`: of the sub-partition.
  unit_dispatch(const gpu_config& config, unsigned index, warp_scheduler& scheduler, warp_supervisor& supervisor,
                unit_clock& clock);

  /// Instructions of `u` go to `unit` from now on. The interface is looked up once: a call through port and export
  /// costs a cache miss per issue.
  void connect(isa::unit u, unit_interface& unit) { units_[static_cast<std::size_t>(u)] = &unit; }
  /// Likewise instructions for shared fp32 lanes.
  void connect_shared(unit_interface& unit) { shared_unit_ = &unit; }
  /// The fp32 lanes that the sub-partition shares with others; they execute the second instruction of a pair.
  void share_fp32(shared_lanes& lanes) { fp32_lanes_ = &lanes; }

  /// True if the two instructions of a pair may use the same unit, because one of them may use shared lanes.
  [[nodiscard]] bool shares(const decoded_instruction& first, const decoded_instruction& second) const {
    return fp32_lanes_ != nullptr && std::max(first.shared_use, second.shared_use) != lane_use::none;
  }
  /// Asks for shared lanes for one of the two instructions, which are sent in this cycle if the answer is true.
  bool grant_shared(const decoded_instruction& first, const decoded_instruction& second, cycle_t cycle);
  /// True if an fp64 instruction also occupies the other sub-partitions' issue cycle.
  [[nodiscard]] bool fp64_alone() const { return fp64_alone_; }

  void exchange(state_image& image) { image(initiation_cycles_); }
  /// Sends the warp's instruction to its unit, which executes it on the lanes of `mask`. Returns the latency that the
  /// unit answers.
  unsigned send(simt::warp_state& warp, const decoded_instruction& d, simt::lane_mask mask, cycle_t cycle);

 private:
  warp_scheduler& scheduler_;
  warp_supervisor& supervisor_;
  unit_clock& clock_;
  shared_lanes* fp32_lanes_ = nullptr;
  const decoded_instruction* to_shared_ = nullptr;  // in the pair being issued, the instruction for the shared lanes
  unsigned initiation_cycles_ = 0;                  // as the unit of the last instruction answered
  const unsigned index_;
  std::uint16_t shared_units_ = 0;  // units shared by the SM's sub-partitions, bit per unit
  const bool fp64_alone_;
  std::array<unit_interface*, static_cast<std::size_t>(isa::unit::count)> units_{};
  unit_interface* shared_unit_ = nullptr;
};

}  // namespace heddle
