// SPDX-License-Identifier: MIT
#pragma once

#include <tlm_utils/simple_initiator_socket.h>
#include <tlm_utils/simple_target_socket.h>

#include <cstring>
#include <memory>
#include <string>
#include <vector>

#include "heddle/config/config.h"
#include "heddle/config/error.h"
#include "tests/unit/common/fresh_simulation.h"

namespace heddle {
namespace host_driver_bench {

inline gpu_config small(std::vector<std::string> more = {}) {
  more.insert(more.end(), {"gpu.sm_count=2", "memory.model=fixed"});
  return load_config("gtx1080", more);
}

template <class F>
inline std::string refusal(F&& f) {
  try {
    f();
  } catch (const input_error& e) {
    return e.what();
  }
  return {};
}

class host_driver_test : public fresh_simulation {};

}  // namespace host_driver_bench
}  // namespace heddle
