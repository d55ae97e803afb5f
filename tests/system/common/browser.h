// SPDX-License-Identifier: MIT
#pragma once

#include <sys/types.h>

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

namespace heddle::tests {

/// A Chromium without a window, spoken to by the DevTools protocol through two pipes. Everything throws
/// std::runtime_error: the browser said no, or nothing within a minute.
class browser {
 public:
  /// The one that $HEDDLE_BROWSER names, or the first of the usual names in $PATH; empty: there is none.
  static std::string program();

  /// The browser's own files lie in a folder in `folder` while it runs.
  browser(const std::string& program, const std::string& folder);
  ~browser();
  browser(const browser&) = delete;
  browser& operator=(const browser&) = delete;

  /// Opens a file in a window of that width and waits until it is loaded. Complaints begin anew.
  void open(const std::string& file, unsigned width, bool dark);
  /// Gives the page that is open another window, or its reader another taste, and lets it draw.
  void change(unsigned width, bool dark);
  /// The value of a JavaScript expression, or of the promise that it is.
  nlohmann::json evaluate(const std::string& expression);
  /// Presses a key as a person would, such as "Tab" or "Enter".
  void press(const std::string& key);
  /// The whole page as a PNG, or `height` pixels of it from `top` on.
  std::string picture(unsigned top = 0, unsigned height = 0);
  /// Errors, warnings, exceptions, and requests for anything but the file, since it was opened.
  std::vector<std::string> complaints();

 private:
  nlohmann::json call(const std::string& method, const nlohmann::json& parameters = nlohmann::json::object());
  nlohmann::json receive();
  void surround(unsigned width, bool dark);
  void note(const nlohmann::json& event);

  pid_t process_ = -1;
  int to_ = -1;
  int from_ = -1;
  int last_id_ = 0;
  bool loaded_ = false;
  unsigned width_ = 0;
  std::string session_;
  std::string profile_;  // folder of the browser's own files
  std::string pending_;  // read, no whole message yet
  std::vector<std::string> complaints_;
};

}  // namespace heddle::tests
