// SPDX-License-Identifier: MIT
// Models: one execution unit of a sub-partition (fp32, int, fp64, half, sfu, tensor, ldst, branch) with its own lanes.
// Sockets: dispatch_socket (target): one warp instruction at a time, blocking transport, zero delay.
// One cycle: executes the instruction on 32 lanes. It answers the latency and the initiation interval (32 / lanes) that
//   the transaction brings, those of the parameters; the input is then held for the initiation interval.
// Parameters: the unit's section. Source: gpu_facts c.1, c.2 figures in configs/*.ini.
#pragma once

#include <cstdint>
#include <systemc>
#include <tlm>

#include "heddle/tlm/kernel/state_image.h"
#include "heddle/tlm/kernel/trace_observer.h"
#include "heddle/tlm/kernel/unit_clock.h"
#include "heddle/tlm/port/blocking_target.h"
#include "heddle/tlm/port/direct_sockets.h"
#include "heddle/tlm/port/module_part.h"
#include "heddle/tlm/protocol/issue_protocol.h"

namespace heddle {

class execution_unit final : public module_part {
 public:
  explicit execution_unit(const part_name& name);

  direct_target_socket<issue_protocol_types> dispatch_socket;

  void trace(sc_core::sc_trace_file* file) const override;

  /// The target interface of the socket. An instruction touches one cache line of it, separate from the module.
  struct alignas(64) input_port final : blocking_target<issue_protocol_types> {
    explicit input_port(const execution_unit& owner) : owner(owner) {}
    void b_transport(issue_transaction& t, sc_core::sc_time& delay) override;

    void exchange(state_image& image) { image(instructions, busy_cycles, free_at); }

    std::uint64_t instructions = 0;  // warp instructions accepted
    std::uint64_t busy_cycles = 0;   // cycles in which the input was held
    cycle_t free_at = 0;             // first cycle in which the input is free again
    const execution_unit& owner;
  };
  input_port input{*this};
  mutable bool busy = false;  // the input is held in this cycle; updated only while traced
  void observe(const trace_observer* observer) { traced_by_ = observer; }

 private:
  const trace_observer* traced_by_ = nullptr;
};

}  // namespace heddle
