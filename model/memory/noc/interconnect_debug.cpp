// SPDX-License-Identifier: MIT
// The interconnect's untimed interfaces: blocking and debug transport.
#include <algorithm>

#include "heddle/memory/noc/interconnect.h"

namespace heddle {

void interconnect::blocking(tlm::tlm_generic_payload& p, sc_core::sc_time& delay) {
  delay += clock_.domain().time_of(2 * cycle_t{parameters_.latency_cycles});
  slice_socket[map_.slice_of(p.get_address())]->b_transport(p, delay);
}

unsigned interconnect::debug(tlm::tlm_generic_payload& p) {
  unsigned done = 0;
  tlm::tlm_generic_payload part;
  part.set_command(p.get_command());
  while (done < p.get_data_length()) {
    const std::uint64_t address = p.get_address() + done;
    const std::uint64_t length = std::min<std::uint64_t>(map_.bytes_to_boundary(address), p.get_data_length() - done);
    part.set_address(address);
    part.set_data_ptr(p.get_data_ptr() + done);
    part.set_data_length(static_cast<unsigned>(length));
    part.set_streaming_width(static_cast<unsigned>(length));
    part.set_response_status(tlm::TLM_INCOMPLETE_RESPONSE);
    const unsigned n = slice_socket[map_.slice_of(address)]->transport_dbg(part);
    done += n;
    if (n == length) continue;
    p.set_response_status(part.get_response_status());  // why, if the slice says it
    break;
  }
  return done;
}

}  // namespace heddle
