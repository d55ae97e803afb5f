// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

namespace heddle::testbench {

/// One row of a CSV file.
struct csv_row {
  std::vector<std::string> cells;
  std::uint32_t line = 0;  // where it begins

  /// The cell of a column; empty if the row is shorter or `column` is none.
  [[nodiscard]] std::string at(std::size_t column) const {
    return column < cells.size() ? cells[column] : std::string();
  }
  [[nodiscard]] bool has(const std::string& cell) const {
    return std::find(cells.begin(), cells.end(), cell) != cells.end();
  }
};

/// A CSV file (RFC 4180): its header and the rows after it.
struct csv_table {
  static constexpr std::size_t none = ~std::size_t{0};

  std::string file;
  csv_row header;
  std::vector<csv_row> rows;

  /// The column of this name; none if there is none.
  [[nodiscard]] std::size_t column(const std::string& name) const;
  /// "FILE:LINE", for messages.
  [[nodiscard]] std::string place(const csv_row& row) const;
};

/// Reads the table whose header is the first line for which `is_header` holds. Lines before it are skipped (profilers
/// mix the program's output with their table), and so are empty lines and lines that begin with '#' or "==". Throws
/// input_error with FILE:LINE; the table has no header if there is none.
csv_table read_csv(const std::string& text, const std::string& file,
                   const std::function<bool(const csv_row&)>& is_header);

}  // namespace heddle::testbench
