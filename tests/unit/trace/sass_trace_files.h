// SPDX-License-Identifier: MIT
// Small traces for tests: a header of any version, and a directory that is removed with the test.
#pragma once

#include <gtest/gtest.h>
#include <stdlib.h>

#include <filesystem>
#include <fstream>
#include <string>

#include "heddle/config/error.h"

namespace sass_trace_test {

/// Key lines and format text of a trace's header.
struct head {
  std::string version = "5";
  std::string format =
      "PC mask dest_num [reg_dests] opcode src_num [reg_srcs] mem_width [adrrescompress?] [mem_addresses] immediate";
  unsigned binary = 80;
  std::string grid = "(1,1,1)";
  std::string block = "(32,1,1)";
  bool line_info = false;
  unsigned stream = 0;

  [[nodiscard]] std::string text() const {
    return "-kernel name = _Z4testPf\n-kernel id = 1\n-grid dim = " + grid + "\n-block dim = " + block +
           "\n-shmem = 1024\n-nregs = 32\n-binary version = " + std::to_string(binary) +
           "\n-cuda stream id = " + std::to_string(stream) +
           "\n-shmem base_addr = 0x00007f5000000000\n-local mem base_addr = 0x00007f4e00000000\n-nvbit version = 1.7\n" +
           "-accelsim tracer version = " + version + "\n-enable lineinfo = " + (line_info ? "1" : "0") +
           "\n\n#traces format = " + format + "\n\n";
  }
};

inline head head_of_version(const std::string& version) {
  head h;
  h.version = version;
  const std::string fields =
      "PC mask dest_num [reg_dests] opcode src_num [reg_srcs] mem_width [adrrescompress?] [mem_addresses]";
  h.format = version == "5"          ? fields + " immediate"
             : version == "5 hopper" ? fields + " immediate1 immediate2"
             : version == "6"        ? fields + " immediate1 immediate2 Val|NoVal [dest_val_num] [dest_val] ..."
                                     : fields;
  if (version == "5 hopper") h.version = "5";
  if (version == "5 hopper" || version == "6") h.binary = 90;
  return h;
}

inline std::string warp(unsigned number, unsigned count, const std::string& lines) {
  return "\nwarp = " + std::to_string(number) + "\ninsts = " + std::to_string(count) + "\n" + lines;
}

inline std::string thread_block(const std::string& place, const std::string& warps) {
  return "\n#BEGIN_TB\n\nthread block = " + place + "\n" + warps + "\n#END_TB\n";
}

class trace_folder {
 public:
  trace_folder() {
    std::string name = (std::filesystem::temp_directory_path() / "heddle_trace_XXXXXX").string();
    path_ = ::mkdtemp(name.data());
  }
  ~trace_folder() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  trace_folder(const trace_folder&) = delete;
  trace_folder& operator=(const trace_folder&) = delete;

  // NOLINTNEXTLINE(modernize-use-nodiscard): the file is what counts
  std::string write(const std::string& name, const std::string& text) const {
    std::ofstream(path_ / name, std::ios::binary) << text;
    return (path_ / name).string();
  }
  [[nodiscard]] std::string path(const std::string& name) const { return (path_ / name).string(); }

 private:
  std::filesystem::path path_;
};

/// The message of the input_error that `f` throws; fails the test if there is none.
template <class F>
std::string refusal(F f) {
  try {
    f();
  } catch (const heddle::input_error& e) {
    return e.what();
  }
  ADD_FAILURE() << "nothing was refused";
  return "";
}

}  // namespace sass_trace_test
