// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <string>
#include <tlm>

#include "heddle/tlm/protocol/instruction_traffic.h"

namespace heddle {

namespace isa {
struct instruction;
}
namespace simt {
struct launch_context;
}
struct decoded_instruction;
struct memory_operation;
class state_image;

/// Protocol between a sub-partition's LDST unit and the SM's load/store unit.
/// Forward: request. A sub-partition has `ldst.queue_entries` credits; a request takes one.
/// Backward: credit (the request left the input queue, which returns the credit), response (the data of a load or
/// atomic is complete, or a store is performed: acknowledged by the L2), fault (illegal address: `fault` describes it),
/// and, without a meaningful payload, throttle_on / throttle_off (back-pressure of the memory system on the load/store
/// unit).
enum class lsu_phase : std::uint8_t { request, credit, response, fault, throttle_on, throttle_off };

enum class lsu_kind : std::uint8_t { load, store, atomic, reduction, constant_load };

/// One warp's memory instruction. Addresses are resolved: lanes of `shared_mask` have byte offsets in the block's
/// shared memory (their function is performed at issue, the unit models only their time), lanes of `cluster_mask`
/// address shared memory of other blocks of the cluster, lanes of `global_mask` have global addresses (local memory is
/// already mapped to the launch's local area, marked by `local`). Owned by the sub-partition's pool from request to
/// response.
struct alignas(64) lsu_transaction {  // two cache lines precede the addresses and data; a response reads only the first
  const simt::launch_context* launch = nullptr;
  // For use by the sub-partition that issued it:
  memory_operation* operation = nullptr;  // it is all or a part of this operation
  const decoded_instruction* decoded = nullptr;
  // For use by the load/store unit until the response.
  std::uint64_t ready_cycle = 0;  // earliest cycle of the response
  std::uint64_t first_cycle = 0;  // when the first of its data arrive
  std::uint32_t outstanding = 0;  // line accesses without response
  std::uint32_t global_mask = 0;
  std::uint16_t partition = 0;  // sub-partition index = socket index
  std::uint16_t slot = 0;       // slot of its warp there
  std::uint16_t residency = 0;  // number of the warp among those that the slot has held
  lsu_kind kind = lsu_kind::load;
  std::uint8_t bytes_per_lane = 4;  // 1, 2, 4, 8, 16
  bool all_sent = false;
  bool sole = false;       // it is the whole operation, not a part
  bool faulted = false;    // `fault` gives the reason
  bool data = true;        // false: the loaded values are not needed
  bool local = false;      // the global lanes are local memory
  bool texture = false;    // for a texture or surface: not counted as global accesses
  bool read_only = false;  // ld.global.nc, texture path: may be cached everywhere
  bool bypass_l1 = false;  // .cg .cv .volatile, atomics

  const isa::instruction* instruction = nullptr;
  std::uint64_t issue_cycle = 0;
  traffic_counts traffic;
  const std::uint64_t* shared_addresses = nullptr;  // addresses shared by several transactions; null: own_addresses
  static constexpr std::uint64_t not_known = ~std::uint64_t{0};
  std::uint64_t differing_bits = not_known;  // bits in which the lanes' addresses differ
  std::uint32_t shared_mask = 0;
  std::uint32_t constant_mask = 0;  // constant_load: lanes that read; their addresses are offsets in the bank
  std::uint32_t cluster_mask = 0;   // lanes that access shared memory of other blocks: isa::cluster_offset_bits
  std::uint16_t warp = 0;           // warp id on the SM
  std::uint8_t word = 0;            // index of this part of the operation
  std::uint8_t atomic_changes = 0;  // of an atomic of shared memory: values that it has changed

  /// Lanes that it accesses.
  [[nodiscard]] std::uint32_t lanes() const {
    return kind == lsu_kind::constant_load ? constant_mask : shared_mask | global_mask | cluster_mask;
  }
  /// An atomic that changes a word for one lane after another.
  [[nodiscard]] bool serialises_lanes() const {
    return (kind == lsu_kind::atomic || kind == lsu_kind::reduction) && !counts;
  }
  static constexpr unsigned most_rows = 8;  // an atomic of 16 bytes that compares and swaps
  /// Rows of `words` that its lanes use.
  [[nodiscard]] unsigned rows() const;
  /// Of a transaction in flight. Shared addresses become its own.
  void exchange(state_image& image);
  /// The load/store unit has not taken it: what it sets then gets values that say nothing.
  void clear_answer();
  /// The words of these lanes, in rows from `first` on, have no value yet: they get values that say nothing.
  void clear_words(std::uint32_t of_lanes, unsigned first = 0);

  /// By lane.
  [[nodiscard]] const std::uint64_t* addresses() const {
    return shared_addresses != nullptr ? shared_addresses : own_addresses;
  }

  alignas(64) std::uint64_t own_addresses[32];  // undefined for lanes in no mask
  /// By lane: store or atomic operands, or the loaded bytes (little endian); else undefined.
  std::uint32_t words[most_rows][32];
  std::uint32_t policy = 0;  // of the L2's replacement, if the instruction has one or is a bulk copy; else undefined
  bool counts = false;       // of an atomic of shared memory: it adds up lanes with one word first; else undefined
  unsigned fault_lane = 0;
  std::string fault;  // phase fault: "illegal address 0x… (lane n)"; else undefined
};

struct lsu_protocol_types {
  using tlm_payload_type = lsu_transaction;
  using tlm_phase_type = lsu_phase;
};

}  // namespace heddle
