// SPDX-License-Identifier: MIT
#pragma once

#include <systemc>
#include <tlm>
#include <vector>

#include "heddle/tlm/kernel/ring.h"
#include "heddle/tlm/kernel/state_image.h"
#include "heddle/tlm/kernel/unit_clock.h"
#include "heddle/tlm/port/at_initiator_port.h"
#include "heddle/tlm/protocol/gpu_request.h"

namespace heddle {

/// The queues of an initiator of memory requests around its at_initiator_port: requests that wait for the socket, and
/// responses that wait for their annotated time. It wakes its owner when a request can leave or a response is due. In a
/// logical process that is simulated ahead of SystemC's time, END_REQ may arrive for a cycle that the process has
/// already simulated. The requests that could have left since then leave at once, each annotated with its own time.
class request_port : private at_initiator_unit {
 public:
  /// Binds itself to the backward path of `socket`.
  request_port(tlm::tlm_initiator_socket<32>& socket, clock_port& clock, unsigned queue_entries);

  [[nodiscard]] bool full() const { return queue_.size() >= capacity_; }
  /// Free entries of the queue. A request whose annotated departure lies in the future counts as gone.
  [[nodiscard]] unsigned room() const { return full() ? 0 : capacity_ - static_cast<unsigned>(queue_.size()); }
  /// Queues a request; sends it in the same cycle if the queue was empty and the port is free. The queue must not be
  /// full.
  void push(line_payload& payload, cycle_t cycle);
  /// Sends at most one request, if it may leave in `cycle`. True if one left.
  bool send(cycle_t cycle);
  /// The next response due by `cycle`, or null. The caller releases it.
  line_payload* take(cycle_t cycle);

  /// True if no request is queued or outstanding and no response is waiting.
  [[nodiscard]] bool idle() const { return queue_.empty() && in_flight_ == 0; }
  [[nodiscard]] const unsigned& queued() const { return queued_; }
  /// Requests sent whose response take() has not returned yet.
  [[nodiscard]] const unsigned& in_flight() const { return in_flight_; }
  /// The payloads have been named.
  void exchange(state_image& image);

 private:
  struct response {
    cycle_t cycle;
    std::uint64_t order;
    line_payload* payload;
    void exchange(state_image& image) { image(cycle, order, payload); }
    bool operator<(const response& o) const { return cycle != o.cycle ? cycle > o.cycle : order > o.order; }
  };
  struct request {
    line_payload* payload;
    cycle_t cycle;  // in which it was queued
    void exchange(state_image& image) { image(payload, cycle); }
  };
  void start(const sc_core::sc_time& delay);
  friend class at_initiator_port<request_port>;
  void request_ended(cycle_t free_at);
  bool take_response(tlm::tlm_generic_payload& payload, cycle_t arrival);

  at_initiator_port<request_port> port_;
  clock_port& clock_;
  unsigned capacity_;
  ring<request> queue_;
  std::vector<response> responses_;  // heap, earliest first
  std::uint64_t order_ = 0;
  unsigned queued_ = 0;
  unsigned in_flight_ = 0;
};

}  // namespace heddle
