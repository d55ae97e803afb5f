// SPDX-License-Identifier: MIT
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

namespace heddle {

struct decoded_program;

/// The state of an active warp in a cycle, as CONTRACT's `warp_cycles` names them.
enum class warp_cycle : std::uint8_t {
  selected, not_selected, inst_fetch, exec_dependency, memory_dependency, memory_throttle, pipe_busy, sync,
  constant_memory_dependency, texture, sleeping, other, count
};

const char* name_of(warp_cycle s);

/// What the warps of a launch spent on one instruction: cycles in which it was their next one, by state.
struct instruction_profile {
  std::uint64_t executed = 0;   // warp instructions
  std::array<std::uint64_t, static_cast<std::size_t>(warp_cycle::count)> cycles{};
};

/// The profiles of a launch's instructions on one sub-partition. The low halves of an instruction's counts share one cache line;
/// what does not fit 32 bits, which takes hours, goes where it is in nobody's way.
class launch_profile {
 public:
  static constexpr unsigned executed = static_cast<unsigned>(warp_cycle::count);
  struct alignas(64) line {
    std::array<std::uint32_t, executed + 1> low{};   // by state, then the warp instructions
  };

  /// The launch runs this program. The first call counts.
  void begin(std::shared_ptr<const decoded_program> program);
  /// The line of the program's first instruction.
  line* lines() { return lines_.data(); }
  void add(line& to, unsigned what, std::uint64_t n) {
    const std::uint64_t sum = to.low[what] + n;
    to.low[what] = static_cast<std::uint32_t>(sum);
    if (__builtin_expect(sum >> 32 != 0, 0)) carry(to, what, sum >> 32);
  }

  /// Of how many instructions; 0 before the launch's first warp.
  std::size_t size() const { return lines_.size(); }
  instruction_profile at(std::size_t instruction) const;
  /// Null before the launch's first warp.
  const decoded_program* program() const { return program_.get(); }

 private:
  void carry(const line& from, unsigned what, std::uint64_t high);

  std::vector<line> lines_;
  std::vector<std::array<std::uint64_t, executed + 1>> high_;   // empty until a count goes past 32 bits
  std::shared_ptr<const decoded_program> program_;
};

}  // namespace heddle
