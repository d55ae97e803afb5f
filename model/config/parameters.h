// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "heddle/config/choices.h"

namespace heddle {

/// Sizes of arrays of the model, which bound parameters.
constexpr unsigned most_register_banks = 64;
constexpr unsigned most_write_ports = 16;  // over all register banks
constexpr unsigned most_shared_memory_banks = 64;
constexpr unsigned most_partitions = 8;

// One struct per section of the INI file: members, their types and defaults are the rows of parameter_list.h, which
// says what each means.
// clang-format off
#define HEDDLE_SECTION(member, name) struct name##_parameters {
#define HEDDLE_END(member, name) };
// clang-format on
#define HEDDLE_NUMBER(type, key, value, range, unit, source, sentence) type key = value;
#define HEDDLE_FLAG(key, value, source, sentence) bool key = value;
#define HEDDLE_TEXT(key, value, source, sentence) std::string key = value;
#define HEDDLE_LIST(key, value, range, source, sentence) std::vector<unsigned> key = value;
#define HEDDLE_SAME(enumeration, key, value, source, sentence) choice::enumeration key = choice::enumeration::value;
#define HEDDLE_TABLED(enumeration, first, key, value, source, sentence) \
  choice::enumeration key = choice::named<choice::enumeration>(value);
#include "heddle/config/parameter_list.h"

/// A part of a divided GPU: SMs, and the channels of memory behind L2 slices of its own. No other part uses them.
struct gpu_partition {
  std::string name;
  std::vector<unsigned> sms;  // ascending
  unsigned first_channel = 0;
  unsigned channels = 0;
};

/// The whole effective configuration of one GPU.
struct gpu_config {
#define HEDDLE_SECTION(member, name) name##_parameters member;
#include "heddle/config/parameter_list.h"
  std::vector<gpu_partition> partitions;  // of no INI file; at most most_partitions. Empty: the GPU is not divided
};

/// Cycles for which a warp instruction occupies a unit of so many lanes, one at least. The ranges of lanes hold only
/// values that make them whole.
[[nodiscard]] unsigned warp_cycles(double lanes);
/// Whether 32 / `lanes` is a whole number of cycles, by the three digits that a figure of lanes has.
[[nodiscard]] bool is_warp_rate(double lanes);

/// The GPU's L2 slices.
[[nodiscard]] inline unsigned slices_of(const gpu_config& c) { return c.memory.channels * c.l2.slices_per_channel; }

/// Major*10 + minor of the compute capability: 61 for 6.1.
[[nodiscard]] int compute_capability(const gpu_config& config);
/// "6.1".
[[nodiscard]] std::string compute_capability_text(const gpu_config& config);

/// Whether misses of the SMs' second level of instruction cache are reads of the L2. Memory outside the GPU holds no
/// code.
[[nodiscard]] inline bool reads_code_from_l2(const gpu_config& config) {
  return config.instruction_cache.second_level_bytes > 0 &&
         config.instruction_cache.second_level_misses == choice::second_level_misses::l2 &&
         config.memory.model != choice::memory_model::external;
}

}  // namespace heddle
