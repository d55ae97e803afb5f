// SPDX-License-Identifier: MIT
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

namespace heddle {

/// What the accesses of one instruction have moved, on one SM. Sectors have 32 bytes.
struct instruction_traffic {
  std::uint64_t shared_passes = 0;
  std::uint64_t constant_reads = 0;  // different addresses
  std::uint64_t translations = 0;    // look-ups in the TLB
  std::uint64_t replays = 0;
  std::uint64_t l1_lines = 0;         // look-ups
  std::uint64_t l1_sectors = 0;       // of these: hits, those in flight, those fetched and those written
  std::uint64_t l1_hits = 0;          // of loads and stores
  std::uint64_t l1_words = 0;         // as l1_counters::delivered_words
  std::uint64_t l1_fetched = 0;       // loads: sectors that were neither present nor in flight
  std::uint64_t l1_write_hits = 0;    // sectors
  std::uint64_t l1_write_misses = 0;  // sectors
  std::uint64_t flits = 0;            // of the interconnect
  std::uint64_t cluster_flits = 0;    // of the network between SMs, there and back
  std::uint64_t l2_read_hits = 0;     // sectors
  std::uint64_t l2_read_misses = 0;   // sectors, those in flight included
  std::uint64_t atomics = 0;          // requests
  std::uint64_t atomic_cells = 0;     // different addresses of a request, summed
  std::uint64_t atomic_turns = 0;     // the most lanes of a request with one address, summed
  std::uint64_t l2_write_hits = 0;    // sectors
  std::uint64_t l2_write_misses = 0;  // sectors
  std::uint64_t fetched_sectors = 0;  // that the L2 read from device memory for it

  void add(const instruction_traffic& o);
};

/// How often an instruction has executed.
struct execution_count {
  std::uint64_t warps = 0;
  std::uint64_t lanes = 0;  // active and not predicated off, summed over the warps
};

class launch_profile;

/// What one block has executed and moved. Most blocks of a large program execute little of it: counts exist from an
/// instruction's first execution on.
struct block_counts {
  static constexpr std::size_t together = 64;  // instructions
  using executions = std::array<execution_count, together>;

  std::vector<std::unique_ptr<executions>> executed;        // by instruction of the program / together; may be null
  std::vector<std::unique_ptr<instruction_traffic>> moved;  // by instruction that accesses memory; may be null
  std::vector<std::uint32_t> touched;                       // instructions that have executed
  launch_profile* owner = nullptr;

  /// For a program of so many instructions, of which so many access memory.
  void resize(std::size_t instructions, std::size_t accesses);
  execution_count& at(std::uint32_t instruction);
  [[nodiscard]] execution_count count(std::uint32_t instruction) const;
  instruction_traffic& moved_by(std::uint32_t access);
  [[nodiscard]] instruction_traffic traffic(std::uint32_t access) const;
  /// Of another block of the same launch.
  void add(const block_counts& o);
};

}  // namespace heddle
