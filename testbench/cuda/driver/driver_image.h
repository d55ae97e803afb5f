// SPDX-License-Identifier: MIT
// What a program loads by itself: PTX, fat binaries, PTX put together by a linker; and what it says to the PTX
// compiler, which there is none of.
#pragma once

#include <chrono>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "testbench/cuda/driver/driver.h"

namespace heddle::cuda {

/// The options of a load or a link: CUjit_option names, and a pointer or a number for each. Sizes of logs and the time
/// are written back.
class jit_options {
 public:
  jit_options(unsigned count, const int* names, void** values);
  void information(const std::string& text) { information_ += text; }
  void mistake(const std::string& text) { mistake_ += text; }
  /// Writes back what there is to tell.
  void finish();

 private:
  void** value(int name);
  void write_back(int buffer, int size, const std::string& text);

  std::vector<int> names_;
  void** values_;
  std::map<int, std::size_t> sizes_;  // of logs, by their name
  std::string information_, mistake_;
  std::chrono::steady_clock::time_point begin_;
};

using image_parts = std::vector<std::pair<const void*, std::uint64_t>>;

/// The parts of what nvcc puts into .nvFatBinSegment.
image_parts parts_of_wrapper(const void* wrapper);
/// Several texts of PTX as one image, which loading knows again; of one text that text.
std::string linked_image(const std::vector<std::string>& texts);
/// Hands an image to the simulator. `caller`: the function that was called, for messages.
result_t load_image(const void* data, const char* caller, jit_options& options, image*& loaded);
result_t load_file(const char* path, const char* caller, jit_options& options, image*& loaded);

}  // namespace heddle::cuda
