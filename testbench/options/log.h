// SPDX-License-Identifier: MIT
#pragma once

#include <string>
#include <vector>

#include "testbench/options/options.h"

namespace heddle::testbench {

/// The program's messages on stderr. An error is to be the first line there, so warnings wait until the end unless more
/// was asked for than warnings.
class message_log {
 public:
  /// Routes sc_report here: errors throw, the rest is filtered by level.
  static void install(log_level level);
  static void warning(const std::string& text);
  /// Prints what waits. To be called after an error was printed, or at the end.
  static void flush();
  /// "heddle: error: …".
  static void error(const std::string& text);
};

}  // namespace heddle::testbench
