// SPDX-License-Identifier: MIT
#pragma once

#include <cstdio>
#include <memory>
#include <string>

#include "testbench/sweep/plan/sweep_plan.h"
#include "testbench/sweep/store/database.h"

namespace heddle::testbench {

/// Comma-separated values as in RFC 4180, but with LF line ends. Throws input_error.
class csv_file {
 public:
  explicit csv_file(const std::string& file);

  csv_file& field(const std::string& text);
  void end_row();
  /// Flushes and closes the file; all data have been written then.
  void close();

 private:
  struct closer {
    void operator()(std::FILE* f) const { std::fclose(f); }
  };
  std::string file_;
  std::unique_ptr<std::FILE, closer> out_;
  bool first_ = true;
};

/// The beginning of every table of results, by which they are recognised.
std::string csv_head();

/// Writes one row for each point of the sweep: position, id, status, reason, axes, metrics. `database` already holds
/// the sweep.
void write_csv(sql_database& database, const sweep_plan& plan, csv_file& csv);

}  // namespace heddle::testbench
