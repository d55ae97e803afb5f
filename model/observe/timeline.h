// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <cstdio>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "heddle/gpu/gpu.h"
#include "heddle/observe/power_probe.h"
#include "heddle/sm/block_observer.h"
#include "heddle/tlm/kernel/unit_clock.h"

namespace heddle {

/// A timeline of a GPU while it runs, in Chrome's trace event format, which Perfetto and speedscope open: kernels by
/// stream, blocks by CTA slot, warps by warp id, context switches, and counters by interval. Each event is written when
/// it ends, so memory use does not grow with the run. Times are in microseconds of the core clock.
class timeline : public cycle_observer, public block_observer {
 public:
  /// `path`: file to write. Only core cycles [first, last) are recorded. Throws input_error if the file cannot be
  /// written.
  /// `ledger`: of the GPU's power cap, if it has one.
  timeline(gpu& g, const std::string& path, cycle_t first = 0, cycle_t last = never,
           const power_ledger* ledger = nullptr);
  timeline(const timeline&) = delete;
  timeline& operator=(const timeline&) = delete;
  ~timeline() override;

  /// Ends all open events and completes the file, with an instant event `mark` at its end unless that is empty. Throws
  /// input_error on a full disk.
  void close(const std::string& mark = {});

  void after_cycle() override;
  void block_entered(unsigned sm, unsigned cta_slot, const resident_launch& launch, std::uint64_t block,
                     cycle_t cycle) override;
  void block_left(unsigned sm, unsigned cta_slot, cycle_t cycle) override;
  void warp_entered(unsigned sm, unsigned warp, unsigned cta_slot, unsigned warp_in_block, cycle_t cycle) override;
  void warp_left(unsigned sm, unsigned warp, cycle_t cycle) override;

  /// Minimum length of a counter interval, in core cycles. An interval ends only in a cycle with activity.
  static constexpr cycle_t interval_cycles = 512;

 private:
  struct open_block {
    const resident_launch* launch = nullptr;
    std::uint64_t block = 0;
    cycle_t since = 0;
  };
  struct open_warp {
    unsigned cta_slot = 0;
    unsigned in_block = 0;
    cycle_t since = 0;
    bool open = false;
  };
  /// Running sums.
  struct sums {
    std::uint64_t instructions = 0;
    std::uint64_t eligible = 0;  // warp-cycles accounted so far; a warp's are added when its state changes
    std::uint64_t warps = 0;     // warp-cycles
    std::uint64_t dram_bytes = 0;
  };

  void write(std::string_view text);
  void put(const std::string& event);
  void slice(unsigned pid, unsigned tid, const std::string& name, cycle_t from, cycle_t to,
             const std::string& arguments);
  void name_track(unsigned pid, int tid, const char* what, const std::string& name);
  void counter(const char* name, cycle_t at, double value, unsigned pid = 0);
  void sample_power(cycle_t end);
  [[nodiscard]] std::string time_of(cycle_t cycle) const;
  void count_warps(cycle_t cycle);
  sums sums_now(cycle_t cycle);
  void sample(cycle_t end);
  void write_kernels();
  void write_switches();

  gpu& gpu_;
  std::string path_;
  std::FILE* file_;
  bool failed_ = false;
  cycle_t first_;
  cycle_t last_;
  std::vector<std::vector<open_block>> blocks_;  // by SM and CTA slot
  std::vector<std::vector<open_warp>> warps_;    // by SM and warp id
  std::uint64_t live_warps_ = 0;
  std::uint64_t warp_cycles_ = 0;
  cycle_t warps_counted_ = 0;
  cycle_t sampled_ = 0;    // start of the current interval
  cycle_t worked_ = 0;     // the last cycle in which a unit was active
  bool was_empty_ = true;  // no warp was active after it
  sums before_;
  std::unique_ptr<power_probe> power_;  // null without an energy account
  std::vector<double> sm_watts_;        // as last written
  bool first_event_ = true;
};

}  // namespace heddle
