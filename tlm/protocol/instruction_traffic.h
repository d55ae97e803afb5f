// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "heddle/tlm/kernel/state_image.h"

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
  void exchange(state_image& image) { image.numbers(*this); }
};

/// How often an instruction has executed.
struct execution_count {
  std::uint64_t warps = 0;
  std::uint64_t lanes = 0;  // active and not predicated off, summed over the warps
};

class launch_profile;

/// So many counts, all 0.
std::shared_ptr<execution_count> zero_counts(std::size_t number);

/// Room for what the accesses of a block move, which grows as more of them execute.
class traffic_room {
 public:
  instruction_traffic& next();

 private:
  std::vector<std::unique_ptr<instruction_traffic[]>> parts_;
  std::size_t size_ = 0, used_ = 0;  // of the last part
};

/// What one block has executed and moved.
struct block_counts {
  block_counts(std::shared_ptr<execution_count> zeros, std::size_t accesses)
      : executed(std::move(zeros)), moved(accesses) {}

  std::shared_ptr<execution_count> executed;  // the first of those by instruction of the program
  std::vector<instruction_traffic*> moved;    // by instruction that accesses memory; may be null
  std::vector<std::uint32_t> touched;         // instructions that have executed
  launch_profile* owner = nullptr;

  execution_count& at(std::uint32_t instruction) { return executed.get()[instruction]; }
  [[nodiscard]] const execution_count& at(std::uint32_t instruction) const { return executed.get()[instruction]; }
  instruction_traffic& moved_by(std::uint32_t access);
  [[nodiscard]] instruction_traffic traffic(std::uint32_t access) const;
  /// Of another block of the same launch.
  void add(const block_counts& o);

 private:
  traffic_room room_;
};

}  // namespace heddle
