// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <tlm>
#include <vector>

#include "heddle/isa/set_bits.h"
#include "heddle/memory/common/slot_counter.h"
#include "heddle/tlm/kernel/state_image.h"
#include "heddle/tlm/kernel/unit_clock.h"

namespace heddle {

/// One direction of the interconnect: packets from input ports to output ports. Each input has a buffer for a fixed
/// number of packets with one queue per output (no head-of-line blocking). Each port transfers one packet at a time and
/// may have a clock of its own: a packet takes whole cycles of that clock. An output arbitrates round robin among the
/// inputs that have a packet for it and are not transferring another, and grants at most one in a cycle. Outputs may
/// share ports before their own, which move the packets of all of them, in parts of cycles. A granted
/// packet crosses the wires in `latency` cycles and waits at the output; wires and output queue hold `latency` and
/// `output_entries` packets. Packets from one input to one output stay in order.
class crossbar {
 public:
  /// What a port moves in a cycle of its clock, and how long such a cycle is, in cycles of the crossbar.
  struct port_rate {
    unsigned bytes;
    double cycles = 1;
  };
  /// A port for some of the outputs: for each output, which of these it is.
  struct shared_ports {
    std::vector<unsigned> of_output;
    port_rate rate;
  };
  struct shape {
    unsigned inputs;
    unsigned outputs;
    port_rate input;
    port_rate output;
    unsigned latency_cycles;
    unsigned input_entries;
    unsigned output_entries;
    std::vector<shared_ports> shared = {};
  };
  explicit crossbar(const shape& s);

  /// Reserves a slot in the buffer of an input; false: full. After true, push() must follow.
  bool reserve(unsigned input, cycle_t now) { return slots_[input].take(now); }
  /// True if a slot is free, though it may be visible only in the next cycle.
  [[nodiscard]] bool has_room(unsigned input) const { return slots_[input].has_room(); }
  /// Stores a packet of `bytes` in the reserved slot; it takes part in arbitration from cycle `arrival` on.
  void push(unsigned input, unsigned output, unsigned bytes, tlm::tlm_generic_payload& payload, cycle_t arrival);
  /// Grants all packets that can be granted in this cycle. Returns the next cycle in which a grant may be possible or a
  /// packet just granted is complete at the head of its output (never: not before a push or a pop).
  cycle_t arbitrate(cycle_t now);

  /// A packet granted by arbitrate(). It is complete at its output in cycle `due` if all packets before it are popped
  /// when due.
  struct grant_record {
    unsigned output;
    tlm::tlm_generic_payload* payload;
    cycle_t due;
    std::uint32_t packet;  // for take()
  };
  /// Enables granted(), the packets granted by the last arbitrate().
  void keep_grants() { keeps_grants_ = true; }
  [[nodiscard]] const std::vector<grant_record>& granted() const { return granted_; }
  /// Takes the payload out of a packet that the last arbitrate() granted. The packet keeps its place and its time;
  /// pop() returns null for it.
  tlm::tlm_generic_payload& take(const grant_record& granted);
  /// True if a slot is visibly free in cycle `now`.
  [[nodiscard]] bool has_visible_room(unsigned input, cycle_t now) const { return slots_[input].has_visible_room(now); }

  /// The cycle in which the packet at the head of an output is complete there (never: none).
  [[nodiscard]] cycle_t due(unsigned output) const { return due_[output]; }
  /// Calls f(output) for each output with packets granted and not popped, in ascending order.
  template <class F>
  void for_each_occupied(F&& f) {
    for (std::size_t w = 0; w < flying_.size(); ++w)
      for (const unsigned bit : set_bits(flying_[w])) f(static_cast<unsigned>(w * 64) + bit);
  }
  /// Removes the packet at the head of an output and returns its payload; null if it was taken out before.
  tlm::tlm_generic_payload* pop(unsigned output, cycle_t now);

