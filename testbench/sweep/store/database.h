// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <memory>
#include <string>

struct sqlite3;
struct sqlite3_stmt;

namespace heddle::testbench {

/// What reading a file of a certain size can bring at most. A file that somebody has made can hold pages that name each
/// other in circles: it would bring rows without end.
struct sql_limits {
  std::uint64_t rows = 0;        // of one statement
  std::uint64_t text_bytes = 0;  // this and the next: that are left, of all statements
  std::uint64_t steps = 0;       // of SQLite's machine, in thousands
};

/// A prepared SQL statement; parameters and columns count from 1 and 0, as SQLite's do. Everything throws input_error.
class sql_statement {
 public:
  /// `limits`: null: none.
  sql_statement(sqlite3* database, const std::string& sql, sql_limits* limits = nullptr);

  sql_statement& bind(int parameter, const std::string& text);
  sql_statement& bind(int parameter, std::int64_t number);
  sql_statement& bind(int parameter, double number);
  sql_statement& bind_null(int parameter);
  /// The value of a column of another statement's row.
  sql_statement& bind(int parameter, const sql_statement& row, int column);
  /// True: there is a row.
  bool step();
  /// Ready to be bound anew.
  void reset();
  /// step() and reset() of a statement without rows.
  void run();

  std::string text(int column) const;
  std::int64_t integer(int column) const;
  /// A number as its shortest text that reads back to it, a text as it is, nothing for NULL.
  std::string shortest(int column) const;

 private:
  struct finalizer {
    void operator()(sqlite3_stmt* s) const;
  };
  sqlite3* database_;
  sql_limits* limits_;
  std::uint64_t rows_ = 0;
  std::unique_ptr<sqlite3_stmt, finalizer> statement_;
};

/// A database file. Everything throws input_error.
class sql_database {
 public:
  /// A new one that nobody else looks at before it is closed, or one that is read: that may be a stranger's. Its tables
  /// must be tables, nothing in it is run (views, triggers, functions), and what it brings is limited.
  enum class mode : std::uint8_t { create, read };
  sql_database(const std::string& file, mode m);

  void run(const std::string& sql);
  sql_statement prepare(const std::string& sql) { return sql_statement(database_.get(), sql, limits_.get()); }
  sqlite3* handle() const { return database_.get(); }

 private:
  struct closer {
    void operator()(sqlite3* d) const;
  };
  void distrust(const std::string& file);
  void check_tables();

  std::unique_ptr<sql_limits> limits_;  // the database refers to it
  std::unique_ptr<sqlite3, closer> database_;
};

/// Throws input_error for a file that is no database of results with this schema and version.
void check_database(const std::string& file, const std::string& schema, const std::string& version);

}  // namespace heddle::testbench
