// SPDX-License-Identifier: MIT
// For programs that take the time as the seed of their random numbers: compiled with `-include fixed_time.h`, two of
// them compute the same.
#include <time.h>
#define time(x) 7
