// SPDX-License-Identifier: MIT
// Images that a program loads itself: PTX, fat binaries, PTX combined by a linker; and options for the PTX compiler,
// of which only the limit of registers counts here.
#pragma once

#include <chrono>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "testbench/cuda/driver/driver.h"

namespace heddle::cuda {

/// The options of a load or a link: CUjit_option names with a pointer or a number each. Sizes of logs and the time are
/// written back.
class jit_options {
 public:
  jit_options(unsigned count, const int* names, void** values);
  void information(const std::string& text) { information_ += text; }
  void mistake(const std::string& text) { mistake_ += text; }
  /// CU_JIT_MAX_REGISTERS; 0: no limit.
  [[nodiscard]] unsigned max_registers() const { return max_registers_; }
  /// Writes back the logs and their sizes.
  void finish();

 private:
  void** value(int name);
  void write_back(int buffer, int size, const std::string& text);

  std::vector<int> names_;
  void** values_;
  std::map<int, std::size_t> sizes_;  // of logs, by option name
  std::string information_, mistake_;
  unsigned max_registers_ = 0;
  std::chrono::steady_clock::time_point begin_;
};

using image_parts = std::vector<std::pair<const void*, std::uint64_t>>;

/// The parts of a wrapper that nvcc places in .nvFatBinSegment.
image_parts parts_of_wrapper(const void* wrapper);
/// Has the simulator read PTX without loading it. Its mistakes get into the error log.
result_t check_ptx(const std::string& text, jit_options& options);
/// Checks that linked texts define each name once, and all functions that they call.
result_t check_link(const std::vector<std::string>& texts, jit_options& options);
/// Combines several PTX texts into one image, which load_image() recognises, with the options' limit of registers; a
/// single text stays a text.
std::string linked_image(const std::vector<std::string>& texts, const jit_options& options);
/// Passes an image to the simulator. `caller`: the called API function, for messages.
result_t load_image(const void* data, const char* caller, jit_options& options, image*& loaded);
/// Reads a file that the program names.
result_t read_file(const char* path, std::string& bytes);
result_t load_file(const char* path, const char* caller, jit_options& options, image*& loaded);

}  // namespace heddle::cuda
