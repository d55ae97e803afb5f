// SPDX-License-Identifier: MIT
#include "testbench/sweep/csv_file.h"

#include <cerrno>
#include <cstring>
#include <map>
#include <vector>

#include "config/error.h"

namespace heddle::testbench {

csv_file::csv_file(const std::string& file) : file_(file), out_(std::fopen(file.c_str(), "wbe")) {
  if (!out_) throw input_error("cannot write '" + file_ + "': " + std::strerror(errno));
}

csv_file& csv_file::field(const std::string& text) {
  if (!first_) std::fputc(',', out_.get());
  first_ = false;
  if (text.find_first_of(",\"\r\n") == std::string::npos) {
    std::fwrite(text.data(), 1, text.size(), out_.get());
    return *this;
  }
  std::fputc('"', out_.get());
  for (const char c : text) {
    if (c == '"') std::fputc('"', out_.get());
    std::fputc(c, out_.get());
  }
  std::fputc('"', out_.get());
  return *this;
}

void csv_file::end_row() {
  std::fputc('\n', out_.get());
  first_ = true;
}

void csv_file::close() {
  const bool bad = std::ferror(out_.get()) != 0;
  if (std::fclose(out_.release()) != 0 || bad) throw input_error("cannot write '" + file_ + "': " + std::strerror(errno));
}

void write_csv(sql_database& database, const sweep_plan& plan, csv_file& csv) {
  std::vector<std::string> columns = plan.file().metrics;
  if (columns.empty()) {
    sql_statement names = database.prepare("SELECT path FROM metric_names ORDER BY metric");
    while (names.step()) columns.push_back(names.text(0));
  }
  csv.field("position").field("id").field("status").field("reason");
  for (const sweep_axis& a : plan.file().axes) csv.field(a.name);
  for (const std::string& column : columns) csv.field(column);
  csv.end_row();
  sql_statement row = database.prepare("SELECT result, status, reason FROM results WHERE id = ?");
  sql_statement values =
      database.prepare("SELECT path, value FROM metric_values JOIN metric_names USING(metric) WHERE result = ?");
  for (std::size_t p = 0; p < plan.size(); ++p) {
    const std::string id = plan.id_text(p);
    row.bind(1, id);
    row.step();
    csv.field(std::to_string(p)).field(id).field(row.text(1)).field(row.text(2));
    for (std::size_t axis = 0; axis < plan.file().axes.size(); ++axis) csv.field(plan.value(p, axis));
    std::map<std::string, std::string> metrics;
    values.bind(1, row.integer(0));
    while (values.step()) metrics[values.text(0)] = values.shortest(1);
    values.reset();
    row.reset();
    for (const std::string& column : columns) csv.field(metrics[column]);
    csv.end_row();
  }
}

}  // namespace heddle::testbench
