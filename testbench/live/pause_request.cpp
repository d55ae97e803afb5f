// SPDX-License-Identifier: MIT
#include "testbench/live/pause_request.h"

#include <systemc>
#include <utility>

namespace heddle::testbench {

namespace {
bool made = false;  // there is one simulation in a process, on one thread
}

void pause_request::make() {
  made = true;
  sc_core::sc_pause();
}

bool pause_request::take() { return std::exchange(made, false); }

}  // namespace heddle::testbench
