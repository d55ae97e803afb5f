// SPDX-License-Identifier: MIT
#include "testbench/sweep/store/csv_file.h"

#include <cerrno>
#include <cstring>
#include <map>
#include <vector>

#include "heddle/config/error.h"
#include "testbench/text/text.h"

namespace heddle::testbench {

namespace {

constexpr const char* first_columns[] = {"position", "id", "status", "reason"};

}  // namespace

std::string csv_head() {
  std::string text;
  for (const char* column : first_columns) text += (text.empty() ? "" : ",") + std::string(column);
  return text;
}

csv_file::csv_file(const std::string& file) : file_(file), out_(std::fopen(file.c_str(), "wbe")) {
  if (!out_) throw input_error("cannot write '" + file_ + "': " + std::strerror(errno));
}

csv_file& csv_file::field(const std::string& text) {
  if (!first_) std::fputc(',', out_.get());
  first_ = false;
  const std::string shown = csv_field(text);
  std::fwrite(shown.data(), 1, shown.size(), out_.get());
  return *this;
}

void csv_file::end_row() {
  std::fputc('\n', out_.get());
  first_ = true;
}

void csv_file::close() {
  const bool bad = std::ferror(out_.get()) != 0;
  if (std::fclose(out_.release()) != 0 || bad)
    throw input_error("cannot write '" + file_ + "': " + std::strerror(errno));
}

void write_csv(sql_database& database, const sweep_plan& plan, csv_file& csv) {
  const std::vector<std::string>& named = plan.file().metrics;
  std::vector<std::string> columns = named;
  std::map<std::string, std::int64_t> numbers;  // of metrics
  std::int64_t most = 0;
  sql_statement names = database.prepare("SELECT path, metric FROM metric_names ORDER BY metric");
  while (names.step()) {
    if (named.empty()) columns.push_back(names.text(0));
    numbers[names.text(0)] = most = names.integer(1);
  }
  for (const char* column : first_columns) csv.field(column);
  for (const sweep_axis& a : plan.file().axes) csv.field(a.name);
  std::vector<std::size_t> metric_of;  // by column; 0: no point has this metric
  for (const std::string& column : columns) {
    csv.field(column);
    const auto found = numbers.find(column);
    metric_of.push_back(found == numbers.end() ? 0 : static_cast<std::size_t>(found->second));
  }
  csv.end_row();
  sql_statement row = database.prepare("SELECT result, status, reason FROM results WHERE id = ?");
  sql_statement values = database.prepare("SELECT metric, value FROM metric_values WHERE result = ?");
  for (std::size_t p = 0; p < plan.size(); ++p) {
    const std::string id = plan.id_text(p);
    row.bind(1, id);
    row.step();
    csv.field(std::to_string(p)).field(id).field(row.text(1)).field(row.text(2));
    for (std::size_t axis = 0; axis < plan.file().axes.size(); ++axis) csv.field(plan.value(p, axis));
    std::vector<std::string> texts(static_cast<std::size_t>(most) + 1);
    values.bind(1, row.integer(0));
    while (values.step()) texts[static_cast<std::size_t>(values.integer(0))] = values.shortest(1);
    values.reset();
    row.reset();
    for (const std::size_t metric : metric_of) csv.field(texts[metric]);
    csv.end_row();
  }
}

}  // namespace heddle::testbench
