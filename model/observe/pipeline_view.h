// SPDX-License-Identifier: MIT
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "heddle/gpu/gpu.h"
#include "heddle/memory/common/request_observer.h"
#include "heddle/observe/kanata_writer.h"
#include "heddle/sub_partition/account/instruction_observer.h"
#include "heddle/sub_partition/sub_partition.h"
#include "heddle/tlm/kernel/unit_clock.h"

namespace heddle {

/// Warp instructions of the sub-partitions in scope, from fetch to write-back, for Konata (docs/use/pipeline_view.md).
/// The times of arithmetic are known at issue; waiting warps are sampled each cycle; the memory system reports the
/// progress of loads.
class pipeline_view : public cycle_observer, public request_observer {
 public:
  /// `path`: file to write. `scope`: as for a waveform; it must contain a sub-partition. Only instructions that become
  /// a warp's next one in core cycles [first, last) are recorded. Throws input_error.
  pipeline_view(gpu& g, const std::string& path, const std::string& scope, cycle_t first = 0, cycle_t last = never);
  pipeline_view(const pipeline_view&) = delete;
  pipeline_view& operator=(const pipeline_view&) = delete;
  ~pipeline_view() override;

  void after_cycle() override;
  void left_l1(const lsu_transaction& transaction) override;
  void reached_l2(const gpu_request& request) override;
  void reached_memory(const gpu_request& request) override;
  /// Completes the file. `mark`, unless empty, becomes its last row, with a stage "Cut". Throws input_error on a full
  /// disk.
  void close(const std::string& mark = {});

 private:
  using id_t = kanata_writer::instruction_id;
  static constexpr id_t none = ~id_t{0};
  static constexpr unsigned registers = 256;
  static constexpr unsigned predicates = 8;

  // Progress of a memory instruction. It only advances: of several requests, the one that is furthest counts.
  enum class depth : std::uint8_t { queue, l1, interconnect, l2, dram };
  struct flight {
    id_t id = none;
    depth at = depth::queue;
  };
  struct warp_track {
    bool here = false;  // the slot holds a warp, as of the last sample
    id_t head = none;   // the warp's next instruction
    std::uint32_t head_pc = 0;
    id_t held_by = none;  // an issued instruction that holds the warp: a barrier, a fence, a sleep, an exit
    std::uint64_t instructions = 0;
    const memory_operation* memory = nullptr;  // of the instruction that issues in this cycle
    std::uint32_t memory_pc = 0;
    cycle_t memory_at = never;
    std::array<id_t, registers + predicates> writer{};  // 1 + the last instruction that writes it; 0: none
  };
  // Observer of one sub-partition.
  struct partition_track : instruction_observer {
    pipeline_view* view = nullptr;
    sub_partition* partition = nullptr;
    const partition_signals* signals = nullptr;
    unsigned sm = 0;
    unsigned index = 0;
    std::vector<warp_track> warps;

    void memory_issued(unsigned slot, std::uint32_t pc, const memory_operation& operation) override;
    void memory_taken(const memory_operation& operation, const lsu_transaction& transaction) override;
    void memory_done(const memory_operation& operation, cycle_t written) override;
  };

  void find_partitions(const std::string& scope, cycle_t first, cycle_t last);
  void stop();
  void follow(partition_track& p, unsigned slot);
  void wait(partition_track& p, unsigned slot, partition_signals::state state);
  void issue(partition_track& p, unsigned slot);
  void issue_one(partition_track& p, unsigned slot, id_t id, std::uint32_t pc);
  void leave(warp_track& w);
  void release(warp_track& w);
  id_t open(partition_track& p, unsigned slot, std::uint32_t pc);
  const std::string& text_of(const decoded_program& program, std::uint32_t pc);
  void arrows(warp_track& w, const decoded_instruction& d, id_t id);
  void note_results(warp_track& w, const isa::instruction& i, id_t id);
  void arithmetic(id_t id, const decoded_instruction& d, unsigned conflicts);
  void advance(const lsu_transaction& transaction, depth to);
  void advance(flight& f, depth to, const char* stage, cycle_t cycle);

  gpu& gpu_;
  kanata_writer writer_;
  cycle_t first_;
  cycle_t last_;
  cycle_t now_ = 0;
  bool stopped_ = false;
  std::vector<std::unique_ptr<partition_track>> partitions_;
  std::vector<bool> watched_;  // by SM: one of its sub-partitions is in scope
  std::map<const memory_operation*, flight> flights_;
  std::map<const decoded_program*, std::vector<std::string>> texts_;  // of the recorded instructions
};

}  // namespace heddle
