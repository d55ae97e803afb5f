// SPDX-License-Identifier: MIT
#pragma once

#include <array>
#include <functional>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "heddle/config/parameters.h"
#include "testbench/files/file_roles.h"
#include "testbench/job/job.h"
#include "testbench/sweep/plan/constraint.h"
#include "testbench/sweep/plan/effective_values.h"
#include "testbench/sweep/plan/file_version.h"
#include "testbench/sweep/plan/metric_path.h"
#include "testbench/sweep/plan/point_space.h"
#include "testbench/sweep/plan/sweep_file.h"

namespace heddle::testbench {

/// The points of a sweep, each with its configuration, job and id: a hash of everything that determines its result.
/// Points are in the order of the product and numbered without those that constraints drop.
class sweep_plan {
 public:
  using point_id = std::array<std::uint8_t, 16>;
  /// Reads a list of kernels as a job that replays it.
  using trace_reader = std::function<job(const std::string& list)>;

  /// Reads all workloads and checks everything that can be known before the first run: axes, values, GPUs, metrics,
  /// constraints. More than a million points are refused unless `any_size`. Throws input_error.
  sweep_plan(sweep_file file, std::string version, const trace_reader& traces, bool any_size);

  sweep_plan(const sweep_plan&) = delete;  // its space refers to its file
  sweep_plan& operator=(const sweep_plan&) = delete;

  [[nodiscard]] const sweep_file& file() const { return file_; }
  [[nodiscard]] std::size_t size() const { return numbers_.size(); }
  [[nodiscard]] std::uint64_t product() const { return space_.size(); }
  [[nodiscard]] const point_id& id(std::size_t point) const { return ids_[point]; }
  [[nodiscard]] std::string id_text(std::size_t point) const;
  /// The value of each axis of the file, as written.
  [[nodiscard]] const std::string& value(std::size_t point, std::size_t axis) const {
    return space_.value(numbers_[point], axis);
  }
  /// "gpu=v100 launch.block=64".
  [[nodiscard]] std::string description(std::size_t point) const;
  /// By constraint: the number of points that it drops and no earlier constraint does.
  [[nodiscard]] const std::vector<std::pair<std::string, std::uint64_t>>& dropped() const { return dropped_; }

  /// Axes that are parameters without effect at all points of some GPU: one sentence each with name, GPU and reason.
  [[nodiscard]] std::vector<std::string> idle_axes() const;

  /// Both throw input_error if the values of the point are inconsistent.
  [[nodiscard]] gpu_config config_of(std::size_t point) const;
  [[nodiscard]] job job_of(std::size_t point) const;
  /// All files that the sweep reads.
  void add_inputs(file_roles& roles) const;
  /// A file that the point reads during its run and that has changed since its id was computed; empty: none.
  [[nodiscard]] std::string changed_input(std::size_t point) const;

 private:
  struct workload {
    job what;
    std::string digest;  // of its text and of all files that it reads
    std::vector<file_version> replayed;
  };

  void check_axes();
  void check_parameter(const sweep_axis& axis, gpu_config& base) const;
  [[nodiscard]] std::string wrong_value(const std::string& name, const std::string& text) const;
  void read_workload(const std::string& written, bool trace, const std::string& where, const trace_reader& traces);
  void read_workloads(const trace_reader& traces);
  void check_launch_axes() const;
  [[nodiscard]] list_lengths metric_lengths() const;
  void check_metrics() const;
  void enumerate();
  point_id make_id(std::uint64_t number);
  [[nodiscard]] const std::string& gpu_at(std::uint64_t number) const;
  [[nodiscard]] effective_values::overrides overrides_at(std::uint64_t number) const;
  [[nodiscard]] const workload& workload_at(std::uint64_t number) const;
  std::string variable_at(const std::string& name, std::uint64_t number);
  [[nodiscard]] const std::string* axis_value(const std::string& name, std::uint64_t number) const;

  sweep_file file_;
  std::string version_;
  point_space space_;
  std::vector<std::string> gpu_files_;            // of all GPUs, with the files they are based on
  std::map<std::string, effective_values> gpus_;  // this map and the next: by the name as written
  std::map<std::string, workload> workloads_;
  std::map<std::string, std::string> trace_digests_;  // by file: lists may name the same traces
  std::vector<std::size_t> config_axes_;              // parameters
  std::vector<std::size_t> launch_axes_;
  std::vector<std::uint64_t> numbers_;  // numbers in the product
  std::vector<point_id> ids_;
  std::vector<std::pair<std::string, std::uint64_t>> dropped_;
};

}  // namespace heddle::testbench
