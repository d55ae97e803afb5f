// SPDX-License-Identifier: MIT
#pragma once

namespace heddle {

/// Message type of reports about a bound module that violates the TLM base protocol.
constexpr const char* protocol_report = "/heddle/protocol";

}  // namespace heddle
