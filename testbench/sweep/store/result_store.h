// SPDX-License-Identifier: MIT
#pragma once

#include <string>

#include "heddle/config/error.h"
#include "testbench/sweep/store/point_result.h"

namespace heddle::testbench {

/// The result of a point could not be written: the place for results is full, or gone.
class unwritable_result : public input_error {
 public:
  unwritable_result(const std::string& message, int error) : input_error(message), error_(error) {}
  /// The system's number for it.
  int error() const { return error_; }

 private:
  int error_;
};

/// Where results of sweeps lie: the database that they are gathered in, and beside it a folder with one file per point,
/// which is what survives whatever happens. Any number of processes, on any machines that share the folder, may write
/// points at the same time.
class result_store {
 public:
  /// `database` is the file that the sweep names; `version` that of this program.
  result_store(std::string database, std::string version);

  /// Throws input_error if nothing could be written here, or what is here is no store or one of another version. Leaves
  /// no trace.
  void check() const;
  /// Makes the folder. Throws input_error.
  void create() const;

  const std::string& database() const { return database_; }
  const std::string& version() const { return version_; }
  /// The database's name with .csv for .sqlite.
  std::string csv() const;
  std::string folder() const { return database_ + ".points"; }
  /// For point_claims.
  std::string claims_file() const { return folder() + "/claims"; }
  std::string point_file(const std::string& id) const;

  /// What became of a point, from the beginning and the end of its file alone.
  point_status status(const std::string& id) const;
  /// The whole of it. A file that is none of ours counts as missing.
  point_result read(const std::string& id) const;
  /// Writes the file whole. Throws unwritable_result.
  void write(const std::string& id, const point_result& result) const;
  void remove(const std::string& id) const;
  /// Removes what a process that was killed left of a file that it had not finished.
  void remove_unfinished(const std::string& id, int process) const;
  /// The same of all processes, where it is so old that nobody can be writing it any more.
  void remove_old_unfinished() const;

 private:
  std::string description() const;
  std::string unfinished_begin(const std::string& id, int process) const;

  std::string database_;
  std::string version_;
};

}  // namespace heddle::testbench
