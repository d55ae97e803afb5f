// SPDX-License-Identifier: MIT
#include "explained_values.h"

#include <gtest/gtest.h>

#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <map>

namespace microbench {

namespace {

constexpr char file[] = HEDDLE_MICROBENCH "/explained_values.txt";
constexpr char between[] = " = ";

std::map<std::string, std::string> read_values() {
  std::map<std::string, std::string> values;
  std::ifstream in(file);
  for (std::string line; std::getline(in, line);)
    if (const std::size_t at = line.find(between); at != std::string::npos)
      values[line.substr(0, at)] = line.substr(at + sizeof between - 1);
  return values;
}

}  // namespace

void expect_written(const std::string& row, double model) {
  char now[32];
  std::snprintf(now, sizeof now, "%.2f", model);
  auto values = read_values();
  if (std::getenv("HEDDLE_RENEW_MICROBENCH") == nullptr) {
    EXPECT_EQ(values[row], now)
        << row << ": the model's value has moved, or was never written down; meant so? then: ./dev microbench renew";
    return;
  }
  values[row] = now;
  std::ofstream out(file);
  for (const auto& [name, value] : values) out << name << between << value << "\n";
}

std::set<std::string> written_rows(const std::string& test) {
  std::set<std::string> rows;
  for (const auto& [row, value] : read_values())
    if (row.compare(0, test.size() + 1, test + " ") == 0) rows.insert(row);
  return rows;
}

}  // namespace microbench
