// SPDX-License-Identifier: MIT
#include "heddle/sm/shared_memory.h"

#include <algorithm>

#include "heddle/config/error.h"
#include "heddle/memory/common/lookup_latency.h"
#include "heddle/simt/warp/warp_state.h"
#include "heddle/tlm/protocol/lsu_protocol.h"

namespace heddle {

shared_memory::shared_memory(sc_core::sc_module_name name, const gpu_config& config)
    : sc_module(name),
      access_socket({"access_socket", this}),
      banks_(config.shared_memory.banks, config.shared_memory.bank_bytes),
      pass_bytes_(config.shared_memory.banks * config.shared_memory.bank_bytes),
      latency_(cycles_after_lookup(config.shared_memory.latency_cycles, config)),
      pass_(config.shared_memory.pass_cycles),
      atomic_pass_(config.shared_memory.atomic_pass_cycles),
      has_atomic_pass_(config.shared_memory.atomic_pass_cycles != 0),
      conflict_cycles_(config.shared_memory.conflict_cycles),
      atomic_cycles_(config.shared_memory.atomic_interval_cycles) {
  access_socket.bind(*this);
}

void shared_memory::b_transport(on_chip_access& access, sc_core::sc_time&) {
  const lsu_transaction& t = *access.transaction;
  const bool atomic = t.kind == lsu_kind::atomic || t.kind == lsu_kind::reduction;
  const unsigned passes =
      banks_.passes(t.addresses(), t.shared_mask, t.bytes_per_lane, t.serialises_lanes(), t.differing_bits);
  invariant(passes != 0, "a shared-memory access without lanes");
  invariant(access.cycle >= busy_until_, "a shared-memory access while another one holds the banks");
  access.passes = passes;
  access.first_cycle = access.cycle + latency_;
  access.ready_cycle = access.first_cycle + std::uint64_t{atomic ? atomic_cycles_ : conflict_cycles_} * (passes - 1);
  access.free_cycle = access.cycle + (atomic && has_atomic_pass_ ? atomic_pass_ : pass_).take(passes);
  if (__builtin_expect(access.cycle * pass_bytes_ < operands_until_, 0)) {  // in turn with a tensor unit
    access.free_cycle += passes;
    operands_until_ += std::uint64_t{passes} * pass_bytes_;
  }
  busy_until_ = access.free_cycle;
  last_passes_ = passes;

  shared_memory_counters& c = counters[t.launch->launch_id];
  ++c.accesses;
  if (atomic) {
    ++c.atomic_requests;
    c.atomic_changes += t.atomic_changes;
    c.atomic_transactions += passes;
  } else if (t.kind == lsu_kind::store) {
    ++c.store_requests;
    c.store_transactions += passes;
  } else {
    ++c.load_requests;
    c.load_transactions += passes;
  }
  c.bank_conflicts += passes - 1;
  const std::uint64_t requested = static_cast<unsigned>(__builtin_popcount(t.shared_mask)) * t.bytes_per_lane;
  const std::uint64_t moved = std::uint64_t{passes} * pass_bytes_;
  c.requested_bytes += std::min(requested, moved);  // lanes that read the same word share it
  c.moved_bytes += moved;
}

std::uint64_t shared_memory::read_operands(std::uint32_t launch, unsigned bytes, std::uint64_t cycle) {
  counters[launch].operand_passes += (bytes + pass_bytes_ - 1) / pass_bytes_;
  operands_until_ = std::max(operands_until_, cycle * pass_bytes_) + bytes;
  return (operands_until_ + pass_bytes_ - 1) / pass_bytes_;
}

void shared_memory::check_invariants() const {
  for (std::uint32_t l = 0; l < counters.end(); ++l) {
    const shared_memory_counters* c = counters.find(l);
    if (c == nullptr) continue;
    const std::uint64_t passes = c->load_transactions + c->store_transactions + c->atomic_transactions;
    invariant(c->accesses == c->load_requests + c->store_requests + c->atomic_requests,
              "shared memory: accesses differ from loads + stores + atomics");
    invariant(passes == c->accesses + c->bank_conflicts, "shared memory: passes differ from accesses + conflicts");
    invariant(c->moved_bytes == passes * pass_bytes_, "shared memory: bytes moved differ from passes");
  }
}

void shared_memory::exchange(state_image& image) {
  image.part(name());
  image(busy_until_, operands_until_, last_passes_);
  pass_.exchange(image);
  atomic_pass_.exchange(image);
  counters.exchange(image, [&image](std::uint32_t, shared_memory_counters& c) { image.numbers(c); });
}

void shared_memory::trace(sc_core::sc_trace_file* file) const {
  sc_core::sc_trace(file, last_passes_, std::string(name()) + ".passes");
}

}  // namespace heddle
