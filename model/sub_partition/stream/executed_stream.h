// SPDX-License-Identifier: MIT
#pragma once

#include "heddle/sub_partition/stream/instruction_stream.h"

namespace heddle {

/// The warp executes its program: values are computed, and its lanes diverge by a reconvergence stack or independently.
class executed_stream : public instruction_stream {
 public:
  explicit executed_stream(const surroundings& s);

  [[nodiscard]] bool recorded() const override { return false; }
  [[nodiscard]] unsigned registers_kept(const resident_launch& launch) const override {
    return launch.program->stored_registers();
  }
  void begin(warp_slot& w) const override;
  void prefetch_sources(const warp_slot& w) const override;
  void advance(warp_slot& w) const override;
  [[nodiscard]] bool lanes_present(unsigned slot, simt::lane_mask mask, cycle_t cycle) const override;
  void issue_exit(unsigned slot, simt::lane_mask mask, cycle_t cycle, unsigned latency) const override;
  void issue_barrier(unsigned slot, simt::lane_mask mask, cycle_t cycle) const override;
  [[nodiscard]] bool multiply(unsigned slot, simt::lane_mask mask) const override;
  [[nodiscard]] bool yields(unsigned slot, simt::lane_mask mask, cycle_t cycle) const override;
  void wait_at_barrier(unsigned slot, simt::lane_mask mask, unsigned number) const override;
  void leave_barrier(warp_slot& w, unsigned number) const override;
  void write_reduction(warp_slot& w, unsigned number, std::uint32_t count, std::uint32_t threads) const override;
  bool end_mbarrier_waits(warp_slot& w, bool any) const override;
  [[nodiscard]] bool all_wait(const warp_slot& w) const override;
  void issue_bulk(unsigned slot, simt::lane_mask mask, cycle_t cycle) const override;
  std::uint32_t resume(warp_slot& w) const override;
  [[nodiscard]] bool lanes_go_on(const warp_slot&) const override { return true; }
  bool addresses(unsigned slot, simt::lane_mask mask, lsu_transaction& t) const override;
  bool access_shared(unsigned slot, lsu_transaction& t) const override;
  bool copy_target_of(unsigned slot, lsu_transaction& t, copy_target& to) const override;
  void write_copy(const warp_slot& w, lsu_transaction& t) const override;
  void store_data(const warp_slot& w, lsu_transaction& t) const override;
  void write_back(const decoded_instruction& d, warp_slot& w, simt::lane_mask mask,
                  const std::uint32_t (*words)[isa::warp_size]) const override;
  void exchange(warp_slot& w, simt::context_image& image) const override;
  [[nodiscard]] std::string place_of(const warp_slot& w, const isa::instruction& i) const override;
  [[nodiscard]] std::vector<std::string> lane_places(const warp_slot& w, unsigned barrier) const override;

 protected:
  bool branch(warp_slot& w, simt::lane_mask mask) const override;

 private:
  void continue_with(unsigned slot, std::uint32_t sequence, cycle_t cycle) const;
  void lanes_exit(unsigned slot, simt::lane_mask mask, std::uint32_t sequence, cycle_t cycle) const;
  void lanes_at_barrier(unsigned slot, simt::lane_mask mask, cycle_t cycle) const;
  static void exchange_live(warp_slot& w, simt::context_image& image);

  const bool independent_;  // each lane has its own program counter
};

}  // namespace heddle
