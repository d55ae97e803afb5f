// SPDX-License-Identifier: MIT
#pragma once

#include "testbench/options/option_parser.h"

namespace heddle::testbench {

// Groups of options that several commands have.
void add_gpu_options(option_parser& p);
/// Of commands that simulate a run.
void add_simulation_options(option_parser& p);
/// Of commands that execute what they simulate.
void add_sanitizer(option_parser& p);
/// Of commands that execute what they simulate: a trace of it.
void add_record(option_parser& p);
/// Of a single kernel launch; the occupancy calculator takes a part of them.
void add_shared_bytes(option_parser& p, const char* help);
void add_carveout(option_parser& p);
/// What run and view simulate instead of a job file.
void add_launch(option_parser& p);
/// Of commands that simulate a run for its results, not for a view.
void add_block_sampling(option_parser& p);
/// Of commands whose run can be resumed.
void add_checkpoints(option_parser& p);

}  // namespace heddle::testbench
