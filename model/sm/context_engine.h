// SPDX-License-Identifier: MIT
// Models: the context engine of an SM: moves resident blocks to memory between two instructions, and restores them to
//   the same sub-partitions under the same warp ids.
// Sockets: memory_socket (initiator, l1_protocol) to the L1, through which its lines go to memory.
// One cycle: sends one line of 128 bytes, or the request for one, while fewer than lines_in_flight are outstanding.
// Parameters: [context]. Source: docs/model/preemption.md.
#pragma once

#include <cstdint>
#include <memory>
#include <systemc>
#include <tlm>
#include <vector>

#include "heddle/config/parameters.h"
#include "heddle/memory/protocol/l1_port.h"
#include "heddle/simt/warp/context_image.h"
#include "heddle/sm/barrier_unit.h"
#include "heddle/sm/resource_manager.h"
#include "heddle/sub_partition/sub_partition.h"
#include "heddle/tlm/kernel/state_image.h"
#include "heddle/tlm/kernel/unit_clock.h"
#include "heddle/tlm/protocol/cta_protocol.h"
#include "heddle/tlm/protocol/gpu_request.h"
#include "heddle/tlm/protocol/l1_protocol.h"
#include "heddle/tlm/protocol/lsu_protocol.h"
#include "heddle/tlm/protocol/object_pool.h"

namespace heddle {

/// The services of the SM that the context engine uses.
class context_supervisor {
 public:
  virtual ~context_supervisor() = default;
  /// Called when a block is resident again: a unified cache may be repartitioned for it.
  virtual void divide_cache() = 0;
  /// The block is dropped.
  virtual void dropped(const resident_block& b, cycle_t cycle) = 0;
  virtual void program_fault(const std::string& text) = 0;
};

class context_engine : public sc_core::sc_module, public clocked {
 public:
  context_engine(sc_core::sc_module_name name, unit_clock& clock, const gpu_config& config, unsigned sm_id,
                 class resource_manager& resources, class barrier_unit& barriers,
                 sc_core::sc_vector<sub_partition>& partitions, context_supervisor& supervisor);

  direct_initiator_socket<l1_protocol_types> memory_socket;

  /// Takes all resident blocks off the SM, or those that `t` names while the others continue. Reports `saved` when they
  /// are gone. With mode flush they are dropped and nothing is written.
  void preempt(context_transaction& t, cycle_t cycle);
  /// The SMs of a switch that happens together are ready: the blocks are saved, or run again.
  void proceed(const context_transaction& t, cycle_t cycle);
  /// Brings the blocks of `t` back as soon as their warp ids are free. Reports `resumed` when they run. Dropped blocks
  /// restart from the beginning.
  void restore(context_transaction& t, cycle_t cycle);
  /// To be called when a stopped warp has become quiet or a warp has left the SM.
  void recheck() {
    if (step_ != step::idle) clock_.wake_at(clock_.cycle());
  }
  [[nodiscard]] bool idle() const { return step_ == step::idle; }
  /// Names the accesses in flight and their transactions.
  void name_objects(state_image& image);
  void exchange(state_image& image);
  /// For a reset: the blocks that have left do not return.
  void forget() { saved_.clear(); }
  /// Sets the device address of the area for saved contexts of all SMs, instead of context.area_mib. Allowed only while
  /// no context is saved.
  void save_at(std::uint64_t address) { base_ = address; }
  /// Device address of byte `offset` of the SM's context number `place`. Lines of different SMs are interleaved, so
  /// that SMs that are switched together write to the same rows of memory.
  [[nodiscard]] std::uint64_t address(unsigned place, std::uint64_t offset) const {
    const std::uint64_t line = (place * place_bytes_ + offset) / line_bytes;
    return base_ + (line * sm_count_ + sm_id_) * line_bytes + offset % line_bytes;
  }

  void on_cycle(cycle_t cycle) override;
  void trace(sc_core::sc_trace_file* file) const override;

 private:
  void end_of_elaboration() override { memory_socket.check_bound(); }
  // quiet, restored: it waits for the other SMs of a switch that happens together
  enum class step : std::uint8_t { idle, quiescing, saving, waiting, restoring, quiet, restored };
  static constexpr unsigned no_place = ~0u;
  // The blocks of one switch, saved in memory or dropped.
  struct saved_context {
    context_transaction* transaction = nullptr;
    unsigned place = no_place;  // in the SM's context area; none for dropped blocks
    std::vector<resident_block> blocks;

    void exchange(state_image& image) { image(transaction, place, blocks); }
  };
  struct line_access {
    l1_access access;
    lsu_transaction transaction;
    std::size_t word = 0;  // position in the image

    void exchange(state_image& image) { image(access, transaction, word); }
  };

  friend class l1_port<context_engine>;
  void l1_responds(l1_access& access);
  void l1_retries() { clock_.wake_at(clock_.cycle()); }
  void check_quiet(cycle_t cycle);
  void begin_saving(cycle_t cycle);
  void end_saving(cycle_t cycle);
  void begin_restoring(cycle_t cycle);
  void run_anew(cycle_t cycle);
  void end_restoring(cycle_t cycle);
  void resume(cycle_t cycle);
  void move_lines(cycle_t cycle);
  bool send_line(cycle_t cycle);
  void exchange(unsigned cta_slot);
  void note_executed(context_transaction& t);
  sub_partition& partition_of(unsigned warp) { return partitions_[warp % sub_partitions_]; }
  [[nodiscard]] unsigned slot_of(unsigned warp) const { return warp / sub_partitions_; }
  template <class F>
  void each_live_warp(const resident_block& b, F&& f);
  [[nodiscard]] unsigned free_place() const;

  l1_port<context_engine> port_;
  clock_port clock_;
  class resource_manager& resources_;
  class barrier_unit& barriers_;
  sc_core::sc_vector<sub_partition>& partitions_;
  context_supervisor& supervisor_;
  unsigned sub_partitions_;
  unsigned lines_in_flight_;
  unsigned sm_id_;
  unsigned sm_count_;
  std::uint64_t base_;
  std::uint64_t place_bytes_;

  step step_ = step::idle;
  context_transaction* current_ = nullptr;
  std::vector<unsigned> cta_slots_;  // of the blocks being switched
  saved_context context_;            // the context being saved or restored
  std::vector<saved_context> saved_;
  simt::context_image image_;
  std::size_t next_word_ = 0;  // position of the next line in the image
  unsigned in_flight_ = 0;
  object_pool<line_access> lines_;
};

}  // namespace heddle
