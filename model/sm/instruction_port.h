// SPDX-License-Identifier: MIT
// Models: the path of code from the L2 to an SM's second level of instruction cache.
// Sockets: memory_socket (initiator, l1_protocol) to the L1's instruction_socket: code shares the SM's memory port with
//   data.
// One cycle: the oldest due line sends one read of 128 bytes; a line is there when all its reads have been answered.
// Parameters: instruction_cache.second_level_misses. Source: the L2 caches instructions, constants and data
//   (Jia et al. 2018, arXiv:1804.06826, chapter 3).
#pragma once

#include <cstdint>
#include <systemc>
#include <tlm>
#include <vector>

#include "heddle/memory/protocol/l1_port.h"
#include "heddle/sub_partition/fetch/instruction_source.h"
#include "heddle/tlm/kernel/state_image.h"
#include "heddle/tlm/kernel/unit_clock.h"
#include "heddle/tlm/protocol/object_pool.h"

namespace heddle {

/// Is notified of code that came from the L2.
class code_observer {
 public:
  virtual void instructions_arrived(std::uint64_t address, unsigned bytes, cycle_t cycle) = 0;

 protected:
  ~code_observer() = default;
};

class instruction_port : public sc_core::sc_module, public clocked, public instruction_source {
 public:
  /// Device address of the code at code address 0. It lies above all allocations. The bytes there are never used, since
  /// the SMs execute the decoded program.
  static constexpr std::uint64_t code_area = std::uint64_t{1} << 39;

  /// `line_bytes`: of the cache that it serves.
  instruction_port(sc_core::sc_module_name name, unit_clock& clock, unsigned line_bytes, code_observer& observer);

  direct_initiator_socket<l1_protocol_types> memory_socket;

  /// Always never: the observer is notified when the line is there.
  cycle_t look_up(std::uint64_t address, cycle_t cycle, std::uint32_t launch) override;
  [[nodiscard]] bool idle() const { return lines_.empty(); }
  /// Names the reads in flight.
  void name_objects(state_image& image);
  void exchange(state_image& image);
  void on_cycle(cycle_t cycle) override;
  void trace(sc_core::sc_trace_file* file) const override;

 private:
  void end_of_elaboration() override { memory_socket.check_bound(); }
  /// A line in flight.
  struct line {
    std::uint64_t number;
    std::uint64_t address;
    cycle_t due;  // its reads are sent from then on
    std::uint32_t launch;
    unsigned sent = 0;  // bytes of it that were asked for
    unsigned outstanding = 0;

    void exchange(state_image& image) { image(number, address, due, launch, sent, outstanding); }
  };
  struct read : l1_access {
    std::uint64_t number = 0;  // of its line

    void exchange(state_image& image) {
      l1_access::exchange(image);
      image(number);
    }
  };
  [[nodiscard]] line* next();
  bool send(line& l, cycle_t cycle);
  friend class l1_port<instruction_port>;
  void l1_responds(l1_access& access);
  void l1_retries() { clock_.wake_at(clock_.cycle() + 1); }

  l1_port<instruction_port> port_;
  clock_port clock_;
  unsigned line_bytes_;
  code_observer& observer_;
  std::vector<line> lines_;
  object_pool<read> reads_;
  std::uint64_t lines_begun_ = 0;
  unsigned outstanding_ = 0;
};

}  // namespace heddle
