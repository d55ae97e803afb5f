// SPDX-License-Identifier: MIT
#pragma once

#include <gtest/gtest.h>
#include <stdlib.h>

#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "heddle/config/config.h"

namespace heddle::test {

/// A directory for each test, removed afterwards.
class config_files : public ::testing::Test {
 protected:
  void SetUp() override {
    char name[] = "/tmp/heddle_config_XXXXXX";
    ASSERT_NE(nullptr, mkdtemp(name));
    directory_ = name;
  }
  void TearDown() override {
    unsetenv("HEDDLE_CONFIGS");
    std::filesystem::remove_all(directory_);
  }

  // NOLINTNEXTLINE(modernize-use-nodiscard): the file is what counts
  std::string write(const std::string& text, const std::string& name = "a.ini") const {
    const std::string file = (directory_ / name).string();
    std::ofstream(file, std::ios::binary) << text;
    return file;
  }

  /// The end of the error message for such a file, with "FILE" in place of its name.
  [[nodiscard]] std::string error_of(const std::string& text, const std::vector<std::string>& overrides = {}) const {
    const std::string file = write(text);
    try {
      load_config(file, overrides);
    } catch (const input_error& e) {
      std::string message = e.what();
      const std::size_t at = message.find(file);
      return at == std::string::npos ? message : message.replace(at, file.size(), "FILE");
    }
    return "no error";
  }

  std::filesystem::path directory_;
};

}  // namespace heddle::test
