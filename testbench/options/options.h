// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "heddle/config/shipped.h"
#include "testbench/options/run_options.h"

namespace heddle::testbench {

/// Options of the commands that only print information.
struct info_options {
  std::string gpu = default_gpu();
  std::vector<std::string> overrides;
  bool json = false;
  bool describe = false;  // config
  std::string file;       // disasm
  std::string kernel;
  std::uint32_t threads = 0;  // occupancy
  std::uint32_t registers = 0;
  std::uint64_t shared_bytes = 0;
  std::int32_t carveout = -1;
  std::uint32_t cluster_blocks = 0;  // 0: not asked for
};

/// Each parses a command's arguments. True: `--help` was given and `help` holds the text. Throw input_error.
bool parse_run(const std::vector<std::string>& arguments, run_options& o, std::string& help);
/// `output`: the files' name without ending.
bool parse_view(const std::vector<std::string>& arguments, run_options& o, std::string& output, std::string& help);
bool parse_exec(const std::vector<std::string>& arguments, run_options& o, std::string& help);
bool parse_replay(const std::vector<std::string>& arguments, run_options& o, std::string& help);
bool parse_gpus(const std::vector<std::string>& arguments, info_options& o, std::string& help);
bool parse_config(const std::vector<std::string>& arguments, info_options& o, std::string& help);
bool parse_disasm(const std::vector<std::string>& arguments, info_options& o, std::string& help);
bool parse_occupancy(const std::vector<std::string>& arguments, info_options& o, std::string& help);

/// Splits "FILE:ENTRY"; if `text` is the name of an existing file, the entry is empty.
void split_kernel(const std::string& text, std::string& file, std::string& kernel);

}  // namespace heddle::testbench
