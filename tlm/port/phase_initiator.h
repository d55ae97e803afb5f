// SPDX-License-Identifier: MIT
#pragma once

#include <tlm>

namespace heddle {

/// Base of the initiator's side of a protocol whose phases are calls of their own (phase_target.h): the unit implements
/// nb_transport_bw and binds itself to its socket. It has no direct memory pointers that could be revoked.
template <class Types>
class phase_initiator : public tlm::tlm_bw_transport_if<Types> {
 public:
  void invalidate_direct_mem_ptr(sc_dt::uint64, sc_dt::uint64) override {}
};

}  // namespace heddle
