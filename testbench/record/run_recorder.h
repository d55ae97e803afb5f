// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "heddle/gpu/gpu.h"
#include "heddle/sub_partition/stream/step_recorder.h"
#include "testbench/record/block_spool.h"

namespace heddle {
struct grid_record;
}

namespace heddle::testbench {

/// Records the launches of a run as a trace that heddle replay takes: the machine program of each, and the steps of
/// its warps. Steps are compressed when a warp has many, and when its block ends.
class run_recorder final : public step_recorder {
 public:
  /// Throws input_error if `folder` cannot be that of a new trace: it must be empty, or not exist.
  static void check(const std::string& folder);
  /// Throws input_error if nothing can be written beside `folder`.
  run_recorder(gpu& chip, std::string folder);

  warp_steps* begun(const resident_launch& launch, const simt::block_context& block, std::uint32_t warp) override;
  void take(warp_steps& steps) override;
  void ended(const warp_steps& steps) override;
  /// The host has copied bytes to device memory, before the next launch.
  void copied(std::uint64_t address, std::uint64_t bytes);
  /// The last launch that was made cannot be recorded: why, if that is news. Nothing is recorded any more.
  std::string news_of_last_launch();
  /// The run is complete: writes the folder, or nothing and returns why. Throws input_error.
  std::string finish();

 private:
  struct warp_in_progress : warp_steps {
    std::vector<block_spool::part> taken;  // steps before those that it holds
    std::uint64_t steps_taken = 0;
  };
  struct open_block {
    std::vector<std::unique_ptr<warp_in_progress>> warps;
    std::uint32_t running = 0;
  };
  struct packed_block {
    std::uint64_t number = 0;            // in the grid
    std::uint32_t first = 0, count = 0;  // of its parts
  };
  struct launch_trace {
    std::map<std::uint64_t, open_block> open;  // by their number in the grid
    std::vector<packed_block> packed;          // in the order in which they ended
    std::vector<block_spool::part> parts;      // of these
  };
  struct host_copy {
    std::size_t launches = 0;  // made before
    std::uint64_t address = 0;
    std::uint64_t bytes = 0;
  };
  void give_up(std::string why);
  [[nodiscard]] std::string head_of(const grid_record& grid) const;
  block_spool::part keep(const std::string& text);
  std::vector<block_spool::part> parts_of(const open_block& block);
  [[nodiscard]] std::string obstacle() const;
  void write_launch(const grid_record& grid, const std::string& folder);
  void write_to(const std::string& folder);

  gpu& chip_;
  const std::string folder_;
  block_spool spool_;
  std::mutex mutex_;
  std::map<std::uint32_t, launch_trace> launches_;
  std::vector<host_copy> copies_;
  std::string failure_;  // why nothing is recorded any more
};

}  // namespace heddle::testbench
