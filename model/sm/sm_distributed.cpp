// SPDX-License-Identifier: MIT
// Distributed shared memory: accesses to the shared memory of other blocks of a cluster, as messages between SMs.
#include <algorithm>
#include <cstring>

#include "heddle/config/error.h"
#include "heddle/isa/set_bits.h"
#include "heddle/simt/scalar/memory_access.h"
#include "heddle/sm/sm.h"

namespace heddle {

namespace {

std::string missing_block(std::uint32_t rank, std::uint32_t blocks, unsigned lane) {
  return "shared memory of block rank " + std::to_string(rank) + " of a cluster of " + std::to_string(blocks) +
         " blocks was accessed (lane " + std::to_string(lane) + ")";
}

}  // namespace

unsigned sm::reach(lsu_transaction& t, cycle_t cycle) {
  const resident_block& own = resource_manager.block(resource_manager.cta_slot_of(t.warp));
  const simt::block_context& context = own.context;
  const std::uint32_t blocks = own.launch->cluster_blocks();
  const auto rank_of = [&t](unsigned lane) {
    return static_cast<std::uint32_t>(t.addresses()[lane] >> isa::cluster_offset_bits) - 1;
  };
  for (const unsigned lane : set_bits(t.cluster_mask)) {
    if (rank_of(lane) < blocks) continue;
    t.faulted = true;
    t.fault_lane = lane;
    t.fault = missing_block(rank_of(lane), blocks, lane);
    return 0;
  }
  unsigned sent = 0;
  for (std::uint32_t left = t.cluster_mask; left != 0; ++sent) {
    const std::uint32_t rank = rank_of(static_cast<unsigned>(__builtin_ctz(left)));
    cluster_access& a = cluster_port->access();
    a.transaction = &t;
    a.bulk = nullptr;
    a.traffic = t.traffic;
    a.instruction = t.instruction;
    a.launch = own.launch;
    a.block = simt::block_of_rank(*own.launch, context.index, rank);
    a.from = id_;
    a.to = context.cluster_sms[rank];
    a.lanes = 0;
    a.kind = t.kind;
    a.bytes_per_lane = t.bytes_per_lane;
    for (const unsigned lane : set_bits(left)) {
      if (rank_of(lane) != rank) continue;
      a.lanes |= 1u << lane;
      a.addresses[lane] = t.addresses()[lane] & isa::cluster_offset_mask;
    }
    if (t.kind != lsu_kind::load) std::memcpy(a.words, t.words, std::max(4u, t.rows()) * sizeof a.words[0]);
    left &= ~a.lanes;
    cluster_port->request(a, cycle);
  }
  return sent;
}

// The bytes are accessed when the request arrives, as those of the SM's own accesses are when they issue.
cycle_t sm::cluster_requested(cluster_access& a, cycle_t cycle) {
  const unsigned slots = resource_manager.cta_slots();
  unsigned slot = 0;
  const auto holds = [&](const resident_block& b) {
    return b.transaction != nullptr && b.launch == a.launch && b.transaction->block == a.block;
  };
  while (slot < slots && !holds(resource_manager.block(slot))) ++slot;
  const auto first = static_cast<unsigned>(__builtin_ctz(a.lanes));
  if (slot == slots) {
    a.fault_lane = first;
    a.fault = "shared memory of block " + std::to_string(a.block) + ", which has ended, was accessed (lane " +
              std::to_string(first) + ")";
    return cycle;
  }
  try {
    simt::remote_shared_access(*a.instruction, resource_manager.block(slot).context, a.lanes, a.addresses, a.words,
                               a.fault_lane);
  } catch (const program_error& e) {
    a.fault = e.what();
    return cycle;
  }
  if (a.kind == lsu_kind::atomic || a.kind == lsu_kind::reduction) mbarrier_changed(slot, cycle);
  served_.launch = a.launch;
  served_.kind = a.kind;
  served_.bytes_per_lane = a.bytes_per_lane;
  served_.shared_mask = a.lanes;
  served_.atomic_changes = static_cast<std::uint8_t>(__builtin_popcount(a.lanes));  // at most
  served_.differing_bits = lsu_transaction::not_known;
  std::copy(std::begin(a.addresses), std::end(a.addresses), std::begin(served_.own_addresses));
  instruction_traffic here;
  served_.traffic = {&here, nullptr};
  const cycle_t ready = load_store_unit.serve(served_, cycle);
  a.passes = static_cast<unsigned>(here.shared_passes);
  return ready;
}

void sm::cluster_answered(const cluster_access& a, cycle_t cycle) {
  a.traffic.add(&instruction_traffic::shared_passes, a.passes);
  if (a.bulk == nullptr) return load_store_unit.cluster_answered(a, cycle);
  if (!a.fault.empty()) bulk_failed(*a.bulk, a.fault);
  tma->message_answered(*a.bulk, cycle);
}

}  // namespace heddle
