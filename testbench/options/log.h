// SPDX-License-Identifier: MIT
#pragma once

#include <string>
#include <vector>

#include "testbench/options/options.h"

namespace heddle::testbench {

/// The program's messages on stderr. An error must be the first line there, so warnings are held back until the end
/// unless the log level shows more than warnings.
class message_log {
 public:
  /// Routes sc_report here: errors throw, other reports are filtered by level.
  static void install(log_level level);
  static void warning(const std::string& text);
  /// Prints the warnings that were held back. Call it after an error was printed, or at the end.
  static void flush();
  /// "heddle: error: …".
  static void error(const std::string& text);
};

/// One warning about the parameters that are called by a former name; none about a name that was reported before, as
/// the runs of one command share their overrides.
void warn_of_former_names(const std::vector<std::string>& names);

}  // namespace heddle::testbench
