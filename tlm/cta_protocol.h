// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <string>
#include <tlm>

namespace heddle {

namespace simt {
struct launch_context;
}

/// What passes between the CWD and an SM's resource manager. Forward (CWD to SM): dispatch. Backward: complete, fault.
/// A dispatch is never refused: the CWD knows what fits.
enum class cta_phase : std::uint8_t { dispatch, complete, fault };

/// One thread block on its way. Owned by the CWD, which keeps it until the block is complete; an SM may read it and
/// write the fields marked so.
struct cta_transaction {
  const simt::launch_context* launch = nullptr;
  std::uint64_t block = 0;              // linear block index in the grid, x fastest
  unsigned sm = 0;
  unsigned cta_slot = 0;                // set by the SM: the CTA slot it got
  std::string fault;                    // set by the SM with phase fault: what went wrong, where
};

/// TLM traits of the arrow CWD <-> resource manager.
struct cta_protocol_types {
  using tlm_payload_type = cta_transaction;
  using tlm_phase_type = cta_phase;
};

using cta_fw_if = tlm::tlm_fw_transport_if<cta_protocol_types>;
using cta_bw_if = tlm::tlm_bw_transport_if<cta_protocol_types>;

}  // namespace heddle
