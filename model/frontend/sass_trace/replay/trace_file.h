// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "heddle/frontend/sass_trace/code/opcode_table.h"
#include "heddle/frontend/sass_trace/replay/trace_store.h"
#include "heddle/isa/program.h"

namespace heddle::sass_trace {

struct trace_kernel;

/// What traces of one kernel mostly have in common. Traces that agree in all of it share one object.
struct trace_traits {
  bool own = false;             // of a run of Heddle
  unsigned binary_version = 0;  // 10 x compute capability
  sass_trace::generation generation = generation::volta;
  std::uint32_t grid[3] = {1, 1, 1};
  std::uint32_t block[3] = {1, 1, 1};
  std::uint32_t shared_bytes = 0;  // of a block, static and dynamic
  std::int32_t carveout = -1;
  std::int32_t priority = 0;
  std::string machine;   // that ran it; empty: a GPU
  isa::program program;  // without its code, for the check of a launch

  [[nodiscard]] std::uint64_t grid_blocks() const { return std::uint64_t{grid[0]} * grid[1] * grid[2]; }
};

/// Oddities of a trace, for warnings. The members are those of trace_kernel and of its head.
struct trace_oddities {
  std::uint64_t absent_warps = 0;
  std::uint64_t warps_without_exit = 0;
  std::uint64_t warps_after_exit = 0;
  std::uint64_t bulk_copies = 0;
  std::map<std::string, std::uint64_t> unknown;
  std::vector<std::string> unknown_keys;
};

/// What the traces of a job share: how they are read, and how many may stay open.
class trace_set {
 public:
  static constexpr std::size_t usual_open_bytes = trace_store::most_kept_bytes + (std::size_t{8} << 20);

  /// `strict`: an unknown opcode is an error. `open_bytes`: memory for traces that stay open between their launches.
  trace_set(bool strict, std::shared_ptr<trace_store> store, std::size_t open_bytes = usual_open_bytes);

 private:
  friend class trace_file;
  std::shared_ptr<const trace_traits> shared(const trace_kernel& k);
  /// Reserves memory for a trace that stays open; false: there is not enough.
  bool take(std::size_t bytes);
  void give_back(std::size_t bytes) { room_ += bytes; }

  const bool strict_;
  const std::shared_ptr<trace_store> store_;
  std::size_t room_;
  std::map<std::string, std::shared_ptr<const trace_traits>> traits_;  // by their text
};

/// A trace of a job. It is read completely once, so that errors are found before anything runs, and mostly forgotten
/// again: a launch opens it. So a list of many traces takes little memory. Used by one thread.
class trace_file {
 public:
  /// Reads the file. Throws input_error.
  trace_file(std::string file, std::shared_ptr<trace_set> set);
  ~trace_file();
  trace_file(const trace_file&) = delete;
  trace_file& operator=(const trace_file&) = delete;

  [[nodiscard]] const std::string& file() const { return file_; }
  [[nodiscard]] const trace_traits& traits() const { return *traits_; }
  [[nodiscard]] const std::string& kernel() const { return traits_->program.kernel; }
  /// Null: there is nothing to tell.
  [[nodiscard]] const trace_oddities* oddities() const { return oddities_.get(); }
  /// As in trace_kernel and in its head.
  [[nodiscard]] std::uint64_t blocks() const { return blocks_; }
  [[nodiscard]] std::uint64_t warp_instructions() const { return warp_instructions_; }
  [[nodiscard]] std::uint64_t launch_cycle() const { return launch_cycle_; }
  [[nodiscard]] std::uint64_t stream() const { return stream_; }

  /// The job launches it once more. A trace stays open between its launches if the set has room for it.
  void add_launch() { ++launches_left_; }
  /// The trace for a launch. It is read again if it is not open; what is open is shared. Throws input_error, also if
  /// the file has changed since it was read first.
  [[nodiscard]] std::shared_ptr<const trace_kernel> open() const;

 private:
  // From the first launch on, and while it stays open.
  struct opened {
    std::size_t bytes = 0;                      // of `stays`
    std::shared_ptr<const trace_kernel> stays;  // null: it does not stay open
    std::weak_ptr<const trace_kernel> current;  // for a launch that has not ended
    std::weak_ptr<const isa::program> program;  // of earlier launches, which the caches know
  };
  /// A number for its size and the time of its last change.
  [[nodiscard]] std::uint64_t state_now() const;
  [[nodiscard]] std::shared_ptr<const trace_kernel> read() const;
  void stay_open(const std::shared_ptr<const trace_kernel>& k) const;
  void close() const;

  const std::string file_;
  const std::shared_ptr<trace_set> set_;
  std::shared_ptr<const trace_traits> traits_;
  std::unique_ptr<const trace_oddities> oddities_;
  std::uint64_t blocks_ = 0;
  std::uint64_t warp_instructions_ = 0;
  std::uint64_t launch_cycle_ = 0;
  std::uint64_t stream_ = 0;
  std::uint64_t state_ = 0;
  mutable std::uint64_t launches_left_ = 0;
  mutable std::unique_ptr<opened> opened_;
};

}  // namespace heddle::sass_trace
