// SPDX-License-Identifier: MIT
#pragma once

#include <string>

namespace heddle {

/// The registers of the host socket in SystemRDL 2.0 (Accellera), made from the rows of host_registers.h: the file
/// docs/library/heddle.rdl, from which other tools make headers, register models of UVM or IP-XACT.
[[nodiscard]] std::string register_map();

}  // namespace heddle
