// SPDX-License-Identifier: MIT
#include "heddle/sub_partition/issue/unit_dispatch.h"

#include "heddle/config/error.h"

namespace heddle {

namespace {

constexpr bool reads_time(isa::special s) { return s >= isa::special::clock && s <= isa::special::globaltimer; }

// Replaces `execute` for instructions that do not compute at issue: their unit or the memory system does.
void execute_elsewhere(const isa::instruction&, simt::warp_state&, simt::lane_mask) {}

void check_undelayed(const sc_core::sc_time& delay) {
  invariant(delay.value() == 0, "an execution unit delayed its answer instead of annotating latency_cycles");
}

}  // namespace

unit_dispatch::unit_dispatch(const gpu_config& config, unsigned index, warp_scheduler& scheduler,
                             warp_supervisor& supervisor, unit_clock& clock)
    : scheduler_(scheduler),
      supervisor_(supervisor),
      clock_(clock),
      index_(index),
      fp64_alone_(config.fp64.issues_alone && config.sm.sub_partitions > 1) {
  for (unsigned u = 0; u < units_.size() && config.sm.sub_partitions > 1; ++u)
    if (is_shared(static_cast<isa::unit>(u), config)) shared_units_ |= static_cast<std::uint16_t>(1u << u);
}

bool unit_dispatch::grant_shared(const decoded_instruction& first, const decoded_instruction& second, cycle_t cycle) {
  if (!fp32_lanes_->grant(index_, std::max(first.shared_use, second.shared_use), cycle)) return false;
  // The other one uses the sub-partition's own lanes.
  to_shared_ = first.shared_use > second.shared_use ? &first : &second;
  return true;
}

unsigned unit_dispatch::send(simt::warp_state& warp, const decoded_instruction& d, simt::lane_mask mask,
                             cycle_t cycle) {
  const unsigned u = static_cast<unsigned>(d.unit);
  // Only instructions that read the time put it into the warp's state. Otherwise the states of two iterations of a
  // waiting loop would differ (fingerprint).
  if (d.timing == isa::op_class::special_register && reads_time(static_cast<isa::special>(d.instruction->sub))) {
    warp.cycle = cycle;
    warp.clock_low = static_cast<std::uint32_t>(cycle);
    warp.time_ns = clock_.nanoseconds_at(cycle);
  }
  issue_transaction packet;  // on the stack, so that it is in the host's cache
  packet.instruction = d.instruction;
  packet.execute = d.kind == issue_kind::arithmetic ? d.execute : execute_elsewhere;
  packet.warp = &warp;
  packet.mask = mask;
  packet.cycle = cycle;
  packet.initiation_cycles = d.initiation_cycles;
  packet.latency_cycles = d.latency_cycles;
  sc_core::sc_time delay;
  if (to_shared_ != nullptr) {
    const bool first_to_shared = to_shared_ != &d;
    to_shared_ = nullptr;
    shared_unit_->b_transport(packet, delay);
    fp32_lanes_->take(cycle, first_to_shared ? initiation_cycles_ : packet.initiation_cycles);
    if (first_to_shared) scheduler_.gate(d.unit).take(cycle, packet.initiation_cycles);
    check_undelayed(delay);
    return packet.latency_cycles;
  }
  units_[u]->b_transport(packet, delay);
  check_undelayed(delay);
  initiation_cycles_ = packet.initiation_cycles;
  if (__builtin_expect(fp64_alone_, 0) && d.unit == isa::unit::fp64) supervisor_.issued_alone(index_, cycle);
  scheduler_.gate(d.unit).take(cycle, packet.initiation_cycles);
  if (__builtin_expect(shared_units_ >> u & 1, 0))
    supervisor_.shared_unit_taken(d.unit, index_, cycle, cycle + packet.initiation_cycles);
  return packet.latency_cycles;
}

}  // namespace heddle
