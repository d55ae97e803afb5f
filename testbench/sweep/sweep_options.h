// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "testbench/options/options.h"

namespace heddle::testbench {

/// The options of `heddle sweep`.
struct sweep_options {
  std::string file;
  std::string confine;  // all jobs' files must be below this folder; empty: each job's own folder
  bool slurm = false;
  unsigned jobs = 0;   // points at a time, or tasks of the array; 0: the engine's default
  unsigned shard = 0;  // from 1 on; 0: all
  unsigned shards = 1;
  bool resume = false;
  std::uint64_t checkpoint_every = 0;  // cycles; 0: no checkpoints
  bool any_size = false;
  bool dry_run = false;
  bool no_wait = false;  // slurm: submit and return
  std::string slurm_arguments;
  progress_mode progress = progress_mode::automatic;
  bool quiet = false;
};

/// Parses the arguments. True: `--help` was given and `help` holds the text. Throws input_error.
bool parse_sweep(const std::vector<std::string>& arguments, sweep_options& o, std::string& help);

}  // namespace heddle::testbench
