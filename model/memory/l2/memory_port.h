// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstdint>
#include <systemc>
#include <tlm>
#include <vector>

#include "heddle/memory/common/byte_mask.h"
#include "heddle/tlm/kernel/prefetch.h"
#include "heddle/tlm/kernel/ring.h"
#include "heddle/tlm/kernel/state_image.h"
#include "heddle/tlm/kernel/unit_clock.h"
#include "heddle/tlm/port/at_initiator_port.h"
#include "heddle/tlm/protocol/gpu_request.h"

namespace heddle {

/// The leading bytes of a line_payload that every target reads: the generic payload's members and the request.
constexpr std::size_t payload_request_bytes = sizeof(tlm::tlm_generic_payload) + sizeof(gpu_request);
static_assert(sizeof(tlm::tlm_generic_payload) % alignof(gpu_request) == 0, "the request follows without a gap");
/// The same, and the line's bytes.
constexpr std::size_t payload_data_bytes =
    (payload_request_bytes + sizeof(line_payload::route_state) + 63) / 64 * 64 + line_bytes;
static_assert(sizeof(line_payload) == payload_data_bytes + line_bytes + 64, "enables and atomic follow the data");

/// The requests of an L2 slice to its memory, around an at_initiator_port. They leave in order. A request to bytes that
/// an outstanding write covers waits for that write, because the base protocol lets a memory reorder them.
class memory_port : private at_initiator_unit {
 public:
  /// One finished request.
  struct response {
    cycle_t arrival = 0;
    std::uint32_t request = 0;
    void exchange(state_image& image) { image(arrival, request); }
  };
  /// A request; valid until release_first().
  struct request {
    line_payload* payload = nullptr;
    std::uint64_t line_address = 0;
    byte_mask bytes;        // of the line
    std::uint32_t tag = 0;  // for the owner's use
    bool write = false;
    bool sent = false;
    bool answered = false;
    bool stale = false;  // a read: another agent may have written the memory since it was queued
    unsigned epoch = 0;
    cycle_t sent_at = 0;
    void exchange(state_image& image) {
      image(payload, line_address, bytes, tag, write, sent, answered, stale, epoch, sent_at);
    }
  };

  memory_port(tlm::tlm_initiator_socket<32>& socket, clock_port& clock);

  /// Reads the naturally aligned run of `count` (1, 2, 4) sectors from sector `first` of a line.
  void read(std::uint64_t line_address, unsigned first, unsigned count, std::uint32_t tag, std::uint32_t launch);
  /// Writes the bytes selected by `bytes` from the line image `data`: as naturally aligned power-of-two runs where few
  /// suffice, else with byte enables. Returns the number of requests made.
  unsigned write_back(std::uint64_t line_address, const byte_mask& bytes, const std::uint8_t* data,
                      std::uint32_t launch);

  /// Sends the next request if the port is free and nothing holds it back. True if one was sent.
  bool send(cycle_t now);
  /// The next response that has arrived by `now`, or null.
  [[nodiscard]] const response* arrived(cycle_t now) const;
  [[nodiscard]] const request& at(std::uint32_t index) const { return requests_[index]; }
  /// Ends the request of the first response and releases its payload.
  void release_first();
  /// Marks all reads in flight as stale, since another agent may have written the memory.
  void mark_stale();
  /// Ends the request of the first response, which must be a read, and repeats it.
  void read_first_again();

  /// Prefetches into the host's cache what the next calls will read.
  void prefetch(cycle_t now) const {
    if (const response* r = arrived(now)) {
      host_prefetch(&requests_[r->request], sizeof(request));
      host_prefetch(requests_[r->request].payload, payload_data_bytes);
    }
    if (!queue_.empty()) host_prefetch(&requests_[queue_.front()], sizeof(request));
  }

  /// The next cycle in which send() or arrived() can do something; never: only after a call from the memory.
  [[nodiscard]] cycle_t next(cycle_t now) const;

  [[nodiscard]] std::size_t queued() const { return queue_.size(); }
  [[nodiscard]] bool idle() const { return active_ == 0; }
  /// Separates earlier from later writes, so that older_writes() tells when the earlier ones are done. Call only when
  /// older_writes() is zero.
  void start_epoch() { epoch_ ^= 1; }
  [[nodiscard]] unsigned older_writes() const { return writes_[epoch_ ^ 1]; }
  [[nodiscard]] const unsigned& level() const { return active_; }
  /// The request that has waited longest for its response, or null.
  [[nodiscard]] const request* oldest() const;
  /// The memory has not ended the request phase of `r`, which has been sent.
  [[nodiscard]] bool awaits_end(const request& r) const { return port_.requesting() == r.payload; }

  /// Copies the bytes of outstanding writes, which the memory may not hold yet, over `image` (the line at
  /// `line_address`). Returns which bytes.
  byte_mask overlay(std::uint64_t line_address, std::uint8_t* image) const;
  /// The writes that patch() added.
  struct added_writes {
    unsigned requests = 0;
    unsigned bytes = 0;
    std::uint32_t launch = 0;  // launch of the writes that they follow
  };
  /// For a debug write: changes the overlapping bytes of queued writes. A write that has been sent can no longer be
  /// changed, so a second write with the differing bytes follows it.
  added_writes patch(std::uint64_t line_address, const std::uint8_t* image, const byte_mask& bytes);
  /// Names its payloads in flight.
  void name_objects(state_image& image) { pool_.exchange(image); }
  void exchange(state_image& image);

 private:
  friend class at_initiator_port<memory_port>;
  void request_ended(cycle_t free_at) { port_.clock().wake_at(free_at); }
  bool take_response(tlm::tlm_generic_payload& p, cycle_t arrival);

  std::uint32_t open(std::uint64_t line_address, std::uint32_t launch);
  void write_run(std::uint64_t line_address, unsigned first, unsigned length, const byte_mask& bytes,
                 const std::uint8_t* data, std::uint32_t launch, unsigned epoch);
  unsigned write_sector(std::uint64_t line_address, unsigned sector, const byte_mask& bytes, const std::uint8_t* data,
                        std::uint32_t launch, unsigned epoch);
  unsigned write_runs(std::uint64_t line_address, const byte_mask& bytes, const std::uint8_t* data,
                      std::uint32_t launch, unsigned epoch);
  [[nodiscard]] bool held_back(const request& r) const;

  at_initiator_port<memory_port> port_;
  payload_pool pool_;
  std::vector<request> requests_;
  std::vector<std::uint32_t> free_;
  ring<std::uint32_t> queue_;
  ring<response> responses_;            // sorted by arrival
  std::vector<std::uint32_t> writing_;  // writes sent whose responses are not taken yet
  unsigned active_ = 0;
  unsigned epoch_ = 0;
  unsigned writes_[2] = {0, 0};  // by epoch: writes made and not ended
  bool warned_ = false;
};

}  // namespace heddle
