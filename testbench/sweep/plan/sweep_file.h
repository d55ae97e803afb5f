// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace heddle::testbench {

/// One axis: the varied name, and its values in the order written. Axes of the same zip advance together.
struct sweep_axis {
  std::string name;  // "gpu", "job", "trace", "launch.block", … or a parameter, "section.key"
  std::vector<std::string> values;
  std::string zip;    // section of the zip; empty: an independent axis
  std::string where;  // FILE:LINE:COL
};

/// A condition that points must satisfy; other points are dropped.
struct sweep_constraint {
  std::string name;
  std::string text;
  std::string where;
};

/// A sweep file as written.
struct sweep_file {
  std::string confine;  // command-line option: all jobs' files must be below this folder; empty: each job's own folder
  std::string file;
  std::string directory;  // of the file, with a final slash; empty: working directory
  std::string name;       // of the file, without folder and ".ini"
  std::string job;        // this, or trace, or an axis of one of these names
  std::string trace;
  std::string store;
  std::vector<std::string> metrics;   // empty: all
  std::uint64_t timeout_seconds = 0;  // of one point; 0: no limit
  std::uint64_t max_cycles = 0;       // of one point; 0: no limit
  double sample_error = 0;            // as run_options::sample_error
  std::vector<sweep_axis> axes;       // in the order written
  std::vector<sweep_constraint> constraints;
  std::map<std::string, std::string> settings_where;  // FILE:LINE:COL of the value of each key of [sweep]
  std::vector<std::string> former_names;              // of parameters, that the file or a GPU's file used

  /// The path of a job, trace or GPU that the file names: relative to the file. The store is not relative to it.
  [[nodiscard]] std::string path(const std::string& written) const {
    return written[0] == '/' ? written : directory + written;
  }
};

/// Reads a sweep file. Throws input_error with FILE:LINE:COL. The plan checks later that parameters, values and
/// metrics exist.
sweep_file load_sweep_file(const std::string& file_name);
/// The same for a text; `file_name` is for messages and relative paths.
sweep_file parse_sweep_file(const std::string& text, const std::string& file_name);

/// The values of "lrr, gto", "16:128:16" (inclusive), "\"a,b\"", or a list of these. Throws input_error whose message
/// begins with `where`.
std::vector<std::string> axis_values(const std::string& text, const std::string& where);

}  // namespace heddle::testbench
