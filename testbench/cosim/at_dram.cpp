// SPDX-License-Identifier: MIT
#include "testbench/cosim/at_dram.h"

#include <algorithm>

namespace cosim {

using sc_core::sc_time;
using sc_core::sc_time_stamp;

namespace {
constexpr std::uint64_t row_bytes = 2048;
const unsigned read_ns = 15;      // column access
const unsigned activate_ns = 28;  // precharge and activation of another row
}  // namespace

at_port::at_port(sc_core::sc_module_name name, at_dram& dram)
    : sc_module(name), socket("socket"), dram_(dram), events_(this, &at_port::on_event) {
  socket.register_nb_transport_fw(this, &at_port::nb_transport_fw);
  socket.register_b_transport(this, &at_port::b_transport);
  socket.register_transport_dbg(this, &at_port::transport_dbg);
}

tlm::tlm_sync_enum at_port::nb_transport_fw(tlm::tlm_generic_payload& p, tlm::tlm_phase& phase, sc_time& delay) {
  if (phase == tlm::BEGIN_REQ) p.acquire();
  events_.notify(p, phase, delay);
  return tlm::TLM_ACCEPTED;
}

// Called at the time of each phase of a transaction. END_REQ and BEGIN_RESP are this port's own decisions to send
// them.
void at_port::on_event(tlm::tlm_generic_payload& p, const tlm::tlm_phase& phase) {
  if (phase == tlm::BEGIN_REQ) {
    dram_.perform(p);
    const sc_time done = dram_.serve(p.get_address(), p.get_data_length());
    events_.notify(p, tlm::END_REQ, dram_.command_time);
    events_.notify(p, tlm::BEGIN_RESP, std::max(done, dram_.command_time * 2));
  } else if (phase == tlm::END_REQ) {
    tlm::tlm_phase send = tlm::END_REQ;
    sc_time delay;
    socket->nb_transport_bw(p, send, delay);
  } else if (phase == tlm::BEGIN_RESP) {
    if (responding_) finished_.push_back(&p);
    else respond(p);
  } else {
    p.release();
    responding_ = false;
    if (finished_.empty()) return;
    tlm::tlm_generic_payload& next = *finished_.front();
    finished_.pop_front();
    respond(next);
  }
}

void at_port::respond(tlm::tlm_generic_payload& p) {
  responding_ = true;
  tlm::tlm_phase phase = tlm::BEGIN_RESP;
  sc_time delay;
  const tlm::tlm_sync_enum answer = socket->nb_transport_bw(p, phase, delay);
  if (answer == tlm::TLM_COMPLETED || (answer == tlm::TLM_UPDATED && phase == tlm::END_RESP))
    events_.notify(p, tlm::END_RESP, delay);
}

void at_port::b_transport(tlm::tlm_generic_payload& p, sc_time& delay) {
  dram_.perform(p);
  delay += dram_.serve(p.get_address(), p.get_data_length());
}

unsigned at_port::transport_dbg(tlm::tlm_generic_payload& p) {
  if (p.is_read()) dram_.bytes.read(p.get_address(), p.get_data_ptr(), p.get_data_length());
  else if (p.is_write()) dram_.bytes.write(p.get_address(), p.get_data_ptr(), p.get_data_length());
  else return 0;
  return p.get_data_length();
}

at_dram::at_dram(sc_core::sc_module_name name, unsigned ports) : sc_module(name), port("port") {
  port.init(ports, [this](const char* port_name, std::size_t) { return new at_port(port_name, *this); });
}

void at_dram::perform(tlm::tlm_generic_payload& p) {
  p.set_dmi_allowed(false);
  if (p.get_streaming_width() < p.get_data_length()) {
    p.set_response_status(tlm::TLM_BURST_ERROR_RESPONSE);
    return;
  }
  for (unsigned i = 0; i < p.get_data_length(); ++i) {
    if (p.get_byte_enable_ptr() != nullptr &&
        p.get_byte_enable_ptr()[i % p.get_byte_enable_length()] != TLM_BYTE_ENABLED)
      continue;
    if (p.is_read()) bytes.read(p.get_address() + i, p.get_data_ptr() + i, 1);
    else if (p.is_write()) bytes.write(p.get_address() + i, p.get_data_ptr() + i, 1);
  }
  p.set_response_status(tlm::TLM_OK_RESPONSE);
}

sc_time at_dram::serve(std::uint64_t address, unsigned length) {
  ++accesses_;
  bank& b = banks_[address / row_bytes % banks_.size()];
  const std::uint64_t row = address / row_bytes / banks_.size();
  sc_time ready = std::max(sc_time_stamp(), b.free) + sc_time(read_ns, sc_core::SC_NS);
  if (row == b.row) ++row_hits_;
  else ready += sc_time(activate_ns, sc_core::SC_NS);
  b.row = row;
  // 32 bytes a nanosecond on a bus that all banks and ports share.
  bus_free_ = std::max(bus_free_, ready) + sc_time((length + 31) / 32, sc_core::SC_NS);
  b.free = ready;
  return bus_free_ - sc_time_stamp();
}

}  // namespace cosim
