// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "testbench/options/option_parser.h"
#include "testbench/sampling/strata/stratum.h"

namespace heddle::testbench {

/// The options of `heddle sample`.
struct sample_options {
  std::string workload;
  std::string durations;
  accuracy wanted;  // `least` 0: as usual
  std::uint64_t seed = 1;
  std::uint64_t repeat = 0;  // 0: not asked for
  bool compare = false;
  std::string layers;                // a regular expression; empty: as usual
  std::vector<std::string> results;  // metrics
  std::string output;
  std::string json_file;
  std::string gpu;
  std::vector<std::string> overrides;
  std::vector<std::string> sweep_words;  // for heddle sweep
  double sample_error = 0;               // of each launch's cycles, by which blocks are left out; 0: none are
  std::uint64_t warm_up = 0;             // launches before each one that fill the L2
  bool no_wait = false;
  bool dry_run = false;
  bool quiet = false;
};

option_parser options_of_sample();
/// Parses the arguments. False: --help was given, and its text has been printed. Throws input_error.
bool parse_sample(const std::vector<std::string>& arguments, sample_options& o);

}  // namespace heddle::testbench
