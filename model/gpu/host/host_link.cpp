// SPDX-License-Identifier: MIT
#include "heddle/gpu/host/host_link.h"

#include <algorithm>
#include <cstdio>

#include "heddle/config/error.h"
#include "heddle/gpu/host/host_registers.h"
#include "heddle/gpu/host/recorded_kernel.h"
#include "heddle/isa/program.h"
#include "heddle/tlm/kernel/calling_process.h"

namespace heddle {

namespace {
constexpr unsigned transfer_bytes = 1u << 20;
}

host_link::host_link(tlm::tlm_initiator_socket<32>& socket, std::uint64_t base) : socket_(socket), base_(base) {
  socket_.bind(backward_);
}

bool host_link::free_here() const {
  return line_.empty() || (in_thread() && line_.front()->thread() == sc_core::sc_get_current_process_handle());
}

host_link::call::call(host_link& link) : link_(link) {
  if (!in_thread()) {
    if (!link_.line_.empty())
      throw input_error(std::string("the host driver is in the middle of a call of ") +
                        link_.line_.front()->thread().name() +
                        ": expected calls from outside threads when there is none");
    return;
  }
  thread_ = sc_core::sc_get_current_process_handle();
  if (!link_.line_.empty() && link_.line_.front()->thread() == thread_) return;
  link_.line_.push_back(this);
  waits_in_line_ = true;
  try {
    while (link_.line_.front() != this) sc_core::wait(link_.next_call_);
  } catch (...) {  // the thread is killed or reset
    leave();
    throw;
  }
}

host_link::call::~call() {
  if (waits_in_line_) leave();
}

void host_link::call::leave() {
  link_.line_.erase(std::find(link_.line_.begin(), link_.line_.end(), this));
  if (!link_.line_.empty()) link_.next_call_.notify(sc_core::SC_ZERO_TIME);
}

void host_link::access(tlm::tlm_command command, std::uint64_t address, void* data, std::size_t bytes,
                       recorded_kernel* recorded) {
  auto* at = static_cast<std::uint8_t*>(data);
  while (bytes != 0) {
    const unsigned n = static_cast<unsigned>(std::min<std::size_t>(bytes, transfer_bytes));
    tlm::tlm_generic_payload p;
    p.set_command(command);
    p.set_address(base_ + address);
    p.set_data_ptr(at);
    p.set_data_length(n);
    p.set_streaming_width(n);
    p.set_byte_enable_ptr(nullptr);
    p.set_dmi_allowed(false);
    p.set_response_status(tlm::TLM_INCOMPLETE_RESPONSE);
    if (recorded != nullptr) p.set_extension(recorded);
    sc_core::sc_time delay;
    socket_->b_transport(p, delay);
    if (recorded != nullptr) p.clear_extension(recorded);  // the caller owns it
    if (delay != sc_core::SC_ZERO_TIME && in_thread()) sc_core::wait(delay);
    if (!p.is_response_ok()) {
      char place[24];
      std::snprintf(place, sizeof place, "0x%llx", static_cast<unsigned long long>(address));
      throw input_error(
          std::string("the GPU or the path to it refused a host access to address ") + place + " (" +
          p.get_response_string() + "), expected " +
          (address >= isa::heap_base
               ? "device memory there, which memory bound to the GPU offers by debug transport, or in a thread by b_transport"
               : "a register, or device memory at 0x10000000 or above"));
    }
    at += n;
    address += n;
    bytes -= n;
  }
}

std::uint64_t host_link::read_register(std::uint64_t offset) {
  std::uint64_t value = 0;
  access(tlm::TLM_READ_COMMAND, offset, &value, sizeof value);
  return value;
}

void host_link::write_register(std::uint64_t offset, std::uint64_t value) {
  access(tlm::TLM_WRITE_COMMAND, offset, &value, sizeof value);
}

std::string host_link::message() {
  std::string text(std::min<std::uint64_t>(read_register(host_register::message_bytes), host_register::message_size),
                   '\0');
  if (!text.empty()) access(tlm::TLM_READ_COMMAND, host_register::message, text.data(), text.size());
  return text;
}

}  // namespace heddle
