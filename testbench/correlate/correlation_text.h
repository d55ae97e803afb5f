// SPDX-License-Identifier: MIT
#pragma once

#include <string>
#include <vector>

#include "testbench/correlate/comparison.h"
#include "testbench/text/text_style.h"

namespace heddle::testbench {

/// A whole comparison, for its texts.
struct correlation {
  std::vector<std::string> files;
  std::vector<chip_comparison> chips;
  std::vector<std::string> ignored;  // columns and metrics without a counterpart
  std::size_t left_out = 0;          // rows labelled long that were not run
  std::string command;               // the command line, for the page
  std::string version;
  std::string date;  // "2026-11-23"
};

/// For a terminal: one table for each chip, its figures, its worst rows.
std::string correlation_text(const correlation& c, const text_style& style);
/// The same as a page in Markdown, with the origin of each row and the names of the metrics.
std::string correlation_markdown(const correlation& c);
/// One row for each value: file and line, chip, kernel, metric, both values, error, use, origin, licence.
std::string correlation_csv(const correlation& c);
/// Chips, rows and values: --json, and the data of the page for a browser (report_page).
std::string correlation_json(const correlation& c);

/// "cycles, +3.2 %": what departs first in a row; empty if nothing does.
std::string departure_text(const compared_launch& c);
/// "mean error 4.3 %, bias -1.2 %, correlation 0.998 of 14 rows".
std::string figures_text(const chip_comparison& chip);

}  // namespace heddle::testbench
