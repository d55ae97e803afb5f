// SPDX-License-Identifier: MIT
// Source of libraries that exist only for their names: the functions are in libheddle_cuda.so.
