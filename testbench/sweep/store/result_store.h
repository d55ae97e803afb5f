// SPDX-License-Identifier: MIT
#pragma once

#include <string>

#include "heddle/config/error.h"
#include "testbench/sweep/store/point_result.h"

namespace heddle::testbench {

/// The result of a point could not be written: the file system is full, or the folder is gone.
class unwritable_result : public input_error {
 public:
  unwritable_result(const std::string& message, int error) : input_error(message), error_(error) {}
  /// The value of errno.
  [[nodiscard]] int error() const { return error_; }

 private:
  int error_;
};

/// The location of sweep results: a database that collects them, and beside it a folder with one file per point, which
/// is written as soon as the point ends. Any number of processes, on any machines that share the folder, may write
/// points at the same time.
class result_store {
 public:
  /// `database` is the file that the sweep names; `version` is the version of this program.
  result_store(std::string database, std::string version);

  /// Throws input_error if results cannot be written here, or if the existing file is no store or one of another
  /// version. Creates nothing.
  void check() const;
  /// Creates the folder. Throws input_error.
  void create() const;
  /// Undoes create() if no result was written; a folder with anything else stays.
  void remove_if_empty() const;

  [[nodiscard]] const std::string& database() const { return database_; }
  [[nodiscard]] const std::string& version() const { return version_; }
  /// The database's name with .csv instead of .sqlite.
  [[nodiscard]] std::string csv() const;
  [[nodiscard]] std::string folder() const { return database_ + ".points"; }
  /// For point_claims.
  [[nodiscard]] std::string claims_file() const { return folder() + "/claims"; }
  [[nodiscard]] std::string point_file(const std::string& id) const;

  /// The status of a point, from the beginning and the end of its file only.
  [[nodiscard]] point_status status(const std::string& id) const;
  /// The full result. A file that Heddle did not write counts as missing.
  [[nodiscard]] point_result read(const std::string& id) const;
  /// Writes the complete file. Throws unwritable_result.
  void write(const std::string& id, const point_result& result) const;
  void remove(const std::string& id) const;
  /// The state of a point that has not ended, beside its result. The second makes the folder that it is to be in.
  [[nodiscard]] std::string checkpoint_file(const std::string& id) const;
  [[nodiscard]] std::string new_checkpoint_file(const std::string& id) const;
  /// Removes unfinished files of a killed process.
  void remove_unfinished(const std::string& id, int process) const;
  /// The same for all processes, for files so old that no process can still be writing them.
  void remove_old_unfinished() const;

 private:
  [[nodiscard]] std::string description() const;
  [[nodiscard]] std::string unfinished_begin(const std::string& id, int process) const;

  std::string database_;
  std::string version_;
};

}  // namespace heddle::testbench
