// SPDX-License-Identifier: MIT
#pragma once

#include <stdlib.h>
#include <unistd.h>

#include <fstream>
#include <sstream>
#include <string>
#include <vector>

#include "heddle/config/error.h"

namespace heddle::testbench {

/// A directory that is removed after the test.
class folder {
 public:
  folder() {
    char name[] = "/tmp/heddle_job_test_XXXXXX";
    path_ = mkdtemp(name);
  }
  ~folder() {
    for (const auto& f : made_) unlink(f.c_str());
    rmdir(path_.c_str());
  }
  std::string name(const std::string& file) {
    made_.push_back(path_ + "/" + file);
    return made_.back();
  }
  std::string write(const std::string& file, const std::string& content) {
    std::ofstream(name(file), std::ios::binary) << content;
    return path_ + "/" + file;
  }
  [[nodiscard]] const std::string& path() const { return path_; }

 private:
  std::string path_;
  std::vector<std::string> made_;
};

inline std::string content_of(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

template <class F>
inline std::string refusal(F&& f) {
  try {
    f();
  } catch (const input_error& e) {
    return e.what();
  }
  return "(accepted)";
}

}  // namespace heddle::testbench
