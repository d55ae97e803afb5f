// SPDX-License-Identifier: MIT
#pragma once

#include <array>
#include <cstdint>
#include <vector>

namespace heddle {

/// What an access to global or local memory does with the line.
enum class line_use : std::uint8_t { reads = 1, writes = 2, changes = 3 };

/// Sectors of a 128-byte line that are accessed.
struct line_touch {
  std::uint64_t line = 0;  // address of its first byte
  std::uint8_t sectors = 0;
  line_use use = line_use::reads;
};

/// The lines that a block accesses, in order, as the L2 sees them: reads of what was read a short time before are left
/// out, which the L1 would answer.
class touched_lines {
 public:
  /// An access of lanes, by bit, of `bytes` bytes each.
  void add(const std::uint64_t addresses[32], std::uint32_t lanes, unsigned bytes, line_use use);
  /// The same of bytes in a row.
  void add(std::uint64_t address, std::uint64_t bytes, line_use use);
  /// Returns the lines, and forgets them and what was read.
  std::vector<line_touch> take();

 private:
  static constexpr std::uint64_t no_line = ~std::uint64_t{0};
  struct known {
    std::uint64_t line = no_line;
    std::uint8_t sectors = 0;
  };
  void touch(std::uint64_t line, unsigned sectors, line_use use);
  std::vector<line_touch> lines_;
  std::array<known, 128> read_{};  // by the lowest bits of the line's number
};

/// Learns which lines blocks have accessed that were executed without timing.
class line_follower {
 public:
  /// A block has ended. Blocks end in any order, and each tells all of its lines. One thread calls at a time.
  virtual void block_touched(std::uint64_t block, std::vector<line_touch> lines) = 0;
  /// How many blocks are resident at a time, at least 1.
  [[nodiscard]] virtual std::uint64_t together() const = 0;

 protected:
  ~line_follower() = default;
};

}  // namespace heddle
