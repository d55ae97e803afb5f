// SPDX-License-Identifier: MIT
// A library that is there for its name: the functions are in libheddle_cuda.so.
