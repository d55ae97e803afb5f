// SPDX-License-Identifier: MIT
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <tuple>
#include <vector>

#include "heddle/sub_partition/account/warp_state.h"
#include "heddle/tlm/kernel/state_image.h"
#include "heddle/tlm/protocol/instruction_traffic.h"

namespace heddle {

struct decoded_instruction;
struct decoded_program;
struct resident_launch;

/// Warp-cycles that the warps of a launch spent with one instruction as their next, by state.
struct instruction_profile : state_counts {
  std::uint64_t executed = 0;  // warp instructions
  std::uint64_t lanes = 0;     // active lanes that were not predicated off, summed over them
};

/// What an instruction has counted: its executed warp instructions, their lanes, and warp-cycles by state number.
using profile_counts = std::array<std::uint64_t, 2 + state_count>;

/// The low halves of an instruction's counts.
struct alignas(64) profile_line {
  std::array<std::uint32_t, std::tuple_size_v<profile_counts>> low{};
};

/// An instruction of a launch on several SMs together.
struct instruction_sum {
  profile_counts counts{};
  instruction_traffic traffic;
  std::uint64_t bank_conflicts = 0;  // passes over shared memory beyond the first, of each SM

  [[nodiscard]] instruction_profile profile() const;
};

/// Profiles of a launch's instructions on one SM, shared by its sub-partitions. The low halves of an instruction's
/// counts share two cache lines; nearly all counts are in the first. Overflows of 32 bits, which take hours, are
/// counted elsewhere.
class launch_profile {
 public:
  static constexpr unsigned executed = 0;  // index of the executed warp instructions
  static constexpr unsigned lanes = 1;     // index of their lanes; the states follow
  static constexpr unsigned what(unsigned state) { return 2 + state; }

  /// Sets the launch's program. Only the first call has an effect.
  void begin(std::shared_ptr<const decoded_program> program);
  /// The line of the program's first instruction.
  profile_line* lines() { return lines_.data(); }
  [[nodiscard]] const profile_line* lines() const { return lines_.data(); }
  void add(profile_line& to, unsigned what, std::uint64_t n) {
    const std::uint64_t sum = to.low[what] + n;
    to.low[what] = static_cast<std::uint32_t>(sum);
    if (__builtin_expect(sum >> 32 != 0, 0)) carry(to, what, sum >> 32);
  }

  /// Number of instructions; 0 before the launch's first warp.
  [[nodiscard]] std::size_t size() const { return dropped_ ? dropped_size() : lines_.size(); }
  [[nodiscard]] instruction_profile at(std::size_t instruction) const;
  /// False if lines() has all of each count.
  [[nodiscard]] bool has_overflowed() const { return !high_.empty(); }
  /// One count of an instruction: `executed`, `lanes` or that of a state.
  [[nodiscard]] std::uint64_t count(std::size_t instruction, unsigned what) const {
    const std::uint64_t high = high_.empty() ? 0 : high_[instruction][what];
    return (high << 32) + lines_[instruction].low[what];
  }
  /// What a memory or texture instruction of the program has moved.
  instruction_traffic& traffic_of(const decoded_instruction& d) { return traffic_[access_of(d)]; }
  /// The same; zeros for other instructions.
  [[nodiscard]] instruction_traffic traffic(std::size_t instruction) const;
  /// Counts for a block that counts apart, too, until its end, when nothing of it is on the way.
  block_counts& begin_block();
  void end_block(block_counts& counts);
  /// Which of the program's accesses to memory an instruction is.
  [[nodiscard]] std::uint32_t access_of(const decoded_instruction& d) const;
  /// Frees the counts of a launch that has ended, which its ended_profile has. Only program() and size() remain.
  void drop();
  [[nodiscard]] bool dropped() const { return dropped_; }
  /// No block of it counts apart.
  [[nodiscard]] bool counts_no_block() const { return free_blocks_.size() == blocks_.size(); }
  /// Null before the launch's first warp.
  [[nodiscard]] const decoded_program* program() const { return program_.get(); }
  /// Names the traffic that it counts, and blocks that count apart.
  void exchange(state_image& image, const resident_launch& launch);

 private:
  friend struct launch_code;
  [[nodiscard]] std::size_t dropped_size() const;
  std::shared_ptr<execution_count> counts_of_block();
  void carry(const profile_line& from, unsigned what, std::uint64_t high);
  [[nodiscard]] profile_counts counts_of(std::size_t instruction) const;
  void exchange_counts(state_image& image, std::size_t instruction);
  void exchange_blocks(state_image& image);

  std::vector<profile_line> lines_;
  std::vector<profile_counts> high_;          // empty until a count exceeds 32 bits
  std::vector<instruction_traffic> traffic_;  // of the instructions that access memory
  std::shared_ptr<const decoded_program> program_;
  std::vector<std::unique_ptr<block_counts>> blocks_;
  std::vector<block_counts*> free_blocks_;
  std::shared_ptr<std::uint8_t[]> zeros_;  // for the counts of blocks to come
  std::size_t zeros_left_ = 0;             // bytes
  bool dropped_ = false;
};

/// A launch's program, and what its instructions have counted on several SMs.
struct launch_code {
  const decoded_program* program = nullptr;  // null before the launch's first warp
  std::vector<instruction_sum> counts;       // by instruction

  void add(const launch_profile& of_sm);
};

}  // namespace heddle
