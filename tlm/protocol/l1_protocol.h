// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <tlm>

namespace heddle {

struct lsu_transaction;

/// What passes between an SM's load/store unit, or its context engine, and its L1. Forward: request, answered at once
/// by
///   TLM_COMPLETED  done (a hit); the result may be used from `ready_cycle` on,
///   TLM_ACCEPTED   taken; a response follows,
///   TLM_UPDATED    and phase refused: no room, nothing was done; the L1 says retry when there may be room again.
/// Backward: response (in the cycle in which the result may be used), retry (the payload has no meaning).
enum class l1_phase : std::uint8_t { request, refused, response, retry };

/// The part of a warp's memory instruction that lies in one line. The L1 moves the bytes between line and lanes of
/// `transaction` itself, and writes a message to transaction->fault when the memory answers with an error. Owned by the
/// initiator until the response.
struct l1_access {
  lsu_transaction* transaction = nullptr;
  std::uint64_t line = 0;    // address of the line's first byte
  std::uint32_t lanes = 0;   // lanes with an address in it
  std::uint8_t sectors = 0;  // bit s: sector s is touched
  std::uint64_t cycle = 0;   // of the look-up
  std::uint64_t ready_cycle = 0;
  std::uint64_t free_cycle =
      0;                 // when the next look-up may be; set by the L1 where its banks are held for longer than a cycle
  bool context = false;  // by the context engine: part of a block's context, not of its data

  // For the L1 while the access is its own.
  std::uint8_t missing = 0;   // sectors not yet delivered
  l1_access* next = nullptr;  // waiting for the same line
};

struct l1_protocol_types {
  using tlm_payload_type = l1_access;
  using tlm_phase_type = l1_phase;
};

using l1_fw_if = tlm::tlm_fw_transport_if<l1_protocol_types>;
using l1_bw_if = tlm::tlm_bw_transport_if<l1_protocol_types>;

}  // namespace heddle
