// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <tlm>

#include "heddle/tlm/kernel/state_image.h"
#include "heddle/tlm/protocol/gpu_request.h"

namespace heddle {

struct lsu_transaction;

/// Protocol between an SM's load/store unit, context engine, instruction port or TMA and its L1. Forward: request,
/// answered at once by
///   TLM_COMPLETED  done (a hit); the result may be used from `ready_cycle` on,
///   TLM_ACCEPTED   accepted; a response follows,
///   TLM_UPDATED    with phase nack: no room, nothing was done; the L1 sends retry when there may be room again.
/// Backward: response (in the cycle in which the result may be used), retry (the payload has no meaning).
enum class l1_phase : std::uint8_t { request, nack, response, retry };

constexpr unsigned words_per_sector = sector_bytes / 4;

/// Whose access it is: of a warp's memory instruction; of the context engine, which moves a part of a block's context;
/// of the instruction port, which reads code past the L1 through the SM's memory port; of the unit for bulk copies,
/// whose reads pass the L1, too.
enum class l1_origin : std::uint8_t { warp, context, instructions, bulk, count };

/// The part of a warp's memory instruction that lies in one line. The L1 copies the bytes between the line and the
/// lanes of `transaction`, and writes a message to transaction->fault if the memory answers with an error. Owned by the
/// initiator until the response.
struct l1_access {
  lsu_transaction* transaction = nullptr;  // null for instructions: they have no lanes, and their bytes are not needed
  std::uint64_t line = 0;                  // address of the line's first byte
  std::uint32_t lanes = 0;                 // lanes whose address lies in the line
  std::uint32_t words = ~0u;               // bit w: 4-byte word w is accessed; for the account of energy alone
  std::uint8_t sectors = 0;                // bit s: sector s is accessed
  std::uint8_t missing_words = 0;          // by which the whole instruction's words fall short of a sector
  std::uint64_t cycle = 0;                 // of the look-up
  std::uint64_t ready_cycle = 0;
  std::uint64_t free_cycle = 0;  // next possible look-up; set by the L1 if its banks are busy for more than a cycle
  std::uint32_t launch = 0;      // for which instructions are read
  l1_origin origin = l1_origin::warp;

  // For use by the L1 until the response.
  std::uint8_t missing = 0;   // sectors not yet delivered
  l1_access* next = nullptr;  // next access that waits for the same line

  void exchange(state_image& image) {
    image(transaction, line, lanes, words, sectors, missing_words, cycle, ready_cycle, free_cycle, launch, origin,
          missing, next);
  }
};

struct l1_protocol_types {
  using tlm_payload_type = l1_access;
  using tlm_phase_type = l1_phase;
};

}  // namespace heddle
