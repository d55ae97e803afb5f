// SPDX-License-Identifier: MIT
#pragma once

#include <cstdio>
#include <memory>
#include <string>

#include "testbench/sweep/plan/sweep_plan.h"
#include "testbench/sweep/store/database.h"

namespace heddle::testbench {

/// Comma-separated values as RFC 4180 has them, but with lines that end in LF. Throws input_error.
class csv_file {
 public:
  explicit csv_file(const std::string& file);

  csv_file& field(const std::string& text);
  void end_row();
  /// All is with the system then.
  void close();

 private:
  struct closer {
    void operator()(std::FILE* f) const { std::fclose(f); }
  };
  std::string file_;
  std::unique_ptr<std::FILE, closer> out_;
  bool first_ = true;
};

/// What every table of results begins with, by which they are known.
std::string csv_head();

/// One row for each point of the sweep: position, id, status, reason, axes, metrics. `database` holds it already.
void write_csv(sql_database& database, const sweep_plan& plan, csv_file& csv);

}  // namespace heddle::testbench
