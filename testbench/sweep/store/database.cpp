// SPDX-License-Identifier: MIT
#include "testbench/sweep/store/database.h"

#include <fmt/format.h>
#include <sqlite3.h>
#include <sys/stat.h>

#include <cctype>
#include <set>

#include "heddle/config/error.h"

namespace heddle::testbench {

namespace {

const std::set<std::string> read_tables = {"store",       "sweeps",  "dropped",      "points",       "axes",
                                           "axis_values", "results", "metric_names", "metric_values"};

[[noreturn]] void endless() {
  throw input_error("store: it brings more than a file of its size can hold: it is damaged");
}

int count_steps(void* limits) {
  auto& left = static_cast<sql_limits*>(limits)->steps;
  return left == 0 ? 1 : (--left, 0);
}

// An existing file may only be read.
int only_reads(void*, int action, const char*, const char*, const char*, const char*) {
  return action == SQLITE_SELECT || action == SQLITE_READ ? SQLITE_OK : SQLITE_DENY;
}

[[noreturn]] void fail(sqlite3* database) {
  const int code = sqlite3_errcode(database) & 0xff;
  if (code == SQLITE_BUSY || code == SQLITE_LOCKED)
    throw locked_database(std::string("store: '") + sqlite3_db_filename(database, "main") +
                          "' is locked by another process; try again when that has ended");
  throw input_error(std::string("store: ") + sqlite3_errmsg(database));
}

}  // namespace

void sql_statement::finalizer::operator()(sqlite3_stmt* s) const { sqlite3_finalize(s); }
void sql_database::closer::operator()(sqlite3* d) const { sqlite3_close(d); }

sql_statement::sql_statement(sqlite3* database, const std::string& sql, sql_limits* limits)
    : database_(database), limits_(limits) {
  sqlite3_stmt* statement = nullptr;
  const int code = sqlite3_prepare_v2(database, sql.c_str(), static_cast<int>(sql.size()) + 1, &statement, nullptr);
  statement_.reset(statement);
  if (code == SQLITE_INTERRUPT) endless();
  if (code != SQLITE_OK) fail(database);
}

sql_statement& sql_statement::bind(int parameter, const std::string& text) {
  if (sqlite3_bind_text(statement_.get(), parameter, text.data(), static_cast<int>(text.size()), SQLITE_TRANSIENT) !=
      SQLITE_OK)
    fail(database_);
  return *this;
}

sql_statement& sql_statement::bind(int parameter, std::int64_t number) {
  if (sqlite3_bind_int64(statement_.get(), parameter, number) != SQLITE_OK) fail(database_);
  return *this;
}

sql_statement& sql_statement::bind(int parameter, double number) {
  if (sqlite3_bind_double(statement_.get(), parameter, number) != SQLITE_OK) fail(database_);
  return *this;
}

sql_statement& sql_statement::bind_null(int parameter) {
  if (sqlite3_bind_null(statement_.get(), parameter) != SQLITE_OK) fail(database_);
  return *this;
}

sql_statement& sql_statement::bind(int parameter, const sql_statement& row, int column) {
  sqlite3_value* value = sqlite3_column_value(row.statement_.get(), column);
  if (sqlite3_bind_value(statement_.get(), parameter, value) != SQLITE_OK) fail(database_);
  return *this;
}

bool sql_statement::step() {
  const int code = sqlite3_step(statement_.get());
  if (code == SQLITE_INTERRUPT || (limits_ != nullptr && ++rows_ > limits_->rows)) endless();
  if (code != SQLITE_ROW && code != SQLITE_DONE) fail(database_);
  return code == SQLITE_ROW;
}

void sql_statement::reset() {
  rows_ = 0;
  sqlite3_reset(statement_.get());
}

void sql_statement::run() {
  step();
  reset();
}

std::string sql_statement::text(int column) const {
  const auto* data = reinterpret_cast<const char*>(sqlite3_column_text(statement_.get(), column));
  const auto bytes = static_cast<std::size_t>(data ? sqlite3_column_bytes(statement_.get(), column) : 0);
  if (limits_ != nullptr) {
    if (bytes > limits_->text_bytes) endless();
    limits_->text_bytes -= bytes;
  }
  return std::string(data ? data : "", bytes);
}

bool sql_statement::is_text(int column) const { return sqlite3_column_type(statement_.get(), column) == SQLITE_TEXT; }

std::int64_t sql_statement::integer(int column) const { return sqlite3_column_int64(statement_.get(), column); }

std::string sql_statement::shortest(int column) const {
  if (sqlite3_column_type(statement_.get(), column) != SQLITE_FLOAT) return text(column);
  return fmt::format("{}", sqlite3_column_double(statement_.get(), column));
}

sql_database::sql_database(const std::string& file, mode m) {
  sqlite3* database = nullptr;
  // Without a folder, a name beginning with ':' or "file:" would not be taken for a file.
  const std::string name = file[0] == '/' ? file : "./" + file;
  // Only one thread uses it.
  const int flags =
      SQLITE_OPEN_NOMUTEX | (m == mode::read ? SQLITE_OPEN_READONLY : SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE);
  const int code = sqlite3_open_v2(name.c_str(), &database, flags, nullptr);
  database_.reset(database);
  if (code != SQLITE_OK) throw input_error("store: cannot open '" + file + "': " + sqlite3_errstr(code));
  // A new database gets its final name only when it is complete, so it needs no journal.
  if (m == mode::create) run("PRAGMA journal_mode=OFF; PRAGMA synchronous=OFF; PRAGMA page_size=4096;");
  if (m == mode::read) restrict_untrusted_schema(file);
}

void sql_database::restrict_untrusted_schema(const std::string& file) {
  struct stat status {};
  const std::uint64_t bytes = ::stat(file.c_str(), &status) == 0 ? static_cast<std::uint64_t>(status.st_size) : 0;
  constexpr std::uint64_t least_row_bytes = 4;
  // Reading, sorting and joining a row takes some hundred steps, and a row has at least ten bytes.
  limits_ = std::make_unique<sql_limits>(sql_limits{bytes / least_row_bytes + 1, 16 * bytes, 10'000 + bytes / 10});
  sqlite3* const database = database_.get();
  sqlite3_progress_handler(database, 1000, count_steps, limits_.get());
  sqlite3_db_config(database, SQLITE_DBCONFIG_DEFENSIVE, 1, nullptr);
  sqlite3_db_config(database, SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0, nullptr);
  sqlite3_db_config(database, SQLITE_DBCONFIG_ENABLE_VIEW, 0, nullptr);
  sqlite3_limit(database, SQLITE_LIMIT_ATTACHED, 0);
  sqlite3_set_authorizer(database, only_reads, nullptr);
  check_tables();
}

// The table of a statement could be an endless view or a virtual table.
void sql_database::check_tables() {
  sql_statement rows = prepare("SELECT type, rootpage, name FROM sqlite_master");
  while (rows.step()) {
    std::string name = rows.text(2);
    for (char& c : name) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
    if (read_tables.count(name) != 0 && (rows.text(0) != "table" || rows.integer(1) <= 0))
      throw input_error("store: '" + name + "' is a " + (rows.text(0) == "table" ? "virtual table" : rows.text(0)) +
                        ", expected a table");
  }
}

void sql_database::run(const std::string& sql) {
  if (sqlite3_exec(database_.get(), sql.c_str(), nullptr, nullptr, nullptr) != SQLITE_OK) fail(database_.get());
}

void check_database(const std::string& file, const std::string& schema, const std::string& version) {
  std::string found_schema, found_version;
  try {
    sql_database database(file, sql_database::mode::read);
    sql_statement rows = database.prepare("SELECT key, value FROM store");
    while (rows.step()) (rows.text(0) == "schema" ? found_schema : found_version) = rows.text(1);
    for (const std::string& table : read_tables) static_cast<void>(database.prepare("SELECT 1 FROM " + table));
  } catch (const locked_database&) {
    throw;
  } catch (const input_error& e) {
    throw input_error("store: '" + file + "' exists and is no database of results (" + e.what() + ")");
  }
  if (found_schema != schema) throw input_error("store: '" + file + "' exists and is no database of results");
  if (found_version != version) {
    throw input_error("store: '" + file + "' is of version " + found_version + " of Heddle, this is " + version +
                      "; expected another store");
  }
}

}  // namespace heddle::testbench
