// SPDX-License-Identifier: MIT
#include "testbench/report/report_command.h"

#include <cstdio>

#include "heddle/config/error.h"
#include "testbench/files/file_roles.h"
#include "testbench/files/result_files.h"
#include "testbench/options/option_tables.h"
#include "testbench/report/metrics_report.h"
#include "testbench/report/report_page.h"
#include "testbench/report/sweep_report.h"
#include "testbench/text/text.h"

namespace heddle::testbench {

namespace {

std::string data_of(const std::vector<std::string>& files) {
  std::vector<named_metrics> metrics;
  for (const std::string& file : files) {
    if (readable_size(file, "report") == 0)  // refuses a pipe without waiting for its writer
      throw input_error("'" + file + "' is empty, expected metrics of Heddle, or the store of a sweep");
    if (is_store(file)) {
      if (files.size() > 1)
        throw input_error("'" + file +
                          "' is the store of a sweep: it is shown alone; expected metrics files beside each other");
      return report_of_store(file);
    }
    named_metrics m{file, read_file(file, "report")};
    check_metrics(m);
    metrics.push_back(std::move(m));
  }
  return report_of_metrics(metrics);
}

}  // namespace

int report_command(const std::vector<std::string>& arguments) {
  option_parser p = options_of_report();
  if (p.parse(arguments)) {
    std::fputs(p.help().c_str(), stdout);
    return 0;
  }
  if (p.positionals().empty()) p.fail("expected metrics files, or the store of a sweep");
  if (!p.has("output")) p.fail("expected -o REPORT.html");
  const std::string& output = p.text("output");
  file_roles roles;
  for (const std::string& file : p.positionals()) roles.add_input(file, "what the report is made from");
  roles.add_output(output, "-o");
  const std::string page = report_page(data_of(p.positionals()));
  result_files files;
  files.add(output, page, "-o");
  files.commit();
  return 0;
}

}  // namespace heddle::testbench
