// SPDX-License-Identifier: MIT
#pragma once

#include "testbench/options/option_parser.h"
#include "testbench/options/run_options.h"

namespace heddle::testbench {

// Options that exclude others; call after those have been read.
void read_checkpoints(const option_parser& p, run_options& o);
void read_block_sampling(const option_parser& p, run_options& o);

}  // namespace heddle::testbench
