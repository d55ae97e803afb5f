// SPDX-License-Identifier: MIT
// Models: a GPU as a function on PCI Express: configuration space, two base address registers (BARs), message
// signalled interrupts (MSI). No lanes, packets, credits or errors of the link.
// Sockets: config (target: configuration space, address = register), memory (target: memory requests at bus
//   addresses), upstream (initiator: messages), gpu (initiator, to gpu.host_socket); irq (input, from gpu.irq).
// One cycle: none; it is loosely timed: a request takes link_latency and its bytes at link_rate.
// Parameters: bytes of device memory that BAR 2 shows. Source: PCI Local Bus 3.0 (configuration space, MSI); vendor
//   and device are not assigned numbers.
#pragma once

#include <heddle/tlm/kernel/has_process.h>
#include <tlm_utils/simple_initiator_socket.h>
#include <tlm_utils/simple_target_socket.h>

#include <array>
#include <cstdint>
#include <cstring>
#include <systemc>
#include <tlm>

namespace standards {

/// Registers of the configuration space.
namespace pcie {
constexpr unsigned identity = 0x00, command = 0x04, class_code = 0x08, bar_0 = 0x10, bar_2 = 0x18, capability = 0x34,
                   msi_control = 0x50, msi_address = 0x54, msi_data = 0x5c;
constexpr std::uint32_t memory_space = 1u << 1, bus_master = 1u << 2;  // of command
constexpr std::uint32_t msi_enable = 1u << 16;                         // of msi_control
}  // namespace pcie

class pcie_endpoint : public sc_core::sc_module {
 public:
  static constexpr std::uint64_t register_bytes = 0x1'0000;       // of BAR 0
  static constexpr std::uint64_t device_memory_at = 0x1000'0000;  // at gpu.host_socket
  /// `memory_bytes`: a power of two.
  pcie_endpoint(sc_core::sc_module_name name, std::uint64_t memory_bytes)
      : sc_module(name), memory_bytes_(memory_bytes) {
    set(pcie::identity, 0x4850'4845, 0);
    set(pcie::command, 0x0010'0000, 0x0000'0006);  // there are capabilities
    set(pcie::class_code, 0x0302'0000, 0);         // 3D controller
    set(pcie::bar_0, 0x0, static_cast<std::uint32_t>(~(register_bytes - 1)));
    set(pcie::bar_2, 0xc, static_cast<std::uint32_t>(~(memory_bytes - 1)));  // 64 bits, prefetchable
    set(pcie::bar_2 + 4, 0, static_cast<std::uint32_t>(~(memory_bytes - 1) >> 32));
    set(pcie::capability, pcie::msi_control, 0);
    set(pcie::msi_control, 0x0080'0005, pcie::msi_enable);  // MSI with 64-bit addresses, the last capability
    set(pcie::msi_address, 0, 0xffff'fffc);
    set(pcie::msi_address + 4, 0, 0xffff'ffff);
    set(pcie::msi_data, 0, 0x0000'ffff);
    config.register_b_transport(this, &pcie_endpoint::access_config);
    memory.register_b_transport(this, &pcie_endpoint::access_memory);
    memory.register_transport_dbg(this, &pcie_endpoint::debug_memory);
    HEDDLE_HAS_PROCESS(pcie_endpoint);
    SC_METHOD(note_interrupt);
    sensitive << irq.pos();
    dont_initialize();
    SC_THREAD(send_messages);
  }

  tlm_utils::simple_target_socket<pcie_endpoint> config{"config"};
  tlm_utils::simple_target_socket<pcie_endpoint> memory{"memory"};
  tlm_utils::simple_initiator_socket<pcie_endpoint> upstream{"upstream"};
  tlm_utils::simple_initiator_socket<pcie_endpoint> gpu{"gpu"};
  sc_core::sc_in<bool> irq{"irq"};
  sc_core::sc_time link_latency{250, sc_core::SC_NS};
  double link_rate = 16;  // bytes per ns
  std::uint64_t messages = 0;

 private:
  void set(unsigned at, std::uint32_t value, std::uint32_t writable) {
    std::memcpy(&space_[at], &value, sizeof value);
    std::memcpy(&writable_[at], &writable, sizeof writable);
  }
  [[nodiscard]] std::uint32_t get(unsigned at) const {
    std::uint32_t value = 0;
    std::memcpy(&value, &space_[at], sizeof value);
    return value;
  }
  [[nodiscard]] std::uint64_t get_64(unsigned at) const { return get(at) | std::uint64_t{get(at + 4)} << 32; }

  void access_config(tlm::tlm_generic_payload& p, sc_core::sc_time& delay) {
    delay += link_latency;
    const std::uint64_t at = p.get_address();
    if (p.get_data_length() > 4 || at % 4 + p.get_data_length() > 4 || at >= space_.size())
      return p.set_response_status(tlm::TLM_ADDRESS_ERROR_RESPONSE);
    const std::uint8_t* const enables = p.get_byte_enable_ptr();
    if (enables != nullptr && p.get_byte_enable_length() == 0)
      return p.set_response_status(tlm::TLM_BYTE_ENABLE_ERROR_RESPONSE);
    for (unsigned i = 0; i < p.get_data_length(); ++i) {
      if (enables != nullptr && enables[i % p.get_byte_enable_length()] != TLM_BYTE_ENABLED) continue;
      std::uint8_t& byte = space_[at + i];
      const std::uint8_t mask = writable_[at + i];
      if (p.is_read()) p.get_data_ptr()[i] = byte;
      else if (p.is_write()) byte = static_cast<std::uint8_t>((byte & ~mask) | (p.get_data_ptr()[i] & mask));
    }
    p.set_response_status(tlm::TLM_OK_RESPONSE);
    wake_.notify(sc_core::SC_ZERO_TIME);
  }

  /// Replaces a bus address by that at gpu.host_socket. False if no BAR has all its bytes.
  bool translate(tlm::tlm_generic_payload& p) const {
    if ((get(pcie::command) & pcie::memory_space) == 0) return false;
    const auto within = [&](std::uint64_t base, std::uint64_t bytes) {
      return p.get_address() >= base && p.get_address() - base + p.get_data_length() <= bytes;
    };
    const std::uint64_t registers = get(pcie::bar_0), device_memory = get_64(pcie::bar_2) & ~std::uint64_t{0xf};
    if (within(registers, register_bytes)) p.set_address(p.get_address() - registers);
    else if (within(device_memory, memory_bytes_)) p.set_address(p.get_address() - device_memory + device_memory_at);
    else return false;
    return true;
  }

  void access_memory(tlm::tlm_generic_payload& p, sc_core::sc_time& delay) {
    const std::uint64_t address = p.get_address();
    delay += link_latency + sc_core::sc_time(p.get_data_length() / link_rate, sc_core::SC_NS);
    if (!translate(p)) return p.set_response_status(tlm::TLM_ADDRESS_ERROR_RESPONSE);  // an unsupported request
    gpu->b_transport(p, delay);
    p.set_address(address);
  }
  unsigned debug_memory(tlm::tlm_generic_payload& p) {
    const std::uint64_t address = p.get_address();
    const unsigned bytes = translate(p) ? gpu->transport_dbg(p) : 0;
    p.set_address(address);
    return bytes;
  }

  void note_interrupt() {
    interrupted_ = true;
    wake_.notify(sc_core::SC_ZERO_TIME);
  }
  // A message for each rising edge; none while the host has not enabled them.
  void send_messages() {
    for (;;) {
      while (!interrupted_ || (get(pcie::msi_control) & pcie::msi_enable) == 0 ||
             (get(pcie::command) & pcie::bus_master) == 0)
        wait(wake_);
      interrupted_ = false;
      std::uint32_t data = get(pcie::msi_data);
      tlm::tlm_generic_payload p;
      p.set_command(tlm::TLM_WRITE_COMMAND);
      p.set_address(get_64(pcie::msi_address));
      p.set_data_ptr(reinterpret_cast<std::uint8_t*>(&data));
      p.set_data_length(sizeof data);
      p.set_streaming_width(sizeof data);
      sc_core::sc_time delay = link_latency;
      upstream->b_transport(p, delay);
      wait(delay);
      ++messages;
    }
  }

  std::uint64_t memory_bytes_;
  std::array<std::uint8_t, 256> space_{}, writable_{};
  bool interrupted_ = false;
  sc_core::sc_event wake_;
};

}  // namespace standards
