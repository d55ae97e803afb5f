// SPDX-License-Identifier: MIT
#pragma once

#include "heddle/sub_partition/stream/instruction_stream.h"

namespace heddle {

/// The warp follows a trace: each record gives the next instruction and its active lanes. Registers and memory hold no
/// values.
class recorded_stream final : public instruction_stream {
 public:
  explicit recorded_stream(const surroundings& s);

  [[nodiscard]] bool recorded() const override { return true; }
  [[nodiscard]] unsigned registers_kept(const resident_launch&) const override { return 0; }
  void begin(warp_slot& w) const override;
  void prefetch_sources(const warp_slot&) const override {}
  void advance(warp_slot& w) const override { next_record(w); }
  [[nodiscard]] bool lanes_present(unsigned, simt::lane_mask, cycle_t) const override { return true; }
  void issue_exit(unsigned slot, simt::lane_mask mask, cycle_t cycle, unsigned latency) const override;
  void issue_barrier(unsigned slot, simt::lane_mask mask, cycle_t cycle) const override;
  [[nodiscard]] bool multiply(unsigned, simt::lane_mask) const override { return true; }
  [[nodiscard]] bool yields(unsigned, simt::lane_mask, cycle_t) const override { return false; }
  void wait_at_barrier(unsigned, simt::lane_mask, unsigned) const override {}  // issue_barrier tracks the lanes
  void leave_barrier(warp_slot& w, unsigned) const override { w.barrier_lanes = 0; }
  void write_reduction(warp_slot&, unsigned, std::uint32_t, std::uint32_t) const override {}
  bool end_mbarrier_waits(warp_slot&, bool) const override { return false; }
  [[nodiscard]] bool all_wait(const warp_slot&) const override { return false; }
  void issue_bulk(unsigned, simt::lane_mask, cycle_t) const override {}  // a trace has no descriptors
  std::uint32_t resume(warp_slot& w) const override { return w.sequence; }
  [[nodiscard]] bool lanes_go_on(const warp_slot& w) const override;
  bool addresses(unsigned slot, simt::lane_mask mask, lsu_transaction& t) const override;
  bool access_shared(unsigned, lsu_transaction&) const override { return true; }
  bool copy_target_of(unsigned slot, lsu_transaction& t, copy_target& to) const override;
  void write_copy(const warp_slot& w, lsu_transaction& t) const override;
  void store_data(const warp_slot& w, lsu_transaction& t) const override;
  void write_back(const decoded_instruction&, warp_slot&, simt::lane_mask,
                  const std::uint32_t (*)[isa::warp_size]) const override {}
  void exchange(warp_slot& w, simt::context_image& image) const override;
  void exchange_place(warp_slot& w, state_image& image) const override;
  [[nodiscard]] std::string place_of(const warp_slot& w, const isa::instruction& i) const override;
  [[nodiscard]] std::vector<std::string> lane_places(const warp_slot& w, unsigned barrier) const override;

 private:
  bool branch(warp_slot& w, simt::lane_mask mask) const override;
  static void next_record(warp_slot& w) {
    ++w.record;
    if (__builtin_expect(w.record == w.last_record, 0) && !w.segment->ends) seek(w, position(w));
    w.state.pc = w.record->instruction;
    w.state.active = w.record->mask;
  }
  /// Index of `record` among the warp's records.
  static std::uint64_t position(const warp_slot& w) {
    return w.segment->position + static_cast<std::uint64_t>(w.record - w.segment->first);
  }
  static bool seek(warp_slot& w, std::uint64_t position);

  const bool independent_;  // each lane has its own program counter
};

}  // namespace heddle
