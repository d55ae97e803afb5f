// SPDX-License-Identifier: MIT
#pragma once

#include <sys/types.h>

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

namespace heddle::tests {

/// A headless Chromium, controlled by the DevTools protocol through two pipes. All functions throw std::runtime_error
/// if the browser reports an error or does not answer within a minute.
class browser {
 public:
  /// The program named by $HEDDLE_BROWSER, or the first of the usual names in $PATH; empty: none.
  static std::string program();

  /// The browser's profile is in a subfolder of `folder` while it runs.
  browser(const std::string& program, const std::string& folder);
  ~browser();
  browser(const browser&) = delete;
  browser& operator=(const browser&) = delete;

  /// Opens a file in a window of this width and waits until it is loaded. Clears the complaints.
  void open(const std::string& file, unsigned width, bool dark);
  /// The same with an address, "http://127.0.0.1:8000/", where the page may ask for more.
  void open_address(const std::string& url, unsigned width, bool dark);
  /// Changes the window width and the colour scheme of the open page, and waits until it is redrawn.
  void change(unsigned width, bool dark);
  /// The value of a JavaScript expression; a promise is awaited.
  nlohmann::json evaluate(const std::string& expression);
  /// Presses a key, such as "Tab" or "Enter".
  void press(const std::string& key);
  /// The whole page as a PNG, or `height` pixels of it from `top` on.
  std::string picture(unsigned top = 0, unsigned height = 0);
  /// Errors, warnings, exceptions, and requests for anything but the file, or below the address, since the page was
  /// opened.
  std::vector<std::string> complaints();

 private:
  nlohmann::json call(const std::string& method, const nlohmann::json& parameters = nlohmann::json::object());
  nlohmann::json receive();
  void visit(const std::string& url, unsigned width, bool dark);
  void set_viewport(unsigned width, bool dark);
  void note(const nlohmann::json& event);

  pid_t process_ = -1;
  int to_ = -1;
  int from_ = -1;
  int last_id_ = 0;
  bool loaded_ = false;
  unsigned width_ = 0;
  std::string session_;
  std::string address_;  // that was opened; else empty
  std::string profile_;  // folder of the browser's profile
  std::string pending_;  // incomplete message
  std::vector<std::string> complaints_;
};

}  // namespace heddle::tests