  [[nodiscard]] bool idle() const { return packets_in_use_ == 0; }
  /// For a reset, when idle: arbitration begins with the first input.
  void restart() { first_input_.assign(first_input_.size(), 0); }
  [[nodiscard]] unsigned waiting(unsigned input) const { return slots_[input].used(); }
  [[nodiscard]] const unsigned& input_level(unsigned input) const { return slots_[input].level(); }
  [[nodiscard]] const unsigned& output_level(unsigned output) const { return in_flight_[output]; }
  [[nodiscard]] unsigned outputs() const { return shape_.outputs; }
  /// Cycles in which output ports transferred bytes, and the packets and bytes transferred.
  [[nodiscard]] std::uint64_t busy_cycles() const { return busy_ticks_ >> tick_bits; }
  [[nodiscard]] std::uint64_t packets_in() const { return packets_in_; }
  [[nodiscard]] std::uint64_t bytes() const { return bytes_; }
  /// The payloads have been named.
  void exchange(state_image& image);
  /// Throws internal_error if packets were lost or duplicated.
  void check_invariants() const;

 private:
  static constexpr std::uint32_t none = ~std::uint32_t{0};
  /// Times of ports are in ticks. A port whose time is up within a cycle takes its next packet in that cycle.
  static constexpr unsigned tick_bits = 16;
  static constexpr cycle_t ticks_per_cycle = cycle_t{1} << tick_bits;
  struct packet {
    tlm::tlm_generic_payload* payload = nullptr;
    cycle_t at = 0;         // in an input buffer: arrival; on the wires: complete at the output
    std::uint32_t in = 0;   // ticks at its input
    std::uint32_t out = 0;  // ticks at its output
    std::uint32_t next = none;
    std::uint32_t bytes = 0;
    void exchange(state_image& image) { image(payload, at, in, out, next, bytes); }
  };
  struct shared_state {
    std::vector<unsigned> of_output;
    double ticks_per_byte;
    std::vector<cycle_t> free;  // by port: tick from which it is free
  };
  struct fifo {
    std::uint32_t head = none;
    std::uint32_t tail = none;
    void exchange(state_image& image) {
      image(head);
      if (head != none) image(tail);
      else tail = none;
    }
  };

  [[nodiscard]] bool full(unsigned output) const {
    return in_flight_[output] >= shape_.output_entries + shape_.latency_cycles;
  }
  void append(fifo& list, std::uint32_t p);
  cycle_t grant(unsigned output, cycle_t now);
  void start(unsigned input, unsigned output, cycle_t now);
  [[nodiscard]] cycle_t shared_free(unsigned output) const;
  void update_due(unsigned output);
  fifo& lane(unsigned input, unsigned output) { return lanes_[std::size_t{input} * shape_.outputs + output]; }

  shape shape_;
  unsigned words_;  // 64-bit words per set of inputs
  std::vector<packet> packets_;
  std::vector<std::uint32_t> free_packets_;
  std::vector<slot_counter> slots_;        // by input
  std::vector<cycle_t> input_free_;        // by input: tick from which its port is free
  std::vector<fifo> lanes_;                // by input and output
  std::vector<std::uint64_t> candidates_;  // by output: set of inputs with a packet for it
  std::vector<unsigned> waiting_;          // by output: packets in input buffers
  std::vector<std::uint64_t> active_;      // set of outputs with waiting_ > 0
  std::vector<cycle_t> output_free_;       // by output: tick from which its port is free
  std::vector<cycle_t> grantable_;         // by output with packets waiting: earliest cycle of a grant
  cycle_t next_grant_ = never;             // the least of these
  std::vector<unsigned> first_input_;      // by output: round-robin pointer, the input that is tried first
  std::vector<fifo> wires_;                // by output
  std::vector<unsigned> in_flight_;        // by output: packets granted and not popped
  std::vector<cycle_t> last_pop_;          // by output
  std::vector<cycle_t> due_;               // by output
  std::vector<std::uint64_t> flying_;      // set of outputs with in_flight_ > 0
  bool keeps_grants_ = false;
  std::vector<grant_record> granted_;
  std::vector<shared_state> shared_;
  cycle_t input_ticks_;   // of a cycle of an input's clock
  cycle_t output_ticks_;  // the same of an output
  std::uint64_t busy_ticks_ = 0;
  std::uint64_t packets_in_ = 0;
  std::uint64_t packets_out_ = 0;
  std::uint64_t bytes_ = 0;
  std::uint64_t packets_in_use_ = 0;
};

}  // namespace heddle
