// SPDX-License-Identifier: MIT
#pragma once

#include <systemc>

namespace heddle {

/// The caller is an SC_THREAD of the running simulation, so it may wait. Between two sc_start() the kernel names any
/// process as the present one, so that question comes first.
inline bool in_thread() {
  return sc_core::sc_get_status() == sc_core::SC_RUNNING &&
         sc_core::sc_get_current_process_handle().proc_kind() == sc_core::SC_THREAD_PROC_;
}

}  // namespace heddle
