// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "heddle/config/error.h"

struct sqlite3;
struct sqlite3_stmt;

namespace heddle::testbench {

/// Another process holds the database.
class locked_database : public input_error {
 public:
  using input_error::input_error;
};

/// Limits on the data that a file of a given size can deliver. A malicious file can contain pages that refer to each
/// other in cycles and deliver rows without end.
struct sql_limits {
  std::uint64_t rows = 0;        // of one statement
  std::uint64_t text_bytes = 0;  // this and the next: remaining for all statements
  std::uint64_t steps = 0;       // of SQLite's virtual machine, in thousands
};

/// A prepared SQL statement; parameters count from 1 and columns from 0, as in SQLite. All functions throw
/// input_error.
class sql_statement {
 public:
  /// `limits`: null means none.
  sql_statement(sqlite3* database, const std::string& sql, sql_limits* limits = nullptr);

  sql_statement& bind(int parameter, const std::string& text);
  sql_statement& bind(int parameter, std::int64_t number);
  sql_statement& bind(int parameter, double number);
  sql_statement& bind_null(int parameter);
  /// Binds the value of a column of another statement's row.
  sql_statement& bind(int parameter, const sql_statement& row, int column);
  /// True: a row is available.
  bool step();
  /// Makes the statement ready for new parameters.
  void reset();
  /// step() and reset() for a statement without rows.
  void run();

  [[nodiscard]] std::string text(int column) const;
  /// True if the column holds a text, and not NULL, a number or bytes.
  [[nodiscard]] bool is_text(int column) const;
  [[nodiscard]] std::int64_t integer(int column) const;
  /// A number as the shortest text that reads back to it, a text unchanged, an empty text for NULL.
  [[nodiscard]] std::string shortest(int column) const;

 private:
  struct finalizer {
    void operator()(sqlite3_stmt* s) const;
  };
  sqlite3* database_;
  sql_limits* limits_;
  std::uint64_t rows_ = 0;
  std::unique_ptr<sqlite3_stmt, finalizer> statement_;
};

/// A database file. All functions throw input_error.
class sql_database {
 public:
  /// create: a new file that no other process reads before it is closed. read: a file that may be untrusted: its
  /// tables must be tables, nothing in it is executed (views, triggers, functions), and the data it delivers are
  /// limited.
  enum class mode : std::uint8_t { create, read };
  sql_database(const std::string& file, mode m);

  void run(const std::string& sql);
  sql_statement prepare(const std::string& sql) { return sql_statement(database_.get(), sql, limits_.get()); }
  [[nodiscard]] sqlite3* handle() const { return database_.get(); }

 private:
  struct closer {
    void operator()(sqlite3* d) const;
  };
  void restrict_untrusted_schema(const std::string& file);
  void check_tables();

  std::unique_ptr<sql_limits> limits_;  // the database refers to it
  std::unique_ptr<sqlite3, closer> database_;
};

/// Throws input_error if the file is no database of results with this schema and version.
void check_database(const std::string& file, const std::string& schema, const std::string& version);

}  // namespace heddle::testbench
