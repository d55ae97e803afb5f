// SPDX-License-Identifier: MIT
// Kernels that measure one passage of instructions, written when a test runs: the text is the same line many times
// over.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

namespace microbench {

/// A chain of instructions, in PTX. '$' stands for the number of the chain; every chain has registers of its own.
struct passage {
  std::string declarations;        // of all chains and of what they share; "%x<$>" declares one for each chain
  std::string before;              // once
  std::string begin;               // for each chain
  std::vector<std::string> steps;  // of a chain, in turn
  std::string end;                 // for each chain: brings its result into %value
};

/// One kernel: `operations` steps spread over `chains` chains, in turn, between two readings of the clock. It runs
/// twice, so that the second time, which counts, meets warm caches; a barrier lets the warps of a block begin together.
/// Each thread writes the clock before and after, the difference, and a value that depends on all results. Parameters:
/// the output, a 64-bit seed.
std::string kernel(const std::string& name, const passage& p, unsigned operations, unsigned chains);

/// A module of such kernels.
std::string module(const std::string& kernels);

struct launch {
  std::string kernel;
  unsigned threads;  // of a block
  unsigned blocks = 1;
};

struct clocks {
  std::uint32_t first, last;
};

/// Runs the module's kernels on a single SM of the GPU, in a folder of their own below the results' folder. Returns
/// what each thread of each launch read, or nothing with a failure recorded.
std::vector<std::vector<clocks>> clocks_of(const std::string& name, const std::string& gpu, const std::string& text,
                                           const std::vector<launch>& launches, const std::string& options = "");

/// Runs the module's kernels on a single SM of the GPU, in a folder of their own below the results' folder.
/// Returns the cycles of each launch from the first clock to the last, or nothing with a failure recorded.
std::vector<double> run(const std::string& name, const std::string& gpu, const std::string& text,
                        const std::vector<launch>& launches, const std::string& options = "");

}  // namespace microbench
