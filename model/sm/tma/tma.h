// SPDX-License-Identifier: MIT
// Models: an SM's tensor memory accelerator (TMA): it performs bulk copies between global and shared memory, of
//   contiguous bytes or of boxes of tensors, while the warps that issued them go on.
// Sockets: memory_socket (initiator, l1_protocol) to the L1's bulk_socket: its requests share the SM's memory port and
//   pass the L1.
// One cycle: one request of at most a line for the oldest copy that is not sent completely; completions that are due.
// Parameters: [tma]. Source: docs/model/tma.md.
#pragma once

#include <cstdint>
#include <deque>
#include <string>
#include <systemc>
#include <tlm>
#include <vector>

#include "heddle/config/parameters.h"
#include "heddle/memory/common/address_ranges.h"
#include "heddle/memory/common/per_launch.h"
#include "heddle/memory/protocol/l1_port.h"
#include "heddle/sm/tma/bulk_command.h"
#include "heddle/tlm/kernel/state_image.h"
#include "heddle/tlm/kernel/unit_clock.h"
#include "heddle/tlm/protocol/lsu_protocol.h"
#include "heddle/tlm/protocol/object_pool.h"

namespace heddle {

struct tma_counters {
  std::uint64_t copies = 0;         // bulk copies, as lanes issued them
  std::uint64_t read_requests = 0;  // to global memory, of at most 128 bytes
  std::uint64_t write_requests = 0;
  std::uint64_t reductions = 0;     // requests of reductions
  std::uint64_t read_bytes = 0;     // of global memory
  std::uint64_t written_bytes = 0;  // of global memory, by copies and reductions
  std::uint64_t filled_bytes = 0;   // of shared memory, outside of tensors
};

/// The SM's part of bulk copies.
class bulk_supervisor {
 public:
  /// Writes the bytes of a segment to shared memory, of all blocks to which the command writes; `t` is for the banks.
  /// Returns the cycle in which they are there. Messages to other SMs are counted in the command.
  virtual cycle_t bulk_write(bulk_command& c, const simt::bulk_segment& p, const std::uint8_t* bytes,
                             lsu_transaction& t, cycle_t cycle) = 0;
  /// Reads the bytes of a segment from shared memory. Returns the cycle in which the unit has them.
  virtual cycle_t bulk_read(bulk_command& c, const simt::bulk_segment& p, std::uint8_t* bytes, lsu_transaction& t,
                            cycle_t cycle) = 0;
  /// All of the command's bytes have been read from shared memory.
  virtual void bulk_has_read(const bulk_command& c, cycle_t cycle) = 0;
  /// All of the command's bytes are where they belong, except that messages to other SMs may be in flight.
  virtual void bulk_complete(bulk_command& c, cycle_t cycle) = 0;
  /// Messages have been answered, too: nothing of the command is left.
  virtual void bulk_ended(const bulk_command& c, cycle_t cycle) = 0;
  /// The command cannot be performed.
  virtual void bulk_failed(const bulk_command& c, const std::string& what) = 0;

 protected:
  ~bulk_supervisor() = default;
};

class tma : public sc_core::sc_module, public clocked {
 public:
  /// `ranges`: the mapped device memory.
  tma(sc_core::sc_module_name name, unit_clock& clock, const gpu_config& config, const address_ranges& ranges,
      bulk_supervisor& supervisor);

  direct_initiator_socket<l1_protocol_types> memory_socket;
  per_launch<tma_counters> counters;

  /// A command to be filled in and accepted.
  bulk_command& command();
  void accept(bulk_command& c, cycle_t cycle);
  /// A message of the command to another SM has been answered.
  void message_answered(bulk_command& c, cycle_t cycle);
  /// Tensor maps may have changed: they are read again.
  void forget_maps() { maps_.clear(); }
  [[nodiscard]] bool idle() const { return commands_.in_use() == 0; }
  /// For a reset, when idle.
  void restart();
  /// Names the commands and requests in flight and their transactions.
  void name_objects(state_image& image);
  void exchange(state_image& image);
  /// As load_store_unit::clear_undefined.
  void clear_undefined();

  void on_cycle(cycle_t cycle) override;
  void trace(sc_core::sc_trace_file* file) const override;

 private:
  void end_of_elaboration() override { memory_socket.check_bound(); }
  // A request to memory, or a segment that waits to become one.
  struct request : l1_access {
    bulk_command* command = nullptr;
    simt::bulk_segment segment;
    bool of_map = false;  // it reads the tensor map
    cycle_t due = 0;      // its bytes have been read from shared memory
    lsu_transaction transaction;

    void exchange(state_image& image) {
      l1_access::exchange(image);
      image(command, segment, of_map, due, transaction, transaction.policy);
    }
  };
  struct completion {
    cycle_t cycle;
    bulk_command* command;

    void exchange(state_image& image) { image(cycle, command); }
  };
  struct known_map {
    std::uint64_t address;
    isa::tensor_map map;

    void exchange(state_image& image) {
      image(address);
      image.raw(&map, sizeof map);
    }
  };

  void advance(cycle_t cycle);
  bool begin(bulk_command& c, cycle_t cycle);
  bool find_map(bulk_command& c, cycle_t cycle);
  void fetch_map(bulk_command& c, cycle_t cycle);
  void move(bulk_command& c, cycle_t cycle);
  void read_shared(bulk_command& c, cycle_t cycle);
  bool send_staged(cycle_t cycle);
  request& make_request(bulk_command& c, const simt::bulk_segment& p, lsu_kind kind);
  bool send(request& r, cycle_t cycle);
  void next_segment(bulk_command& c, cycle_t cycle);
  void check_end(bulk_command& c, cycle_t cycle);
  void complete_due(cycle_t cycle);
  void fail(bulk_command& c, const std::string& what, cycle_t cycle);
  void answered(request& r, cycle_t cycle);
  void sleep(cycle_t cycle);
  friend class l1_port<tma>;
  void l1_responds(l1_access& access);
  void l1_retries() { clock_.wake_at(clock_.cycle()); }

  l1_port<tma> port_;
  clock_port clock_;
  const unsigned limit_;     // requests in flight
  const unsigned latency_;   // from issue to the first request
  const unsigned interval_;  // between two copies
  const address_ranges& ranges_;
  address_ranges::hint hint_;
  bulk_supervisor& supervisor_;
  object_pool<bulk_command> commands_;
  object_pool<request> requests_;
  std::deque<bulk_command*> waiting_;  // not sent completely, oldest first
  std::deque<request*> staged_;        // read from shared memory, or being read
  std::vector<completion> due_;        // sorted by cycle
  std::vector<known_map> maps_;
  cycle_t free_ = 0;  // the next copy may begin
  unsigned in_flight_ = 0;
  unsigned queued_ = 0;  // = waiting_.size(), for tracing
};

}  // namespace heddle
