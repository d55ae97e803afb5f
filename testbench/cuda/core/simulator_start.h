// SPDX-License-Identifier: MIT
// The simulator of a program that was not started by heddle exec, but with our library under it by other means: the
// library starts it.
#pragma once

namespace heddle::cuda {

/// Where the simulator listens: heddle exec's, or one that is started now with the options in HEDDLE_OPTIONS. Null:
/// there is none, which has been said.
const char* simulator_address();
/// It was started for this program.
bool simulator_is_own();
/// It has ended, with the process that started it: who asks then gets another one.
void forget_simulator();

}  // namespace heddle::cuda
