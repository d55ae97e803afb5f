// SPDX-License-Identifier: MIT
#pragma once

#include <cstdlib>
#include <filesystem>
#include <string>
#include <vector>

#include "tests/system/common/ptx_run.h"

namespace sanitize_runs {

using ptx_runs::outcome;

/// A launch of a kernel of this folder.
struct launch {
  std::string file, kernel;
  unsigned blocks = 2, threads = 64;
  std::vector<std::string> arguments;
  unsigned shared_bytes = 0;
};

/// Runs it with these options.
inline outcome run(const launch& l, const std::string& gpu, const std::string& options = "--sanitize") {
  const auto place = ptx_runs::place_of_test();
  std::filesystem::create_directories(place);
  std::string command = "cd '" + place.string() +
                        "' && timeout 60 '" HEDDLE_PROGRAM "' run --kernel '" HEDDLE_SOURCE "/tests/system/sanitize/" +
                        l.file + ":" + l.kernel + "' --grid " + std::to_string(l.blocks) + " --block " +
                        std::to_string(l.threads) + " --shared-bytes " + std::to_string(l.shared_bytes);
  for (const std::string& a : l.arguments) command += " --arg " + a;
  command += " --gpu " + gpu + " --quiet --max-cycles 500000 " + options + " >stdout 2>stderr";
  return ptx_runs::outcome_in(place, std::system(command.c_str()));
}

}  // namespace sanitize_runs
