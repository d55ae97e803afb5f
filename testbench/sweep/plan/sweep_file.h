// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace heddle::testbench {

/// One axis: what is varied, and its values in the order written. Axes of the same zip go together.
struct sweep_axis {
  std::string name;  // "gpu", "job", "trace", "launch.block", … or a parameter, "section.key"
  std::vector<std::string> values;
  std::string zip;    // section of the zip, empty: an axis of its own
  std::string where;  // FILE:LINE:COL
};

/// A condition under which points are dropped.
struct sweep_constraint {
  std::string name;
  std::string text;
  std::string where;
};

/// A sweep file as written.
struct sweep_file {
  std::string confine;  // by the command line: the folder that all jobs' files lie below; empty: each job's own folder
  std::string file;
  std::string directory;  // of the file, with a final slash; empty: here
  std::string name;       // of the file, without folder and ".ini"
  std::string job;        // this or trace, or an axis of that name
  std::string trace;
  std::string store;
  std::vector<std::string> metrics;   // empty: all
  std::uint64_t timeout_seconds = 0;  // of one point; 0: no limit
  std::uint64_t max_cycles = 0;       // of one point; 0: no limit
  std::vector<sweep_axis> axes;       // in the order written
  std::vector<sweep_constraint> constraints;

  /// A job, trace or GPU that the file names, as the program opens it: relative to the file. The store is not.
  std::string path(const std::string& written) const { return written[0] == '/' ? written : directory + written; }
};

/// Reads a sweep file. Throws input_error with FILE:LINE:COL. Whether parameters, values and metrics exist is for the
/// plan to say.
sweep_file load_sweep_file(const std::string& file_name);
/// The same from a text; `file_name` is for messages and relative paths.
sweep_file parse_sweep_file(const std::string& text, const std::string& file_name);

/// "lrr, gto", "16:128:16" (inclusive), "\"a,b\"", or any of them in a list. Throws input_error, `where` in front.
std::vector<std::string> axis_values(const std::string& text, const std::string& where);

}  // namespace heddle::testbench
