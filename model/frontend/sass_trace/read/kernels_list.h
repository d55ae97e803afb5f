// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <deque>
#include <string>

namespace heddle::sass_trace {

/// One line of a list of kernels.
struct list_command {
  enum class kind : std::uint8_t { copy_to_device, kernel, untimed };
  kind what = kind::kernel;
  std::uint64_t address = 0;  // copy_to_device
  std::uint64_t bytes = 0;    // copy_to_device
  std::string file;           // kernel, untimed: path of its trace
  std::uint32_t line = 0;     // in the list, from 1
};

/// Reads a list of kernels (kernelslist.g) in program order. Names of traces are relative to the list's folder. Copies
/// to the host, other calls and comments (#, //) are skipped. Launches before the first one may be untimed: they only
/// fill the L2. Throws input_error for a missing list or trace, a malformed copy, a trace whose name does not begin
/// with "kernel", an unsupported trace format (the raw .trace, .tracez), or a list without kernels.
std::deque<list_command> read_kernels_list(const std::string& file);

}  // namespace heddle::sass_trace
