// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <systemc>
#include <tlm>
#include <vector>

#include "heddle/memory/common/byte_mask.h"
#include "heddle/memory/common/ring.h"
#include "heddle/tlm/kernel/prefetch.h"
#include "heddle/tlm/kernel/unit_clock.h"
#include "heddle/tlm/port/bound_interface.h"
#include "heddle/tlm/protocol/gpu_request.h"

namespace heddle {

/// The initiator of an L2 slice towards its memory: keeps the requests in order, sends one at a time under the request
/// exclusion rule, and takes every answer that IEEE 1666 allows (END_REQ returned, called or implied; BEGIN_RESP
/// returned or called, in any order; completion at once; annotated delays). A read of bytes that a write under way
/// covers waits for that write: the base protocol lets a memory reorder them.
class memory_port : public tlm::tlm_bw_transport_if<> {
 public:
  /// One finished request.
  struct response {
    cycle_t arrival = 0;
    std::uint32_t request = 0;
  };
  /// What was asked; valid from enqueue to release().
  struct request {
    line_payload* payload = nullptr;
    std::uint64_t line_address = 0;
    byte_mask bytes;        // of the line
    std::uint32_t tag = 0;  // the owner's
    bool write = false;
    bool sent = false;
    bool answered = false;
    bool stale = false;  // a read: somebody else may have written the memory since it was made
    unsigned epoch = 0;
  };

  memory_port(tlm::tlm_initiator_socket<32>& socket, clock_port& clock);

  /// Reads the natural run of `count` (1, 2, 4) sectors from sector `first` of a line.
  void read(std::uint64_t line_address, unsigned first, unsigned count, std::uint32_t tag, std::uint32_t launch);
  /// Writes the bytes of `bytes` from the line image `data`, as natural power-of-two runs where few do, else with byte
  /// enables. Returns the number of requests made.
  unsigned write_back(std::uint64_t line_address, const byte_mask& bytes, const std::uint8_t* data,
                      std::uint32_t launch);

  /// Sends the next request if the port is free. Call once per cycle while wants_cycle(). True when one was sent.
  bool send(cycle_t now);
  /// The next response that has arrived by `now`, or null.
  const response* arrived(cycle_t now) const;
  const request& at(std::uint32_t index) const { return requests_[index]; }
  /// Ends the request of the first response.
  void release_first();
  /// Somebody else may have written the memory: what reads made up to now bring is marked stale.
  void mark_stale();
  /// Ends the request of the first response, a read, and makes the same one again.
  void read_first_again();

  /// What the next calls look at will be wanted soon.
  void prepare(cycle_t now) const {
    if (const response* r = arrived(now)) {
      host_prefetch(&requests_[r->request], sizeof(request));
      host_prefetch(requests_[r->request].payload, sizeof(line_payload) - line_bytes);
    }
    if (!queue_.empty()) host_prefetch(&requests_[queue_.front()], sizeof(request));
  }

  /// Next cycle in which send() or arrived() can do something, never: not before a call from the memory.
  cycle_t next(cycle_t now) const;

  std::size_t queued() const { return queue_.size(); }
  bool idle() const { return active_ == 0; }
  /// Divides writes into those made before and after: to know when the earlier ones are done. Only when older_writes()
  /// is zero.
  void start_epoch() { epoch_ ^= 1; }
  unsigned older_writes() const { return writes_[epoch_ ^ 1]; }
  const unsigned& level() const { return active_; }

  /// Bytes of writes that the memory may not hold yet: laid over `image` (the line at `line_address`); returns which.
  byte_mask overlay(std::uint64_t line_address, std::uint8_t* image) const;
  /// What patch() added.
  struct added_writes {
    unsigned requests = 0;
    unsigned bytes = 0;
    std::uint32_t launch = 0;  // whose writes they follow
  };
  /// Debug write: changes these writes' bytes where they overlap and have not been sent. What has been sent is the
  /// memory's, so a second write follows it with what differs.
  added_writes patch(std::uint64_t line_address, const std::uint8_t* image, const byte_mask& bytes);

 private:
  tlm::tlm_sync_enum nb_transport_bw(tlm::tlm_generic_payload& p, tlm::tlm_phase& phase,
                                     sc_core::sc_time& delay) override;
  void invalidate_direct_mem_ptr(sc_dt::uint64, sc_dt::uint64) override {}

  std::uint32_t open(std::uint64_t line_address, std::uint32_t launch);
  void write_run(std::uint64_t line_address, unsigned first, unsigned length, const byte_mask& bytes,
                 const std::uint8_t* data, std::uint32_t launch, unsigned epoch);
  unsigned write_sector(std::uint64_t line_address, unsigned sector, const byte_mask& bytes, const std::uint8_t* data,
                        std::uint32_t launch, unsigned epoch);
  unsigned write_runs(std::uint64_t line_address, const byte_mask& bytes, const std::uint8_t* data,
                      std::uint32_t launch, unsigned epoch);
  void complete(tlm::tlm_generic_payload& p, cycle_t arrival);
  bool held_back(const request& r) const;

  tlm::tlm_initiator_socket<32>& socket_;
  bound_interface<tlm::tlm_fw_transport_if<>> memory_;
  clock_port& clock_;
  payload_pool pool_;
  std::vector<request> requests_;
  std::vector<std::uint32_t> free_;
  ring<std::uint32_t> queue_;
  ring<response> responses_;                    // by arrival
  std::vector<std::uint32_t> writing_;          // writes sent, until their answers are taken
  tlm::tlm_generic_payload* asking_ = nullptr;  // BEGIN_REQ sent, END_REQ to come
  cycle_t free_at_ = 0;
  unsigned active_ = 0;
  unsigned epoch_ = 0;
  unsigned writes_[2] = {0, 0};  // by epoch: made and not ended
  bool warned_ = false;
};

}  // namespace heddle
