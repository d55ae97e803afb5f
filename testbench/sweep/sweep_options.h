// SPDX-License-Identifier: MIT
#pragma once

#include <string>
#include <vector>

#include "testbench/options/options.h"

namespace heddle::testbench {

/// What `heddle sweep` was asked for.
struct sweep_options {
  std::string file;
  std::string confine;  // folder that all jobs' files lie below; empty: each job's own folder
  bool slurm = false;
  unsigned jobs = 0;   // points at a time, or tasks of the array; 0: as the engine thinks fit
  unsigned shard = 0;  // from 1 on; 0: all
  unsigned shards = 1;
  bool resume = false;
  bool any_size = false;
  bool dry_run = false;
  bool no_wait = false;  // slurm: submit and return
  std::string slurm_arguments;
  progress_mode progress = progress_mode::automatic;
  bool quiet = false;
};

/// Reads the arguments. True: `--help` was asked for and `help` holds the text. Throws input_error.
bool parse_sweep(const std::vector<std::string>& arguments, sweep_options& o, std::string& help);

}  // namespace heddle::testbench
