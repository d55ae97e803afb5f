// SPDX-License-Identifier: MIT
#pragma once

#include "testbench/options/option_parser.h"

namespace heddle::testbench {

/// The options of each command: names, values and help.
option_parser options_of_run();
option_parser options_of_view();
option_parser options_of_exec();
option_parser options_of_replay();
option_parser options_of_occupancy();
option_parser options_of_gpus();
option_parser options_of_config();
option_parser options_of_disasm();
option_parser options_of_report();
option_parser options_of_sweep();
option_parser options_of_correlate();
option_parser options_of_whatif();
option_parser options_of_help();
option_parser options_of_version();
option_parser options_of_completion();
option_parser options_of_man();

}  // namespace heddle::testbench
