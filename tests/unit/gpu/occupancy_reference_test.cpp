// SPDX-License-Identifier: MIT
// Compares with NVIDIA's own occupancy calculator. Built only if the CUDA toolkit's header is available.
#include <cuda_occupancy.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <climits>
#include <random>
#include <string>
#include <vector>

#include "heddle/occupancy/occupancy.h"
#include "occupancy_devices.h"

namespace heddle::test {
namespace occupancy_reference_test {

cudaOccDeviceProp properties_of(const device_row& row) {
  cudaOccDeviceProp p;
  const std::size_t dot = row.compute_capability.find('.');
  p.computeMajor = std::stoi(row.compute_capability.substr(0, dot));
  p.computeMinor = std::stoi(row.compute_capability.substr(dot + 1));
  p.maxThreadsPerBlock = static_cast<int>(row.max_threads_per_block);
  p.maxThreadsPerMultiprocessor = static_cast<int>(row.max_threads);
  p.regsPerBlock = static_cast<int>(row.registers_per_block);
  p.regsPerMultiprocessor = static_cast<int>(row.registers);
  p.warpSize = 32;
  p.sharedMemPerBlock = row.per_block_kb * 1024;
  p.sharedMemPerMultiprocessor = row.shared_kb * 1024;
  p.numSms = 1;
  p.sharedMemPerBlockOptin = row.opt_in_kb * 1024;
  p.reservedSharedMemPerBlock = row.reserved_bytes;
  return p;
}

/// The reference's answer. `known` becomes false if this version of it lacks the compute capability.
cudaOccResult ask(const device_row& row, const block_demand& demand, std::size_t dynamic_bytes, bool& known) {
  const cudaOccDeviceProp properties = properties_of(row);
  cudaOccFuncAttributes function;
  function.maxThreadsPerBlock = INT_MAX;
  function.numRegs = static_cast<int>(demand.registers_per_thread);
  function.sharedSizeBytes = static_cast<std::size_t>(demand.shared_bytes - dynamic_bytes);
  function.shmemLimitConfig = FUNC_SHMEM_LIMIT_OPTIN;
  function.maxDynamicSharedSizeBytes = properties.sharedMemPerBlockOptin;
  function.numBlockBarriers = static_cast<int>(demand.barriers);
  cudaOccDeviceState state;
  state.carveoutConfig = demand.carveout_percent;
  cudaOccResult result;
  const cudaOccError error = cudaOccMaxActiveBlocksPerMultiprocessor(&result, &properties, &function, &state,
                                                                     static_cast<int>(demand.threads), dynamic_bytes);
  known = error != CUDA_OCC_ERROR_UNKNOWN_DEVICE;
  EXPECT_NE(CUDA_OCC_ERROR_INVALID_INPUT, error);
  // The reference applies barriers last and keeps the limiting factors of the earlier minimum.
  const int blocks = result.activeBlocksPerMultiprocessor;
  if (result.blockLimitWarps != blocks) result.limitingFactors &= ~static_cast<unsigned>(OCC_LIMIT_WARPS);
  if (result.blockLimitBlocks != blocks) result.limitingFactors &= ~static_cast<unsigned>(OCC_LIMIT_BLOCKS);
  if (result.blockLimitRegs != blocks) result.limitingFactors &= ~static_cast<unsigned>(OCC_LIMIT_REGISTERS);
  if (result.blockLimitSharedMem != blocks) result.limitingFactors &= ~static_cast<unsigned>(OCC_LIMIT_SHARED_MEMORY);
  return result;
}

std::string names_of(unsigned factors) {
  std::string names;
  if (factors & OCC_LIMIT_WARPS) names += "warps ";
  if (factors & OCC_LIMIT_BLOCKS) names += "blocks ";
  if (factors & OCC_LIMIT_REGISTERS) names += "registers ";
  if (factors & OCC_LIMIT_SHARED_MEMORY) names += "shared_memory ";
  if (factors & OCC_LIMIT_BARRIERS) names += "barriers ";
  return names;
}

/// All results of a calculator, as text.
std::string text_of(const cudaOccResult& r) {
  const auto limit = [](int n) { return n == INT_MAX ? "-" : std::to_string(n); };
  return std::to_string(r.activeBlocksPerMultiprocessor) + " blocks; limits " + limit(r.blockLimitWarps) + " " +
         limit(r.blockLimitBlocks) + " " + limit(r.blockLimitRegs) + " " + limit(r.blockLimitSharedMem) + "; by " +
         names_of(r.limitingFactors);
}

std::string text_of(const occupancy_result& r) {
  const auto limit = [](unsigned n) { return n == resource_limits::unlimited ? "-" : std::to_string(n); };
  std::string names;
  for (const std::string& name : r.limiters) names += name + " ";
  const resource_limits& l = r.block.limits;
  return std::to_string(r.blocks_per_sm) + " blocks; limits " + limit(l.warps) + " " + limit(l.blocks) + " " +
         limit(l.registers) + " " + limit(l.shared_memory) + "; by " + names;
}

/// Compares one question; returns true if both agree.
bool agree(const device_row& row, const occupancy_calculator& ours, const block_demand& demand,
           std::size_t dynamic_bytes) {
  // The reference ignores the limit of 63 registers of compute capability 3.0, as it does for earlier ones.
  if (row.compute_capability == "3.0" && demand.registers_per_thread > 63) return true;
  bool known = true;
  const cudaOccResult theirs = ask(row, demand, dynamic_bytes, known);
  const occupancy_result mine = ours.compute(demand);
  EXPECT_EQ(text_of(theirs), text_of(mine))
      << "compute capability " << row.compute_capability << ", " << demand.threads << " threads, "
      << demand.registers_per_thread << " registers, " << demand.shared_bytes << " bytes, carve-out "
      << demand.carveout_percent << ", " << demand.barriers << " barriers";
  if (theirs.activeBlocksPerMultiprocessor > 0) {
    EXPECT_EQ(static_cast<unsigned>(theirs.allocatedRegistersPerBlock), mine.block.registers_per_block);
    EXPECT_EQ(theirs.allocatedSharedMemPerBlock, mine.block.shared_bytes);
  }
  return !testing::Test::HasFailure();
}

int major_of(const device_row& row) { return std::stoi(row.compute_capability); }

/// Versions of the reference support different compute capabilities; none supports those below 3.0.
bool is_known(const device_row& row) {
  bool known = major_of(row) >= 3;
  if (known) ask(row, {32, 32}, 0, known);
  return known;
}

TEST(occupancy_reference, agrees_on_every_combination) {
  std::size_t compared = 0, chips = 0;
  for (const device_row& row : device_rows()) {
    if (!is_known(row)) continue;
    ++chips;
    const occupancy_calculator ours(config_of(row));
    for (unsigned threads = 1; threads <= 1056; threads += threads < 96 ? 19 : 47)
      for (unsigned registers : {0u,  1u,  8u,  9u,  16u,  21u,  24u,  32u,  33u,  40u,  48u,  56u, 63u,
                                 64u, 72u, 80u, 96u, 101u, 128u, 168u, 200u, 232u, 240u, 255u, 257u})
        for (unsigned shared : {0u,     1u,      1000u,   2048u,   3000u,   5000u,   7168u,  8192u,  10000u,
                                12288u, 16384u,  24576u,  33000u,  49151u,  49152u,  49153u, 65536u, 65537u,
                                98304u, 101376u, 101377u, 150000u, 166912u, 232448u, 232449u})
          if (!agree(row, ours, {threads, registers, shared, -1, 1}, shared)) return;
          else ++compared;
  }
  EXPECT_GE(chips, 5u);
  if (chips == 18) {
    EXPECT_GE(compared, 112200u);
  }
  EXPECT_GE(compared, 14000 * chips);
}

// Static and dynamic shared memory, and carve-outs where the reference supports them.
TEST(occupancy_reference, agrees_on_100000_random_questions) {
  std::vector<const device_row*> rows;
  for (const device_row& row : device_rows())
    if (is_known(row)) rows.push_back(&row);
  ASSERT_FALSE(rows.empty());
  std::mt19937 random(6);
  const auto below = [&random](unsigned n) { return static_cast<unsigned>(random() % n); };
  for (unsigned k = 0; k < 100000; ++k) {
    const device_row& row = *rows[below(static_cast<unsigned>(rows.size()))];
    const unsigned optin = row.opt_in_kb * 1024;
    const unsigned fixed = below(2) == 0 ? 0 : below(std::min(optin, 48u * 1024)),
                   dynamic = below(3) == 0 ? 0 : below(optin);
    const int carveout = major_of(row) < 7 || below(3) == 0 ? -1 : static_cast<int>(below(101));
    if (!agree(row, occupancy_calculator(config_of(row)),
               {1 + below(1056), below(256), fixed + dynamic, carveout, below(4)}, dynamic))
      return;
  }
}

TEST(occupancy_reference, agrees_on_carveouts_and_barriers) {
  for (const device_row& row : device_rows()) {
    // Below 7.0 the reference has no carve-out; our list of sizes corresponds to its older cache preference.
    if (major_of(row) < 5 || !is_known(row)) continue;
    const occupancy_calculator ours(config_of(row));
    for (int percent = -1; percent <= 100; ++percent)
      for (unsigned shared : {0u, 1u, 3000u, 9000u, 20000u, 40000u, 60000u, 100000u, 200000u})
        for (unsigned barriers : {0u, 1u, 3u, 16u})
          if (!agree(row, ours, {96, 20, shared, percent, barriers}, shared)) return;
  }
}

}  // namespace occupancy_reference_test
}  // namespace heddle::test
