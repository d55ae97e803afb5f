// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>

/// Choice parameters: one enumeration each, named like its key. An enumerator's INI name is in parameter_rows.cpp. It
/// is the same word, except for words that C++ reserves; those enumerators end in '_'.
namespace heddle::choice {

/// The scheduling policies: X(name, its class in model/sub_partition/policies/).
#define HEDDLE_SCHEDULING_POLICIES(X) \
  X(lrr, loose_round_robin)           \
  X(gto, greedy_then_oldest)          \
  X(oldest, oldest_first)             \
  X(cggty, greedy_then_youngest)      \
  X(two_level, two_level)             \
  X(prefetch_aware, prefetch_aware)   \
  X(memory_aware, memory_aware)       \
  X(ccws, cache_conscious)

enum class placement : std::uint8_t { breadth_first, depth_first, most_free };
enum class register_allocation : std::uint8_t { warp, block };
enum class warp_assignment : std::uint8_t { round_robin, by_id };
enum class scheduler : std::uint8_t {
#define HEDDLE_X(name, policy) name,
  HEDDLE_SCHEDULING_POLICIES(HEDDLE_X)
#undef HEDDLE_X
};
enum class dual_issue : std::uint8_t { none, any, maxwell };
enum class operand_read : std::uint8_t { collector, window };
enum class dependence : std::uint8_t { scoreboard, software };
enum class divergence : std::uint8_t { stack, independent };
enum class multiplier : std::uint8_t { imad, xmad };
enum class coalescing : std::uint8_t { warp, half_warp };
enum class replay : std::uint8_t { unit, issue };
enum class store_hit : std::uint8_t { update, invalidate };
enum class replacement : std::uint8_t { lru, fifo, random };
enum class hash : std::uint8_t { none, xor_ };
enum class memory_model : std::uint8_t { dram, fixed, external };
enum class addresses : std::uint8_t { device, channel };
enum class dram_preset : std::uint8_t { none, gddr5, gddr5x, gddr6, gddr6x, hbm2, hbm2e, hbm3 };
enum class dram_standard : std::uint8_t { generic, ddr4, ddr5, gddr5, gddr5x, gddr6, gddr6x, hbm2, hbm2e, hbm3 };
enum class dram_scheduler : std::uint8_t { fr_fcfs, fcfs };
enum class row_policy : std::uint8_t { open, closed, timeout };
enum class refresh : std::uint8_t { none, all_bank, per_bank };
enum class preemption : std::uint8_t { block, instruction };
enum class priority_preemption : std::uint8_t { none, drain, switch_, flush, auto_ };
enum class saved_registers : std::uint8_t { used, live };

}  // namespace heddle::choice
