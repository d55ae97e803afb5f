// SPDX-License-Identifier: MIT
// Starts a simulator for a program that was not started by heddle exec but has this library preloaded or linked.
#pragma once

namespace heddle::cuda {

/// The address of the simulator: that of heddle exec, or of one that is started now with the options in
/// HEDDLE_OPTIONS. Null: there is none, and a message was printed.
const char* simulator_address();
/// True if the simulator was started for this program.
bool simulator_is_own();
/// Called when the simulator has ended with the process that started it: the next request starts another one.
void forget_simulator();

}  // namespace heddle::cuda
