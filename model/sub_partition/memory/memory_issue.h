// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <deque>
#include <tlm>
#include <vector>

#include "heddle/config/parameters.h"
#include "heddle/memory/l1/coalescer.h"
#include "heddle/sub_partition/account/instruction_observer.h"
#include "heddle/sub_partition/account/stall_account.h"
#include "heddle/sub_partition/dependence/dependence.h"
#include "heddle/sub_partition/issue/write_ports.h"
#include "heddle/sub_partition/memory/memory_operation.h"
#include "heddle/sub_partition/memory/product_queue.h"
#include "heddle/sub_partition/stream/instruction_stream.h"
#include "heddle/sub_partition/warp/departed_warps.h"
#include "heddle/tlm/kernel/state_image.h"
#include "heddle/tlm/kernel/unit_clock.h"
#include "heddle/tlm/port/phase_initiator.h"
#include "heddle/tlm/protocol/lsu_protocol.h"

namespace heddle {

/// The memory instructions of a sub-partition: resolves addresses, sends requests to the load/store unit as credits
/// allow, counts replays, and completes the instructions when they are answered.
class memory_issue : public phase_initiator<lsu_protocol_types> {
 public:
  /// The parts of the sub-partition, which must outlive this one.
  struct surroundings {
    instruction_stream::surroundings stream;
    class dependence& dependence;
    stall_account& account;
    write_ports& ports;
    clock_port& clock;
    departed_warps& departed;
    unsigned sm_id;
    unsigned index;  // of the sub-partition
  };
  explicit memory_issue(const surroundings& s);

  /// Requests go to `lsu` from now on.
  void connect(tlm::tlm_fw_transport_if<lsu_protocol_types>& lsu) { lsu_ = &lsu; }
  /// Reports memory instructions to `observer` from now on; null: to none.
  void observe(instruction_observer* observer) { observer_ = observer; }

  /// Issues the next instruction of the slot's warp on the lanes of `mask`; it has been sent to its unit.
  void issue(unsigned slot, simt::lane_mask mask, cycle_t cycle);
  /// Issues the product of a warpgroup that is the next instruction of the slot's warp: its tensor unit computes it
  /// behind the products before it.
  void issue_product(unsigned slot, cycle_t cycle);
  /// A product ends in `cycle`, or its result is complete: run_products() is to be called.
  [[nodiscard]] bool products_due(cycle_t cycle) const { return products_.next <= cycle; }
  void run_products(cycle_t cycle);
  /// A trace does not name the ends of groups of products: the next ARRIVE or DEPBAR is one.
  static void close_recorded_group(warp_slot& w);
  /// Replays of the instructions that issued since the last call: further passes, each of which is another issue.
  unsigned take_replays() {
    const unsigned n = pending_replays_;
    pending_replays_ = 0;
    return n;
  }
  [[nodiscard]] bool replays() const { return pending_replays_ != 0; }
  /// Global address of byte `offset` of a lane's local memory.
  [[nodiscard]] std::uint64_t local_address(const warp_slot& w, std::uint64_t offset, unsigned lane) const;
  /// For a reset, when the warps have been stopped: instructions with an illegal address end, without data.
  void end_failed(cycle_t cycle);
  [[nodiscard]] bool idle() const { return operations_.in_use() == 0; }
  /// Free entries of the load/store unit's queue; a reference, because waveforms sample it.
  [[nodiscard]] const unsigned& credits() const { return credits_; }
  void check_invariants() const;
  /// Names the operations in flight and their transactions.
  void name_objects(state_image& image) { operations_.exchange(image); }
  void exchange(state_image& image);
  /// As load_store_unit::clear_undefined.
  void clear_undefined() {
    for (lsu_transaction* const t : backlog_) t->clear_answer();
  }

  tlm::tlm_sync_enum nb_transport_bw(lsu_transaction& t, lsu_phase& phase, sc_core::sc_time& delay) override;

 private:
  void issue_texture(unsigned slot, simt::lane_mask mask, cycle_t cycle);
  bool resolve(unsigned slot, lsu_transaction& t, simt::lane_mask mask);
  static void find_other_blocks(const simt::block_context& own, lsu_transaction& t);
  void count_replays(const warp_slot& w, const lsu_transaction& t);
  void split(lsu_transaction& first);
  void send(lsu_transaction& t);
  void request(lsu_transaction& t);
  /// Closes the LDST unit's input while the load/store unit's queue has no room for another instruction.
  void update_gate(cycle_t cycle) {
    scheduler_.gate(isa::unit::ldst).set_blocked(credits_ == 0 || !backlog_.empty(), cycle);
    const bool full = textures_ >= texture_entries_;
    if (__builtin_expect(full != account_.texture_full(), 0)) set_texture_full(full, cycle);
  }
  void set_texture_full(bool full, cycle_t cycle);
  void credit(const lsu_transaction& t, cycle_t cycle);
  void barrier_may_issue(unsigned slot, cycle_t cycle);
  void fail(lsu_transaction& t);
  void complete(lsu_transaction& t, cycle_t cycle);
  void issue_copy(unsigned slot, memory_operation& o, simt::lane_mask mask, cycle_t cycle);
  void write_copy(lsu_transaction& t);
  void copy_answered(lsu_transaction& t, cycle_t cycle);
  void begin_product(cycle_t cycle);
  void product_complete(const product_queue::product& p, cycle_t cycle);
  void answered(unsigned slot, cycle_t cycle);
  void store_acknowledged(unsigned slot, std::uint16_t residency, cycle_t cycle);
  lsu_transaction& texel_access(const warp_slot& w, memory_operation& o, unsigned k, cycle_t cycle);
  void texels_arrived(const lsu_transaction& t);

  const gpu_config& config_;
  warp_table& warps_;
  warp_scheduler& scheduler_;
  warp_supervisor& supervisor_;
  warp_control& control_;
  fault_reporter& faults_;
  class dependence& dependence_;
  stall_account& account_;
  write_ports& ports_;
  clock_port& clock_;
  tlm::tlm_fw_transport_if<lsu_protocol_types>* lsu_ = nullptr;
  const unsigned sm_id_;
  const unsigned index_;
  unsigned credits_;
  const unsigned texture_entries_;
  unsigned textures_ = 0;         // texture and surface instructions in flight
  unsigned pending_replays_ = 0;  // replays of the instructions being issued
  const bool replays_;            // each further pass of a memory instruction is another issue
  memory_operation_pool operations_;
  departed_warps& departed_;
  std::deque<lsu_transaction*> backlog_;  // transactions of split instructions, waiting for credits
  std::vector<lsu_transaction*> failed_;  // their addresses are illegal
  bank_conflicts banks_;
  instruction_observer* observer_ = nullptr;
  product_queue products_;
};

}  // namespace heddle
