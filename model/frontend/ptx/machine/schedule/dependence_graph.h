// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "heddle/frontend/ptx/machine/liveness.h"
#include "heddle/frontend/ptx/machine/machine_ir.h"

namespace heddle::ptx {

// An instruction moves at most this far up, which bounds the work in huge blocks.
constexpr std::size_t schedule_window = 192;

// A longer stretch without barriers is scheduled in parts, which bounds the memory for its dependences.
constexpr std::size_t longest_region = 8192;

/// The instruction stays where it is, and nothing moves across it.
bool stays_in_place(const machine_instruction& i);

/// A barrier of the block, which orders memory accesses only: what else follows it may come before it.
bool is_block_barrier(const machine_instruction& i);

bool reads_clock(const machine_instruction& i);

/// A stretch of a block whose instructions may change places: which waits for which, and what each reads and writes.
struct dependence_graph {
  struct node {
    std::uint32_t waits = 0;      // predecessors
    std::uint32_t constants = 0;  // of these, those that only fetch a constant
    std::uint64_t path = 0;       // longest path to the end of the region
    bool leads_to_late = false;   // its result comes late, or that of one that it is needed for
    bool constant = false;        // fetches a constant: issues once a successor waits for nothing else
  };
  struct edge {  // small, for there are up to a hundred an instruction
    std::uint16_t to, latency;
  };
  struct use {
    std::uint32_t unit;
    std::uint32_t times;
  };

  /// An instruction's share of one of the lists below.
  template <class T>
  struct part {
    const T *first, *last;
    [[nodiscard]] const T* begin() const { return first; }
    [[nodiscard]] const T* end() const { return last; }
    [[nodiscard]] bool empty() const { return first == last; }
  };
  [[nodiscard]] part<edge> successors(std::size_t k) const { return part_of(edges, ends_of_edges, k); }
  [[nodiscard]] part<use> uses_of(std::size_t k) const { return part_of(uses, ends_of_uses, k); }
  [[nodiscard]] part<std::uint32_t> definitions_of(std::size_t k) const {
    return part_of(definitions, ends_of_definitions, k);
  }

  std::vector<node> nodes;
  std::vector<edge> edges;
  std::vector<use> uses;
  std::vector<std::uint32_t> definitions;                                     // units
  std::vector<std::size_t> ends_of_edges, ends_of_uses, ends_of_definitions;  // by instruction, from 0 on
  std::vector<std::uint32_t> live_before, live_after;                         // units that it touches, where they live

 private:
  template <class T>
  static part<T> part_of(const std::vector<T>& all, const std::vector<std::size_t>& ends, std::size_t k) {
    return {all.data() + ends[k], all.data() + ends[k + 1]};
  }
};

/// Makes the graphs of a function's regions.
class graph_builder {
 public:
  graph_builder(const std::vector<virtual_register>& registers, const unit_map& units,
                const std::vector<segments>& live);

  /// Of the instructions [begin, end) of a block that begins at `position` in the function.
  [[nodiscard]] dependence_graph build(const std::vector<machine_instruction>& code, std::size_t begin, std::size_t end,
                                       std::uint32_t position);

 private:
  static constexpr std::uint32_t none = 0xffffffffu;
  struct link {
    std::uint16_t from, to, latency;
  };

  void connect(dependence_graph& graph, std::uint32_t from, std::uint32_t to, unsigned latency);
  void add_uses(dependence_graph& graph, const machine_instruction* region, std::uint32_t k);
  void add_orders(dependence_graph& graph, const machine_instruction* region, std::uint32_t count);
  void add_lives(dependence_graph& graph, std::uint32_t first, std::uint32_t last);

  const std::vector<virtual_register>& registers_;
  const unit_map& units_;
  const std::vector<segments>& live_;
  std::vector<std::uint32_t> last_write_;
  std::vector<std::vector<std::uint32_t>> readers_;
  std::vector<std::uint32_t> touched_;
  std::vector<link> links_;
};

}  // namespace heddle::ptx
