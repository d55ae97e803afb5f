// SPDX-License-Identifier: MIT
#include "testbench/sampling/launches/launch_counters.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "heddle/config/error.h"
#include "heddle/config/message.h"
#include "testbench/text/text.h"

namespace heddle::testbench {

const char* const instruction_counters = "smsp__inst_executed.sum or inst_executed";

namespace {

struct counter {
  const char* name;     // in Nsight Compute
  const char* another;  // in nvprof and in Heddle's metrics
};

// PKA's (MICRO 2021). The last one is the size of the grid.
constexpr std::array<counter, 12> counters = {
    {{"l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum", "gld_transactions"},
     {"l1tex__t_sectors_pipe_lsu_mem_global_op_st.sum", "gst_transactions"},
     {"l1tex__t_sectors_pipe_lsu_mem_local_op_ld.sum", "local_load_transactions"},
     {"smsp__inst_executed_op_global_ld.sum", "inst_executed_global_loads"},
     {"smsp__inst_executed_op_global_st.sum", "inst_executed_global_stores"},
     {"smsp__inst_executed_op_local_ld.sum", "inst_executed_local_loads"},
     {"smsp__inst_executed_op_shared_ld.sum", "inst_executed_shared_loads"},
     {"smsp__inst_executed_op_shared_st.sum", "inst_executed_shared_stores"},
     {"smsp__sass_inst_executed_op_global_atom.sum", "inst_executed_global_atomics"},
     {"smsp__inst_executed.sum", "inst_executed"},
     {"smsp__thread_inst_executed_per_inst_executed.ratio", "threads_per_inst"},
     {"launch__grid_size", nullptr}}};
constexpr std::size_t instructions_at = 9, grid_at = 11;

// "(24, 1, 1)" and "24x1x1" are the product of their numbers, "1,024" is one number.
bool parse_size(std::string text, double& value) {
  if (text.find_first_of("( x") == std::string::npos) {
    text.erase(std::remove(text.begin(), text.end(), ','), text.end());
    return parse_float(text, value) && std::isfinite(value) && value >= 0;
  }
  for (char& c : text)
    if (c == '(' || c == ')' || c == ',' || c == 'x') c = ' ';
  value = 1;
  bool any = false;
  for (const std::string& word : split(text, ' ')) {
    double extent = 0;
    if (word.empty()) continue;
    if (!parse_float(word, extent) || !std::isfinite(extent) || extent < 0) return false;
    value *= extent;
    any = true;
  }
  return any;
}

}  // namespace

counter_columns::counter_columns(const csv_table& table) : table_(table), block_(size_columns("block")) {
  for (const counter& c : counters) {
    columns found;
    for (const char* name : {c.name, c.another})
      if (found.empty() && name != nullptr)
        if (const std::size_t k = table.column(name); k != csv_table::none) found = {k};
    counters_.push_back(found);
  }
  if (counters_[grid_at].empty()) counters_[grid_at] = size_columns("grid");
}

// `unit` is "grid" or "block".
counter_columns::columns counter_columns::size_columns(const char* unit) const {
  const bool grid = std::string(unit) == "grid";
  for (const char* name : grid ? std::array{"launch__grid_size", "Grid Size", "Grid", "grid_size"}
                               : std::array{"launch__block_size", "Block Size", "Block", "block_size"})
    if (const std::size_t k = table_.column(name); k != csv_table::none) return {k};
  for (const char* start : grid ? std::array{"Grd", "Grid "} : std::array{"Blk", "Block "}) {
    columns three;
    for (const char* axis : {"X", "Y", "Z"})
      if (const std::size_t k = table_.column(std::string(start) + axis); k != csv_table::none) three.push_back(k);
    if (three.size() == 3) return three;
  }
  return {};
}

launch_counters counter_columns::names() const {
  launch_counters all;
  for (std::size_t k = 0; k < counters.size(); ++k)
    (counters_[k].empty() ? all.missing : all.names).emplace_back(counters[k].name);
  return all;
}

double counter_columns::value(const csv_row& row, const columns& of, const std::string& kernel) const {
  double product = 1;
  for (const std::size_t column : of) {
    double factor = 0;
    if (!parse_size(row.at(column), factor))
      throw input_error(table_.place(row) + ": got '" + printable(row.at(column)) + "' as " +
                        printable(table_.header.cells[column]) + " of '" + printable(kernel) +
                        "', expected a number of 0 or more");
    product *= factor;
  }
  return product;
}

void counter_columns::add(const csv_row& row, const std::string& kernel, launch_counters& to) const {
  std::vector<double> values;
  for (const columns& c : counters_)
    if (!c.empty()) values.push_back(value(row, c, kernel));
  if (!counters_[instructions_at].empty()) to.instructions.push_back(value(row, counters_[instructions_at], kernel));
  if (!block_.empty()) to.block_threads.push_back(value(row, block_, kernel));
  to.values.push_back(std::move(values));
}

}  // namespace heddle::testbench
