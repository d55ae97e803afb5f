// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <systemc>

namespace heddle {

/// Message type of reports about a bound module that violates a protocol.
constexpr const char* protocol_report = "/heddle/protocol";

/// Reports an SC_ERROR of this type: the socket, what was wrong there, and the address of the transaction.
void report_protocol_error(const sc_core::sc_object& socket, const char* what, std::uint64_t address);

}  // namespace heddle
