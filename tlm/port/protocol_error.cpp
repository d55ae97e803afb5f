// SPDX-License-Identifier: MIT
#include "heddle/tlm/port/protocol_error.h"

#include <cstdio>
#include <string>

namespace heddle {

void report_protocol_error(const sc_core::sc_object& socket, const char* what, std::uint64_t address) {
  char place[40];
  std::snprintf(place, sizeof place, " (address 0x%llx)", static_cast<unsigned long long>(address));
  SC_REPORT_ERROR(protocol_report, (std::string(socket.name()) + ": " + what + place).c_str());
}

}  // namespace heddle
