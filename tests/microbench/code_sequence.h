// SPDX-License-Identifier: MIT
// Kernels that measure one sequence of instructions. They are generated when a test runs, because their text repeats
// one line many times.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

namespace microbench {

/// A chain of instructions in PTX. '$' stands for the number of the chain; every chain has its own registers.
struct code_sequence {
  std::string declarations;        // for all chains and shared registers; "%x<$>" declares one register for each chain
  std::string before;              // once
  std::string begin;               // for each chain
  std::vector<std::string> steps;  // of a chain, in alternation
  std::string end;                 // for each chain: combines its result into %value
};

/// One kernel: `operations` steps distributed round-robin over `chains` chains, between two readings of the clock. It
/// runs twice; the second pass, which counts, has warm caches. A barrier lets the warps of a block start together.
/// Each thread writes the clock before and after, the difference, and a value that depends on all results. Parameters:
/// the output, a 64-bit seed.
std::string kernel(const std::string& name, const code_sequence& p, unsigned operations, unsigned chains);

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

/// Runs the module's kernels on a single SM of the GPU, in a separate folder below the results' folder. Returns the
/// clock readings of each thread of each launch, or nothing with a failure recorded.
std::vector<std::vector<clocks>> clocks_of(const std::string& name, const std::string& gpu, const std::string& text,
                                           const std::vector<launch>& launches, const std::string& options = "");

/// Runs the module's kernels on a single SM of the GPU, in a separate folder below the results' folder. Returns the
/// cycles of each launch from the first clock to the last, or nothing with a failure recorded.
std::vector<double> run(const std::string& name, const std::string& gpu, const std::string& text,
                        const std::vector<launch>& launches, const std::string& options = "");

}  // namespace microbench
