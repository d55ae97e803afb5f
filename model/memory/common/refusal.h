// SPDX-License-Identifier: MIT
#pragma once

#include <string>
#include <tlm>

namespace heddle {

/// The response status of a refused transaction, with a hint at the parameter that limits transfers to what the memory
/// accepts, if there is one.
inline std::string refusal_of(const tlm::tlm_generic_payload& p) {
  std::string text = p.get_response_string();
  if (p.get_response_status() == tlm::TLM_BURST_ERROR_RESPONSE)
    text += " (memory.max_transfer_bytes is the longest transfer that the memory takes)";
  if (p.get_response_status() == tlm::TLM_BYTE_ENABLE_ERROR_RESPONSE)
    text += " (memory.byte_enables=false is for a memory without byte enables)";
  return text;
}

}  // namespace heddle
