// SPDX-License-Identifier: MIT
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "heddle/gpu/cwd/running_launches.h"
#include "heddle/observe/code_line.h"
#include "heddle/sub_partition/account/warp_state.h"
#include "heddle/tlm/kernel/unit_clock.h"

namespace heddle {

class gpu;
struct decoded_program;

/// Warp-cycles of the warps whose next instruction is of a line, in a time window on one SM.
struct line_moment {
  cycle_t begin = 0, end = 0;  // half-open
  unsigned sm = 0;
  std::uint32_t launch = 0;  // the driver's number
  std::string kernel;
  counts_by<warp_stall> states{};

  [[nodiscard]] std::uint64_t warp_cycles() const;
  /// Those in which a warp did not issue.
  [[nodiscard]] std::uint64_t waits() const;
};

/// Finds the time window of a run, and the SM, in which the warps of a line wait most. It samples the SMs' profiles
/// (launch_profile) four times a window, which settles their accounts and changes no sum. Create it before the
/// simulation starts; the GPU must outlive it.
class line_watch : public cycle_observer {
 public:
  /// `cycles`: length of a window, at least 4.
  line_watch(gpu& g, code_line line, cycle_t cycles);
  ~line_watch() override;
  line_watch(const line_watch&) = delete;
  line_watch& operator=(const line_watch&) = delete;

  void after_cycle() override;
  [[nodiscard]] cycle_t next_sample() const override { return next_; }
  /// The first window with the most waits. Without any wait, that with the most warp-cycles; without these, an empty
  /// one. To be called once, when the run has ended and its accounts are settled.
  line_moment worst();

 private:
  static constexpr unsigned samples = 4;  // in a window
  using counts = counts_by<warp_stall>;
  struct sm_track {
    counts before{};                        // up to the last sample
    std::array<counts, samples> ring{};     // of the last samples
    std::array<cycle_t, samples> begins{};  // of each sample
  };

  void sample();
  void settle();
  void take(std::vector<counts>& sums, std::uint32_t launch);
  [[nodiscard]] const std::vector<std::uint32_t>& instructions_of(const decoded_program& program);
  void judge(unsigned sm, cycle_t now);

  gpu& gpu_;
  const code_line line_;
  const cycle_t step_;
  cycle_t next_;
  cycle_t last_ = 0;           // sample
  std::size_t number_ = 0;     // of samples
  running_launches running_;   // the counts of those that have ended are in `ended_`
  std::vector<counts> ended_;  // by SM
  std::vector<sm_track> sms_;
  std::map<const decoded_program*, std::vector<std::uint32_t>> instructions_;
  std::uint32_t launch_ = 0;  // the last one with the line
  line_moment worst_;
};

}  // namespace heddle
