// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>

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

/// Where an access counts what it moves: for its instruction on the SM, and for its block if that counts apart.
struct traffic_counts {
  instruction_traffic* of_instruction = nullptr;  // null: nowhere
  instruction_traffic* of_block = nullptr;

  explicit operator bool() const { return of_instruction != nullptr; }
  /// add(to) for each of both.
  template <class Add>
  void each(Add&& add) const {
    add(*of_instruction);
    if (__builtin_expect(of_block != nullptr, 0)) add(*of_block);
  }
  void add(std::uint64_t instruction_traffic::*what, std::uint64_t n) const {
    each([what, n](instruction_traffic& to) { to.*what += n; });
  }
  void exchange(state_image& image) { image(of_instruction, of_block); }
};

/// How often an instruction has executed.
struct execution_count {
  std::uint64_t warps = 0;
  std::uint64_t lanes = 0;  // active and not predicated off, summed over the warps
};

class launch_profile;

/// So many counts, all 0.
std::shared_ptr<execution_count> zero_counts(std::size_t number);

/// What one block has executed and moved: by instruction only how often, since what is moved costs the same for each.
class block_counts {
 public:
  /// `zeros`: a count for each of the program's instructions; `of`: whose blocks they are, null: of none.
  block_counts(std::shared_ptr<execution_count> zeros, std::size_t instructions, launch_profile* of);

  void add(std::uint32_t instruction, unsigned lanes) {
    execution_count& count = executed_.get()[instruction];
    if (__builtin_expect(count.warps++ == 0, 0)) touched_[touched_count_++] = instruction;
    count.lanes += lanes;
  }
  /// What another block of the same launch has counted.
  void add(const block_counts& o);
  void clear();
  [[nodiscard]] const execution_count& at(std::uint32_t instruction) const { return executed_.get()[instruction]; }
  [[nodiscard]] launch_profile* owner() const { return owner_; }
  /// Into one that has counted nothing. `instructions`: of the program.
  void exchange(state_image& image, std::size_t instructions);

  instruction_traffic moved;

 private:
  std::shared_ptr<execution_count> executed_;  // the first of those by instruction
  std::unique_ptr<std::uint32_t[]> touched_;   // the instructions that have executed
  std::uint32_t touched_count_ = 0;
  launch_profile* owner_;
};

}  // namespace heddle
