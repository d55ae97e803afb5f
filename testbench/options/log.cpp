// SPDX-License-Identifier: MIT
#include "testbench/options/log.h"

#include <unistd.h>

#include <cstdio>
#include <set>
#include <systemc>

#include "heddle/config/message.h"
#include "heddle/config/parameter_table.h"
#include "testbench/text/text.h"
#include "testbench/text/text_style.h"

namespace heddle::testbench {

namespace {

// sc_report's handler is a plain function, so its state cannot be a member.
struct log_state {
  log_level level = log_level::warning;
  std::vector<std::string> waiting;
};

log_state& state() {
  static log_state s;
  return s;
}

// Prints each line separately, so that quoted text cannot start a line that looks like a message of Heddle.
void print(const std::string& kind, const std::string& text) {
  const text_style style = style_of(STDERR_FILENO);
  const std::string word = kind == "error" ? style.red(kind) : kind == "warning" ? style.yellow(kind) : kind;
  std::string lines;
  for (const std::string& line : split(text, '\n')) lines += (lines.empty() ? "" : "\n") + one_line(line);
  std::fprintf(stderr, "heddle: %s: %s\n", word.c_str(), lines.c_str());
}

void handle_report(const sc_core::sc_report& report, const sc_core::sc_actions&) {
  const std::string type = report.get_msg_type();
  const std::string text = type + ": " + report.get_msg();
  switch (report.get_severity()) {
    case sc_core::SC_INFO: {
      // The SystemC kernel's own messages ("stopped by user") are not about the model.
      const bool detail = report.get_verbosity() > sc_core::SC_MEDIUM || type.rfind("/OSCI/", 0) == 0 ||
                          type.rfind("/IEEE_Std_1666/", 0) == 0;
      if (state().level >= (detail ? log_level::debug : log_level::info)) print(detail ? "debug" : "info", text);
      break;
    }
    case sc_core::SC_WARNING: message_log::warning(text); break;
    default: throw report;
  }
}

}  // namespace

void message_log::install(log_level level) {
  state().level = level;
  sc_core::sc_report_handler::set_handler(handle_report);
  if (level == log_level::debug) sc_core::sc_report_handler::set_verbosity_level(sc_core::SC_DEBUG);
}

void message_log::warning(const std::string& text) {
  if (state().level == log_level::warning) {
    state().waiting.push_back(text);
  } else if (state().level > log_level::warning) {
    print("warning", text);
  }
}

void message_log::flush() {
  for (const auto& text : state().waiting) print("warning", text);
  state().waiting.clear();
}

void message_log::error(const std::string& text) { print("error", text); }

void warn_of_former_names(const std::vector<std::string>& names) {
  static std::set<std::string> warned;
  std::vector<std::string> new_ones;
  for (const std::string& name : names)
    if (warned.insert(name).second) new_ones.push_back(name);
  if (!new_ones.empty()) message_log::warning(renamed_text(new_ones));
}

}  // namespace heddle::testbench
