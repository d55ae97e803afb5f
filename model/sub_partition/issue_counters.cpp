// SPDX-License-Identifier: MIT
#include "sub_partition/issue_counters.h"

namespace heddle {

const char* name_of(warp_cycle s) {
  constexpr const char* names[] = {"selected", "not_selected", "inst_fetch", "exec_dependency", "memory_dependency",
                                   "memory_throttle", "pipe_busy", "sync", "constant_memory_dependency", "texture",
                                   "sleeping", "other"};
  return names[static_cast<unsigned>(s)];
}

const char* name_of(warp_stall s) {
  constexpr const char* names[] = {"selected", "not_selected", "wait", "short_scoreboard", "long_scoreboard",
                                   "math_pipe_throttle", "mio_throttle", "lg_throttle", "tex_throttle", "barrier",
                                   "membar", "branch_resolving", "no_instruction", "imc_miss", "dispatch_stall", "drain",
                                   "sleeping", "misc"};
  return names[static_cast<unsigned>(s)];
}

}  // namespace heddle
