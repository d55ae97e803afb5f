// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "heddle/sub_partition/account/launch_profile.h"
#include "heddle/tlm/kernel/state_image.h"

namespace heddle {

struct decoded_program;

/// What the instructions of a launch that has ended have counted on all SMs together, in a few bytes for each: a list
/// may have 100,000 launches.
class ended_profile {
 public:
  /// Energy of the executed instructions in an SM, pJ.
  using sm_energy = std::pair<std::uint32_t, double>;

  /// Of a launch that no SM counts for; for a state image.
  ended_profile() = default;
  /// `energies`: of each SM in which it ran, by ascending number; empty if they are not accounted for.
  ended_profile(const launch_code& code, std::vector<sm_energy> energies);

  /// `program`: that of the launch.
  [[nodiscard]] launch_code code_of(const decoded_program& program) const;
  /// pJ. Throws internal_error if it is not known.
  [[nodiscard]] double instruction_pj(unsigned sm) const;
  [[nodiscard]] std::uint64_t shared_passes() const { return shared_passes_; }
  void exchange(state_image& image);

 private:
  std::vector<std::uint8_t> bytes_;  // empty: no warp of it came to an SM
  std::vector<sm_energy> energies_;
  std::uint64_t shared_passes_ = 0;
};

}  // namespace heddle
